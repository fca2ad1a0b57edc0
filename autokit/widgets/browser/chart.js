/** Charts in SVG: axes with round numbers, lines, and the contour of a grid of values. */

import { s } from "./dom.js";

/** Some five round numbers from low to high.
 * @param {number} low @param {number} high @param {number} [count] */
export function ticks(low, high, count = 5) {
  if (!(high > low) || !Number.isFinite(high - low)) return [low];
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((m) => m * power >= rough * 0.999) ?? 10);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) found.push(k * step);
  return found;
}

/** A number on an axis. @param {number} value */
export function tickText(value) {
  if (Math.abs(value) < 1e-12) return "0";
  const size = Math.abs(value);
  if (size < 1e5 && size >= 0.99e-3) return String(Number(value.toPrecision(4))).replace("-", "−");
  const [digits, power] = value.toExponential(0).split("e");
  const raised = [...String(Number(power))].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("");
  return `${digits === "1" ? "" : `${digits}·`}10${raised}`.replace("-", "−");
}

/** Where an axis of powers has its numbers, as powers of ten: 1, 10 and 100, or 1, 2, 5 and 10 where few of
 * those fit.
 * @param {number} low @param {number} high */
export function powerTicks(low, high) {
  const whole = ticks(low, high, 6).filter(Number.isInteger);
  if (whole.length > 2 || !(high > low)) return whole;
  const found = [];
  for (let k = Math.floor(low); k <= high; k += 1)
    found.push(...[1, 2, 5].map((m) => k + Math.log10(m)).filter((at) => at >= low && at <= high));
  return found;
}

/** The ends of values, with some air; nulls are left out.
 * @param {(number | null)[]} values @returns {[number, number]} */
export function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return [0, 1];
  const air = high > low ? (high - low) * 0.06 : Math.abs(high) * 0.1 || 1;
  return [low - air, high + air];
}

/** A frame with axes to draw in.
 * @param {{ width: number, height: number, x: [number, number], y: [number, number], names: [string, string],
 * label: string, power?: boolean, plain?: boolean }} facts `power` says that y holds powers of ten, `plain`
 * leaves out the lines across */
export function makeChart({ width, height, x, y, names, label, power, plain }) {
  const [left, right, top, bottom] = [52, 14, 12, 38];
  const px = (/** @type {number} */ at) => left + ((at - x[0]) / (x[1] - x[0])) * (width - left - right);
  const py = (/** @type {number} */ at) =>
    height - bottom - ((at - y[0]) / (y[1] - y[0])) * (height - top - bottom);
  const axes = s("g", { class: "ak-axes", "aria-hidden": "true" },
    s("path", { d: `M${left},${top}V${height - bottom}H${width - right}`, class: "ak-axis" }));
  for (const at of ticks(...x, Math.max(2, Math.floor((width - left) / 70)))) {
    axes.append(s("path", { d: `M${px(at)},${height - bottom}v4`, class: "ak-axis" }),
      s("text", { x: px(at), y: height - bottom + 16, "text-anchor": "middle" }, tickText(at)));
  }
  const rows = power ? powerTicks(...y) : ticks(...y, Math.max(2, Math.floor((height - top - bottom) / 40)));
  for (const at of rows) {
    axes.append(s("path", { d: plain ? `M${left - 4},${py(at)}h4` : `M${left},${py(at)}H${width - right}`,
          class: plain ? "ak-axis" : "ak-rule" }),
      s("text", { x: left - 7, y: py(at) + 4, "text-anchor": "end" }, tickText(power ? 10 ** at : at)));
  }
  axes.append(s("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle",
        class: "ak-name" }, names[0]),
    s("text", { x: 0, y: 0, "text-anchor": "middle", class: "ak-name",
        transform: `translate(12 ${(top + height - bottom) / 2}) rotate(-90)` }, names[1]));
  const frame = { left, top, width: width - left - right, height: height - top - bottom };
  // What leaves the frame is cut by a nested svg, which needs no id that another chart could have too.
  const inner = s("svg", { x: frame.left, y: frame.top, width: frame.width, height: frame.height,
      viewBox: `${frame.left} ${frame.top} ${frame.width} ${frame.height}`, overflow: "hidden" });
  const over = s("g", {});
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, class: "ak-chart", role: "img",
      "aria-label": label }, axes, inner, over);
  /** What lies under the pointer, in the numbers of the axes and within them. @param {MouseEvent} event */
  function under(event) {
    const { x: across, y: down } =
      new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const parts = [(across - left) / frame.width, 1 - (down - top) / frame.height];
    const ends = [x, y];
    return parts.map((part, k) => ends[k][0] + Math.max(0, Math.min(1, part)) * (ends[k][1] - ends[k][0]));
  }
  const path = (/** @type {Points} */ points) => linePath(points, px, py);
  /** @param {string} kind @param {Points} points */
  const line = (kind, points) => s("path", { class: kind, d: path(points) });
  const at = (/** @type {number | null} */ across, /** @type {number | null} */ up) =>
    (across === null || up === null ? null : [px(across), py(up)]);
  return { svg, inner, over, px, py, at, under, path, line };
}

/** @typedef {ReturnType<typeof makeChart>} Chart */
/** @typedef {(readonly [number, number | null])[]} Points */

/** Put a mark where it is, in px; without a place it is not seen.
 * @param {Element} mark @param {number[] | null} at @param {string} [turned] */
export function stand(mark, at, turned = "") {
  mark.setAttribute("display", at ? "inline" : "none");
  if (at) mark.setAttribute("transform", `translate(${at[0].toFixed(2)} ${at[1].toFixed(2)})${turned}`);
}

/** Draw in a seat as wide as it is, so that letters keep their size, and anew when its width changes.
 * @param {HTMLElement} seat @param {(width: number) => void} draw @param {AbortSignal} signal
 * @returns {() => void} which draws at once */
export function drawnIn(seat, draw, signal) {
  let width = 0;
  const wide = () => Math.max(250, Math.round(seat.clientWidth || 400));
  const now = () => draw((width = wide()));
  const again = () => seat.isConnected && wide() !== width && now();
  const resized = new ResizeObserver(() => requestAnimationFrame(again));
  resized.observe(seat);
  signal.addEventListener("abort", () => resized.disconnect());
  return now;
}

/** A grid with points between its own, on curves through these (Catmull and Rom's), so that contours bend.
 * @param {(number | null)[][]} rows @returns {(number | null)[][]} */
export function finer(rows) {
  const across = rows.map(between);
  const columns = across[0].map((_, k) => between(across.map((row) => row[k])));
  return columns[0].map((_, k) => columns.map((column) => column[k]));
}

/** @param {(number | null)[]} values @returns {(number | null)[]} with two more between each and the next */
function between(values) {
  const last = values.length - 1;
  return values.flatMap((b, k) => {
    const c = values[k + 1];
    if (k === last) return [b];
    if (b === null || c === null) return [b, null, null];
    const a = values[k - 1] ?? 2 * b - c;
    const d = values[k + 2] ?? 2 * c - b;
    const at = (/** @type {number} */ t) => b + (t / 2) * (c - a + t * (2 * a - 5 * b + 4 * c - d
      + t * (3 * (b - c) + d - a)));
    return [b, at(1 / 3), at(2 / 3)];
  });
}

/** A line through points; a null leaves a gap.
 * @param {Points} points @param {(x: number) => number} px @param {(y: number) => number} py */
function linePath(points, px, py) {
  let d = "";
  let pen = false;
  for (const [x, y] of points) {
    if (y === null || !Number.isFinite(y)) pen = false;
    else {
      d += `${pen ? "L" : "M"}${px(x).toFixed(1)},${Math.max(-1e5, Math.min(1e5, py(y))).toFixed(1)}`;
      pen = true;
    }
  }
  return d;
}

/** The line on which a grid of values has one level, by marching squares: each cell is crossed where two
 * neighbouring corners lie on two sides of the level.
 * @param {(number | null)[][]} rows one for each y, from low to high @param {number} level
 * @param {(column: number) => number} px @param {(row: number) => number} py */
export function contourPath(rows, level, px, py) {
  let d = "";
  for (let j = 0; j + 1 < rows.length; j += 1) {
    for (let i = 0; i + 1 < rows[j].length; i += 1) {
      const corners = [[i, j, rows[j][i]], [i + 1, j, rows[j][i + 1]], [i + 1, j + 1, rows[j + 1][i + 1]],
        [i, j + 1, rows[j + 1][i]]];
      if (corners.some((corner) => corner[2] === null)) continue;
      const cuts = [];
      for (let k = 0; k < 4; k += 1) {
        const [x0, y0, a] = /** @type {number[]} */ (corners[k]);
        const [x1, y1, b] = /** @type {number[]} */ (corners[(k + 1) % 4]);
        if (a < level === b < level) continue;
        const t = (level - a) / (b - a);
        cuts.push([px(x0 + t * (x1 - x0)), py(y0 + t * (y1 - y0))]);
      }
      for (let k = 0; k + 1 < cuts.length; k += 2) {
        const [from, to] = [cuts[k], cuts[k + 1]].map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`);
        d += `M${from}L${to}`;
      }
    }
  }
  return d;
}

/** The lines of a contour, from deep to faint as the values rise.
 * @param {(number | null)[][]} grid @param {number[]} levels @param {[number, number]} x
 * @param {[number, number]} y @param {{ px: (x: number) => number, py: (y: number) => number }} scale */
export function contourLines(grid, levels, x, y, { px, py }) {
  const rows = finer(grid);
  const across = (/** @type {number} */ i) => px(x[0] + (i / (rows[0].length - 1)) * (x[1] - x[0]));
  const up = (/** @type {number} */ j) => py(y[0] + (j / (rows.length - 1)) * (y[1] - y[0]));
  return levels.map((level, k) => {
    const line = s("path", { d: contourPath(rows, level, across, up), class: "ak-contour" },
      s("title", {}, tickText(level)));
    // a page's policy forbids the attribute
    line.style.setProperty("--ak-high", `${Math.round((100 * k) / Math.max(levels.length - 1, 1))}%`);
    return line;
  });
}
