/**
 * The graph's picture where it is not played but followed: it shows the state that Python sends.
 *
 * @typedef {Record<string, Record<string, string | number | null>>} Shown for each element, the value of each
 *   field
 */

import { makeCamera } from "./camera.js";
import { h, listening, plates, write } from "./dom.js";
import { drawingOf } from "./drawing.js";
import { heldBy } from "./folds.js";
import { zoomButtons } from "./parts.js";
import { flowOf } from "./story.js";

/** @param {string} markup an SVG @param {string} name what the picture is, for who does not see it
 * @param {(element: string) => void} onSelect called with an element's name, or with ""
 * @param {AbortSignal} signal @param {boolean} [whole] whether all of it is shown, however small it gets */
export function makePicture(markup, name, onSelect, signal, whole = false) {
  const stage = h("div", { className: "ak-stage" });
  const node = h("div", { className: "ak-picture" }, stage, zoomButtons(() => camera));
  /** @type {Map<string, Element>} */ let elements = new Map();
  /** @type {any} */ let camera = null;
  /** @type {AbortController | null} */ let listeners = null;
  /** @type {Map<string, string>} */ const drawn = new Map();

  /** What is marked; of much its beginning. */
  function attended() {
    const marked = [...stage.querySelectorAll("[data-selected]")]
      .map((group) => group.getAttribute("data-element") ?? group.getAttribute("data-node") ?? "");
    return marked.length > 6 ? marked.slice(0, 1) : marked;
  }

  function close() {
    listeners?.abort();
    camera?.close();
  }

  /** @param {string} next */
  function replace(next) {
    close();
    listeners = new AbortController();
    const { svg, paper } = drawingOf(next, stage);
    svg.setAttribute("aria-label", name);
    for (const fold of svg.querySelectorAll("[data-holds]"))
      fold.setAttribute("data-node", `n${heldBy(fold.getAttribute("data-holds") ?? "").at(-1)}`);
    stage.replaceChildren(svg);
    drawn.clear();
    for (const flow of svg.querySelectorAll('[data-field="flow"]')) flow.before(...plates(flow));
    elements = new Map([...svg.querySelectorAll("[data-element]")]
      .map((group) => [group.getAttribute("data-element") ?? "", group]));
    camera = makeCamera(svg, stage, paper, () => ({ must: whole ? [] : attended() }),
      (element) => elements.get(element) ?? svg.querySelector(`[data-node="${element}"]`) ?? undefined,
      onSelect, listening(listeners.signal));
  }

  signal.addEventListener("abort", close);
  replace(markup);

  return {
    node,
    replace,
    /** Show values, gradients and what flows.
     * @param {Shown} state
     * @param {Record<string, Record<string, string>>} [thumbnails] SVG elements, by element and part */
    show(state, thumbnails = {}) {
      const flows = Object.values(state).map((fields) => flowOf(fields.flow).magnitude)
        .filter(Number.isFinite);
      const strongest = Math.max(0, ...flows);
      for (const [element, fields] of Object.entries(state)) {
        const group = elements.get(element);
        if (!group) continue;
        group.setAttribute("data-status", String(fields.status ?? ""));
        for (const text of group.querySelectorAll("[data-field]")) {
          const value = fields[text.getAttribute("data-field") ?? ""];
          if (value === undefined) continue;
          write(text, String(value ?? ""));
          text.setAttribute("data-sign", flowOf(value).sign);
        }
        for (const part of group.querySelectorAll('g[data-part$="-heatmap"]'))
          part.removeAttribute("display");
        const { magnitude, sign } = flowOf(fields.flow);
        if (!fields.flow || !Number.isFinite(magnitude)) continue;
        group.setAttribute("data-sign", sign);
        /** @type {any} */
        (group).style.setProperty("--ak-thickness",
          `${1.25 + 2.25 * Math.sqrt(strongest ? magnitude / strongest : 0)}px`);
      }
      for (const [element, parts] of Object.entries(thumbnails)) {
        for (const [part, source] of Object.entries(parts)) {
          const place = elements.get(element)?.querySelector(`g[data-part="${part}"]`);
          if (!place || drawn.get(element + part) === source) continue;
          drawn.set(element + part, source);
          const parsed = new DOMParser()
            .parseFromString(`<svg xmlns="http://www.w3.org/2000/svg">${source}</svg>`, "image/svg+xml");
          place.replaceChildren(...[...parsed.documentElement.childNodes]
            .map((child) => document.importNode(child, true)));
        }
      }
    },
    /** Mark nodes, and the folded boxes that stand for some of them, and bring them into view.
     * @param {Set<string>} marked */
    mark(marked) {
      for (const [element, group] of elements) group.toggleAttribute("data-selected", marked.has(element));
      for (const fold of stage.querySelectorAll("[data-holds]")) {
        fold.toggleAttribute("data-selected", heldBy(fold.getAttribute("data-holds") ?? "")
          .some((id) => marked.has(`n${id}`)));
      }
      if (!whole) camera.follow(attended(), 0);
    },
  };
}
