/**
 * The details of a node, and what can be asked about it.
 *
 * @import { Listen } from "./dom.js"
 * @import { Elements } from "./cells.js"
 * @import { Node, Timeline, View } from "./story.js"
 */

import { makeGrid } from "./cells.js";
import { h, iconButton, ICONS } from "./dom.js";
import { isFinal, nameOf, shapeText, slopesOf, whyNot } from "./story.js";

/**
 * @param {Timeline} timeline @param {Elements} elements
 * @param {ReturnType<typeof import("./paths.js").makePaths>} paths
 * @param {(node: Node) => void} onSource go to where it was computed @param {() => void} onClose
 * @param {Listen} on
 */
export function makePanel(timeline, elements, paths, onSource, onClose, on) {
  const slopes = slopesOf(timeline);
  const title = h("p", { className: "ak-title" });
  const close = iconButton(ICONS.close, "Close the details", "Esc");
  const list = h("dl");
  const said = h("span", { className: "ak-unseen", role: "status" });
  const node = h("aside", { className: "ak-panel", hidden: true,
      "aria-label": "Details of the selected node" },
    h("div", { tabIndex: 0, role: "group", "aria-label": "Details" }, h("header", {}, title, close), list));
  /** @type {Map<string, HTMLElement>} */ let grids = new Map();
  let opened = "";
  on(close, "click", onClose);

  /** @param {string} name @param {string | string[] | undefined} content @param {boolean} [code] */
  function row(name, content, code = true) {
    const lines = [content ?? []].flat().filter(Boolean);
    if (lines.length) list.append(h("dt", {}, name),
      ...lines.map((line) => h("dd", code ? { className: "ak-code" } : {}, line)));
  }

  /** @param {Node} of @param {"value" | "gradient"} field @param {string} text */
  function grid(of, field, text) {
    const key = `${field} ${text}`;
    const made = grids.get(key) ?? makeGrid(elements, on, of, field,
      `${field === "value" ? "Value" : slopes} of ${nameOf(of)}`);
    grids.set(key, made);
    list.append(h("dd", {}, made));
  }

  /** @param {View} view */
  function show(view) {
    const chosen = timeline.graph.nodes.find((n) => `n${n.id}` === view.selected);
    node.hidden = !chosen;
    if (opened !== view.selected) {
      opened = view.selected;
      grids = new Map();
      said.textContent = chosen ? `Details of ${nameOf(chosen)} are open.` : "";
      if (!chosen) paths.clear();
    }
    if (!chosen) return;
    const focused = /** @type {HTMLElement | null} */
      (list.contains(document.activeElement) ? document.activeElement : null);
    const now = view.state[view.selected] ?? {};
    const known = Boolean(now.value) && now.status !== "hidden";
    const into = timeline.graph.edges.filter((e) => e.target === chosen.id);
    const name = nameOf(chosen);
    const { value } = chosen;
    const tensor = Boolean(chosen.shape?.length);
    title.textContent = [chosen.symbol, name].filter(Boolean).join("  ");
    list.replaceChildren();
    const backward = timeline.steps[view.step]?.phase === "backward";
    if (backward && chosen.requires_grad)
      row(`Why not ${name}?`, whyNot(timeline, view.state, chosen), false);
    row("Trouble", (timeline.troubles ?? [])
      .filter((t) => t.node === chosen.id && view.step === timeline.steps.length - 1)
      .map((t) => `⚠ ${t.sentence}`), false);
    row("Kind", chosen.kind === "operation" ? `${chosen.operation} (${chosen.backward || "no backward node"})`
      : chosen.kind === "leaf" ? `leaf: ${slopes === "Tangent" ? "may move" : "collects a gradient"}`
      : chosen.kind === "constant" ? "constant: needs no gradient" : chosen.kind, false);
    row("Formula", chosen.formula && `${name} = ${chosen.formula}`);
    row("Value", known ? String(now.value) : "not computed yet");
    if (known && value?.minimum !== undefined && tensor)
      row("Range", `${value.minimum} to ${value.maximum}, mean ${value.mean}`);
    if (known && (value?.nan || value?.infinite))
      row("Not finite", `${value.nan ?? 0} NaN, ${value.infinite ?? 0} infinite`);
    if (known && tensor && value && chosen.kind !== "chunk") grid(chosen, "value", String(now.value));
    row(slopes, chosen.requires_grad ? String(now.gradient || now.dots || "—") : "none needed");
    const final = isFinal(now);
    if (final && tensor && chosen.gradient) grid(chosen, "gradient", String(now.gradient));
    const account = timeline.accounts?.find((a) => a.node === chosen.id);
    if (final && account?.difference)
      row("By central differences", `${account.agrees ? "✓" : "≠"} ${account.difference}`);
    if (final && account?.assigned && account.assigned !== account.gradient)
      row("With = in place of +=", `✗ ${account.assigned}`);
    if (backward && chosen.requires_grad) list.append(...paths.list(chosen, view.state, () => show(view)));
    row("Local derivatives", into.filter((e) => e.local)
      .map((e) => `∂${name}/∂${nameOf(timeline.graph.nodes[e.source])} = ${e.local}`));
    row("Saved for backward", chosen.saved?.join(", "));
    row("Shape, dtype", `${shapeText(chosen.shape)}, ${chosen.dtype}`);
    row("Module", chosen.module);
    if (chosen.source) {
      const button = h("button", { type: "button", className: "ak-link" }, chosen.source.text);
      on(button, "click", () => onSource(chosen));
      list.append(h("dt", {}, "Source"), h("dd", { className: "ak-code" }, button),
        h("dd", { className: "ak-code" }, `${chosen.source.file}, line ${chosen.source.line}`));
    }
    if (focused && !focused.isConnected) {
      const same = [...list.querySelectorAll("button")]
        .find((button) => button.textContent === focused.textContent);
      (same ?? list.parentElement)?.focus({ preventScroll: true });
    } else focused?.focus({ preventScroll: true });
  }

  return { node, said, show };
}
