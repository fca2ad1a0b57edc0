/** The legend of the picture: what its colours mean. It can be folded. */

import { h } from "./dom.js";

const MEANINGS = [
  ["--ak-forward", "forward"], ["--ak-backward", "backward"],
  ["--ak-plus", "above 0"], ["--ak-minus", "below 0"],
];

/** @param {boolean} directed whether a computation goes forward and backward */
export function makeLegend(directed) {
  const items = MEANINGS.slice(directed ? 0 : 2).map(([colour, words]) => {
    const swatch = h("i", { "aria-hidden": "true" });
    swatch.style.setProperty("--ak-sign", `var(${colour})`);
    return h("li", {}, swatch, words);
  });
  // In a narrow window it would lie over the picture from the start.
  return h("details", { className: "ak-legend", open: innerWidth > 900 },
    h("summary", {}, "Colours"), h("ul", { "aria-label": "Colours of directions and of signs" }, ...items));
}
