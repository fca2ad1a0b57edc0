/**
 * The stage: the picture at a step, and what moves on it.
 *
 * @import { Listen } from "./dom.js"
 * @import { Step, Timeline, View } from "./story.js"
 */

import { makeCamera } from "./camera.js";
import { baselines, glide, h, prefersStillness, s, write } from "./dom.js";
import { flowOf, isFinal, nameOf, told } from "./story.js";

/**
 * @param {Timeline} timeline @param {string} markup
 * @param {Record<string, Record<string, Record<string, string>>>} shortened what to show of texts that have
 *   not the room, by element and field
 * @param {(element: string, holds: string) => void} onSelect @param {Listen} on
 */
export function makeStage(timeline, markup, shortened, onSelect, on) {
  const parsed = new DOMParser().parseFromString(markup, "image/svg+xml");
  if (parsed.querySelector("parsererror") || parsed.documentElement.localName !== "svg")
    throw new Error("autokit: no well-formed SVG");
  const svg = /** @type {SVGSVGElement} */
    (document.importNode(/** @type {any} */ (parsed.documentElement), true));
  const [left, top, width, height] = (svg.getAttribute("viewBox") ?? "0 0 300 150").split(" ").map(Number);
  for (const name of ["width", "height", "role", "aria-label", "aria-labelledby", "aria-describedby"])
    svg.removeAttribute(name);
  // named by the sentence of the step: more is told by the panel and the table
  svg.setAttribute("role", "img");
  svg.querySelector(":scope > title")?.remove(); // it tells the end of the story
  const node = h("div", { className: "ak-stage" });
  node.style.setProperty("--ak-width", String(width));
  node.style.setProperty("--ak-height", String(height));

  /** @type
   * {Map<string, { group: SVGGElement, texts: Map<string, Element>, parts: Map<string, Element>, shown:
   * Record<string, any> }>} */
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
  // A folded box stands for many nodes: it shows how far they are, and which of them the story is at.
  const folds = [.../** @type {NodeListOf<SVGGElement>} */ (svg.querySelectorAll('[data-part="fold"]'))]
    .map((group) => {
    const held = (group.dataset.holds ?? "").split(" ").flatMap((run) => {
      const [first, last = first] = run.split("-").map(Number);
      return Array.from({ length: last - first + 1 }, (_, k) => `n${first + k}`);
    });
    const detail = group.querySelector("text:last-of-type");
    return { group, held, detail, count: detail?.textContent ?? "" };
  });
  /** @type {Map<string, SVGGElement>} */ const home = new Map();
  for (const { group, held } of folds) for (const name of held) home.set(name, group);
  for (const edge of folds.length ? timeline.graph.edges : []) {
    const around = home.get(`n${edge.target}`) ?? home.get(`n${edge.source}`);
    if (around && !elements.has(`e${edge.id}`)) home.set(`e${edge.id}`, around);
  }
  const groupOf = (/** @type {string} */ name) => elements.get(name)?.group ?? home.get(name);

  /** @param {View} view @param {string[]} touches */
  function showFolds({ state, selected }, touches) {
    for (const { group, held, detail, count } of folds) {
      const now = [...touches, selected].find((name) => held.includes(name));
      const node = now && timeline.graph.nodes[Number(now.slice(1))];
      const open = held.map((name) => state[name]?.status)
        .find((status) => !["dim", "final", "computed"].includes(String(status)));
      group.dataset.status = String(open ?? state[held[0]]?.status);
      group.dataset.node = now ?? held.at(-1);
      if (detail) detail.textContent = node ? `${node.symbol ?? ""} ${nameOf(node)}` : count;
    }
  }

  node.classList.toggle("ak-large", elements.size > 400);
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
  let marked = "";

  /** A ground for the text on a line, so that the line does not run through its gaps.
   * @param {Element} text */
  function plates(text) {
    const [x, y, wide, size] = ["x", "y", "data-width", "font-size"]
      .map((name) => Number(text.getAttribute(name)));
    return baselines(text, y).map((at) => s("rect", { "data-part": "plate", x: x - wide / 2 - 2,
      y: at - size, width: wide + 4, height: 1.3 * size, rx: 3 }));
  }

  /** The arrowhead of the way back, at the line's beginning, and what fills the room of the other arrowhead.
   * @param {SVGPathElement} line @param {Element | null} arrow */
  function returning(line, arrow) {
    const [tip, next, end] = [0, 10, line.getTotalLength()].map((at) => line.getPointAtLength(at));
    const turn = (Math.atan2(next.y - tip.y, next.x - tip.x) * 180) / Math.PI;
    const border = arrow?.getAttribute("points")?.trim().split(/\s+/)[0] ?? `${end.x},${end.y}`;
    return s("g", { "data-part": "return" },
      s("path", { d: `M${end.x},${end.y} ${border}` }),
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

  const camera = makeCamera(svg, node, { left, top, width, height }, () => lit, groupOf, onSelect, on);

  // -- motion: values go along the edges, contributions come back along them

  /** @type {Set<() => void>} */ const moving = new Set();

  /** @param {string} name @param {"forward" | "backward"} direction @param {string} text
   * @param {number} duration */
  function travel(name, direction, text, duration) {
    const element = elements.get(name);
    // A copy outside of the page: asking the line itself would lay the whole picture out anew, once a frame.
    const path = /** @type {SVGPathElement | undefined} */
      (element?.group.querySelector('[data-part="line"]')?.cloneNode());
    const length = path?.getTotalLength() ?? 0;
    if (!element || !path || !length) return;
    const { sign } = flowOf(text);
    // No part of the picture, which would be painted anew for each frame of its way.
    const traveller = h("div", { className: "ak-traveller", "data-direction": direction, "data-sign": sign },
      sign === "+" ? `+${text}` : text);
    camera.put(traveller);
    element.group.setAttribute("data-travelling", direction);
    let frame = 0;
    const stopMoving = () => {
      cancelAnimationFrame(frame);
      traveller.remove();
      element.group.removeAttribute("data-travelling");
      moving.delete(stopMoving);
    };
    moving.add(stopMoving);
    frame = glide(duration, (t) => {
      traveller.style.transform =
        camera.at(path.getPointAtLength(length * (direction === "forward" ? t : 1 - t)));
      if (t === 1) stopMoving();
    }, (id) => (frame = id));
  }

  /** @param {Step[]} steps @param {number} duration */
  function move(steps, duration) {
    for (const step of steps) {
      for (const { element, field, value } of step.changes ?? []) {
        if (field === "status" && value === "forward") travel(element, "forward", "", duration);
        if (field === "flow" && value) travel(element, "backward", String(value), duration);
      }
    }
  }

  return {
    node,
    /** @param {string} name */
    element: groupOf,
    /** What the folded box holds that one of these nodes is in; else the first that there is, or "".
     * @param {string[]} names */
    foldOf: (names) => names.map((name) => home.get(name))
      .find(Boolean)?.dataset.holds ?? folds[0]?.group.dataset.holds ?? "",
    zoom: camera.zoom,
    pan: camera.pan,
    fit: camera.fit,
    /** @param {View} view */
    show(view) {
      const touches = view.lit.flatMap((step) => step.touches ?? []);
      for (const [name, fields] of Object.entries(view.state)) showElement(name, fields);
      svg.setAttribute("aria-label", `The graph. ${told(view)}`);
      for (const name of lit) groupOf(name)?.removeAttribute("data-touched");
      for (const name of touches) groupOf(name)?.setAttribute("data-touched", "");
      lit = touches;
      showFolds(view, touches);
      if (marked !== view.selected) {
        groupOf(marked)?.removeAttribute("data-selected");
        groupOf(view.selected)?.setAttribute("data-selected", "");
        marked = view.selected;
      }
      const over = view.step === timeline.steps.length - 1;
      for (const mark of marks) display(mark, over);
      if (!view.arrived) return;
      for (const stopMoving of [...moving]) stopMoving();
      const duration = prefersStillness() ? 0 : 300 / view.speed;
      if (duration && view.arrived === "forward") move(view.lit, duration);
      const seen = touches.length ? touches
        : view.lit.flatMap((step) => (step.changes ?? []).map((change) => change.element));
      camera.attend(seen, duration, view.covered);
    },
    /** @param {string} name */
    find(name) {
      camera.follow([name], prefersStillness() ? 0 : 200);
    },
    close() {
      for (const stopMoving of [...moving]) stopMoving();
      camera.close();
    },
  };
}
