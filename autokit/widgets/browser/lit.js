/**
 * One element of a tensor, and those that made it: they are framed in the heatmaps of the picture.
 *
 * @typedef {ReturnType<typeof makeLights>} Lights
 */

import { s } from "./dom.js";

/** @param {(element: string) => SVGElement | undefined} groupOf where an element is in the picture */
export function makeLights(groupOf) {
  /** @type {SVGElement[]} */ let frames = [];

  function clear() {
    for (const frame of frames) frame.remove();
    frames = [];
  }

  /** Frame elements of one tensor, as far as the picture shows each as a cell.
   * @param {string} element @param {string} field @param {number[]} places @param {string} role */
  function frame(element, field, places, role) {
    const heat = /** @type {SVGGElement | null | undefined} */
      (groupOf(element)?.querySelector(`[data-part="${field}-heatmap"][data-columns]`));
    if (!heat || heat.hasAttribute("display")) return;
    const [columns, size] = [Number(heat.dataset.columns), Number(heat.dataset.size)];
    const { x, y } = heat.getBBox();
    for (const place of places) {
      const [row, column] = [Math.floor(place / columns), place % columns];
      frames.push(s("rect", { class: "ak-lit", "data-lit": role, x: x + column * size, y: y + row * size,
          width: size, height: size }));
      heat.append(/** @type {SVGElement} */ (frames.at(-1)));
    }
  }

  return {
    clear,
    /** Light an element up, and all that made it.
     * @param {string} element @param {string} field @param {number} place
     * @param {string} made as "n0 value 0 1; n1 value 0 4" */
    show(element, field, place, made) {
      clear();
      for (const part of made.split("; ").filter(Boolean)) {
        const [from, what, ...places] = part.split(" ");
        frame(from, what, places.map(Number), "made of");
      }
      frame(element, field, [place], "made");
    },
  };
}
