/**
 * The playground: sliders on the inputs of a function, its graph with the numbers of this moment, and its
 * chart.
 *
 * The kernel computes; this file sends where the sliders stand and shows what comes back. Where no answer
 * comes, it says for which inputs the numbers on the screen hold.
 *
 * @typedef {{ name: string, low: number, high: number, step: number }} Input
 * @typedef
 *   {{ at: Record<string, number>, value: string, gradients: Record<string, string>, sentence: string,
 *   problem: string,
 *   state: import("./picture.js").Shown, thumbnails: Record<string, Record<string, string>> }} Moment
 * @typedef {{ kind: "curve", names: string[], values: (number | null)[] }} Curve
 * @typedef {{ kind: "contour", names: string[], values: (number | null)[][], levels: number[] }} Contour
 */

import { contourLines, extent, linePath, makeChart } from "./chart.js";
import { h, s } from "./dom.js";
import { ownKeys } from "./keys.js";
import { numberOf, withMinus } from "./numbers.js";
import { makePicture } from "./picture.js";

const PATIENCE = 2500; // milliseconds until the kernel is said not to answer
const SETTLED = 500; // and until a moment that rests is read out

/** A slider with a field for its number, and the gradient.
 * @param {Input} input @param {(value: number) => void} onMove @param {AbortSignal} signal */
function makeSlider(input, onMove, signal) {
  const { name, low, high, step } = input;
  const range = h("input", { type: "range", min: low, max: high, step, className: "ak-slide",
      "aria-label": name });
  const field = h("input", { type: "number", min: low, max: high, step, className: "ak-exact",
      "aria-label": `${name}, as a number` });
  const gradient = h("output", { className: "ak-slope" });
  const node = h("div", { className: "ak-input" }, h("span", { className: "ak-input-name" }, name),
    range, field,
    h("span", { className: "ak-slope-label" }, `∂f/∂${name}`), gradient);
  range.addEventListener("input", () => onMove(Number(range.value)), { signal });
  const kept = (/** @type {number} */ value) => Math.max(low, Math.min(high, value));
  const enter = () => field.value !== "" && onMove(kept(Number(field.value)));
  field.addEventListener("change", enter, { signal });
  // JupyterLab takes these keys from the browser, so that they are ours to answer.
  node.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    /** @type {Record<string, number>} */
    const moves = { ArrowUp: 1, ArrowDown: -1,
      ...(event.target === range ? { ArrowRight: 1, ArrowLeft: -1, PageUp: 10, PageDown: -10 } : {}) };
    const move = moves[event.key];
    if (move)
      onMove(Number((low + step * Math.round((kept(Number(range.value) + move * step) - low) / step))
        .toPrecision(12)));
    else if (event.key === "Enter" && event.target === field && !event.shiftKey) enter();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }, { signal });
  return {
    node, range, field,
    /** @param {number} value @param {string} slope */
    show(value, slope) {
      if (Number(range.value) !== value) range.value = String(value);
      if (document.activeElement !== field || Number(field.value) !== value)
        field.value = String(Number(value.toPrecision(6)));
      gradient.textContent = slope;
      gradient.dataset.sign = slope.startsWith("−") ? "−" : numberOf(slope) === 0 ? "" : "+";
    },
  };
}

/** Where a gradient's arrow ends: it is as long as a sixth of the picture.
 * @param {number[]} place @param {number[]} slope @param {[number, number][]} ends */
export function arrowEnd(place, slope, ends) {
  const sixth = ends.map(([low, high]) => (high - low) / 6);
  const length = Math.hypot(slope[0] / sixth[0], slope[1] / sixth[1]);
  return length > 0 && Number.isFinite(length) ? place.map((at, k) => at + slope[k] / length) : null;
}

/** @param {{ model: any, el: HTMLElement }} context @returns {() => void} what takes it all down again */
function render({ model, el }) {
  const listeners = new AbortController();
  const { signal } = listeners;
  /** @type {Input[]} */ const inputs = model.get("_inputs");
  /** @returns {Moment} */ const moment = () => model.get("_shown");
  let waiting = 0;
  let resting = 0;

  /** @param {Record<string, any>} traits */
  function set(traits) {
    for (const [name, value] of Object.entries(traits)) model.set(name, value);
    try {
      model.save_changes();
    } catch {
      // The kernel is gone: what stands here goes on standing.
    }
  }

  const sliders = inputs.map((input) => makeSlider(input, (value) => {
    set({ [input.name]: value });
    update();
  }, signal));
  const picture = makePicture(model.get("_svg"), "The graph of the function, with its values and gradients",
    (element) => set({ selected: element }), signal);
  const value = h("output", { className: "ak-result" });
  const reset = h("button", { type: "button", className: "ak-button" }, "Back to the start");
  const note = h("p", { className: "ak-note", role: "status" });
  const sentence = h("p", { className: "ak-unseen", "aria-live": "polite" });
  const seat = h("div", { className: "ak-seat" });
  const counted = inputs.length === 1 ? "an input" : `${inputs.length} inputs`;
  const root = h("div", { className: "ak-player ak-live ak-playground", role: "group",
    "aria-label": `Playground with ${counted}: ${inputs.map((i) => i.name).join(", ")}` },
    h("div", { className: "ak-main" }, picture.node),
    h("div", { className: "ak-desk" },
      h("div", { className: "ak-sliders" },
        h("p", { className: "ak-headline" },
          h("span", {}, `f(${inputs.map((input) => input.name).join(", ")}) = `), value),
        ...sliders.map((slider) => slider.node), h("div", { className: "ak-row" }, reset), note, sentence),
      seat));
  const start = Object.fromEntries(inputs.map((input) => [input.name, model.get(input.name)]));
  reset.addEventListener("click", () => {
    set(start);
    update();
  }, { signal });

  // ---- the chart: drawn once, and then only its point moves

  /** @type {(at: number[], value: number | null, slopes: number[]) => void} */ let point = () => {};

  function drawChart() {
    /** @type {Curve | Contour} */ const chart = model.get("_chart");
    const ends = chart.names.map((name) =>
      /** @type {[number, number]} */
    ((({ low, high }) => [low, high])(/** @type {Input} */ (inputs.find((i) => i.name === name)))));
    if (chart.kind === "curve") {
      const [low, high] = ends[0];
      const frame = makeChart({ width: 440, height: 270, x: ends[0], y: extent(chart.values),
          names: [chart.names[0], inputs.length === 1 ? `f(${chart.names[0]})` : "f"],
        label: `The curve of the function along ${chart.names[0]}, with its tangent` });
      const last = chart.values.length - 1;
      frame.inner.append(s("path",
          { class: "ak-curve", d: linePath(chart.values.map((v, k) => [low + (k / last) * (high - low), v]),
          frame.px, frame.py) }));
      const tangent = s("path", { class: "ak-tangent" });
      const dot = s("circle", { class: "ak-dot", r: 5 });
      frame.inner.append(tangent, dot);
      point = ([at], v, [slope]) => {
        const shown = v !== null && Number.isFinite(slope);
        dot.setAttribute("display", v === null ? "none" : "inline");
        tangent.setAttribute("d",
          shown ? linePath([[low, v + slope * (low - at)], [high, v + slope * (high - at)]], frame.px,
          frame.py) : "");
        if (v !== null) dot.setAttribute("transform", `translate(${frame.px(at)} ${frame.py(v)})`);
      };
      seat.replaceChildren(frame.svg);
    } else {
      const label = `The contour of the function over ${chart.names.join(" and ")}, `
        + "with its gradient as an arrow";
      const frame = makeChart({ width: 440, height: 330, x: ends[0], y: ends[1],
        names: /** @type {[string, string]} */ (chart.names), plain: true, label });
      frame.inner.append(...contourLines(chart.values, chart.levels, ends[0], ends[1], frame));
      const shaft = s("path", { class: "ak-shaft" });
      const head = s("polygon", { class: "ak-head", points: "0,0 -11,-5.5 -11,5.5" });
      const dot = s("circle", { class: "ak-dot", r: 5 });
      frame.over.append(shaft, head, dot);
      point = (at, _, slopes) => {
        const end = arrowEnd(at, slopes, ends);
        const [x, y] = [frame.px(at[0]), frame.py(at[1])];
        dot.setAttribute("transform", `translate(${x} ${y})`);
        for (const part of [shaft, head]) part.setAttribute("display", end ? "inline" : "none");
        if (!end) return;
        const [x1, y1] = [frame.px(end[0]), frame.py(end[1])];
        shaft.setAttribute("d", `M${x},${y}L${x1},${y1}`);
        head.setAttribute("transform",
          `translate(${x1} ${y1}) rotate(${(Math.atan2(y1 - y, x1 - x) * 180) / Math.PI})`);
      };
      seat.replaceChildren(frame.svg);
    }
  }

  // ---- what the model says

  const stale = () => inputs.some(({ name }) => moment().at[name] !== model.get(name));

  function update() {
    const now = moment();
    value.textContent = now.value;
    sliders.forEach((slider, k) => slider.show(model.get(inputs[k].name), now.gradients[inputs[k].name]));
    const { names } = model.get("_chart");
    const number = model.get("value");
    point(names.map((/** @type {string} */ name) => now.at[name]),
      typeof number === "number" && Number.isFinite(number) ? number : null,
      names.map((/** @type {string} */ name) => model.get("gradients")[name]));
    note.textContent = now.problem;
    root.toggleAttribute("data-problem", Boolean(now.problem));
    clearTimeout(waiting);
    clearTimeout(resting);
    resting = window.setTimeout(() => (sentence.textContent = now.sentence), SETTLED);
    if (stale()) {
      waiting = window.setTimeout(() => {
        const at = inputs.map(({ name }) => `${name} = ${withMinus(now.at[name])}`).join(", ");
        note.textContent = `The kernel does not answer: these are the numbers at ${at}.`;
      }, PATIENCE);
    }
  }

  function follow() {
    const { state, thumbnails } = moment();
    picture.show(state, thumbnails);
    mark();
    update();
  }

  const mark = () => picture.mark(new Set([model.get("selected")].filter(Boolean)));
  /** @type {[string, () => void][]} */
  const events = [
    ["_shown", follow], ["selected", mark],
    ["_svg", () => picture.replace(model.get("_svg"))],
    ["_chart", () => drawChart()],
    ...inputs.map((input) => /** @type {[string, () => void]} */ ([input.name, update])),
  ];
  for (const [trait, call] of events) model.on(`change:${trait}`, call);
  ownKeys(root, signal);
  el.append(root);
  drawChart();
  follow();

  return () => {
    for (const [trait, call] of events) model.off(`change:${trait}`, call);
    listeners.abort();
    clearTimeout(waiting);
    clearTimeout(resting);
    picture.close();
    root.remove();
  };
}

export default { render };
