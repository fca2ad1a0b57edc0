/**
 * A dynamic and a static graph, side by side: one slider moves both, another one goes through the passes.
 *
 * @typedef {{ box: string, key: string, freed: string[], bytes: number, sentence: string }} Moment
 */

import { linePath, makeChart } from "./chart.js";
import { h, iconButton, ICONS, s, setEnabled, setterOf } from "./dom.js";
import { ownKeys } from "./keys.js";
import { makePicture } from "./picture.js";
import { makeHalf, makeStages } from "./stages.js";

/** @param {number[]} numbers */
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** @param {{ model: any, el: HTMLElement }} context @returns {() => void} what takes it all down again */
function render({ model, el }) {
  const listeners = new AbortController();
  const { signal } = listeners;
  /** @type {Moment[]} */ const moments = model.get("_moments");
  const chooser = makeStages(model, signal);
  const { stages } = chooser;
  const edges = model.get("_edges");
  const size = model.get("_size");
  const [eager, compiled] = model.get("_times");
  const last = moments.length - 1;

  const set = setterOf(model);
  const go = (/** @type {number} */ to) => set({ step: Math.max(0, Math.min(last, to)) });

  const left = makePicture(stages[0].svg, "The dynamic graph", () => {}, signal);
  const right = makePicture(stages[chooser.at()].svg, "The static graph", () => {}, signal);
  const buttons = [
    { at: () => 0, node: iconButton(ICONS.first, "To the start", "Home") },
    { at: () => model.get("step") - 1, node: iconButton(ICONS.back, "Step back", "←") },
    { at: () => model.get("step") + 1, node: iconButton(ICONS.next, "Step forward", "→") },
    { at: () => last, node: iconButton(ICONS.last, "To the end", "End") },
  ];
  const range = h("input", { type: "range", className: "ak-slide", min: 0, max: Math.max(last, 0),
      "aria-label": "Operation" });
  const sentence = h("p", { className: "ak-sentence", "aria-live": "polite" });
  const count = h("span", { className: "ak-count" });
  const most = Math.max(size, ...moments.map((moment) => moment.bytes), 1);
  const memory = makeChart({ width: 420, height: 170, x: [0, Math.max(last, 1)], y: [0, (most * 1.1) / 1000],
      names: ["operation", "kB"], label: model.get("_sentence") });
  const medians = [eager, compiled].map((times) => `${median(times).toFixed(0)} µs`);
  const said = `Time of each of the last ${eager.length} steps: `
    + `the medians are ${medians[0]} dynamic (line) and ${medians[1]} static (dashed).`;
  const longest = 1.3 * Math.max(median(eager), median(compiled));
  const speed = makeChart({ width: 420, height: 170, x: [1, Math.max(eager.length, 2)], y: [0, longest],
      names: ["run", "µs"], label: said });
  const cursor = s("path", { class: "ak-guide" });
  /** Two lines: dynamic as a line, static dashed.
   * @param {ReturnType<typeof makeChart>} chart @param {[number, number][]} one
   * @param {[number, number][]} other */
  const draw = (chart, one, other) => chart.inner.append(
    s("path", { class: "ak-curve", d: linePath(one, chart.px, chart.py) }),
      s("path", { class: "ak-tangent", d: linePath(other, chart.px, chart.py) }));
  draw(memory, moments.map((moment, k) => [k, moment.bytes / 1000]),
    [[0, size / 1000], [Math.max(last, 1), size / 1000]]);
  draw(speed, eager.map((/** @type {number} */ each, /** @type {number} */ k) => [k + 1, each]),
    compiled.map((/** @type {number} */ each, /** @type {number} */ k) => [k + 1, each]));
  memory.inner.append(cursor);
  const figure = (/** @type {Element} */ chart, /** @type {string} */ words) =>
    h("figure", { className: "ak-seat" }, chart, h("figcaption", { className: "ak-note" }, words));
  const root = h("div", { className: "ak-player ak-live ak-compare", role: "group",
      "aria-label": "A dynamic and a static graph", tabIndex: 0 },
    h("div", { className: "ak-main" }, makeHalf("Dynamic", left.node).node,
      makeHalf("Static", right.node).node),
    h("div", { className: "ak-controls" }, sentence, range,
      h("div", { className: "ak-row" },
        h("div", { className: "ak-transport" }, ...buttons.map(({ node }) => node)),
        h("span", { className: "ak-space" }), count), chooser.node),
    h("div", { className: "ak-desk" },
      figure(memory.svg, `Memory: dynamic as a line, static dashed. ${model.get("_sentence")}`),
      figure(speed.svg, said)));

  function update() {
    const step = Math.max(0, Math.min(last, model.get("step")));
    const { boxes } = stages[chooser.at()];
    const freed = new Set(moments.slice(0, step).flatMap((moment) => moment.freed));
    /** @type {Record<string, Record<string, string>>} */ const here = {};
    /** @type {Record<string, Record<string, string>>} */ const there = {};
    moments.forEach(({ box, key }, k) => {
      here[box] = { status: k > step ? "to-come" : k === step ? "current" : freed.has(box) ? "dim"
        : "computed" };
      if (boxes[key]) there[boxes[key][0]] = { status: k > step ? "hidden" : k === step ? "current"
        : "computed" };
    });
    const absent = (/** @type {string} */ box) => ["to-come", "dim"].includes(here[box]?.status ?? "");
    for (const [edge, source, target] of edges)
      here[edge] = { status: absent(source) || absent(target) ? "to-come" : "idle" };
    left.show(here, {});
    right.show(there, {});
    left.mark(new Set([moments[step]?.box ?? ""]));
    right.mark(new Set([boxes[moments[step]?.key]?.[0] ?? ""]));
    left.find();
    right.find();
    const gone = boxes[moments[step]?.key] ? "" : " The passes have taken it out of the static graph.";
    sentence.textContent = `${moments[step]?.sentence ?? ""}${gone}`;
    count.textContent = `operation ${step + 1} of ${last + 1}`;
    range.value = String(step);
    range.setAttribute("aria-valuetext", `${count.textContent}: ${sentence.textContent}`);
    chooser.tell();
    cursor.setAttribute("d", linePath([[step, 0], [step, most]], memory.px, memory.py));
    buttons.forEach(({ node }, k) => setEnabled(node, k < 2 ? step > 0 : step < last));
  }

  function redraw() {
    right.replace(stages[chooser.at()].svg);
    update();
  }

  for (const { at, node } of buttons) node.addEventListener("click", () => go(at()), { signal });
  range.addEventListener("input", () => go(Number(range.value)), { signal });
  root.addEventListener("keydown", (event) => {
    const k = ["Home", "ArrowLeft", "ArrowRight", "End"].indexOf(event.key);
    if (k < 0 || event.target === chooser.range) return;
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
