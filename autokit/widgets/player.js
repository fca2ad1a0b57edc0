/**
 * The player: plays a timeline in the browser, forward and then backward.
 *
 * Python draws the picture and tells the story; this file moves through them.
 * It inserts the SVG as it comes and, at step k, makes it show the state that
 * `Timeline.state(k)` has in Python: the texts and the status of each element.
 * On top of that come the motion from one step to the next, the caption, the
 * controls, the details of a node, the table and the questions.
 *
 * The file reads from top to bottom: the story as pure functions, small help
 * with the DOM, one function for each part of the screen, and last `render`,
 * which joins the parts to the model. The parts share no state beyond it, so
 * many players can stand in one notebook.
 *
 * @typedef {{ element: string, field: string, value: string | number | null }} Change
 * @typedef {{ kind: string, phase: "forward" | "turn" | "backward", chapter: number, sentence: string,
 *   formula?: string, numbers?: string, note?: string, touches?: string[], changes?: Change[] }} Step
 * @typedef {{ first: number, last: number, sentence: string }} Chapter
 * @typedef {{ text: string, minimum?: number | string, maximum?: number | string, mean?: number | string,
 *   nan?: number, infinite?: number }} Summary
 * @typedef {{ id: number, kind: string, operation?: string, symbol?: string, formula?: string, backward?: string,
 *   label?: string, shape?: number[], dtype: string, value?: Summary, gradient?: Summary, requires_grad: boolean,
 *   module?: string, source?: { file: string, line: number, text: string }, saved?: string[] }} Node
 * @typedef {{ id: number, source: number, target: number, slot: number, operand: string, local: string,
 *   requires_grad: boolean }} Edge
 * @typedef {{ graph: { nodes: Node[], edges: Edge[] }, steps: Step[], chapters: Chapter[], initial?: Change[] }} Timeline
 * @typedef {"fine" | "coarse"} Grain
 * @typedef {Record<string, Record<string, string | number | null>>} State
 * @typedef {{ element: string, field: string, answer: string, text: string }} Question
 * @typedef {{ step: number, grain: Grain, selected: string, playing: boolean, speed: number, state: State,
 *   lit: Step[], arrived: "forward" | "otherwise" | "" }} View  what is on screen: `lit` are the steps that it tells of,
 *   and `arrived` says whether it was reached by going forward, in another way, or stood here already
 */

// ---------------------------------------------------------------- the story

/**
 * What the picture shows at `step`: the equal of Python's `Timeline.state`.
 * @param {Timeline} timeline @param {number} step negative counts from the end @returns {State}
 */
export function stateAt(timeline, step) {
  const count = timeline.steps.length;
  if (!(step >= -count && step < count)) throw new RangeError(`step ${step} is out of range for a timeline of ${count} steps`);
  const last = step < 0 ? step + count : step;
  /** @type {State} */ const state = {};
  const apply = (/** @type {Change} */ { element, field, value }) => ((state[element] ??= {})[field] = value);
  timeline.initial?.forEach(apply);
  for (let k = 0; k <= last; k++) timeline.steps[k].changes?.forEach(apply);
  return state;
}

/** Where the player stands when asked for `step`: there, or at the end of its chapter. @param {Timeline} timeline @param {Grain} grain @param {number} step */
export function stop(timeline, grain, step) {
  const kept = Math.max(0, Math.min(step, timeline.steps.length - 1));
  return (grain === "coarse" && timeline.chapters.find((c) => c.first <= kept && kept <= c.last)?.last) || kept;
}

/** The stop after `step` (direction 1) or before it (-1). @param {Timeline} timeline @param {Grain} grain @param {number} step @param {1 | -1} direction */
export function neighbour(timeline, grain, step, direction) {
  if (grain === "fine") return stop(timeline, grain, step + direction);
  const ends = timeline.chapters.map((c) => c.last);
  return direction > 0 ? ends.find((end) => end > step) ?? ends.at(-1) ?? 0 : ends.findLast((end) => end < step) ?? ends[0] ?? 0;
}

/** How large a contribution is, and its sign, read from its text. @param {string | number | null | undefined} text */
export function flowOf(text) {
  const numbers = (String(text ?? "").match(/[-−]?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf)/g) ?? []).map(toNumber);
  const negative = numbers.some((x) => x < 0);
  const positive = numbers.some((x) => x > 0);
  const sign = negative && positive ? "±" : negative ? "−" : positive ? "+" : "";
  return { magnitude: Math.max(0, ...numbers.map(Math.abs)), sign };
}

/** A typed number: decimals with point or comma, a fraction, inf. @param {string} text */
function toNumber(text) {
  const plain = text.trim().toLowerCase().replace("−", "-").replace(",", ".").replace(/inf(inity)?$|∞$/, "Infinity");
  const [over, under] = plain.split("/");
  return plain === "" ? NaN : under === undefined ? Number(over) : Number(over) / Number(under);
}

/** Whether a typed guess is the answer: within one percent, as the answer shown is rounded. @param {string} guess @param {string} answer */
export function isRight(guess, answer) {
  const [guessed, right] = [toNumber(guess), toNumber(answer)];
  if (Number.isNaN(right)) return guess.trim().toLowerCase() === answer.toLowerCase();
  if (!Number.isFinite(right)) return guessed === right;
  return Math.abs(guessed - right) <= Math.max(0.01 * Math.abs(right), right === 0 ? 1e-3 : 0);
}

/**
 * The questions of predict-then-reveal: for each step that would give away a number, what to ask before it.
 * A contribution is asked for at its product, where the story shows one, else where it travels.
 * @param {Timeline} timeline @returns {Map<number, Question>}
 */
export function questions(timeline) {
  const { nodes, edges } = timeline.graph;
  const asked = new Map();
  timeline.steps.forEach((step, k) => {
    for (const { element, field, value } of step.changes ?? []) {
      if (typeof value !== "string" || !/^[-−]?(\d+\.?\d*(e[+-]?\d+)?|inf|nan)$/.test(value)) continue;
      if (field === "value" && step.kind === "value") {
        const node = nodes.find((n) => `n${n.id}` === element);
        if (node) asked.set(k, { element, field, answer: value, text: `What is the value of ${nameOf(node)}${node.formula ? ` = ${node.formula}` : ""}?` });
      } else if (field === "flow") {
        const edge = edges.find((e) => `e${e.id}` === element);
        if (!edge) continue;
        let at = k;
        for (let j = k - 1; j >= 0 && timeline.steps[j].chapter === step.chapter; j--) {
          const before = timeline.steps[j];
          if (before.kind === "unbroadcast") break;
          if (before.kind === "product" && before.touches?.includes(element)) at = j;
        }
        const [from, to] = [nodes[edge.target], nodes[edge.source]].map(nameOf);
        asked.set(at, { element, field, answer: value, text: `What does ${from} send back to ${to}: upstream gradient × local derivative?` });
      }
    }
  });
  return asked;
}

/** @param {Node} node */
const nameOf = (node) => node.label || `v${node.id}`;

/** @param {number[] | undefined} shape */
const shapeText = (shape) => (shape?.length ? `(${shape.join(", ")}${shape.length === 1 ? "," : ""})` : "scalar");

const PHASES = { forward: "→ Forward", turn: "↻ Turn-around", backward: "← Backward" };

/** @type {Record<string, string>} */
const KINDS = {
  input: "Input", operands: "Operands", value: "Value", turn: "Turn-around", seed: "Seed", select: "Next node",
  upstream: "Upstream gradient", local: "Local derivative", product: "Product", unbroadcast: "Un-broadcast",
  travel: "Travel", accumulate: "Accumulate", leaf: "Leaf gradient", finish: "Finish",
};

/** @type {Record<string, string>} */
const STATUSES = {
  hidden: "not computed", computed: "computed", waiting: "waiting for contributions", ready: "ready",
  current: "its rule runs now", final: "gradient final", dim: "needs no gradient",
};

// ------------------------------------------------------------- the DOM, briefly

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; a property if it has one of that name, else an attribute. Text is always text. @param {string} tag @param {Record<string, any>} [props] @param {...(Node | string)} children @returns {any} */
function h(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key in made) /** @type {any} */ (made)[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(.../** @type {any} */ (children));
  return made;
}

/** @param {string} tag @param {Record<string, string | number>} attributes @param {...any} children @returns {any} */
function s(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/** @param {string} path */
const icon = (path) => s("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, s("path", { d: path, fill: "currentColor" }));

const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z", back: "M12 3v10L4 8z", play: "M4 2.5v11l9-5.5z", pause: "M4 3h3v10H4zM9 3h3v10H9z",
  next: "M4 3v10l8-5z", last: "M11 3h2v10h-2zM3 3v10l7-5z", plus: "M7 3h2v4h4v2H9v4H7V9H3V7h4z", minus: "M3 7h10v2H3z",
  fit: "M2 2h5v2H4v3H2zM9 2h5v5h-2V4H9zM2 9h2v3h3v2H2zM12 9h2v5H9v-2h3z",
  close: "M4.2 2.8 8 6.6l3.8-3.8 1.4 1.4L9.4 8l3.8 3.8-1.4 1.4L8 9.4l-3.8 3.8-1.4-1.4L6.6 8 2.8 4.2z",
};

/** A button with an icon, a name for assistive technology and a tooltip that may tell the key. @param {string} path @param {string} name @param {string} [key] */
const iconButton = (path, name, key) => h("button", { type: "button", className: "ak-button", "aria-label": name, title: key ? `${name} (${key})` : name }, icon(path));

/** A button is kept focusable when it has nothing to do, so that the keyboard does not lose its place. @param {Element} button @param {boolean} enabled */
const setEnabled = (button, enabled) => button.setAttribute("aria-disabled", String(!enabled));

const prefersStillness = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

// ---------------------------------------------------------------- the stage

const READABLE = 0.8; // below this scale the picture is not shrunk to fit but followed
const LARGEST = 1.25; // how far a small picture is blown up to fit

/**
 * The picture, its camera, and what moves on it.
 * @param {Timeline} timeline @param {string} markup
 * @param {Record<string, Record<string, Record<string, string>>>} shortened what to show of texts that have not the room, by element and field
 * @param {(element: string) => void} onSelect @param {AbortSignal} signal
 */
function makeStage(timeline, markup, shortened, onSelect, signal) {
  const parsed = new DOMParser().parseFromString(markup, "image/svg+xml");
  if (parsed.querySelector("parsererror") || parsed.documentElement.localName !== "svg") throw new Error("autokit: the picture is no well-formed SVG");
  const svg = /** @type {SVGSVGElement} */ (document.importNode(/** @type {any} */ (parsed.documentElement), true));
  const [left, top, width, height] = (svg.getAttribute("viewBox") ?? `0 0 ${parseFloat(svg.getAttribute("width") ?? "300")} ${parseFloat(svg.getAttribute("height") ?? "150")}`).split(/[\s,]+/).map(Number);
  for (const name of ["width", "height", "role", "aria-label", "aria-labelledby", "aria-describedby"]) svg.removeAttribute(name);
  svg.setAttribute("aria-hidden", "true"); // its content is told by the caption, the panel and the table
  svg.querySelector(":scope > title")?.remove(); // it tells the end of the story
  const node = h("div", { className: "ak-stage" }, svg);
  node.style.setProperty("--ak-width", String(width));
  node.style.setProperty("--ak-height", String(height));

  /** @type {Map<string, { group: SVGGElement, texts: Map<string, Element>, parts: Map<string, Element>, shown: Record<string, any> }>} */
  const elements = new Map();
  for (const group of /** @type {NodeListOf<SVGGElement>} */ (svg.querySelectorAll("[data-element]"))) {
    const texts = new Map([...group.querySelectorAll("[data-field]")].map((text) => [text.getAttribute("data-field") ?? "", text]));
    const parts = new Map([...group.querySelectorAll("g[data-part]")].map((part) => [part.getAttribute("data-part") ?? "", part]));
    elements.set(group.getAttribute("data-element") ?? "", { group, texts, parts, shown: {} });
    const line = /** @type {SVGPathElement | null} */ (group.querySelector('[data-part="line"]'));
    const flow = texts.get("flow");
    if (flow) flow.before(plate(flow));
    if (line) line.after(returning(line, group.querySelector('[data-part="arrow"]')));
  }
  const strongest = Math.max(0, ...timeline.steps.flatMap((step) => step.changes ?? []).filter((c) => c.field === "flow").map((c) => flowOf(c.value).magnitude).filter(Number.isFinite));
  let lit = /** @type {string[]} */ ([]);
  let marked = "";

  /** A ground for the text on a line, so that the line does not run through its gaps. @param {Element} text */
  function plate(text) {
    const [x, y, wide, size] = ["x", "y", "data-width", "font-size"].map((name) => Number(text.getAttribute(name)));
    return s("rect", { "data-part": "plate", x: x - wide / 2 - 2, y: y - size, width: wide + 4, height: 1.35 * size, rx: 3 });
  }

  /** The arrowhead of the way back, at the line's beginning, and what fills the room of the other arrowhead. @param {SVGPathElement} line @param {Element | null} arrow */
  function returning(line, arrow) {
    const [tip, next, end] = [0, 10, line.getTotalLength()].map((at) => line.getPointAtLength(at));
    const turn = (Math.atan2(next.y - tip.y, next.x - tip.x) * 180) / Math.PI;
    const border = arrow?.getAttribute("points")?.trim().split(/\s+/)[0] ?? `${end.x},${end.y}`;
    return s("g", { "data-part": "return" },
      s("path", { d: `M${end.x},${end.y} ${border}` }),
      s("polygon", { points: "0,0 10,-5.5 10,5.5", transform: `translate(${tip.x} ${tip.y}) rotate(${turn})` }));
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
      if (text) text.textContent = shortened[name]?.[field]?.[value] ?? String(value ?? "");
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
    display(element.parts.get("gradient-heatmap"), ["ready", "current", "final"].includes(status));
    display(element.parts.get("pending-badge"), pending !== null && pending !== undefined);
  }

  /** @param {Element | undefined} part @param {unknown} seen */
  function display(part, seen) {
    if (seen) part?.removeAttribute("display");
    else part?.setAttribute("display", "none");
  }

  // -- camera: the part of the picture that is seen

  const camera = { x: left, y: top, scale: 1 };
  let placed = false; // before its first look there is nothing to follow
  let untouched = true; // until the reader moves the camera, it looks after itself
  const size = () => {
    const frame = svg.getBoundingClientRect();
    return { w: Math.max(frame.width, 1), h: Math.max(frame.height, 1) };
  };
  const fitting = () => Math.min(size().w / width, size().h / height, LARGEST);
  let gliding = 0;

  function look() {
    const { w, h: tall } = size();
    svg.setAttribute("viewBox", `${camera.x} ${camera.y} ${w / camera.scale} ${tall / camera.scale}`);
  }

  /** Stand at `scale` with the picture's point (x, y) in the middle. @param {number} x @param {number} y @param {number} scale */
  function center(x, y, scale) {
    const { w, h: tall } = size();
    Object.assign(camera, { scale, x: x - w / scale / 2, y: y - tall / scale / 2 });
    look();
  }

  /** The whole picture, or as much of its beginning as can be read. */
  function home() {
    placed = true;
    cancelAnimationFrame(gliding);
    if (fitting() >= READABLE) return fit();
    const { w, h: tall } = size();
    center(left + Math.min(width, w / READABLE) / 2, top + Math.min(height, tall / READABLE) / 2, READABLE);
    follow(lit, 0);
  }

  function fit() {
    center(left + width / 2, top + height / 2, fitting());
  }

  /** @param {number} factor @param {{ x: number, y: number }} [at] in the stage's pixels */
  function zoom(factor, at) {
    untouched = false;
    const { w, h: tall } = size();
    const { x, y } = at ?? { x: w / 2, y: tall / 2 };
    const scale = Math.max(Math.min(fitting(), 0.2), Math.min(4, camera.scale * factor));
    camera.x += x / camera.scale - x / scale;
    camera.y += y / camera.scale - y / scale;
    camera.scale = scale;
    look();
  }

  /** Bring elements into view if they are not. @param {string[]} names @param {number} duration */
  function follow(names, duration) {
    const frame = svg.getBoundingClientRect();
    const boxes = names.flatMap((name) => elements.get(name)?.group.getBoundingClientRect() ?? []);
    if (!boxes.length || !frame.width) return;
    const margin = 12;
    const shift = (/** @type {number} */ low, /** @type {number} */ high, /** @type {number} */ room) =>
      low >= margin && high <= room - margin ? 0 : (low + high) / 2 - room / 2;
    const dx = shift(Math.min(...boxes.map((b) => b.left)) - frame.left, Math.max(...boxes.map((b) => b.right)) - frame.left, frame.width) / camera.scale;
    const dy = shift(Math.min(...boxes.map((b) => b.top)) - frame.top, Math.max(...boxes.map((b) => b.bottom)) - frame.top, frame.height) / camera.scale;
    if (!dx && !dy) return;
    // Where the reader has not moved it, the camera stays on the picture.
    const kept = (/** @type {number} */ at, /** @type {number} */ low, /** @type {number} */ length, /** @type {number} */ room) =>
      !untouched ? at : room >= length ? low + (length - room) / 2 : Math.max(low, Math.min(at, low + length - room));
    const from = { x: camera.x, y: camera.y };
    const to = { x: kept(from.x + dx, left, width, frame.width / camera.scale), y: kept(from.y + dy, top, height, frame.height / camera.scale) };
    cancelAnimationFrame(gliding);
    gliding = glide(duration, (t) => {
      camera.x = from.x + (to.x - from.x) * t;
      camera.y = from.y + (to.y - from.y) * t;
      look();
    }, (id) => (gliding = id));
  }

  const resized = new ResizeObserver(() => (untouched ? home() : look()));
  resized.observe(node);

  // -- the hand: drag to pan, ctrl and wheel to zoom, click to select

  let drag = /** @type {{ x: number, y: number, id: number, moving: boolean } | null} */ (null);
  node.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (event.button === 0) drag = { x: event.clientX, y: event.clientY, id: event.pointerId, moving: false };
  }, { signal });
  node.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (!drag || event.pointerId !== drag.id) return;
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moving && Math.hypot(dx, dy) < 4) return;
    if (!drag.moving) node.setPointerCapture(drag.id);
    untouched = false;
    cancelAnimationFrame(gliding);
    drag = { ...drag, x: event.clientX, y: event.clientY, moving: true };
    camera.x -= dx / camera.scale;
    camera.y -= dy / camera.scale;
    look();
  }, { signal });
  const drop = () => (drag = null);
  node.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => {
    if (drag && !drag.moving) {
      const hit = /** @type {Element} */ (event.target).closest('[data-element^="n"]');
      onSelect(hit?.getAttribute("data-element") ?? "");
    }
    drop();
  }, { signal });
  node.addEventListener("pointercancel", drop, { signal });
  node.addEventListener("wheel", (/** @type {WheelEvent} */ event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the page's to scroll
    event.preventDefault();
    const frame = svg.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 300), { x: event.clientX - frame.left, y: event.clientY - frame.top });
  }, { signal, passive: false });

  // -- motion: values go along the edges, contributions come back along them

  /** @type {Set<() => void>} */ const moving = new Set();

  /** @param {string} name @param {"forward" | "backward"} direction @param {string} text @param {number} duration */
  function travel(name, direction, text, duration) {
    const element = elements.get(name);
    const path = /** @type {SVGPathElement | undefined} */ (element?.group.querySelector('[data-part="line"]') ?? undefined);
    const length = path?.getTotalLength() ?? 0;
    if (!element || !path || !length) return;
    const traveller = s("g", { class: "ak-traveller", "data-direction": direction });
    if (direction === "backward") {
      const { sign } = flowOf(text);
      const shown = sign === "−" || sign === "±" || !sign ? text : `+${text}`;
      traveller.setAttribute("data-sign", sign);
      const wide = 14 + 7.2 * shown.length;
      traveller.append(s("rect", { x: -wide / 2, y: -11, width: wide, height: 22, rx: 11 }), s("text", { "text-anchor": "middle", y: 4.5 }, shown));
    } else traveller.append(s("circle", { r: 6 }));
    svg.append(traveller);
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
      const at = path.getPointAtLength(length * (direction === "forward" ? t : 1 - t));
      traveller.setAttribute("transform", `translate(${at.x} ${at.y})`);
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
    zoom,
    fit() {
      untouched = fitting() >= READABLE;
      cancelAnimationFrame(gliding);
      fit();
    },
    /** @param {View} view */
    show(view) {
      const touches = view.lit.flatMap((step) => step.touches ?? []);
      for (const [name, fields] of Object.entries(view.state)) showElement(name, fields);
      for (const name of lit) elements.get(name)?.group.removeAttribute("data-touched");
      for (const name of touches) elements.get(name)?.group.setAttribute("data-touched", "");
      lit = touches;
      if (marked !== view.selected) {
        elements.get(marked)?.group.removeAttribute("data-selected");
        elements.get(view.selected)?.group.setAttribute("data-selected", "");
        marked = view.selected;
      }
      if (!view.arrived) return;
      for (const stopMoving of [...moving]) stopMoving();
      const duration = prefersStillness() ? 0 : 300 / view.speed;
      if (duration && view.arrived === "forward") move(view.lit, duration);
      const seen = touches.length ? touches : view.lit.flatMap((step) => (step.changes ?? []).map((change) => change.element));
      if (placed && (fitting() < READABLE || !untouched)) follow(seen, duration);
    },
    /** @param {string} name */
    find(name) {
      follow([name], prefersStillness() ? 0 : 200);
    },
    close() {
      for (const stopMoving of [...moving]) stopMoving();
      cancelAnimationFrame(gliding);
      resized.disconnect();
    },
  };
}

/** Call `draw(t)` once a frame while t eases from 0 to 1; `hold` is told the id by which the next frame can be cancelled. @param {number} duration @param {(t: number) => void} draw @param {(id: number) => void} hold */
function glide(duration, draw, hold) {
  if (duration <= 0) {
    draw(1);
    return 0;
  }
  const start = performance.now();
  const frame = (/** @type {number} */ now) => {
    const t = Math.max(0, Math.min(1, (now - start) / duration));
    draw(t * t * (3 - 2 * t));
    if (t < 1) hold(requestAnimationFrame(frame));
  };
  draw(0);
  return requestAnimationFrame(frame);
}

// -------------------------------------------------------------- the caption

/** What happens at this step, in words, symbols and numbers; or the question that stands before the next. @param {Timeline} timeline @param {AbortSignal} signal */
function makeCaption(timeline, signal) {
  const phase = h("span", { className: "ak-phase" });
  const kind = h("span", { className: "ak-kind" });
  const score = h("span", { className: "ak-score" });
  const count = h("span", { className: "ak-count" });
  const sentence = h("p", { className: "ak-sentence", "aria-live": "polite" });
  const formula = h("code", { className: "ak-formula" });
  const numbers = h("code", { className: "ak-numbers" });
  const note = h("p");
  const why = h("details", { className: "ak-why" }, h("summary", {}, "Why?"), note);
  const verdict = h("span", { className: "ak-verdict", role: "status" });
  const ask = h("span", { className: "ak-ask" });
  const answer = h("input", { type: "text", autocomplete: "off", className: "ak-answer", inputMode: "text" });
  const form = h("form", { className: "ak-question", hidden: true },
    h("label", {}, ask, answer), h("button", { type: "submit", className: "ak-button ak-strong" }, "Check"),
    h("button", { type: "button", className: "ak-button ak-reveal" }, "Reveal"));
  const node = h("div", { className: "ak-caption" },
    h("div", { className: "ak-meta" }, phase, kind, h("span", { className: "ak-space" }), score, count),
    h("div", { className: "ak-telling" }, sentence, form, verdict),
    h("div", { className: "ak-symbols" }, formula, numbers, h("span", { className: "ak-space" }), why));

  let right = 0;
  let tried = 0;
  let first = true; // only the first answer to a question counts
  /** @type {{ question: Question, done: () => void } | null} */ let open = null;

  /** @param {string} text @param {string} mood */
  function say(text, mood) {
    verdict.textContent = text;
    verdict.dataset.mood = mood;
  }

  /** @param {boolean} good @param {string} text */
  function close(good, text) {
    if (!open) return;
    const { done } = open;
    if (first) {
      tried += 1;
      right += Number(good);
    }
    end();
    done();
    say(text, good ? "right" : "");
  }

  function end() {
    open = null;
    form.hidden = true;
    sentence.hidden = false;
    score.textContent = tried ? `Predicted ${right} / ${tried}` : "";
  }

  form.addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!open || !answer.value.trim()) return;
    if (isRight(answer.value, open.question.answer)) return close(true, `✓ Right: ${open.question.answer}`);
    say(`✗ ${answer.value.trim()} is not it. Try again, or reveal.`, "wrong");
    if (first) tried += 1;
    first = false;
    score.textContent = `Predicted ${right} / ${tried}`;
    answer.select();
  }, { signal });
  form.querySelector(".ak-reveal").addEventListener("click", () => close(false, `It is ${open?.question.answer}.`), { signal });

  return {
    node,
    /** Whether a question is open; if so, it asks for attention again. */
    asking() {
      if (open) answer.focus({ preventScroll: true });
      return open !== null;
    },
    cancel() {
      if (open) end();
      say("", "");
    },
    /** @param {Question} question @param {() => void} done */
    ask(question, done) {
      open = { question, done };
      first = true;
      ask.textContent = question.text;
      answer.value = "";
      say("", "");
      form.hidden = false;
      sentence.hidden = true;
      answer.focus({ preventScroll: true });
    },
    /** @param {View} view */
    show(view) {
      if (!view.arrived && open) return;
      if (open) end();
      if (view.arrived) say("", "");
      const step = timeline.steps[view.step];
      const chapter = timeline.chapters[step?.chapter];
      const coarse = view.grain === "coarse" && chapter;
      const [at, of] = coarse ? [step.chapter + 1, timeline.chapters.length] : [view.step + 1, timeline.steps.length];
      node.dataset.phase = step?.phase ?? "";
      phase.textContent = step ? PHASES[step.phase] : "";
      kind.textContent = !step || step.phase === "turn" ? "" : coarse ? "Chapter" : KINDS[step.kind] ?? step.kind;
      count.textContent = `${step ? at : 0} / ${of}`;
      const told = (coarse ? chapter.sentence : step?.sentence) ?? "";
      if (sentence.textContent !== told) sentence.textContent = told;
      formula.textContent = step?.formula ?? "";
      numbers.textContent = step?.numbers ?? "";
      note.textContent = step?.note ?? "";
      why.hidden = !step?.note;
      if (view.arrived) why.open = false;
    },
  };
}

// ------------------------------------------------------------- the controls

const SPEEDS = [0.25, 0.5, 1, 2, 4];

/** @param {string} name @param {[string, string][]} options */
function choice(name, options) {
  const select = h("select", { "aria-label": name }, ...options.map(([value, text]) => h("option", { value }, text)));
  return { select, label: h("label", { className: "ak-choice" }, h("span", {}, name), select) };
}

/**
 * Scrubber, buttons and choices.
 * @param {Timeline} timeline
 * @param {Record<"first" | "back" | "play" | "next" | "last" | "predict" | "table", () => void> & { seek: (step: number) => void, speed: (speed: number) => void, grain: (grain: Grain) => void }} act
 * @param {AbortSignal} signal
 */
function makeControls(timeline, act, signal) {
  const count = timeline.steps.length;
  const place = (/** @type {number} */ step) => `${count > 1 ? (100 * Math.max(0, Math.min(step, count - 1))) / (count - 1) : 0}%`;
  const track = h("div", { className: "ak-track" });
  const names = h("div", { className: "ak-phases", "aria-hidden": "true" });
  for (const phase of /** @type {const} */ (["forward", "turn", "backward"])) {
    const first = timeline.steps.findIndex((step) => step.phase === phase);
    if (first < 0) continue;
    const last = timeline.steps.findLastIndex((step) => step.phase === phase);
    const part = h("span", { "data-phase": phase });
    const name = h("span", { "data-phase": phase }, PHASES[phase]);
    for (const each of [part, name]) {
      each.style.left = place(first - 0.5);
      each.style.right = `calc(100% - ${place(last + 0.5)})`;
    }
    track.append(part);
    if (phase !== "turn") names.append(name);
  }
  if (timeline.chapters.length <= 120) {
    for (const chapter of timeline.chapters.slice(1)) {
      const tick = h("i");
      tick.style.left = place(chapter.first - 0.5);
      track.append(tick);
    }
  }
  const range = h("input", { type: "range", min: 0, max: Math.max(count - 1, 0), step: 1, value: 0, className: "ak-range", "aria-label": "Step" });
  const scrubber = h("div", { className: "ak-scrubber" }, track, range, names);

  const buttons = {
    first: iconButton(ICONS.first, "To the start", "Home"), back: iconButton(ICONS.back, "Step back", "←"),
    play: h("button", { type: "button", className: "ak-button ak-strong ak-play" }),
    next: iconButton(ICONS.next, "Step forward", "→"), last: iconButton(ICONS.last, "To the end", "End"),
  };
  const speed = choice("Speed", SPEEDS.map((x) => [String(x), `${x}×`]));
  const grain = choice("Detail", [["fine", "Every step"], ["coarse", "Chapters"]]);
  const predict = h("button", { type: "button", className: "ak-button ak-toggle", "aria-pressed": "false", title: "Be asked for each number before it is shown" }, "Predict");
  const table = h("button", { type: "button", className: "ak-button ak-toggle", "aria-pressed": "false" }, "Show as table");
  const node = h("div", { className: "ak-controls" }, scrubber,
    h("div", { className: "ak-row" },
      h("div", { className: "ak-transport", role: "group", "aria-label": "Playback" }, ...Object.values(buttons)),
      h("span", { className: "ak-space" }), speed.label, grain.label, predict, table));

  for (const [name, button] of Object.entries(buttons)) {
    button.addEventListener("click", () => button.getAttribute("aria-disabled") !== "true" && act[/** @type {"play"} */ (name)](), { signal });
  }
  range.addEventListener("input", () => act.seek(Number(range.value)), { signal });
  speed.select.addEventListener("change", () => act.speed(Number(speed.select.value)), { signal });
  grain.select.addEventListener("change", () => act.grain(grain.select.value), { signal });
  predict.addEventListener("click", act.predict, { signal });
  table.addEventListener("click", act.table, { signal });

  let playing = /** @type {boolean | null} */ (null);
  return {
    node,
    predict,
    table,
    /** @param {View} view */
    show(view) {
      range.value = String(view.step);
      const step = timeline.steps[view.step];
      range.setAttribute("aria-valuetext", `${view.step + 1} of ${count}: ${step?.sentence ?? ""}`);
      scrubber.style.setProperty("--ak-at", place(view.step));
      setEnabled(buttons.first, view.step > 0);
      setEnabled(buttons.back, neighbour(timeline, view.grain, view.step, -1) < view.step);
      setEnabled(buttons.next, view.step < count - 1);
      setEnabled(buttons.last, view.step < count - 1);
      if (playing !== view.playing) {
        playing = view.playing;
        buttons.play.replaceChildren(icon(playing ? ICONS.pause : ICONS.play), playing ? "Pause" : "Play");
        buttons.play.title = `${playing ? "Pause" : "Play"} (Space)`;
      }
      const pace = String(view.speed);
      if (![...speed.select.options].some((option) => option.value === pace)) speed.select.append(h("option", { value: pace }, `${view.speed}×`));
      speed.select.value = pace;
      grain.select.value = view.grain;
    },
  };
}

// ----------------------------------------------------- the details of a node

/** @param {Timeline} timeline @param {() => void} onClose @param {AbortSignal} signal */
function makePanel(timeline, onClose, signal) {
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

// ---------------------------------------------------------------- the table

/** The nodes at this step as a table, for those who would rather read. @param {Timeline} timeline */
function makeTable(timeline) {
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

// --------------------------------------------------------------- all together

/** How long a step is shown: the time to read its sentence. @param {string} sentence */
const dwell = (sentence) => Math.max(1300, Math.min(3600, 900 + 26 * sentence.length));

/** @param {{ model: any, el: HTMLElement }} context @returns {() => void} what takes it all down again */
function render({ model, el }) {
  /** @type {Timeline} */ const timeline = model.get("_timeline");
  const count = timeline.steps.length;
  const listeners = new AbortController();
  const { signal } = listeners;
  const asked = questions(timeline);
  let predicting = false;
  let timer = 0;
  let before = -1; // the step shown last

  /** @param {Record<string, any>} traits */
  function set(traits) {
    for (const [name, value] of Object.entries(traits)) model.set(name, value);
    try {
      model.save_changes();
    } catch {
      // The kernel is gone; the player is not.
    }
  }

  const grain = () => /** @type {Grain} */ (model.get("grain"));
  const here = () => stop(timeline, grain(), model.get("step"));
  const seek = (/** @type {number} */ step, /** @type {Record<string, any>} */ more = {}) => set({ step: stop(timeline, grain(), step), ...more });

  /** To the next stop, unless its number is to be predicted first. */
  function advance() {
    const to = neighbour(timeline, grain(), here(), 1);
    const question = predicting && to > here() ? asked.get(to) : undefined;
    if (!question) return seek(to);
    const playing = model.get("playing");
    if (playing) set({ playing: false });
    caption.ask(question, () => {
      seek(to, playing ? { playing } : {});
      root.focus({ preventScroll: true });
    });
  }

  const act = {
    first: () => seek(0),
    last: () => seek(count - 1),
    back: () => seek(neighbour(timeline, grain(), here(), -1)),
    next: () => caption.asking() || advance(),
    play() {
      if (caption.asking()) return;
      if (model.get("playing")) return set({ playing: false });
      set(here() >= count - 1 ? { step: stop(timeline, grain(), 0), playing: true } : { playing: true });
    },
    seek,
    speed: (/** @type {number} */ speed) => set({ speed }),
    grain(/** @type {Grain} */ to) {
      if (to === "coarse" && predicting) act.predict(); // a chapter gives away all its numbers at once
      set({ grain: to, step: stop(timeline, to, here()) });
    },
    predict() {
      predicting = !predicting;
      controls.predict.setAttribute("aria-pressed", String(predicting));
      if (predicting && grain() === "coarse") act.grain("fine");
      if (!predicting) caption.cancel();
    },
    table() {
      table.node.hidden = !table.node.hidden;
      picture.hidden = !table.node.hidden;
      controls.table.setAttribute("aria-pressed", String(!table.node.hidden));
      update();
    },
    /** @param {1 | -1} direction */
    chapter(direction) {
      const at = here();
      const { chapters } = timeline;
      const to = direction > 0 ? chapters.find((c) => c.first > at)?.first ?? count - 1 : chapters.findLast((c) => c.first < at)?.first ?? 0;
      seek(grain() === "coarse" ? neighbour(timeline, "coarse", at, direction) : to);
    },
    select: (/** @type {string} */ element) => set({ selected: element }),
  };

  const stage = makeStage(timeline, model.get("_svg"), model.get("_shortened"), act.select, signal);
  const caption = makeCaption(timeline, signal);
  const controls = makeControls(timeline, act, signal);
  const panel = makePanel(timeline, () => act.select(""), signal);
  const table = makeTable(timeline);

  const zoomIn = iconButton(ICONS.plus, "Zoom in", "+");
  const zoomOut = iconButton(ICONS.minus, "Zoom out", "−");
  const zoomFit = iconButton(ICONS.fit, "Fit the whole graph", "0");
  const listId = `autokit-${Math.random().toString(36).slice(2)}`;
  const places = new Map(timeline.graph.nodes.map((n) => [n.operation ? `${nameOf(n)}: ${n.operation}` : nameOf(n), `n${n.id}`]));
  const search = h("input", { type: "search", className: "ak-search", placeholder: "Find a node", "aria-label": "Find a node", autocomplete: "off", spellcheck: false });
  search.setAttribute("list", listId);
  const options = h("datalist", { id: listId }, ...[...places.keys()].map((value) => h("option", { value })));
  const picture = h("div", { className: "ak-picture" }, stage.node,
    h("div", { className: "ak-find" }, search, options),
    h("div", { className: "ak-zoom", role: "group", "aria-label": "Zoom" }, zoomOut, zoomIn, zoomFit));
  const parts = [stage, caption, controls, panel, table];
  const nodes = timeline.graph.nodes.length;
  const root = h("div", { className: "ak-player", tabIndex: 0, role: "group", "data-lm-suppress-shortcuts": "true",
    "aria-label": `Animation of a computation: ${nodes} node${nodes === 1 ? "" : "s"}, ${count} step${count === 1 ? "" : "s"}. Arrow keys step, Space plays.` },
  h("div", { className: "ak-main" }, picture, table.node, panel.node), caption.node, controls.node);

  zoomIn.addEventListener("click", () => stage.zoom(1.25), { signal });
  zoomOut.addEventListener("click", () => stage.zoom(0.8), { signal });
  zoomFit.addEventListener("click", () => stage.fit(), { signal });

  let sought = "";
  function findNode() {
    sought = search.value;
    const wanted = search.value.trim().toLowerCase();
    const name = wanted && [...places.keys()].sort((a, b) => a.length - b.length).find((key) => key.toLowerCase().startsWith(wanted));
    const element = name ? places.get(name) ?? "" : [...places].find(([key]) => wanted && key.toLowerCase().includes(wanted))?.[1] ?? "";
    search.setAttribute("aria-invalid", String(Boolean(wanted) && !element));
    if (!element) return;
    act.select(element);
    stage.find(element);
  }
  search.addEventListener("change", () => search.value !== sought && findNode(), { signal }); // else Enter has been there
  search.addEventListener("input", (/** @type {InputEvent} */ event) => {
    search.removeAttribute("aria-invalid");
    if (places.has(search.value) && event.inputType !== "insertText") findNode(); // picked from the list
  }, { signal });

  // JupyterLab asks the root whether keys are its own before the root hears of them: running and saving are.
  window.addEventListener("keydown", (event) => {
    const { target } = event;
    if (!(target instanceof Element && root.contains(target))) return;
    const labs = event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key === "Enter");
    if (labs && !target.matches("input:not([type=range])")) root.removeAttribute("data-lm-suppress-shortcuts");
    else root.setAttribute("data-lm-suppress-shortcuts", "true");
  }, { signal, capture: true });

  root.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {HTMLElement} */ (event.target);
    const typing = target.matches("select, textarea, input:not([type=range])");
    if (event.key === "Escape") {
      if (caption.asking()) {
        caption.cancel();
        root.focus({ preventScroll: true });
      } else act.select("");
      return;
    }
    if (event.key === "Enter" && target.matches("input:not([type=range])") && !event.isComposing) {
      event.preventDefault(); // JupyterLab cancels the line break by which a browser sends a form or tells of a change
      return target === search ? findNode() : /** @type {HTMLInputElement} */ (target).form?.requestSubmit();
    }
    if (typing || (event.key === " " && target.matches("button, summary"))) return;
    /** @type {Record<string, () => unknown>} */
    const keys = {
      ArrowRight: act.next, ArrowLeft: act.back, " ": act.play, Home: act.first, End: act.last,
      PageDown: () => act.chapter(1), PageUp: () => act.chapter(-1),
      "+": () => stage.zoom(1.25), "=": () => stage.zoom(1.25), "-": () => stage.zoom(0.8), 0: () => stage.fit(),
    };
    const action = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }, { signal });

  /** Show what the model says. */
  function update() {
    const step = here();
    const forward = before >= 0 && step > before && neighbour(timeline, grain(), before, 1) === step;
    const first = grain() === "coarse" ? timeline.chapters[timeline.steps[step]?.chapter]?.first ?? step : step;
    const speed = model.get("speed");
    /** @type {View} */
    const view = { step, grain: grain(), selected: model.get("selected"), playing: model.get("playing"), speed,
      state: count ? stateAt(timeline, step) : {},
      lit: timeline.steps.slice(first, step + 1), arrived: step === before ? "" : forward ? "forward" : "otherwise" };
    root.style.setProperty("--ak-pace", `${Math.round(220 / speed)}ms`);
    root.dataset.phase = timeline.steps[step]?.phase ?? "";
    for (const part of parts) part.show(view);
    before = step;
    schedule();
  }

  /**
   * The clock. Every view of a model has its own, and each is set anew whenever the step changes:
   * the first to ring moves all of them on, so two views never step twice.
   */
  function schedule() {
    clearTimeout(timer);
    if (!model.get("playing")) return;
    if (here() >= count - 1) return set({ playing: false });
    const step = timeline.steps[here()];
    const told = grain() === "coarse" ? timeline.chapters[step.chapter]?.sentence ?? "" : step.sentence;
    timer = window.setTimeout(advance, dwell(told) / model.get("speed"));
  }

  const events = ["step", "playing", "selected", "speed", "grain"].map((name) => `change:${name}`);
  for (const event of events) model.on(event, update);
  el.append(root);
  update();

  return () => {
    for (const event of events) model.off(event, update);
    listeners.abort();
    clearTimeout(timer);
    stage.close();
    root.remove();
  };
}

export default { render };
