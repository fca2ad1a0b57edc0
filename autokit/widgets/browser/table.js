/**
 * The nodes at this step as a table, and at the end the account, for those who would rather read.
 *
 * @import { Timeline, View } from "./story.js"
 */

import { h, tableOf } from "./dom.js";
import { bracketed } from "./numbers.js";
import { linkButton, regionOf } from "./parts.js";
import { nameOf, shapeText, slopesOf, STATUSES, told } from "./story.js";

const TERMS = 6; // of a sum; of more the first

/** @param {Timeline} timeline @param {(element: string) => void} onSelect */
export function makeTable(timeline, onSelect) {
  const caption = h("span");
  const rows = timeline.graph.nodes.map((n) => {
    const cells = { value: h("td", { className: "ak-code" }), gradient: h("td", { className: "ak-code" }),
      status: h("td") };
    const name = linkButton(nameOf(n), () => onSelect(`n${n.id}`));
    const made = n.operation ? n.formula || n.symbol || n.operation : n.kind;
    const row = h("tr", {}, h("th", { scope: "row" }, name), h("td", { className: "ak-code" }, made),
      h("td", {}, shapeText(n.shape)), ...Object.values(cells));
    return { element: `n${n.id}`, cells, row };
  });
  const account = accountTable(timeline, onSelect);
  const nodes = tableOf(caption, ["Node", "Made by", "Shape", "Value", slopesOf(timeline), "Status"],
    rows.map(({ row }) => row));
  const node = regionOf("ak-table", "Table of the nodes", nodes, account);
  node.hidden = true;
  return {
    node,
    /** @param {View} view */
    show(view) {
      if (node.hidden) return;
      caption.textContent = `Step ${view.step + 1} of ${timeline.steps.length}: ${told(view)}`;
      account.hidden = view.step < timeline.steps.length - 1 || !timeline.accounts?.length;
      for (const { element, cells } of rows) {
        const now = view.state[element] ?? {};
        cells.value.textContent = String(now.value ?? "");
        cells.gradient.textContent = String(now.gradient ?? now.dots ?? "");
        cells.status.textContent = STATUSES[String(now.status)] ?? String(now.status ?? "");
      }
    },
  };
}

/** The account at the end: for each leaf where its gradient came from, beside a check; and what went wrong.
 * @param {Timeline} timeline @param {(element: string) => void} onSelect */
export function accountTable({ graph: { nodes, edges }, accounts, troubles }, onSelect) {
  const jump = (/** @type {number} */ id) => linkButton(nameOf(nodes[id]), () => onSelect(`n${id}`));
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
