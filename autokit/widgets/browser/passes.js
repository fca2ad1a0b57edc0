/** The passes over a static graph: the graph before and after the one that a slider chooses. */

import { h } from "./dom.js";
import { groupOf, makeTransport, stepsOf } from "./parts.js";
import { makePicture } from "./picture.js";
import { makeHalf, makeStages } from "./stages.js";
import { makeView } from "./view.js";

/** @param {{ model: any, el: HTMLElement }} context @returns {() => void} what takes it all down again */
function render({ model, el }) {
  const { signal, on, set, follow, answer, begin } = makeView({ model, el });
  const chooser = makeStages(model, set);
  const { stages, at, choose } = chooser;
  const pictures = ["The graph before the pass", "The graph after the pass"]
    .map((name) => makePicture(stages[0].svg, name, () => {}, signal));
  const halves = pictures.map((picture, k) => makeHalf(["Before", "After"][k], picture.node));
  const transport = makeTransport(stepsOf(at, stages.length - 1, choose), on,
    { first: "As traced", back: "Pass before", next: "Next pass", last: "After all passes" });
  const root = groupOf("ak-player ak-live ak-compare", "The passes over a static graph",
    h("div", { className: "ak-main" }, ...halves.map(({ node }) => node)),
    h("div", { className: "ak-desk" }, transport.node, h("div", { className: "ak-sliders" }, chooser.node)));
  root.tabIndex = 0;

  function update() {
    const shown = [stages[Math.max(0, at() - 1)], stages[at()]];
    shown.forEach(({ svg, nodes, boxes }, k) => {
      const other = shown[1 - k].boxes;
      const changed = new Set(Object.entries(boxes).filter(([key, [, calls]]) => other[key]?.[1] !== calls)
        .map(([, [element]]) => element));
      const statuses = Object.values(boxes)
        .map(([element]) => [element, { status: changed.has(element) ? "current" : "idle" }]);
      pictures[k].replace(svg);
      pictures[k].show(Object.fromEntries(statuses));
      pictures[k].mark(new Set([...changed].slice(0, 1)));
      halves[k].heading.textContent = `${["Before", "After"][k]}: ${nodes} nodes`;
    });
    chooser.tell();
    transport.show(at() > 0, at() < stages.length - 1);
  }

  answer(root, transport.keys);
  follow(["chosen"], update);
  return begin(root, update);
}

export default { render };
