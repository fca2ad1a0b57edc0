/**
 * Un-broadcasting, seen: the elements of a contribution fall together along the dimensions that had been
 * repeated.
 *
 * @import { Collapse, View } from "./story.js"
 */

import { glide, h, prefersStillness, s } from "./dom.js";
import { withMinus } from "./numbers.js";

const CELL = 24;
const SIGN = 7.3; // how wide a sign of a number is
const DRAWN = 8; // rows and columns that are drawn; of larger ones the first

/** @param {HTMLElement} stage @param {(call: () => void) => void} atEnd */
export function makeCollapse(stage, atEnd) {
  const title = h("p");
  const drawing = s("svg", { "aria-hidden": "true" });
  const node = h("figure", { className: "ak-collapse", hidden: true }, title, drawing);
  stage.append(node);
  let frame = 0;
  atEnd(() => cancelAnimationFrame(frame));

  /** @param {Collapse} collapse @param {string} formula @param {number} duration */
  function draw({ shape, to = [], axes, values, sums }, formula, duration) {
    // The last dimension runs along a row, all others from row to row.
    const cut = shape.map((size) => Math.min(size, DRAWN));
    const columns = cut.at(-1) ?? 1;
    const rows = Math.min(DRAWN * 2, cut.slice(0, -1).reduce((product, size) => product * size, 1));
    const flat = (/** @type {number[]} */ index, /** @type {number[]} */ size) =>
      index.reduce((sum, i, k) => sum * size[k] + i, 0);
    const numbers = [...(values ?? []), ...(sums ?? [])];
    const largest = Math.max(...numbers.map(Math.abs).filter(Number.isFinite), 1e-30);
    /** @type {Map<string, { up: number, over: number, value?: number }>} */ const targets = new Map();
    const longest = Math.max(0, ...numbers.map((x) => written(x).length));
    const wide = values && columns <= 6 ? Math.max(CELL + 4, Math.ceil(SIGN * longest) + 10) : CELL;
    const across = columns * wide + 60; // where the sums stand
    const put = (/** @type {any} */ one, /** @type {number} */ x, /** @type {number} */ y) => {
      one.setAttribute("transform", `translate(${x} ${y * CELL})`);
      return one;
    };
    const falling = Array.from({ length: rows * columns }, (_, place) => {
      const index = cut.map((size, k) =>
        Math.floor(place / cut.slice(k + 1).reduce((product, each) => product * each, 1)) % size);
      const kept = index.map((i, k) => (axes.includes(k) ? 0 : i));
      const [up, over] = [flat(kept.slice(0, -1), cut.slice(0, -1)), kept.at(-1) ?? 0];
      const small = kept.slice(shape.length - to.length);
      targets.set(`${up} ${over}`, { up, over, value: sums?.[flat(small, to)] });
      const [x, y] = [place % columns, Math.floor(place / columns)];
      return { one: put(cell(values?.[flat(index, shape)], largest, wide), x * wide, y), x, y, over, up };
    });
    const shadows = falling.map(({ one }) => one.cloneNode(true));
    const sent = [...targets.values()];
    const levels = [...new Set(sent.map(({ up }) => up))].sort((a, b) => a - b);
    const ends = sent.map(({ up, over, value }) =>
      put(cell(value, largest, wide), across + over * wide, levels.indexOf(up)));
    const arrow = s("text", { x: columns * wide + 30, y: Math.min(rows, 2) * CELL / 2 + 5,
        "text-anchor": "middle" }, "Σ →");
    const all = across + (Math.max(0, ...sent.map(({ over }) => over)) + 1) * wide;
    drawing.setAttribute("viewBox", `-1 -1 ${all + 2} ${rows * CELL + 2}`);
    drawing.setAttribute("width", String(all + 2));
    drawing.replaceChildren(...shadows, arrow, ...ends);
    title.textContent = formula + (shape.some((size, k) => size > cut[k])
      ? "; the first elements are shown" : "");
    cancelAnimationFrame(frame);
    if (!duration) return;
    drawing.append(...falling.map(({ one }) => one));
    for (const end of ends) end.setAttribute("opacity", "0");
    frame = glide(duration, (t) => {
      for (const { one, x, y, over, up } of falling)
        put(one, x * wide + t * (across + (over - x) * wide), y + t * (levels.indexOf(up) - y));
      if (t < 1) return;
      for (const end of ends) end.removeAttribute("opacity");
      for (const { one } of falling) one.remove();
    }, (id) => (frame = id));
  }

  return {
    /** @param {View} view */
    show(view) {
      if (!view.arrived) return;
      const collapse = view.lit.at(-1)?.collapse;
      node.hidden = !collapse;
      cancelAnimationFrame(frame);
      if (!collapse) return;
      draw(collapse, view.lit.at(-1)?.formula ?? "", prefersStillness() || view.arrived !== "forward" ? 0
        : 1200 / view.speed);
      view.covered = node.offsetHeight + 16;
    },
  };
}

/** Of a number as much as a cell has room for. @param {number} x */
const written = (x) => withMinus(Number(x.toPrecision(2)));

/** One element: its colour and its number, or a glyph, tell the sign.
 * @param {number | undefined} value @param {number} largest @param {number} wide @returns {any} */
function cell(value, largest, wide) {
  const number = Number(value);
  const sign = value === undefined ? "" : number < 0 ? "−" : number > 0 ? "+" : "0";
  const strength = Number.isFinite(number) ? Math.abs(number) / largest : 1;
  return s("g", { "data-sign": sign },
    s("rect", { width: wide - 2, height: CELL - 2, rx: 3, "fill-opacity": sign === "+" || sign === "−"
        ? 0.15 + 0.5 * strength : 0.08 }),
    s("text", { x: wide / 2 - 1, y: CELL / 2 + 3, "text-anchor": "middle" }, wide > CELL ? written(number)
      : sign));
}
