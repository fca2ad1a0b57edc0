/**
 * The graphs after each pass, of which a slider chooses one.
 *
 * @typedef {{ name: string, words: string, nodes: number, svg: string, boxes: Record<string, [string,
 *   string]> }} Stage
 */

import { h } from "./dom.js";
import { slide, slider } from "./parts.js";

/** A graph under its heading. @param {string} name @param {Element} node */
export function makeHalf(name, node) {
  const heading = h("h2", {}, name);
  return { heading, node: h("section", { className: "ak-half", "aria-label": name }, heading, node) };
}

/** @param {any} model @param {(traits: Record<string, any>) => void} set */
export function makeStages(model, set) {
  /** @type {Stage[]} */ const stages = model.get("_graphs");
  const choose = (/** @type {number} */ to) => set({ chosen: Math.max(0, Math.min(stages.length - 1, to)) });
  const range = slider("Passes", { min: 0, max: stages.length - 1 }, choose);
  const words = h("p", { className: "ak-note", "aria-live": "polite" });

  return {
    node: h("div", {}, h("label", {}, "Passes", range), words),
    range, choose, stages,
    at: () => Math.max(0, Math.min(stages.length - 1, model.get("chosen"))),
    /** Say which stage is shown. */
    tell() {
      const { name, words: did, nodes } = stages[model.get("chosen")];
      words.textContent = `${name}${did ? `: ${did}` : ""} (${nodes} nodes)`;
      slide(range, model.get("chosen"), words.textContent);
    },
  };
}
