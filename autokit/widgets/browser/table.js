/**
 * The nodes at this step as a table, and at the end the account, for those who would rather read.
 *
 * @import { Timeline, View } from "./story.js"
 */

import { accountTable } from "./account.js";
import { h, tableOf } from "./dom.js";
import { nameOf, shapeText, slopesOf, STATUSES, told } from "./story.js";

/** @param {Timeline} timeline @param {(element: string) => void} onSelect */
export function makeTable(timeline, onSelect) {
  const caption = h("span");
  const rows = timeline.graph.nodes.map((n) => {
    const cells = { value: h("td", { className: "ak-code" }), gradient: h("td", { className: "ak-code" }),
      status: h("td") };
    const name = h("button", { type: "button", className: "ak-link" }, nameOf(n));
    name.addEventListener("click", () => onSelect(`n${n.id}`));
    const made = n.operation ? n.formula || n.symbol || n.operation : n.kind;
    const row = h("tr", {}, h("th", { scope: "row" }, name), h("td", { className: "ak-code" }, made),
      h("td", {}, shapeText(n.shape)), ...Object.values(cells));
    return { element: `n${n.id}`, cells, row };
  });
  const account = accountTable(timeline, onSelect);
  const nodes = tableOf(caption, ["Node", "Made by", "Shape", "Value", slopesOf(timeline), "Status"],
    rows.map(({ row }) => row));
  const node = h("div", { className: "ak-table", hidden: true, tabIndex: 0, role: "region",
      "aria-label": "Table of the nodes" }, nodes, account);
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
        cells.gradient.textContent = String(now.gradient ?? "");
        cells.status.textContent = STATUSES[String(now.status)] ?? String(now.status ?? "");
      }
    },
  };
}
