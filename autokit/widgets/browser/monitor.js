/**
 * The monitor of a training run: progress, three or four charts, and a row for each layer.
 *
 * Python sends what it measured some times a second, as 4-byte floats; here it is drawn. When the run ends
 * nothing more comes, and what was drawn last stays.
 *
 * @typedef {{ sentence: string, loss: string, rate: string, title: string, powers: boolean, constant:
 *   boolean, rows: string[][], ranks: string[][] }} Told
 */

import { drawnIn, extent, makeChart } from "./chart.js";
import { h, s, tableOf } from "./dom.js";
import { drawnRow, groupOf, markChosen, regionOf } from "./parts.js";
import { makeView } from "./view.js";

const READ_OUT = 5000; // milliseconds between two sentences for who listens
const COLOURS = 6;
const DASHES = ["", "6 3", "2 2.5"];

/** The rows of a table of 4-byte floats.
 * @param {DataView | null | undefined} view @param {number} columns @returns {number[][]} */
export function rowsOf(view, columns) {
  const rows = [];
  for (let at = 0; view && at + 4 * columns <= view.byteLength; at += 4 * columns) {
    rows.push(Array.from({ length: columns }, (_, k) => view.getFloat32(at + 4 * k, true)));
  }
  return rows;
}

/** @param {{ model: any, el: HTMLElement }} context @returns {() => void} what takes it all down again */
function render({ model, el }) {
  const { signal, set, follow, begin, atEnd } = makeView({ model, el });
  /** @type {string[]} */ const layers = model.get("_layers");
  let read = -Infinity;
  let frame = 0;

  const select = (/** @type {string} */ layer) =>
    set({ selected: model.get("selected") === layer ? "" : layer });

  const alarm = h("p", { className: "ak-alarm", role: "alert", hidden: true });
  const bar = h("div", { className: "ak-bar", role: "progressbar", "aria-label": "Steps" }, h("div"));
  const facts = ["Step", "Loss", "Learning rate"].map((name) => ({ name, value: h("b", {}, "—") }));
  const state = h("span", { className: "ak-phase" });
  const sentence = h("p", { className: "ak-unseen", "aria-live": "polite" });
  const charts = ["Loss", "Learning rate", "Gradient norm per layer, in powers of ten",
    "Update ÷ weights per layer, in powers of ten"].map((title) => {
    const [seat, head] = [h("div", { className: "ak-seat" }), h("h2", {}, title)];
    return { seat, head, node: h("section", { "aria-label": title }, head, seat) };
  });
  const desk = h("div", { className: "ak-charts" }, ...charts.map((chart) => chart.node));
  const table = tableOf(h("span", { className: "ak-unseen" }, "Layers at the step measured last"),
    ["Layer", "Gradient norm", "Update ÷ weights", "Silent on the batch"], []);
  const [body] = table.tBodies;
  const ranks = tableOf("Ranks", ["Rank", "Loss", "Computing", "Waiting"], []);
  const root = groupOf("ak-player ak-live ak-monitor", "Monitor of a training run", alarm,
    h("div", { className: "ak-progress" }, state,
      ...facts.map(({ name, value }) => h("span", { className: "ak-fact" }, h("span", {}, name), value))),
    bar, desk, regionOf("ak-layers", "Layers", table), regionOf("ak-layers", "Ranks", ranks), sentence);

  /** The colour and the dashes of a layer's line. @param {number} k */
  const look = (k) => ({ "data-way": String(k % COLOURS),
      "stroke-dasharray": DASHES[Math.floor(k / COLOURS) % DASHES.length] || "none" });

  /** @param {{ seat: HTMLElement, head: HTMLElement }} place @param {number[][]} rows a step and its values
   * @param {{ powers?: boolean, guide?: number, layered?: boolean, floor?: number }} how */
  function draw({ seat, head }, rows, { powers = false, guide, layered = false, floor = Infinity }) {
    const shown = rows.map(([step, ...values]) =>
      [step, ...values.map((v) => (!Number.isFinite(v) || (powers && v <= 0) ? null : powers ? Math.log10(v)
          : v))]);
    const values = shown.flatMap((row) => row.slice(1));
    if (!values.some((v) => v !== null))
      return seat.replaceChildren(h("p", { className: "ak-note" }, "Nothing was measured so far."));
    const [first, last] = [Number(shown[0][0]), Number(shown[shown.length - 1][0])];
    let [low, high] = extent(values);
    low = Math.min(floor, low);
    if (powers && high - low < 1) [low, high] = [Math.floor(low), Math.ceil(high)];
    const chart = makeChart({ width: Math.max(250, seat.clientWidth || 400), height: 200, y: [low, high],
      x: [first, Math.max(last, first + 1, model.get("total"))], names: ["step", ""],
      label: String(head.textContent), power: powers });
    if (guide !== undefined) chart.inner.append(chart.line("ak-guide", [[first, guide], [last, guide]]));
    const many = shown[0].length - 1;
    for (let k = 0; k < many; k += 1) {
      const points = shown.map((row) => /** @type {const} */ ([Number(row[0]), row[k + 1]]));
      const line = chart.line(layered ? "ak-line-of" : "ak-curve", points);
      if (layered) {
        for (const [name, value] of Object.entries(look(k))) line.setAttribute(name, value);
        line.dataset.name = layers[k];
        line.append(s("title", {}, layers[k]));
      }
      chart.inner.append(line);
    }
    const end = shown[shown.length - 1][1];
    if (!layered && end !== null)
      chart.over.append(s("circle", { class: "ak-dot", r: 3.5, cx: chart.px(last), cy: chart.py(end) }));
    seat.replaceChildren(chart.svg);
  }

  function tell() {
    /** @type {Told} */ const told = model.get("_told");
    const [steps, total] = [model.get("steps"), model.get("total")];
    const wrong = model.get("alarm");
    alarm.hidden = !wrong;
    if (alarm.textContent !== (wrong && `✗ ${wrong}`)) alarm.textContent = wrong && `✗ ${wrong}`;
    // a saved page has a state of its own
    state.textContent = model.get("running") ? "Running" : (model.get("_state") ?? "Done");
    root.dataset.phase = model.get("running") ? "forward" : "turn";
    const of = total ? ` of ${total.toLocaleString("en")}` : "";
    [`${steps.toLocaleString("en")}${of}`, told.loss, told.rate]
      .forEach((text, k) => (facts[k].value.textContent = text));
    bar.hidden = !total;
    bar.setAttribute("aria-valuemax", String(total || 1));
    bar.setAttribute("aria-valuenow", String(Math.min(steps, total)));
    bar.firstElementChild.style.width = `${total ? Math.min(100, (100 * steps) / total) : 0}%`;
    const now = performance.now();
    if (now - read > READ_OUT || !model.get("running")) {
      read = now;
      sentence.textContent = told.sentence;
    }
    charts[0].head.textContent = told.title;
    charts[0].node.setAttribute("aria-label", told.title);
    charts[1].node.hidden = told.constant;
    desk.dataset.count = told.constant ? "3" : "4";
    draw(charts[0], rowsOf(model.get("_losses"), 2), { powers: told.powers });
    if (!told.constant) draw(charts[1], rowsOf(model.get("_rates"), 2), { floor: 0 });
    const layered = { powers: true, layered: true };
    draw(charts[2], rowsOf(model.get("_norms"), 1 + layers.length), layered);
    draw(charts[3], rowsOf(model.get("_ratios"), 1 + layers.length), { ...layered, guide: -3 });
    list(told.rows);
    ranks.parentElement.hidden = !told.ranks.length;
    ranks.tBodies[0].replaceChildren(...told.ranks.map(([rank, ...cells]) =>
      h("tr", {}, h("th", { scope: "row" }, rank), ...cells.map((text) => h("td", {}, text)))));
    mark();
  }

  /** The table: its buttons stay, so that the keyboard keeps its place. @param {string[][]} rows */
  function list(rows) {
    if ([...body.rows].map((row) => row.dataset.name).join("\n") !== rows.map((row) => row[0]).join("\n")) {
      body.replaceChildren(...rows.map(([name]) => {
        const k = layers.indexOf(name);
        const swatch = s("svg", { class: "ak-swatch", viewBox: "0 0 24 8", width: 24, height: 8,
            "aria-hidden": "true" });
        if (k >= 0) swatch.append(s("path", { class: "ak-line-of", d: "M0,4H24", ...look(k) }));
        return drawnRow(name, swatch, 3, k >= 0 ? () => select(name) : null);
      }));
    }
    rows.forEach((cells, k) => cells.slice(1)
      .forEach((text, column) => (body.rows[k].cells[column + 1].textContent = text)));
    rows.forEach(([, , , dead], k) => body.rows[k].cells[3]
      .toggleAttribute("data-wrong", Boolean(dead) && !dead.startsWith("0 ")));
  }

  const mark = () => markChosen(root, model.get("selected"), layers.includes(model.get("selected")));

  const later = () => {
    cancelAnimationFrame(frame); // the traits of one message come one by one
    frame = requestAnimationFrame(tell);
  };
  follow(["steps", "total", "running", "alarm", "_told", "_losses", "_norms", "_ratios", "_rates"], later);
  follow(["selected"], mark);
  atEnd(() => cancelAnimationFrame(frame));
  drawnIn(desk, later, signal);
  return begin(root, tell);
}

export default { render };
