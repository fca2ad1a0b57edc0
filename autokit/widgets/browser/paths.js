/**
 * One contribution followed from the output to a node: a gradient is the sum over all such ways.
 *
 * Each way has a letter, a colour and a place of its own in the dashes, so that ways that share an edge are
 * all seen.
 *
 * @import { Edge, Node, State, Timeline } from "./story.js"
 */

import { h, s } from "./dom.js";
import { bracketed, numberOf, withMinus } from "./numbers.js";
import { toggleButton } from "./parts.js";
import { nameOf, pathsTo } from "./story.js";

const MOST = 6;
const DASH = 9;
const LETTERS = "ABCDEF";

/** The product of the local derivatives along a way, where all are numbers and known.
 * @param {Edge[]} path @param {State} state */
export function productAlong(path, state) {
  const factors = path.map((edge) => state[`e${edge.id}`]?.local);
  if (!factors.every((text) => text !== undefined && text !== null && text !== "")) return null;
  const product = Number(factors.reduce((value, text) => value * numberOf(text), 1).toPrecision(4));
  const text = Number.isInteger(product) ? product.toFixed(1) : product;
  return { factors: factors.map(bracketed), product: withMinus(text) };
}

/** @param {Timeline} timeline @param {(name: string) => Element | undefined} find an element of the picture
 */
export function makePaths(timeline, find) {
  let followed = ""; // "n3" for all ways to it, "n3 1" for the second of them
  /** @type {Element[]} */ let drawn = [];

  /** @param {Edge[][]} paths @param {number | null} only */
  function draw(paths, only) {
    for (const line of drawn) line.remove();
    drawn = [];
    paths.forEach((path, k) => {
      if (only !== null && only !== k) return;
      for (const edge of path) {
        const group = find(`e${edge.id}`);
        const d = group?.querySelector('[data-part="line"]')?.getAttribute("d");
        if (!group || !d) continue;
        const shared = only === null ? paths.filter((other) => other.includes(edge)) : [path];
        const line = s("path", { d, class: "ak-path", "data-way": k, "stroke-dasharray": shared.length > 1
            ? `${DASH} ${DASH * (shared.length - 1)}` : "none",
          "stroke-dashoffset": -DASH * shared.indexOf(path) });
        group.querySelector('[data-part="return"]')?.after(line); // below the number on the edge
        drawn.push(line);
        if (edge !== path.at(-1)) continue;
        const flow = group.querySelector('[data-field="flow"]');
        const [x, y] = ["x", "y"].map((name) => Number(flow?.getAttribute(name)));
        const places = [0.12, 0.3, 0.6, 0.8]
          .map((part) => line.getPointAtLength((part + 0.12 * shared.indexOf(path)) * line.getTotalLength()));
        const at = places.reduce((best, each) =>
          (Math.hypot(each.x - x, each.y - y) > Math.hypot(best.x - x, best.y - y) ? each : best));
        const letter = s("g", { class: "ak-letter", "data-way": k, transform: `translate(${at.x} ${at.y})` },
          s("circle", { r: 8 }), s("text", { "text-anchor": "middle", y: 4 }, LETTERS[k]));
        group.append(letter);
        drawn.push(letter);
      }
    });
  }

  return {
    /** What the details of a node say of its ways.
     * @param {Node} node @param {State} state @param {() => void} again @returns {HTMLElement[]} */
    list(node, state, again) {
      const { paths, count } = pathsTo(timeline, node.id, MOST);
      const element = `n${node.id}`;
      if (followed.split(" ")[0] !== element) {
        followed = "";
        draw([], null);
      }
      if (!paths.length) return [];
      /** @param {string} what @param {string} text @param {number | null} only */
      const toggle = (what, text, only) => {
        const button = toggleButton(text,
          { className: "ak-button ak-toggle ak-way", "aria-pressed": String(followed === what) });
        if (only !== null) button.dataset.way = String(only);
        button.onclick = () => {
          followed = followed === what ? "" : what;
          draw(followed ? paths : [], only);
          again();
        };
        return button;
      };
      const ways = timeline.ways?.find((each) => each.node === node.id);
      const orders = (ways?.paths ?? []).map(String);
      const rows = paths.map((path, k) => {
        const names = [nameOf(timeline.graph.nodes[path[0].target]),
          ...path.map((edge) => nameOf(timeline.graph.nodes[edge.source]))];
        const made = productAlong(path, state);
        const sent = ways?.contributions[orders.indexOf(String(path.map((edge) => edge.id)))] ?? "";
        const told = made ? `${made.factors.join(" · ")} = ${made.product}` : sent;
        return h("dd", {}, toggle(`${element} ${k}`, `${LETTERS[k]}: ${names.join(" → ")}`, k),
          h("code", { className: "ak-product" }, told));
      });
      const more = count > paths.length
        ? [h("dd", {}, `and ${(count - paths.length).toLocaleString("en")} more ways`)] : [];
      const sums = ways?.sums?.map(bracketed).join(" + ");
      const together = sums ? [h("dd", {},
        "Element by element they add up to the gradient, and so do the sums over their elements:",
        h("code", { className: "ak-product" }, `${sums} = ${ways.total}`))] : [];
      const all = count > 1 ? [h("dd", {}, toggle(element, "Follow all at once", null))] : [];
      return [h("dt", {}, count > 1 ? "The gradient is the sum over these ways" : "The way of the gradient"),
        ...rows, ...more, ...together, ...all];
    },
    clear() {
      followed = "";
      draw([], null);
    },
  };
}
