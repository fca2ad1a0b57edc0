/**
 * Optimizers on their way down a loss: the contour with their ways so far, their losses, and controls to
 * step.
 *
 * All steps are here from the beginning, so that it plays without the kernel.
 *
 * @typedef {{ name: string, x: (number | null)[], y: (number | null)[], losses: (number | null)[] }} Way
 * @typedef
 *   {{ names: [string, string], ends: [[number, number], [number, number]], values: (number | null)[][],
 *   levels: number[],
 *   paths: Way[], told: string[][][], sentences: string[] }} Descents
 */

import { contourLines, extent, linePath, makeChart } from "./chart.js";
import { h, icon, iconButton, ICONS, s, setEnabled } from "./dom.js";
import { ownKeys } from "./keys.js";

const PACE = 220; // milliseconds a step
const COLOURS = 6;
const SHAPES = ["M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z", "M-4.5,-4.5h9v9h-9z", "M0,-6L5.5,4.5H-5.5z",
  "M0,-6.5L6,0L0,6.5L-6,0z",
  "M-1.8,-5.5h3.6v3.7h3.7v3.6h-3.7v3.7h-3.6v-3.7h-3.7v-3.6h3.7z", "M0,6L5.5,-4.5H-5.5z"];

/** @param {{ model: any, el: HTMLElement }} context @returns {() => void} what takes it all down again */
function render({ model, el }) {
  const listeners = new AbortController();
  const { signal } = listeners;
  /** @type {Descents} */ const data = model.get("_descents");
  const last = data.sentences.length - 1;
  let timer = 0;

  /** @param {Record<string, any>} traits */
  function set(traits) {
    for (const [name, value] of Object.entries(traits)) model.set(name, value);
    try {
      model.save_changes();
    } catch {
      // The kernel is gone; what is played is here.
    }
  }

  const here = () => Math.max(0, Math.min(last, model.get("step")));
  const act = {
    first: () => set({ step: 0 }),
    back: () => set({ step: Math.max(0, here() - 1) }),
    play: () => set(model.get("playing") ? { playing: false } : here() >= last ? { step: 0, playing: true }
      : { playing: true }),
    next: () => set({ step: Math.min(last, here() + 1) }),
    last: () => set({ step: last }),
  };
  const select = (/** @type {string} */ name) =>
    set({ selected: model.get("selected") === name ? "" : name });

  // ---- the contour with the ways, and the losses

  const field = makeChart({ width: 460, height: 360, x: data.ends[0], y: data.ends[1], names: data.names,
      plain: true, label: "" });
  field.inner.append(...contourLines(data.values, data.levels, data.ends[0], data.ends[1], field));
  const losses = data.paths.flatMap((way) => way.losses);
  const known = /** @type {number[]} */ (losses.filter((v) => v !== null));
  const powers = Math.min(...known) > 0 && Math.max(...known) > 30 * Math.min(...known);
  const scaled = (/** @type {number | null} */ v) => (v === null ? null : powers ? Math.log10(v) : v);
  const fall = makeChart({ width: 400, height: 220, x: [0, last], y: extent(losses.map(scaled)),
      names: ["step", "loss"], power: powers, label: "The loss of each optimizer at each step" });
  const now = s("path", { class: "ak-now" });
  fall.inner.append(now);
  const ways = data.paths.map((way, k) => {
    const look = { "data-way": String(k % COLOURS), "data-name": way.name };
    const halo = s("path", { class: "ak-halo" });
    const line = s("path", { class: "ak-line-of", ...look });
    const dot = s("path", { class: "ak-mark-of", d: SHAPES[k % SHAPES.length], ...look });
    const curve = s("path", { class: "ak-line-of",
        d: linePath(way.losses.map((v, i) => [i, scaled(v)]), fall.px, fall.py), ...look });
    const at = s("path", { class: "ak-mark-of", d: SHAPES[k % SHAPES.length], ...look });
    field.inner.append(halo, line, dot);
    fall.inner.append(curve, at);
    return { way, halo, line, dot, at };
  });

  // ---- the table and the controls

  const rows = data.paths.map((way, k) => {
    const swatch = s("svg", { class: "ak-swatch", viewBox: "-8 -8 16 16", width: 16, height: 16,
        "aria-hidden": "true" }, s("path",
      { class: "ak-mark-of", d: SHAPES[k % SHAPES.length], "data-way": String(k % COLOURS) }));
    const button = h("button", { type: "button", className: "ak-link", "aria-pressed": "false" }, way.name);
    button.addEventListener("click", () => select(way.name), { signal });
    const cells = Array.from({ length: 4 }, () => h("td", {}));
    const row = h("tr", {}, h("th", { scope: "row" }, swatch, button), ...cells);
    row.dataset.name = way.name;
    return { row, cells };
  });
  const table = h("table", {}, h("caption", { className: "ak-unseen" }, "The optimizers at this step"),
    h("thead", {}, h("tr", {}, ...["Optimizer", ...data.names, "Loss", "Gradient norm"]
        .map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, ...rows.map(({ row }) => row)));
  const buttons = {
    first: iconButton(ICONS.first, "To the start", "Home"), back: iconButton(ICONS.back, "Step back", "←"),
    play: h("button", { type: "button", className: "ak-button ak-strong ak-play" }),
    next: iconButton(ICONS.next, "Step forward", "→"), last: iconButton(ICONS.last, "To the end", "End"),
  };
  const range = h("input", { type: "range", min: 0, max: last, step: 1, className: "ak-slide",
      "aria-label": "Step" });
  const count = h("span", { className: "ak-count" });
  const sentence = h("p", { className: "ak-sentence", "aria-live": "polite" });
  const root = h("div", { className: "ak-player ak-live ak-descent", tabIndex: 0, role: "group",
    "aria-label": `Descent of ${data.paths.length} optimizer${data.paths.length === 1 ? "" : "s"}, `
      + `${last} steps. Left and right step, Space plays.` },
  h("div", { className: "ak-desk" }, h("div", { className: "ak-seat" }, field.svg),
    h("div", { className: "ak-seat ak-side" }, fall.svg,
      h("div", { className: "ak-layers", tabIndex: 0, role: "region", "aria-label": "Optimizers" }, table))),
  h("div", { className: "ak-controls" }, sentence, range,
    h("div", { className: "ak-row" },
      h("div", { className: "ak-transport", role: "group", "aria-label": "Playback" },
      ...Object.values(buttons)), h("span", { className: "ak-space" }), count)));

  for (const [name, button] of Object.entries(buttons)) {
    button.addEventListener("click",
      () => button.getAttribute("aria-disabled") !== "true" && act[/** @type {"play"} */ (name)](),
      { signal });
  }
  range.addEventListener("input", () => set({ step: Number(range.value) }), { signal });
  root.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && /** @type {Element} */ (event.target).matches("button")) return;
    /** @type {Record<string, () => void>} */
    const keys = { ArrowRight: act.next, ArrowLeft: act.back, " ": act.play, Home: act.first, End: act.last,
      Escape: () => set({ selected: "" }) };
    const action = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }, { signal });

  function update() {
    const step = here();
    for (const { way, halo, line, dot, at } of ways) {
      const so = way.x.slice(0, step + 1)
        .map((x, k) => /** @type {[number, number | null]} */ ([x ?? 0, x === null ? null : way.y[k]]));
      const d = linePath(so, field.px, field.py);
      halo.setAttribute("d", d);
      line.setAttribute("d", d);
      const [x, y, loss] = [way.x[step], way.y[step], scaled(way.losses[step])];
      dot.setAttribute("display", x === null || y === null ? "none" : "inline");
      at.setAttribute("display", loss === null ? "none" : "inline");
      if (x !== null && y !== null)
        dot.setAttribute("transform", `translate(${field.px(x).toFixed(2)} ${field.py(y).toFixed(2)})`);
      if (loss !== null) at.setAttribute("transform",
        `translate(${fall.px(step).toFixed(2)} ${fall.py(loss).toFixed(2)})`);
    }
    now.setAttribute("d", `M${fall.px(step)},0V1000`);
    data.told[step].forEach((texts, k) =>
      texts.forEach((text, column) => (rows[k].cells[column].textContent = text)));
    if (sentence.textContent !== data.sentences[step]) sentence.textContent = data.sentences[step];
    field.svg.setAttribute("aria-label",
      `The contour of the loss, with the ways of the optimizers. ${data.sentences[step]}`);
    range.value = String(step);
    range.setAttribute("aria-valuetext", `${step} of ${last}`);
    count.textContent = `${step} / ${last}`;
    setEnabled(buttons.first, step > 0);
    setEnabled(buttons.back, step > 0);
    setEnabled(buttons.next, step < last);
    setEnabled(buttons.last, step < last);
    const playing = model.get("playing");
    const label = playing ? "Pause" : "Play";
    if (buttons.play.textContent !== label)
      buttons.play.replaceChildren(icon(playing ? ICONS.pause : ICONS.play), label);
    buttons.play.title = `${label} (Space)`;
    // played, each step would cut off the one before
    sentence.setAttribute("aria-live", playing ? "off" : "polite");
    mark();
    clearTimeout(timer);
    if (!playing) return;
    if (step >= last) set({ playing: false });
    else timer = window.setTimeout(act.next, PACE / model.get("speed"));
  }

  function mark() {
    const chosen = model.get("selected");
    root.toggleAttribute("data-chosen", Boolean(chosen));
    for (const each of root.querySelectorAll("[data-name]")) {
      each.toggleAttribute("data-mark", each.getAttribute("data-name") === chosen);
      each.querySelector("button")?.setAttribute("aria-pressed",
        String(each.getAttribute("data-name") === chosen));
    }
  }

  const events = ["step", "playing", "speed", "selected"].map((name) => `change:${name}`);
  for (const event of events) model.on(event, update);
  ownKeys(root, signal);
  el.append(root);
  update();

  return () => {
    for (const event of events) model.off(event, update);
    clearTimeout(timer);
    listeners.abort();
    root.remove();
  };
}

export default { render };
