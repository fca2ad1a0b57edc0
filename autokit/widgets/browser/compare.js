/**
 * A dynamic and a static graph, side by side: one slider moves both, another one goes through the passes.
 *
 * @typedef {{ box: string, freed: string[], bytes: number, sentence: string }} Moment
 * @typedef {{ name: string, words: string, svg: string, boxes: string[] }} Stage
 */

import { linePath, makeChart } from "./chart.js";
import { h, iconButton, ICONS, s, setEnabled } from "./dom.js";
import { ownKeys } from "./keys.js";
import { makePicture } from "./picture.js";

/** @param {{ model: any, el: HTMLElement }} context @returns {() => void} what takes it all down again */
function render({ model, el }) {
  const listeners = new AbortController();
  const { signal } = listeners;
  /** @type {Moment[]} */ const moments = model.get("_moments");
  /** @type {Stage[]} */ const stages = model.get("_graphs");
  const dynamic = model.get("_dynamic");
  const last = moments.length - 1;

  /** @param {Record<string, number>} values */
  function set(values) {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    try {
      model.save_changes();
    } catch {
      // The kernel is gone; the page goes on.
    }
  }
  const go = (/** @type {number} */ to) => set({ step: Math.max(0, Math.min(last, to)) });

  const left = makePicture(dynamic.svg, "The dynamic graph", () => {}, signal);
  const right = makePicture(stages[model.get("chosen")].svg, "The static graph", () => {}, signal);
  const buttons = [
    { at: () => 0, node: iconButton(ICONS.first, "To the start", "Home") },
    { at: () => model.get("step") - 1, node: iconButton(ICONS.back, "Step back", "←") },
    { at: () => model.get("step") + 1, node: iconButton(ICONS.next, "Step forward", "→") },
    { at: () => last, node: iconButton(ICONS.last, "To the end", "End") },
  ];
  const range = h("input", { type: "range", className: "ak-slide", min: 0, max: Math.max(last, 0), "aria-label": "Operation" });
  const passes = h("input", { type: "range", className: "ak-slide", min: 0, max: stages.length - 1, "aria-label": "Passes" });
  const sentence = h("p", { className: "ak-headline", "aria-live": "polite" });
  const passed = h("p", { className: "ak-note" });
  const most = Math.max(dynamic.size, ...moments.map((moment) => moment.bytes), 1);
  const chart = makeChart({ width: 420, height: 170, x: [0, Math.max(last, 1)], y: [0, (most * 1.1) / 1000], names: ["operation", "kB"], label: model.get("_sentence") });
  const cursor = s("path", { class: "ak-guide" });
  chart.inner.append(
    s("path", { class: "ak-curve", d: linePath(moments.map((moment, k) => [k, moment.bytes / 1000]), chart.px, chart.py) }),
    s("path", { class: "ak-tangent", d: linePath([[0, dynamic.size / 1000], [Math.max(last, 1), dynamic.size / 1000]], chart.px, chart.py) }), cursor);
  const half = (/** @type {string} */ name, /** @type {Element} */ node) => h("section", { className: "ak-half", "aria-label": name }, h("h2", {}, name), node);
  const root = h("div", { className: "ak-player ak-live ak-compare", role: "group", "aria-label": "A dynamic and a static graph", tabIndex: 0 },
    h("div", { className: "ak-main" }, half("Dynamic", left.node), half("Static", right.node)),
    h("div", { className: "ak-desk" },
      h("div", { className: "ak-sliders" }, h("div", { className: "ak-row" }, h("div", { className: "ak-transport" }, ...buttons.map(({ node }) => node))), range, sentence,
        h("label", {}, "Passes", passes), passed),
      h("figure", { className: "ak-seat" }, chart.svg, h("figcaption", { className: "ak-note" }, `Memory: dynamic as a line, static dashed. ${model.get("_sentence")}`))));

  function update() {
    const step = Math.max(0, Math.min(last, model.get("step")));
    const stage = stages[Math.max(0, Math.min(stages.length - 1, model.get("chosen")))];
    const freed = new Set(moments.slice(0, step).flatMap((moment) => moment.freed));
    /** @type {Record<string, Record<string, string>>} */ const here = {};
    /** @type {Record<string, Record<string, string>>} */ const there = {};
    moments.forEach(({ box }, k) => {
      here[box] = { status: k > step ? "to-come" : k === step ? "current" : freed.has(box) ? "dim" : "computed" };
      if (stage.boxes[k]) there[stage.boxes[k]] = { status: k > step ? "hidden" : k === step ? "current" : "computed" };
    });
    const absent = (/** @type {string} */ box) => ["to-come", "dim"].includes(here[box]?.status ?? "");
    for (const [edge, source, target] of dynamic.edges) here[edge] = { status: absent(source) || absent(target) ? "to-come" : "idle" };
    left.show(here, {});
    right.show(there, {});
    left.mark(new Set([moments[step]?.box ?? ""]));
    right.mark(new Set([stage.boxes[step] ?? ""]));
    left.find();
    right.find();
    const gone = stage.boxes[step] ? "" : " The passes have taken it out of the static graph.";
    sentence.textContent = `${step + 1} of ${last + 1}: ${moments[step]?.sentence ?? ""}${gone}`;
    passed.textContent = `${stage.name}${stage.words ? `: ${stage.words}` : ""}`;
    range.value = String(step);
    range.setAttribute("aria-valuetext", sentence.textContent);
    passes.value = String(model.get("chosen"));
    passes.setAttribute("aria-valuetext", passed.textContent);
    cursor.setAttribute("d", linePath([[step, 0], [step, most]], chart.px, chart.py));
    buttons.forEach(({ node }, k) => setEnabled(node, k < 2 ? step > 0 : step < last));
  }

  function redraw() {
    right.replace(stages[model.get("chosen")].svg);
    update();
  }

  for (const { at, node } of buttons) node.addEventListener("click", () => go(at()), { signal });
  range.addEventListener("input", () => go(Number(range.value)), { signal });
  passes.addEventListener("input", () => set({ chosen: Number(passes.value) }), { signal });
  root.addEventListener("keydown", (event) => {
    const k = ["Home", "ArrowLeft", "ArrowRight", "End"].indexOf(event.key);
    if (k < 0 || event.target === passes) return;
    event.preventDefault();
    event.stopPropagation();
    go(buttons[k].at());
  }, { signal });
  ownKeys(root, signal);
  model.on("change:step", update);
  model.on("change:chosen", redraw);
  el.append(root);
  update();
  return () => {
    model.off("change:step", update);
    model.off("change:chosen", redraw);
    left.close();
    right.close();
    listeners.abort();
    root.remove();
  };
}

export default { render };
