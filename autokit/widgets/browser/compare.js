/**
 * A dynamic and a static graph, side by side: one slider moves both, another one goes through the passes.
 *
 * @typedef {{ box: string, key: string, freed: string[], bytes: number, sentence: string }} Moment
 */

import { makeChart } from "./chart.js";
import { h, s } from "./dom.js";
import { groupOf, makeTransport, slide, slider, stepsOf } from "./parts.js";
import { makePicture } from "./picture.js";
import { makeHalf, makeStages } from "./stages.js";
import { makeView } from "./view.js";

/** @param {number[]} numbers */
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** @param {{ model: any, el: HTMLElement }} context @returns {() => void} what takes it all down again */
function render({ model, el }) {
  const { signal, on, set, follow, answer, begin } = makeView({ model, el });
  /** @type {Moment[]} */ const moments = model.get("_moments");
  const chooser = makeStages(model, set);
  const { stages } = chooser;
  const edges = model.get("_edges");
  const size = model.get("_size");
  const [eager, compiled] = model.get("_times");
  const last = moments.length - 1;

  const go = (/** @type {number} */ to) => set({ step: Math.max(0, Math.min(last, to)) });

  const left = makePicture(stages[0].svg, "The dynamic graph", () => {}, signal);
  const right = makePicture(stages[chooser.at()].svg, "The static graph", () => {}, signal);
  const transport = makeTransport(stepsOf(() => model.get("step"), last, go), on);
  const range = slider("Operation", { min: 0, max: Math.max(last, 0) }, go);
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
  /** @param {number[]} times @returns {[number, number][]} */
  const runs = (times) => times.map((time, k) => [k + 1, time]);
  memory.inner.append(memory.line("ak-curve", moments.map((moment, k) => [k, moment.bytes / 1000])),
    memory.line("ak-tangent", [[0, size / 1000], [Math.max(last, 1), size / 1000]]), cursor);
  speed.inner.append(speed.line("ak-curve", runs(eager)), speed.line("ak-tangent", runs(compiled)));
  const figure = (/** @type {Element} */ chart, /** @type {string} */ words) =>
    h("figure", { className: "ak-seat" }, chart, h("figcaption", { className: "ak-note" }, words));
  const root = groupOf("ak-player ak-live ak-compare", "A dynamic and a static graph",
    h("div", { className: "ak-main" }, makeHalf("Dynamic", left.node).node,
      makeHalf("Static", right.node).node),
    h("div", { className: "ak-controls" }, sentence, range,
      h("div", { className: "ak-row" }, transport.node, h("span", { className: "ak-space" }), count),
      chooser.node),
    h("div", { className: "ak-desk" },
      figure(memory.svg, `Memory: dynamic as a line, static dashed. ${model.get("_sentence")}`),
      figure(speed.svg, said)));
  root.tabIndex = 0;

  function update() {
    const step = Math.max(0, Math.min(last, model.get("step")));
    const { boxes } = stages[chooser.at()];
    const freed = new Set(moments.slice(0, step).flatMap((moment) => moment.freed));
    /** @type {Record<string, Record<string, string>>} */ const here = {};
    /** @type {Record<string, Record<string, string>>} */ const there = {};
    moments.forEach(({ box, key }, k) => {
      const done = k === step ? "current" : "computed";
      here[box] = { status: k > step ? "to-come" : k < step && freed.has(box) ? "dim" : done };
      if (boxes[key]) there[boxes[key][0]] = { status: k > step ? "hidden" : done };
    });
    const absent = (/** @type {string} */ box) => ["to-come", "dim"].includes(here[box]?.status ?? "");
    for (const [edge, source, target] of edges)
      here[edge] = { status: absent(source) || absent(target) ? "to-come" : "idle" };
    left.show(here);
    right.show(there);
    left.mark(new Set([moments[step]?.box ?? ""]));
    right.mark(new Set([boxes[moments[step]?.key]?.[0] ?? ""]));
    const gone = boxes[moments[step]?.key] ? "" : " The passes have taken it out of the static graph.";
    sentence.textContent = `${moments[step]?.sentence ?? ""}${gone}`;
    count.textContent = `operation ${step + 1} of ${last + 1}`;
    slide(range, step, `${count.textContent}: ${sentence.textContent}`);
    chooser.tell();
    cursor.setAttribute("d", memory.path([[step, 0], [step, most]]));
    transport.show(step > 0, step < last);
  }

  function redraw() {
    right.replace(stages[chooser.at()].svg);
    update();
  }

  answer(root, transport.keys, (event) => event.target === chooser.range);
  follow(["step"], update);
  follow(["chosen"], redraw);
  return begin(root, update);
}

export default { render };
