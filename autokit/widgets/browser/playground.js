/**
 * The playground: sliders on the inputs of a function, its graph with the numbers of this moment, and its
 * chart, in which a hand may move the inputs too.
 *
 * The kernel computes; this file sends where the sliders stand and shows what comes back. Where no answer
 * comes, it says for which inputs the numbers on the screen hold.
 *
 * @typedef {{ name: string, low: number, high: number, step: number, nudge: boolean }} Input the nudge is the
 *   secant's step
 * @typedef {{ at: Record<string, number>, value: string, gradients: Record<string, string>, sentence: string,
 *   problem: string, secant: { value: number | null, slope: number | null, text: string, words: string },
 *   state: import("./picture.js").Shown, thumbnails: Record<string, Record<string, string>> }} Moment
 * @typedef {{ kind: "curve", names: string[], values: (number | null)[] }} Curve
 * @typedef {{ kind: "contour", names: string[], values: (number | null)[][], levels: number[] }} Contour
 */

import { contourLines, drawnIn, extent, makeChart, stand } from "./chart.js";
import { h, s } from "./dom.js";
import { withMinus } from "./numbers.js";
import { groupOf, slider, textButton } from "./parts.js";
import { makePicture } from "./picture.js";
import { makeView } from "./view.js";

const PATIENCE = 2500; // milliseconds until the kernel is said not to answer
const SETTLED = 500; // and until a moment that rests is read out

/** The number nearest to `value` on which a slider can stand. @param {Input} input @param {number} value */
const snapped = ({ low, high, step }, value) => Math.max(low, Math.min(high,
  Number((low + step * Math.round((value - low) / step)).toPrecision(12))));

/** A slider with a field for its number, and what is told beside it, as the gradient.
 * @param {Input} input @param {string} told @param {(value: number) => void} onMove
 * @param {import("./view.js").Widget} widget */
function makeSlider(input, told, onMove, { on, answer }) {
  const { name, low, high, step } = input;
  const range = slider(name, { min: low, max: high, step }, onMove);
  const field = h("input", { type: "number", min: low, max: high, step, className: "ak-exact",
      "aria-label": `${name}, as a number` });
  const gradient = h("output", { className: "ak-slope" });
  const node = h("div", { className: "ak-input" }, h("span", { className: "ak-input-name" }, name),
    range, field, h("span", { className: "ak-slope-label" }, told), gradient);
  const kept = (/** @type {number} */ value) => Math.max(low, Math.min(high, value));
  const enter = () => field.value !== "" && onMove(kept(Number(field.value)));
  on(field, "change", enter);
  // JupyterLab takes these keys from the browser, so that they are ours to answer.
  const by = (/** @type {number} */ steps) => () =>
    onMove(snapped(input, Number(range.value) + steps * step));
  answer(range, { ArrowRight: by(1), ArrowLeft: by(-1), PageUp: by(10), PageDown: by(-10) });
  answer(field, { Enter: enter }, (event) => event.shiftKey);
  answer(node, { ArrowUp: by(1), ArrowDown: by(-1) });
  return {
    node, range, field,
    /** @param {number} value @param {string} slope in words @param {number | null} size */
    show(value, slope, size) {
      if (Number(range.value) !== value) range.value = String(value);
      if (document.activeElement !== field || Number(field.value) !== value)
        field.value = String(Number(value.toPrecision(6)));
      gradient.textContent = slope;
      gradient.dataset.sign = !size ? "" : size < 0 ? "−" : "+";
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
  const widget = makeView({ model, el });
  const { signal, on, set, follow, begin, atEnd } = widget;
  /** @type {Input[]} */ const all = model.get("_inputs");
  const inputs = all.filter((input) => !input.nudge);
  const nudge = all.find((input) => input.nudge);
  /** @type {string} */ const name = model.get("_name");
  /** @returns {Moment} */ const moment = () => model.get("_shown");
  let waiting = 0;
  let resting = 0;

  /** @param {Record<string, number>} places */
  function move(places) {
    set(places);
    update();
  }
  const told = (/** @type {Input} */ input) =>
    input.nudge ? "secant" : `∂${name.length > 8 ? "f" : name}/∂${input.name}`;
  const sliders = all.map((input) =>
    makeSlider(input, told(input), (value) => move({ [input.name]: value }), widget));
  const picture = makePicture(model.get("_svg"), "The graph of the function, with its values and gradients",
    (element) => set({ selected: element }), signal, true);
  const value = h("output", { className: "ak-result" });
  const start = Object.fromEntries(all.map((input) => [input.name, model.get(input.name)]));
  const reset = textButton("Back to the start", { onclick: () => move(start) });
  const note = h("p", { className: "ak-note", role: "status" });
  const sentence = h("p", { className: "ak-unseen", "aria-live": "polite" });
  const seat = h("div", { className: "ak-seat" });
  const difference = h("p", { className: "ak-difference", hidden: !nudge });
  const counted = inputs.length === 1 ? "an input" : `${inputs.length} inputs`;
  const names = inputs.map((input) => input.name).join(", ");
  const root = groupOf("ak-player ak-live ak-playground", `Playground of ${name} with ${counted}: ${names}`,
    h("div", { className: "ak-main" }, picture.node),
    h("div", { className: "ak-desk" },
      h("div", { className: "ak-sliders" },
        h("p", { className: "ak-headline" }, h("span", {}, `${name}(${names}) = `), value),
        ...sliders.map(({ node }) => node), difference, h("div", { className: "ak-row" }, reset), note,
        sentence), seat));

  // ---- the chart: drawn once, and then only its point moves

  /** @type {(at: number[], value: number | null, slopes: number[]) => void} */ let point = () => {};

  /** Let a hand move the inputs that are the chart's axes.
   * @param {import("./chart.js").Chart} frame @param {Input[]} axes */
  function drag({ svg, under }, axes) {
    const here = (/** @type {PointerEvent} */ event) => {
      const at = under(event);
      move(Object.fromEntries(axes.map((input, k) => [input.name, snapped(input, at[k])])));
    };
    on(svg, "pointerdown", (event) => {
      if (event.button) return;
      svg.setPointerCapture(event.pointerId);
      here(event);
    });
    on(svg, "pointermove", (event) => svg.hasPointerCapture(event.pointerId) && here(event));
  }

  /** @param {number} width */
  function drawChart(width) {
    /** @type {Curve | Contour} */ const chart = model.get("_chart");
    const axes = chart.names.map((each) =>
      /** @type {Input} */ (inputs.find((input) => input.name === each)));
    const frame = chart.kind === "curve" ? drawCurve(chart, axes[0], width) : drawContour(chart, axes, width);
    drag(frame, axes);
    seat.replaceChildren(frame.svg);
  }

  /** @param {Curve} chart @param {Input} input @param {number} width */
  function drawCurve(chart, { name: along, low, high }, width) {
    const frame = makeChart({ width, height: Math.min(264, 0.64 * width), x: [low, high],
      y: extent(chart.values), names: [along, inputs.length === 1 ? `${name}(${along})` : name],
      label: `The curve of the function along ${along}, with its tangent${nudge ? " and a secant" : ""}` });
    const last = chart.values.length - 1;
    const curve = chart.values.map((v, k) =>
      /** @type {[number, number | null]} */ ([low + (k / last) * (high - low), v]));
    const [tangent, secant, rise] = ["tangent", "secant", "rise"].map((kind) =>
      s("path", { class: `ak-${kind}` }));
    const [beyond, dot] = ["ak-dot ak-beyond", "ak-dot"].map((kind) => s("circle", { class: kind, r: 5 }));
    frame.inner.append(frame.line("ak-curve", curve), tangent, dot);
    if (nudge) dot.before(rise, secant, beyond);
    point = ([at], v, [slope]) => {
      const through = (/** @type {number | null} */ by) => (v === null || by === null || !Number.isFinite(by)
        ? "" : frame.path([[low, v + by * (low - at)], [high, v + by * (high - at)]]));
      tangent.setAttribute("d", through(slope));
      stand(dot, frame.at(at, v));
      const there = nudge ? moment().secant : { value: null, slope: null };
      const to = at + (nudge ? moment().at[nudge.name] : 0);
      secant.setAttribute("d", through(there.slope));
      const legs = there.value === null || v === null ? [] : [[at, v], [to, v], [to, there.value]];
      rise.setAttribute("d", frame.path(/** @type {[number, number][]} */ (legs)));
      stand(beyond, frame.at(to, there.value));
    };
    return frame;
  }

  /** @param {Contour} chart @param {Input[]} axes @param {number} width */
  function drawContour(chart, axes, width) {
    const ends = axes.map(({ low, high }) => /** @type {[number, number]} */ ([low, high]));
    const frame = makeChart({ width, height: Math.min(272, 0.72 * width), x: ends[0], y: ends[1],
      names: /** @type {[string, string]} */ (chart.names), plain: true,
      label: `The contour over ${chart.names.join(" and ")}, with the gradient as an arrow` });
    frame.inner.append(...contourLines(chart.values, chart.levels, ends[0], ends[1], frame));
    const shaft = s("path", { class: "ak-shaft" });
    const head = s("polygon", { class: "ak-head", points: "0,0 -11,-5.5 -11,5.5" });
    const dot = s("circle", { class: "ak-dot", r: 5 });
    frame.over.append(shaft, head, dot);
    point = (at, _, slopes) => {
      const end = arrowEnd(at, slopes, ends);
      const [from, to] = [at, end ?? at].map(([x, y]) => [frame.px(x), frame.py(y)]);
      const turned = (Math.atan2(to[1] - from[1], to[0] - from[0]) * 180) / Math.PI;
      stand(dot, from);
      stand(head, end && to, ` rotate(${turned})`);
      shaft.setAttribute("d", end ? `M${from}L${to}` : "");
    };
    return frame;
  }

  // ---- what the model says

  const stale = () => all.some(({ name }) => moment().at[name] !== model.get(name));

  function update() {
    const now = moment();
    value.textContent = now.value;
    const slopes = model.get("gradients");
    sliders.forEach((slider, k) => {
      const { name: each, nudge: isNudge } = all[k];
      if (isNudge) slider.show(model.get(each), now.secant.text, now.secant.slope);
      else slider.show(model.get(each), now.gradients[each], slopes[each]);
    });
    const { names: axes } = model.get("_chart");
    const number = model.get("value");
    point(axes.map((/** @type {string} */ each) => now.at[each]),
      typeof number === "number" && Number.isFinite(number) ? number : null,
      axes.map((/** @type {string} */ each) => slopes[each]));
    difference.textContent = now.secant.words ?? "";
    note.textContent = now.problem;
    root.toggleAttribute("data-problem", Boolean(now.problem));
    rest();
    resting = window.setTimeout(() => (sentence.textContent = now.sentence), SETTLED);
    if (stale()) {
      waiting = window.setTimeout(() => {
        const at = all.map((input) => `${input.name} = ${withMinus(now.at[input.name])}`).join(", ");
        note.textContent = `The kernel does not answer: these are the numbers at ${at}.`;
      }, PATIENCE);
    }
  }

  const rest = () => [waiting, resting].forEach(clearTimeout);

  function showMoment() {
    const { state, thumbnails } = moment();
    picture.show(state, thumbnails);
    mark();
    update();
  }

  const chart = drawnIn(seat, (width) => (drawChart(width), update()), signal);
  const mark = () => picture.mark(new Set([model.get("selected")].filter(Boolean)));
  follow(["_shown"], showMoment);
  follow(["selected"], mark);
  follow(["_svg"], () => picture.replace(model.get("_svg")));
  follow(["_chart"], chart);
  follow(all.map((input) => input.name), update);
  atEnd(rest);
  return begin(root, () => {
    chart();
    showMoment();
  });
}

export default { render };
