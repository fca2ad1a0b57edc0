/**
 * The details of a node.
 *
 * @import { Timeline, View } from "./story.js"
 */

import { h, iconButton, ICONS } from "./dom.js";
import { nameOf, shapeText } from "./story.js";

/** @param {Timeline} timeline @param {() => void} onClose @param {AbortSignal} signal */
export function makePanel(timeline, onClose, signal) {
  const title = h("h3");
  const close = iconButton(ICONS.close, "Close the details", "Esc");
  const list = h("dl");
  const node = h("aside", { className: "ak-panel", hidden: true, "aria-label": "Details of the selected node" }, h("div", {}, h("header", {}, title, close), list));
  close.addEventListener("click", onClose, { signal });

  /** @param {string} name @param {string | string[] | undefined} content @param {boolean} [code] */
  function row(name, content, code = true) {
    const lines = [content ?? []].flat().filter(Boolean);
    if (lines.length) list.append(h("dt", {}, name), ...lines.map((line) => h("dd", code ? { className: "ak-code" } : {}, line)));
  }

  return {
    node,
    /** @param {View} view */
    show(view) {
      const chosen = timeline.graph.nodes.find((n) => `n${n.id}` === view.selected);
      node.hidden = !chosen;
      if (!chosen) return;
      const now = view.state[view.selected] ?? {};
      const known = Boolean(now.value);
      const into = timeline.graph.edges.filter((e) => e.target === chosen.id);
      const name = nameOf(chosen);
      const { value } = chosen;
      title.textContent = [chosen.symbol, name].filter(Boolean).join("  ");
      list.replaceChildren();
      row("Kind", chosen.kind === "operation" ? `${chosen.operation} (${chosen.backward || "no backward node"})` : chosen.kind === "leaf" ? "leaf: collects a gradient" : "constant: needs no gradient", false);
      row("Formula", chosen.formula);
      row("Value", known ? String(now.value) : "not computed yet");
      if (known && value?.minimum !== undefined && chosen.shape?.length) row("Range", `${format(value.minimum)} … ${format(value.maximum)}, mean ${format(value.mean)}`);
      if (known && (value?.nan || value?.infinite)) row("Not finite", `${value.nan ?? 0} NaN, ${value.infinite ?? 0} infinite`);
      row("Gradient", chosen.requires_grad ? String(now.gradient || "—") : "none needed");
      row("Local derivatives", into.filter((e) => e.local).map((e) => `∂${name}/∂${e.operand || nameOf(timeline.graph.nodes[e.source])} = ${e.local}`));
      row("Saved for backward", chosen.saved?.join(", "));
      row("Shape, dtype", `${shapeText(chosen.shape)}, ${chosen.dtype}`);
      row("Module", chosen.module);
      if (chosen.source) row("Source", [chosen.source.text, `${chosen.source.file}, line ${chosen.source.line}`]);
    },
  };
}

/** @param {number | string | undefined} x */
const format = (x) => (typeof x === "number" ? String(Number(x.toPrecision(4))) : String(x ?? ""));
