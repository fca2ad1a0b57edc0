/**
 * The explorer of a model: its modules as a tree beside the graph, and the facts of the one that is chosen.
 *
 * @typedef {{ title: string, counts: number[], low: string, high: string, words: string, wrong: boolean }}
 *   Spread
 * @typedef {{ path: string, name: string, kind: string, depth: number, facts: [string, string][], spreads:
 *   Spread[], weights: string[][] }} Layer
 */

import { h, s, tableOf } from "./dom.js";
import { groupOf, regionOf } from "./parts.js";
import { makePicture } from "./picture.js";
import { makeView } from "./view.js";

/** Whether the module at `path` is the one at `outer`, or inside of it.
 * @param {string} path @param {string} outer */
export const liesIn = (path, outer) => path === outer || outer === "" || path.startsWith(`${outer}.`);

/** A small histogram. @param {Spread} spread */
function bars(spread) {
  const most = Math.max(1, ...spread.counts);
  // equal numbers stand in the middle
  const [wide, left] = spread.counts.length === 1 ? [8, 92] : [192 / Math.max(spread.counts.length, 1), 0];
  return s("svg", { class: "ak-bars", viewBox: "0 0 192 48", role: "img",
      "aria-label": `${spread.title} from ${spread.low} to ${spread.high}: ${spread.words}` },
    ...spread.counts.map((count, k) =>
      s("rect", { x: left + k * wide, y: 47 - 46 * (count / most), width: Math.max(wide - 1, 1),
        height: 46 * (count / most) + (count ? 1 : 0) })),
    s("path", { d: "M0,47.5H192", class: "ak-axis" }));
}

/** @param {{ model: any, el: HTMLElement }} context @returns {() => void} what takes it all down again */
function render({ model, el }) {
  const { signal, on, set, follow, answer, begin } = makeView({ model, el });
  /** @type {Layer[]} */ const layers = model.get("_layers");
  /** @type {string[]} */ const modules = model.get("_modules");
  const closed = new Set(layers.length > 40 ? layers.filter((layer) => layer.depth > 0)
    .map((layer) => layer.path) : []);

  const select = (/** @type {string} */ path) => set({ selected: path });
  const chosen = () => Math.max(0, layers.findIndex((layer) => layer.path === model.get("selected")));
  const inside = (/** @type {number} */ k) => layers[k + 1]?.depth > layers[k].depth;
  const isOpen = (/** @type {number} */ k) => inside(k) && !closed.has(layers[k].path);
  const above = (/** @type {Layer} */ layer) =>
    layers.filter((each) => each.depth < layer.depth && liesIn(layer.path, each.path));
  const outer = (/** @type {number} */ k) => layers.indexOf(above(layers[k]).at(-1) ?? layers[k]);
  const seen = (/** @type {Layer} */ layer) => above(layer).every((each) => !closed.has(each.path));

  // ---- the tree: one stop for the Tab key, and the arrows inside

  const items = layers.map((layer, k) => {
    const mark = h("span", { className: "ak-twist", "aria-hidden": "true" });
    const item = h("li", { role: "treeitem", tabIndex: -1, "aria-level": layer.depth + 1 }, mark,
      h("span", { className: "ak-item-name" }, layer.depth ? layer.name : layer.kind),
        h("span", { className: "ak-item-kind" }, layer.depth ? layer.kind : ""));
    item.style.setProperty("--ak-depth", String(layer.depth));
    on(item, "click", (event) => (event.target === mark && inside(k) ? toggle(k) : select(layer.path)));
    return { item, mark };
  });
  const tree = h("ul", { className: "ak-tree", role: "tree", "aria-label": "Modules" },
    ...items.map(({ item }) => item));

  /** @param {number} k */
  function toggle(k) {
    if (!closed.delete(layers[k].path)) closed.add(layers[k].path);
    update();
  }

  /** Go to a module that is shown, counted from the one that is chosen. @param {number} by */
  function walk(by) {
    const shown = layers.flatMap((layer, k) => (seen(layer) ? [k] : []));
    go(shown[Math.max(0, Math.min(shown.length - 1, shown.indexOf(chosen()) + by))]);
  }

  /** @param {number} to */
  function go(to) {
    if (to !== chosen()) select(layers[to].path);
    items[chosen()].item.focus({ preventScroll: true });
    items[chosen()].item.scrollIntoView({ block: "nearest" });
  }

  answer(tree, {
    ArrowDown: () => walk(1), ArrowUp: () => walk(-1),
    Home: () => walk(-layers.length), End: () => walk(layers.length),
    ArrowRight: () => (isOpen(chosen()) ? go(chosen() + 1) : inside(chosen()) && toggle(chosen())),
    ArrowLeft: () => (isOpen(chosen()) ? toggle(chosen()) : go(outer(chosen()))),
    Enter: () => inside(chosen()) && toggle(chosen()),
  }, (event) => event.shiftKey);

  const picture = makePicture(model.get("_svg"), "The graph of the model's run", (element) => {
    if (element) select(modules[Number(element.slice(1))] ?? "");
  }, signal);
  const title = h("h2", {});
  const facts = h("dl", {});
  const spreads = h("div", { className: "ak-spreads" });
  const weights = regionOf("ak-layers", "Parameters");
  const sentence = h("p", { className: "ak-unseen", "aria-live": "polite" });
  const root = groupOf("ak-player ak-live ak-explorer", `Explorer of a model with ${layers.length} modules`,
    h("div", { className: "ak-main" }, tree, picture.node),
    h("div", { className: "ak-desk" }, h("div", { className: "ak-facts" }, title, facts), spreads, weights),
      sentence);

  function update() {
    const at = chosen();
    const layer = layers[at];
    items.forEach(({ item, mark }, k) => {
      item.hidden = !seen(layers[k]);
      item.setAttribute("aria-selected", String(k === at));
      item.tabIndex = k === at ? 0 : -1;
      if (inside(k)) item.setAttribute("aria-expanded", String(isOpen(k)));
      mark.textContent = isOpen(k) ? "▾" : inside(k) ? "▸" : "";
    });
    const { offsetTop: top, offsetHeight: high } = items[at].item;
    if (top < tree.scrollTop || top + high > tree.scrollTop + tree.clientHeight)
      tree.scrollTop = top - tree.clientHeight / 2;
    picture.mark(new Set(layer.path
        ? modules.flatMap((path, id) => (path && liesIn(path, layer.path) ? [`n${id}`] : [])) : []));
    title.textContent = layer.path || layer.kind;
    facts.replaceChildren(...layer.facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
    spreads.replaceChildren(...layer.spreads.map((spread) =>
        h("figure", {}, h("figcaption", {}, spread.title), bars(spread),
      h("div", { className: "ak-ends", hidden: spread.low === spread.high }, h("span", {}, spread.low),
        h("span", {}, spread.high)), h("p", { className: spread.wrong ? "ak-wrong" : "" }, spread.words))));
    weights.hidden = !layer.weights.length;
    weights.replaceChildren(tableOf("Parameters", ["Name", "Shape", "Norm", "Gradient norm"],
      layer.weights.map(([name, ...cells]) => h("tr", {}, h("th", { scope: "row" }, name),
          ...cells.map((text) => h("td", {}, text))))));
    const told = layer.facts.slice(1).map((fact) => fact.join(" ")).join(", ");
    const spread = layer.spreads.map(({ title: of, words }) => `${of}: ${words}`).join(". ");
    sentence.textContent = `${layer.path || "The model"}, ${layer.kind}. ${told}. ${spread}`;
  }

  function open() {
    for (const layer of above(layers[chosen()])) closed.delete(layer.path);
    update();
  }

  follow(["selected"], open);
  return begin(root, open);
}

export default { render };
