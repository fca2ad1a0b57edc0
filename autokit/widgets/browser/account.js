/**
 * The account at the end: for each leaf where its gradient came from, beside a check; and what went wrong.
 *
 * @import { Timeline } from "./story.js"
 */

import { h, tableOf } from "./dom.js";
import { bracketed } from "./numbers.js";
import { nameOf } from "./story.js";

const TERMS = 6;

/** @param {Timeline} timeline @param {(element: string) => void} onSelect */
export function accountTable({ graph: { nodes, edges }, accounts, troubles }, onSelect) {
  const jump = (/** @type {number} */ id) => {
    const button = h("button", { type: "button", className: "ak-link" }, nameOf(nodes[id]));
    button.addEventListener("click", () => onSelect(`n${id}`));
    return button;
  };
  /** @param {number} edge @param {string} text */
  const from = (edge, text) => `${bracketed(text)} from ${nameOf(nodes[edges[edge].target])}`;
  const rows = (accounts ?? []).map((account) => {
    const parts = (account.contributions ?? []).map((text, k) => from(account.edges?.[k] ?? 0, text));
    const shown = parts.length > TERMS ? [...parts.slice(0, TERMS - 1), `${parts.length - TERMS + 1} more`]
      : parts;
    const check = account.difference ? `${account.agrees ? "✓" : "≠"} ${account.difference}` : "not tried";
    const wrong = !account.assigned ? "" : account.assigned === account.gradient ? "the same"
      : `✗ ${account.assigned}`;
    const cells = [shown.join(" + "), account.gradient, check, wrong]
      .map((text) => h("td", { className: "ak-code" }, text));
    return h("tr", {}, h("th", { scope: "row" }, jump(account.node)), ...cells);
  });
  const head = ["Leaf", "Contributions", "Sum: its .grad", "Central differences", "With = for +="];
  const list = h("ul", {}, ...(troubles ?? [])
    .map((trouble) => h("li", {}, "⚠ ", trouble.sentence, " ", jump(trouble.node))));
  return h("div", {}, tableOf("Where each gradient came from", head, rows), list);
}
