/**
 * The lines of the program that made the graph: the line at hand is marked, and each leads to its step.
 *
 * @import { Timeline, View } from "./story.js"
 */

import { h } from "./dom.js";

/** The lines in their order, each with the nodes that it made. @param {Timeline} timeline */
export function linesOf({ graph: { nodes } }) {
  /** @type {Map<string, { file: string, line: number, text: string, nodes: number[] }>} */
  const lines = new Map();
  for (const { id, source } of nodes) {
    if (!source) continue;
    const key = `${source.file}:${source.line}:${source.text}`;
    const line = lines.get(key) ?? { ...source, nodes: [] };
    line.nodes.push(id);
    lines.set(key, line);
  }
  return [...lines.values()];
}

/** @param {Timeline} timeline @param {(element: string) => void} onJump */
export function makeProgram(timeline, onJump) {
  const lines = linesOf(timeline);
  const buttons = lines.map((line) => h("button",
    { type: "button", className: "ak-line", onclick: () => onJump(`n${line.nodes.at(-1)}`) },
    h("span", { className: "ak-number" }, String(line.line)), h("code", {}, line.text)));
  const files = [...new Set(lines.map((line) => line.file))].join(", ");
  const node = h("section", { className: "ak-program", hidden: true, "aria-label": "The program's lines" },
    h("div", {}, h("p", { className: "ak-title" }, files),
      h("ol", {}, ...buttons.map((button) => h("li", {}, button)))));
  return {
    node,
    empty: lines.length === 0,
    /** @param {View} view */
    show(view) {
      if (node.hidden) return;
      const first = view.lit.at(-1)?.touches?.find((name) => name.startsWith("n"));
      lines.forEach((line, k) => {
        if (line.nodes.some((id) => first === `n${id}`)) buttons[k].setAttribute("aria-current", "step");
        else buttons[k].removeAttribute("aria-current");
      });
    },
  };
}
