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

/** @param {HTMLElement} stage */
export function makeCollapse(stage) {
  const title = h("p");
  const drawing = s("svg", { "aria-hidden": "true" });
  const node = h("figure", { className: "ak-collapse", hidden: true }, title, drawing);
  stage.append(node);
  let frame = 0;

  /** @param {Collapse} collapse @param {string} formula @param {number} duration */
  function draw({ shape, to = [], axes, values, sums }, formula, duration) {
    // The last dimension runs along a row, all others from row to row.
    const cut = shape.map((size) => Math.min(size, DRAWN));
    const columns = cut.at(-1) ?? 1;
    const rows = Math.min(DRAWN * 2, cut.slice(0, -1).reduce((product, size) => product * size, 1));
    const flat = (/** @type {number[]} */ index, /** @type {number[]} */ size) =>
      index.reduce((sum, i, k) => sum * size[k] + i, 0);
    const largest = Math.max(...[...(values ?? []), ...(sums ?? [])].map(Math.abs)
      .filter(Number.isFinite), 1e-30);
    const targets = new Map();
    /** @type {{ cell: SVGGElement, x: number, y: number, over: number, up: number }[]} */ const falling = [];
    const longest = Math.max(0, ...[...(values ?? []), ...(sums ?? [])].map((x) => written(x).length));
    const wide = values && columns <= 6 ? Math.max(CELL + 4, Math.ceil(SIGN * longest) + 10) : CELL;
    const across = columns * wide + 60; // where the sums stand
    drawing.replaceChildren();
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const index = [column];
        for (let k = cut.length - 2, rest = row; k >= 0; k--) {
          index.unshift(rest % cut[k]);
          rest = Math.floor(rest / cut[k]);
        }
        const kept = index.map((i, k) => (axes.includes(k) ? 0 : i));
        const [up, over] = [flat(kept.slice(0, -1), cut.slice(0, -1)), kept.at(-1) ?? 0];
        const value = values?.[flat(index, shape)];
        const one = cell(value, largest, wide);
        one.setAttribute("transform", `translate(${column * wide} ${row * CELL})`);
        falling.push({ cell: one, x: column, y: row, over, up });
        const small = kept.slice(shape.length - to.length);
        if (!targets.has(`${up} ${over}`))
          targets.set(`${up} ${over}`, { up, over, value: sums?.[flat(small, to)] });
      }
    }
    const shadows = falling.map(({ cell: one }) => one.cloneNode(true));
    const levels = [...new Set([...targets.values()].map((t) => t.up))].sort((a, b) => a - b);
    const ends = [...targets.values()].map(({ up, over, value }) => {
      const one = cell(value, largest, wide);
      one.setAttribute("transform", `translate(${across + over * wide} ${levels.indexOf(up) * CELL})`);
      return one;
    });
    const arrow = s("text", { x: columns * wide + 30, y: Math.min(rows, 2) * CELL / 2 + 5,
        "text-anchor": "middle" }, "Σ →");
    const all = across + ([...targets.values()].reduce((most, t) => Math.max(most, t.over), 0) + 1) * wide;
    drawing.setAttribute("viewBox", `-1 -1 ${all + 2} ${rows * CELL + 2}`);
    drawing.setAttribute("width", String(all + 2));
    drawing.append(...shadows, arrow, ...ends);
    title.textContent = formula + (shape.some((size, k) => size > cut[k])
      ? "; the first elements are shown" : "");
    cancelAnimationFrame(frame);
    if (!duration) return;
    drawing.append(...falling.map((f) => f.cell));
    for (const end of ends) end.setAttribute("opacity", "0");
    frame = glide(duration, (t) => {
      for (const f of falling) {
        const x = f.x * wide + t * (across + (f.over - f.x) * wide);
        const y = (f.y + t * (levels.indexOf(f.up) - f.y)) * CELL;
        f.cell.setAttribute("transform", `translate(${x} ${y})`);
      }
      if (t < 1) return;
      for (const end of ends) end.removeAttribute("opacity");
      for (const f of falling) f.cell.remove();
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
    close: () => cancelAnimationFrame(frame),
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
