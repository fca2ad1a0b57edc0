/**
 * The nodes at this step as a table, for those who would rather read.
 *
 * @import { Timeline, View } from "./story.js"
 */

import { h } from "./dom.js";
import { nameOf, shapeText, STATUSES } from "./story.js";

/** The nodes at this step as a table, for those who would rather read. @param {Timeline} timeline */
export function makeTable(timeline) {
  const body = h("tbody");
  const caption = h("caption");
  const rows = timeline.graph.nodes.map((n) => {
    const cells = { value: h("td", { className: "ak-code" }), gradient: h("td", { className: "ak-code" }), status: h("td") };
    const made = n.operation ? `${n.symbol || n.operation}  ${n.formula ?? ""}` : n.kind;
    body.append(h("tr", {}, h("th", { scope: "row" }, nameOf(n)), h("td", { className: "ak-code" }, made), h("td", {}, shapeText(n.shape)), ...Object.values(cells)));
    return { element: `n${n.id}`, cells };
  });
  const head = h("thead", {}, h("tr", {}, ...["Node", "Made by", "Shape", "Value", "Gradient", "Status"].map((name) => h("th", { scope: "col" }, name))));
  const node = h("div", { className: "ak-table", hidden: true, tabIndex: 0, role: "region", "aria-label": "Table of the nodes" }, h("table", {}, caption, head, body));
  return {
    node,
    /** @param {View} view */
    show(view) {
      if (node.hidden) return;
      caption.textContent = `At step ${view.step + 1} of ${timeline.steps.length}`;
      for (const { element, cells } of rows) {
        const now = view.state[element] ?? {};
        cells.value.textContent = String(now.value ?? "");
        cells.gradient.textContent = String(now.gradient ?? "");
        cells.status.textContent = STATUSES[String(now.status)] ?? String(now.status ?? "");
      }
    },
  };
}
