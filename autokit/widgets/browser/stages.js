/**
 * The graphs after each pass, of which a slider chooses one.
 *
 * @typedef
 *   {{ name: string, words: string, nodes: number, svg: string, boxes: Record<string, [string, string]> }}
 *   Stage
 */

import { h, setterOf } from "./dom.js";

/** A graph under its heading. @param {string} name @param {Element} node */
export function makeHalf(name, node) {
  const heading = h("h2", {}, name);
  return { heading, node: h("section", { className: "ak-half", "aria-label": name }, heading, node) };
}

/** @param {any} model @param {AbortSignal} signal */
export function makeStages(model, signal) {
  /** @type {Stage[]} */ const stages = model.get("_graphs");
  const range = h("input", { type: "range", className: "ak-slide", min: 0, max: stages.length - 1,
      "aria-label": "Passes" });
  const words = h("p", { className: "ak-note", "aria-live": "polite" });
  range.addEventListener("input", () => choose(Number(range.value)), { signal });

  const choose = (/** @type {number} */ to) =>
    setterOf(model)({ chosen: Math.max(0, Math.min(stages.length - 1, to)) });

  return {
    node: h("div", {}, h("label", {}, "Passes", range), words),
    range, choose, stages,
    at: () => Math.max(0, Math.min(stages.length - 1, model.get("chosen"))),
    /** Say which stage is shown. */
    tell() {
      const { name, words: did, nodes } = stages[model.get("chosen")];
      words.textContent = `${name}${did ? `: ${did}` : ""} (${nodes} nodes)`;
      range.value = String(model.get("chosen"));
      range.setAttribute("aria-valuetext", words.textContent);
    },
  };
}
