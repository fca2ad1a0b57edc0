/**
 * The stage: the picture at a step, and what moves on it.
 *
 * @import { Listen } from "./dom.js"
 * @import { Step, Timeline, View } from "./story.js"
 */

import { makeCamera } from "./camera.js";
import { h, plates, prefersStillness, s, write } from "./dom.js";
import { drawingOf } from "./drawing.js";
import { makeFolds } from "./folds.js";
import { makeMotion } from "./motion.js";
import { flowOf, isFinal, slopesOf, told } from "./story.js";

const HEEDED = 40; // elements that the camera heeds, of a chapter that touches more

/** @param {Timeline} timeline @param {string} markup
 * @param {Record<string, Record<string, Record<string, string>>>} shortened what to show of texts that have
 * not the room, by element and field
 * @param {(element: string, holds: string) => void} onSelect @param {Listen} on */
export function makeStage(timeline, markup, shortened, onSelect, on) {
  const node = h("div", { className: "ak-stage" });
  const { svg, paper } = drawingOf(markup, node);

  /** @type {Map<string, { group: SVGGElement, texts: Map<string, Element>, parts: Map<string, Element>,
   * shown: Record<string, any> }>} */
  const elements = new Map();
  for (const group of /** @type {NodeListOf<SVGGElement>} */ (svg.querySelectorAll("[data-element]"))) {
    const texts = new Map([...group.querySelectorAll("[data-field]")]
      .map((text) => [text.getAttribute("data-field") ?? "", text]));
    const parts = new Map([...group.querySelectorAll("g[data-part]")]
      .map((part) => [part.getAttribute("data-part") ?? "", part]));
    elements.set(group.getAttribute("data-element") ?? "", { group, texts, parts, shown: {} });
    const line = /** @type {SVGPathElement | null} */ (group.querySelector('[data-part="line"]'));
    const flow = texts.get("flow");
    if (flow) flow.before(...plates(flow));
    if (line) line.after(returning(line, group.querySelector('[data-part="arrow"]')));
  }
  const folds = makeFolds(timeline, svg);
  const groupOf = (/** @type {string} */ name) => elements.get(name)?.group ?? folds.home(name);

  node.classList.toggle("ak-large", elements.size > 400);
  node.classList.toggle("ak-tangents", slopesOf(timeline) !== "Gradient");
  const strongest = Math.max(0, ...timeline.steps.flatMap((step) => step.changes ?? [])
    .filter((c) => c.field === "flow").map((c) => flowOf(c.value).magnitude).filter(Number.isFinite));
  const marks = (timeline.troubles ?? []).flatMap((trouble) => {
    const group = groupOf(`n${trouble.node}`);
    const mark = s("g", { class: "ak-trouble", display: "none" }, s("title", {}, trouble.sentence),
      s("circle", { r: 9 }), s("text", { "text-anchor": "middle", y: 5 }, "!"));
    group?.append(mark);
    return group ? [mark] : [];
  });
  let lit = /** @type {string[]} */ ([]);
  let overview = true; // at the start, at the turn and at the end all of the graph is shown
  let marked = "";

  /** The arrowhead of the way back, at the line's beginning, and what fills the room of the other arrowhead.
   * @param {SVGPathElement} line @param {Element | null} arrow */
  function returning(line, arrow) {
    const [tip, next, end] = [0, 10, line.getTotalLength()].map((at) => line.getPointAtLength(at));
    const turn = (Math.atan2(next.y - tip.y, next.x - tip.x) * 180) / Math.PI;
    const border = arrow?.getAttribute("points")?.trim().split(/\s+/)[0] ?? `${end.x},${end.y}`;
    return s("g", { "data-part": "return" }, s("path", { d: `M${end.x},${end.y} ${border}` }),
      s("polygon", { points: "0,0 10,-5.5 10,5.5",
          transform: `translate(${tip.x} ${tip.y}) rotate(${turn})` }));
  }

  /** @param {string} name @param {Record<string, any>} fields */
  function showElement(name, fields) {
    const element = elements.get(name);
    if (!element) return;
    for (const [field, value] of Object.entries(fields)) {
      if (element.shown[field] === value) continue;
      element.shown[field] = value;
      if (field === "status") element.group.setAttribute("data-status", String(value));
      const text = element.texts.get(field);
      if (text) write(text, shortened[name]?.[field]?.[value] ?? String(value ?? ""));
      if (field !== "pending") text?.setAttribute("data-sign", flowOf(value).sign);
      if (field === "flow") {
        const { magnitude, sign } = flowOf(value);
        const share = strongest > 0 ? Math.min(1, magnitude / strongest) : 0;
        element.group.setAttribute("data-sign", sign);
        element.group.style.setProperty("--ak-thickness", `${1.5 + 3 * Math.sqrt(share)}px`);
      }
    }
    const { status, value, pending } = element.shown;
    display(element.parts.get("value-heatmap"), value && status !== "hidden");
    // A partial sum has no thumbnail: the heatmap is that of the final gradient.
    display(element.parts.get("gradient-heatmap"), isFinal(element.shown));
    display(element.parts.get("pending-badge"), pending !== null && pending !== undefined);
  }

  /** @param {Element | undefined} part @param {unknown} seen */
  function display(part, seen) {
    if (seen) part?.removeAttribute("display");
    else part?.setAttribute("display", "none");
  }

  /** @type {Map<string, string[]>} of each node, those that it was made from or that use it */
  const neighbours = new Map();
  for (const { source, target } of timeline.graph.edges) {
    for (const [one, other] of [[source, target], [target, source]])
      neighbours.set(`n${one}`, [...(neighbours.get(`n${one}`) ?? []), `n${other}`]);
  }
  const aim = () => ({
    must: overview ? [] : lit.slice(0, HEEDED),
    may: [marked, ...lit.slice(0, HEEDED).flatMap((name) => neighbours.get(name) ?? [])].filter(Boolean),
  });
  const camera = makeCamera(svg, node, paper, aim, groupOf, onSelect, on);

  const motion = makeMotion(timeline, svg, paper, camera, (name) => elements.get(name)?.group);

  return {
    node,
    /** @param {string} name */
    element: groupOf,
    /** What the folded box holds that one of these nodes is in; else the first that there is, or "".
     * @param {string[]} names */
    foldOf: (names) => (names.map(folds.home).find(Boolean) ?? folds.first)?.dataset.holds ?? "",
    zoom: camera.zoom,
    pan: camera.pan,
    fit: camera.fit,
    isWhole: camera.isWhole,
    /** @param {View} view */
    show(view) {
      const touches = view.lit.flatMap((step) => step.touches ?? []);
      for (const [name, fields] of Object.entries(view.state)) showElement(name, fields);
      svg.setAttribute("aria-label", `The graph. ${told(view)}`);
      for (const name of lit) groupOf(name)?.removeAttribute("data-touched");
      for (const name of touches) groupOf(name)?.setAttribute("data-touched", "");
      lit = touches;
      overview = view.lit.some((step) => step === timeline.steps[0] || step.phase === "turn"
        || step === timeline.steps.at(-1));
      folds.show(view, touches);
      if (marked !== view.selected) {
        groupOf(marked)?.removeAttribute("data-selected");
        groupOf(view.selected)?.setAttribute("data-selected", "");
        marked = view.selected;
      }
      const over = view.step === timeline.steps.length - 1;
      for (const mark of marks) display(mark, over);
      if (!view.arrived) return;
      camera.attend(prefersStillness() ? 0 : 300 / view.speed, view.covered);
      motion.show(view);
    },
    /** @param {string} name */
    find(name) {
      if (name) camera.follow([name], prefersStillness() ? 0 : 200);
    },
    close() {
      motion.stop();
      camera.close();
    },
  };
}
