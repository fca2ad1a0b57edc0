/** The passes over a static graph: the graph before and after the one that a slider chooses. */

import { h, iconButton, ICONS, setEnabled } from "./dom.js";
import { ownKeys } from "./keys.js";
import { makePicture } from "./picture.js";
import { makeHalf, makeStages } from "./stages.js";

/** @param {{ model: any, el: HTMLElement }} context @returns {() => void} what takes it all down again */
function render({ model, el }) {
  const listeners = new AbortController();
  const { signal } = listeners;
  const chooser = makeStages(model, signal);
  const { stages, at, choose } = chooser;
  const pictures = ["The graph before the pass", "The graph after the pass"]
    .map((name) => makePicture(stages[0].svg, name, () => {}, signal));
  const halves = pictures.map((picture, k) => makeHalf(["Before", "After"][k], picture.node));
  const buttons = [
    { to: () => 0, node: iconButton(ICONS.first, "As traced", "Home") },
    { to: () => at() - 1, node: iconButton(ICONS.back, "Pass before", "←") },
    { to: () => at() + 1, node: iconButton(ICONS.next, "Next pass", "→") },
    { to: () => stages.length - 1, node: iconButton(ICONS.last, "After all passes", "End") },
  ];
  const root = h("div", { className: "ak-player ak-live ak-compare", role: "group",
      "aria-label": "The passes over a static graph", tabIndex: 0 },
    h("div", { className: "ak-main" }, ...halves.map(({ node }) => node)),
    h("div", { className: "ak-desk" },
      h("div", { className: "ak-transport" }, ...buttons.map(({ node }) => node)),
      h("div", { className: "ak-sliders" }, chooser.node)));

  function update() {
    const shown = [stages[Math.max(0, at() - 1)], stages[at()]];
    shown.forEach(({ svg, nodes, boxes }, k) => {
      const other = shown[1 - k].boxes;
      const changed = new Set(Object.entries(boxes).filter(([key, [, calls]]) => other[key]?.[1] !== calls)
        .map(([, [element]]) => element));
      pictures[k].replace(svg);
      pictures[k]
        .show(Object.fromEntries(Object.values(boxes)
          .map(([element]) => [element, { status: changed.has(element) ? "current" : "idle" }])), {});
      pictures[k].mark(new Set([...changed].slice(0, 1)));
      pictures[k].find();
      halves[k].heading.textContent = `${["Before", "After"][k]}: ${nodes} nodes`;
    });
    chooser.tell();
    buttons.forEach(({ node }, k) => setEnabled(node, k < 2 ? at() > 0 : at() < stages.length - 1));
  }

  for (const { to, node } of buttons) node.addEventListener("click", () => choose(to()), { signal });
  root.addEventListener("keydown", (event) => {
    const k = ["Home", "ArrowLeft", "ArrowRight", "End"].indexOf(event.key);
    if (k < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    choose(buttons[k].to());
  }, { signal });
  ownKeys(root, signal);
  model.on("change:chosen", update);
  el.append(root);
  update();
  return () => {
    model.off("change:chosen", update);
    for (const picture of pictures) picture.close();
    listeners.abort();
    root.remove();
  };
}

export default { render };
