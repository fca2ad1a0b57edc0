/**
 * Optimizers on their way down a loss: the contour with their ways so far, their losses, and controls to
 * step.
 *
 * All steps are here from the beginning, so that it plays without the kernel; only for another start it asks.
 *
 * @typedef {{ name: string, x: (number | null)[], y: (number | null)[], losses: (number | null)[] }} Way
 * @typedef {{ names: [string, string], ends: [[number, number], [number, number]], values: (number |
 *   null)[][], levels: number[], start: number[], paths: Way[], told: string[][][], sentences: string[] }}
 *   Descents
 */

import { contourLines, drawnIn, extent, makeChart, stand } from "./chart.js";
import { h, prefersStillness, s, tableOf } from "./dom.js";
import { drawnRow, groupOf, makeTransport, markChosen, regionOf, slide, slider, stepsOf } from "./parts.js";
import { isPressing, makeView } from "./view.js";

const PACE = 220; // milliseconds a step
const PATIENCE = 2500; // and until the kernel is said not to answer
const NEAR = 8; // marks so near to each other, in px, overlap
const COLOURS = 6;
const SHAPES = ["M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z", "M-4.5,-4.5h9v9h-9z", "M0,-6L5.5,4.5H-5.5z",
  "M0,-6.5L6,0L0,6.5L-6,0z",
  "M-1.8,-5.5h3.6v3.7h3.7v3.6h-3.7v3.7h-3.6v-3.7h-3.7v-3.6h3.7z", "M0,6L5.5,-4.5H-5.5z"];

/** @param {{ model: any, el: HTMLElement }} context @returns {() => void} what takes it all down again */
function render({ model, el }) {
  const { signal, on, set, follow, answer, begin, atEnd } = makeView({ model, el });
  /** @type {Descents} */ let data = model.get("_descents");
  const last = data.sentences.length - 1;
  let timer = 0;
  let waiting = 0;

  const here = () => Math.max(0, Math.min(last, model.get("step")));
  const go = (/** @type {number} */ to) => set({ step: Math.max(0, Math.min(last, to)) });
  const act = {
    ...stepsOf(here, last, go),
    play: () => set(model.get("playing") ? { playing: false } : here() >= last ? { step: 0, playing: true }
      : { playing: true }),
  };
  const select = (/** @type {string} */ name) =>
    set({ selected: model.get("selected") === name ? "" : name });

  // ---- the contour with the ways, and the losses

  const [fieldSeat, fallSeat] = [h("div", {}), h("div", {})];
  /** @type {() => void} */ let showWays = () => {};
  /** @type {() => void} */ let showLosses = () => {};
  const looks = data.paths.map((way, k) => ({ "data-way": String(k % COLOURS), "data-name": way.name }));
  const lineOf = (/** @type {number} */ k) => s("path", { class: "ak-line-of", ...looks[k] });
  const markOf = (/** @type {number} */ k) =>
    s("path", { class: "ak-mark-of", d: SHAPES[k % SHAPES.length], ...looks[k] });

  /** Put marks where they are; what later ones cover is larger, and looks out below them.
   * @param {Element[]} marks @param {(number[] | null)[]} places in px */
  function standAll(marks, places) {
    marks.forEach((mark, k) => {
      const at = places[k];
      const over = places.slice(k + 1)
        .filter((o) => o && at && Math.hypot(o[0] - at[0], o[1] - at[1]) < NEAR);
      stand(mark, at, ` scale(${1 + 0.6 * over.length})`);
    });
  }

  /** @param {number} width */
  function drawField(width) {
    const field = makeChart({ width, height: Math.min(360, 0.78 * width), x: data.ends[0], y: data.ends[1],
      names: data.names, plain: true, label: "" });
    const marks = data.paths.map((_, k) => markOf(k));
    const lines = data.paths.map((_, k) => [s("path", { class: "ak-halo" }), lineOf(k)]);
    field.inner.append(...contourLines(data.values, data.levels, data.ends[0], data.ends[1], field),
      ...lines.flat(), ...marks);
    on(field.svg, "click", (event) => restart(field.under(event)));
    showWays = () => {
      const step = here();
      data.paths.forEach((way, k) => {
        const so = way.x.slice(0, step + 1).map((x, at) =>
          /** @type {[number, number | null]} */ ([x ?? 0, x === null ? null : way.y[at]]));
        for (const line of lines[k]) line.setAttribute("d", field.path(so));
      });
      standAll(marks, data.paths.map(({ x, y }) => field.at(x[step], y[step])));
      field.svg.setAttribute("aria-label", "The contour of the loss, with the ways of the optimizers. "
        + data.sentences[step]);
    };
    fieldSeat.replaceChildren(field.svg);
  }

  /** The losses so far; the axes have room for those of all steps. @param {number} width */
  function drawFall(width) {
    const losses = data.paths.flatMap((way) => way.losses);
    const known = /** @type {number[]} */ (losses.filter((v) => v !== null));
    const powers = Math.min(...known) > 0 && Math.max(...known) > 30 * Math.min(...known);
    const scaled = (/** @type {number | null} */ v) => (v === null ? null : powers ? Math.log10(v) : v);
    const fall = makeChart({ width, height: 200, x: [0, last], y: extent(losses.map(scaled)),
      names: ["step", "loss"], power: powers, label: "The loss of each optimizer at each step so far" });
    const now = s("path", { class: "ak-now" });
    const [curves, marks] = [lineOf, markOf].map((make) => data.paths.map((_, k) => make(k)));
    fall.inner.append(now, ...curves);
    fall.over.append(...marks);
    showLosses = () => {
      const step = here();
      now.setAttribute("d", `M${fall.px(step)},0V1000`);
      data.paths.forEach((way, k) => curves[k].setAttribute("d",
        fall.path(way.losses.slice(0, step + 1).map((v, at) => [at, scaled(v)]))));
      standAll(marks, data.paths.map(({ losses: all }) => fall.at(step, scaled(all[step]))));
    };
    fallSeat.replaceChildren(fall.svg);
  }

  /** Let all descend from another place, which the kernel computes. @param {number[]} place */
  function restart(place) {
    clearTimeout(waiting);
    set({ start: place.map((at) => Number(at.toPrecision(3))), playing: false });
    waiting = window.setTimeout(() => {
      if (String(data.start) !== String(model.get("start")))
        sentence.textContent = "The kernel does not answer: the ways begin where they began.";
    }, PATIENCE);
  }

  // ---- the table and the controls

  const rows = data.paths.map((way, k) => {
    const swatch = s("svg", { class: "ak-swatch", viewBox: "-8 -8 16 16", width: 16, height: 16,
        "aria-hidden": "true" }, markOf(k));
    return drawnRow(way.name, swatch, 4, () => select(way.name));
  });
  const table = tableOf(h("span", { className: "ak-unseen" }, "The optimizers at this step"),
    ["Optimizer", ...data.names, "Loss", "Gradient norm"], rows);
  const transport = makeTransport(act, on);
  const range = slider("Step", { min: 0, max: last, step: 1 }, go);
  const starts = data.names.map((name, k) => h("input", { type: "number", step: "any", className: "ak-exact",
    title: name, "aria-label": `Start, ${name}`, min: data.ends[k][0], max: data.ends[k][1] }));
  const count = h("span", { className: "ak-count" });
  const sentence = h("p", { className: "ak-sentence", "aria-live": "polite" });
  const optimizers = `${data.paths.length} optimizer${data.paths.length === 1 ? "" : "s"}`;
  const root = groupOf("ak-player ak-live ak-descent",
    `Descent of ${optimizers}, ${last} steps. Left and right step, Space plays.`,
    h("div", { className: "ak-desk" }, h("div", { className: "ak-seat" }, fieldSeat),
      h("div", { className: "ak-seat ak-side" }, fallSeat, regionOf("ak-layers", "Optimizers", table))),
    h("div", { className: "ak-controls" }, sentence, range,
      h("div", { className: "ak-row" }, transport.node, h("span", { className: "ak-space" }),
        h("span", { className: "ak-fact" }, h("span", {}, "Start: click the contour, or"),
          ...starts.flatMap((field, k) => [`${data.names[k]} =`, field])), count)));
  root.tabIndex = 0;

  for (const field of starts)
    on(field, "change", () => restart(starts.map(({ value }) => Number(value))));
  answer(root, { ...transport.keys, Escape: () => set({ selected: "" }) },
    (event) => isPressing(event) || starts.includes(event.target));

  function update() {
    const step = here();
    showWays();
    showLosses();
    data.told[step].forEach((texts, k) =>
      texts.forEach((text, column) => (rows[k].cells[column + 1].textContent = text)));
    if (sentence.textContent !== data.sentences[step]) sentence.textContent = data.sentences[step];
    starts.forEach((field, k) => (field.value = String(data.start[k])));
    slide(range, step, `${step} of ${last}`);
    count.textContent = `${step} / ${last}`;
    const playing = model.get("playing");
    transport.show(step > 0, step < last, playing);
    // played, each step would cut off the one before
    sentence.setAttribute("aria-live", playing ? "off" : "polite");
    mark();
    clearTimeout(timer);
    if (!playing) return;
    if (step >= last) set({ playing: false });
    else timer = window.setTimeout(act.next, PACE / model.get("speed"));
  }

  const mark = () => markChosen(root, model.get("selected"), Boolean(model.get("selected")));

  follow(["step", "playing", "speed", "selected"], update);
  const draw = [drawnIn(fieldSeat, (width) => (drawField(width), showWays(), mark()), signal),
    drawnIn(fallSeat, (width) => (drawFall(width), showLosses(), mark()), signal)];
  const anew = () => {
    data = model.get("_descents");
    draw.forEach((each) => each());
    update();
  };
  follow(["_descents"], () => {
    anew();
    if (!here()) set(prefersStillness() ? { step: last } : { playing: true });
  });
  atEnd(() => [timer, waiting].forEach(clearTimeout));
  return begin(root, anew);
}

export default { render };
