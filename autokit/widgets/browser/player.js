/**
 * The player: plays a timeline in the browser, forward and then backward.
 *
 * Python draws the picture and tells the story; these files move through them. They insert the SVG as it
 * comes and, at step k, make it show the state that `Timeline.state(k)` has in Python: the texts and the
 * status of each element. On top of that come the motion from one step to the next, the caption, the
 * controls, the details of a node, the table and the questions.
 *
 * Each file is one part of the screen or of the story, and this one joins the parts to the model. They share
 * no state beyond it, so many players can stand in one notebook. Python sends all files to the browser as
 * one.
 *
 * @import { Grain, Timeline, View } from "./story.js"
 */

import { makeCaption } from "./caption.js";
import { makeControls } from "./controls.js";
import { makeElements, makeTip } from "./cells.js";
import { makeCollapse } from "./collapse.js";
import { makeFolding } from "./folds.js";
import { makePanel } from "./details.js";
import { h, iconButton, ICONS, listening } from "./dom.js";
import { fitWindow } from "./frame.js";
import { makeLegend } from "./legend.js";
import { makeLights } from "./lit.js";
import { dwell } from "./pace.js";
import { groupOf, zoomButtons } from "./parts.js";
import { makePaths, productAlong } from "./paths.js";
import { linesOf, makeProgram } from "./program.js";
import { makeStage } from "./stage.js";
import { flowOf, isRight, nameOf, neighbour, pathsTo, questions, slopesOf, stop, walker,
  whyNot } from "./story.js";
import { makeTable } from "./table.js";
import { isPressing, makeView } from "./view.js";

const PAN = 60; // pixels that a key moves the picture by

/** @param {{ model: any, el: HTMLElement }} context @returns {() => void} what takes it all down again */
function render({ model, el }) {
  /** @type {Timeline} */ const timeline = model.get("_timeline");
  const count = timeline.steps.length;
  const widget = makeView({ model, el });
  const { on, set } = widget;
  const asked = questions(timeline);
  const states = walker(timeline);
  let predicting = false;
  let timer = 0;
  let before = -1; // the step shown last

  const grain = () => /** @type {Grain} */ (model.get("grain"));
  const here = () => stop(timeline, grain(), model.get("step"));
  const seek = (/** @type {number} */ step, /** @type {Record<string, any>} */ more = {}) =>
    set({ step: stop(timeline, grain(), step), ...more });

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
      root.scrollIntoView({ block: "nearest" }); // where it is moved partly out of the window
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
    program: () => toggle(program.node, controls.program),
    table() {
      picture.hidden = table.node.hidden;
      toggle(table.node, controls.table);
    },
    /** @param {1 | -1} direction */
    chapter(direction) {
      const at = here();
      const { chapters } = timeline;
      const to = direction > 0 ? chapters.find((c) => c.first > at)?.first ?? count - 1
        : chapters.findLast((c) => c.first < at)?.first ?? 0;
      seek(grain() === "coarse" ? neighbour(timeline, "coarse", at, direction) : to);
    },
    select: (/** @type {string} */ element) => set({ selected: element }),
    /** What is clicked on the stage: a node, or what a folded box is at, which opens.
     * @param {string} element @param {string} holds */
    hit(element, holds) {
      act.select(element);
      if (holds) folding.open(holds);
    },
    /** To the step that computes a node. @param {string} element */
    jump(element) {
      const at = timeline.steps.findIndex((step) => step.phase === "forward"
        && step.changes?.some((c) => c.element === element && c.field === "value"));
      set({ selected: element, ...(at < 0 ? {} : { step: stop(timeline, grain(), at) }) });
      stage.find(element);
    },
    /** To the details of the node after the selected one, or before it. @param {1 | -1} direction */
    walk(direction) {
      const at = timeline.graph.nodes.findIndex((n) => `n${n.id}` === model.get("selected"));
      const to = Math.max(0, Math.min(at + direction, timeline.graph.nodes.length - 1));
      const next = timeline.graph.nodes[to];
      if (!next) return;
      act.select(`n${next.id}`);
      stage.find(`n${next.id}`);
    },
    full() {
      if (document.fullscreenElement === root) document.exitFullscreen();
      else root.requestFullscreen?.();
    },
  };

  /** Show a part, or hide it. @param {HTMLElement} part @param {Element} button */
  function toggle(part, button) {
    part.hidden = !part.hidden;
    button.setAttribute("aria-pressed", String(!part.hidden));
    update();
  }

  let drawing = new AbortController();
  const draw = () => makeStage(timeline, model.get("_svg"), model.get("_shortened"), act.hit,
    listening(drawing.signal));
  let stage = draw();
  const elements = makeElements(model, model.get("_cells") ?? {},
    (name) => timeline.graph.nodes.some((n) => `n${n.id}` === name && n.kind !== "operation"),
    makeLights((/** @type {string} */ name) => stage.element(name)));
  const caption = makeCaption(timeline, act.select, on);
  const controls = makeControls(timeline, act, on);
  const paths = makePaths(timeline, (/** @type {string} */ name) => stage.element(name));
  const panel = makePanel(timeline, elements, paths, (n) => act.jump(`n${n.id}`), () => act.select(""), on);
  const program = makeProgram(timeline, act.jump);
  const table = makeTable(timeline, act.select);

  const full = iconButton(ICONS.full, "Full screen", "F");
  full.hidden = !document.fullscreenEnabled;
  controls.program.hidden = program.empty;
  const listId = `autokit-${Math.random().toString(36).slice(2)}`;
  const places =
    new Map(timeline.graph.nodes.map((n) => [n.operation ? `${nameOf(n)}: ${n.operation}` : nameOf(n),
        `n${n.id}`]));
  for (const line of linesOf(timeline))
    places.set(`line ${line.line}: ${line.text.trim()}`, `n${line.nodes.at(-1)}`);
  const search = h("input", { type: "search", className: "ak-search", placeholder: "Find a node or line",
    "aria-label": "Find a node or line", autocomplete: "off", spellcheck: false });
  search.setAttribute("list", listId);
  const options = h("datalist", { id: listId }, ...[...places.keys()].map((value) => h("option", { value })));
  const folding = makeFolding(model, widget,
    () => stage.foldOf([model.get("selected"), ...(timeline.steps[here()]?.touches ?? [])]));
  const picture = h("div", { className: "ak-picture" }, stage.node,
    h("div", { className: "ak-tools" }, h("div", { className: "ak-find" }, search, options),
      makeLegend(slopesOf(timeline) !== "Workers"), folding.node),
    zoomButtons(() => stage, ["−", "+", "0"], full));
  const collapse = makeCollapse(picture, widget.atEnd);
  makeTip(picture, elements, on);
  const parts = [collapse, stage, folding, caption, controls, panel, table, program];
  const nodes = timeline.graph.nodes.length;
  const root = groupOf("ak-player",
    `Animation of a computation: ${nodes} node${nodes === 1 ? "" : "s"}, `
      + `${count} step${count === 1 ? "" : "s"}. Left and right step, up and down go from node to node, `
      + "with Shift they move the picture, Space plays.",
    h("div", { className: "ak-main" }, program.node, picture, table.node, panel.node), caption.node,
    controls.node, panel.said);
  root.tabIndex = 0;

  on(full, "click", act.full);
  on(document, "fullscreenchange", () => {
    const name = document.fullscreenElement === root ? "Leave full screen" : "Full screen";
    full.setAttribute("aria-label", name);
    full.title = `${name} (F)`;
  });

  let sought = "";
  function findNode() {
    sought = search.value;
    const wanted = search.value.trim().toLowerCase();
    const name = wanted && [...places.keys()].sort((a, b) => a.length - b.length)
      .find((key) => key.toLowerCase().startsWith(wanted));
    const element = name ? places.get(name) ?? ""
      : [...places].find(([key]) => wanted && key.toLowerCase().includes(wanted))?.[1] ?? "";
    search.setAttribute("aria-invalid", String(Boolean(wanted) && !element));
    if (!element) return;
    if (/^line \d/i.test(name || wanted)) return act.jump(element);
    act.select(element);
    stage.find(element);
  }
  on(search, "change", () => search.value !== sought && findNode()); // else Enter has been there
  on(search, "input", (/** @type {InputEvent} */ event) => {
    search.removeAttribute("aria-invalid");
    if (places.has(search.value) && event.inputType !== "insertText") findNode(); // picked from the list
  });

  fitWindow(root, [caption.node, controls.node], (room) => {
    if (!stage.isWhole()) widget.send({ room }); // it may be larger in the other direction
  }, widget.atEnd);

  on(root, "keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {HTMLInputElement} */ (event.target);
    if (event.key === "Escape") {
      if (caption.asking()) {
        caption.cancel();
        root.focus({ preventScroll: true });
      } else if (!caption.fold()) act.select("");
    } else if (event.key === "Enter" && target.matches("input:not([type=range])") && !event.isComposing) {
      // JupyterLab cancels the line break by which a browser sends a form or tells of a change
      event.preventDefault();
      if (target === search) findNode();
      else target.form?.requestSubmit();
    }
  });
  widget.answer(root, {
    ...controls.keys, Enter: () => folding.open(), Backspace: () => folding.close(),
    ArrowDown: () => act.walk(1), ArrowUp: () => act.walk(-1), f: act.full,
    PageDown: () => act.chapter(1), PageUp: () => act.chapter(-1),
    ShiftArrowRight: () => stage.pan(-PAN, 0), ShiftArrowLeft: () => stage.pan(PAN, 0),
    ShiftArrowDown: () => stage.pan(0, -PAN), ShiftArrowUp: () => stage.pan(0, PAN),
    "+": () => stage.zoom(1.25), "=": () => stage.zoom(1.25), "-": () => stage.zoom(0.8),
    0: () => stage.fit(),
  }, (event) => isPressing(event)
    || /** @type {Element} */ (event.target).matches("select, textarea, input:not([type=range])"));

  /** Show what the model says. */
  function update() {
    const step = here();
    const forward = before >= 0 && step > before && neighbour(timeline, grain(), before, 1) === step;
    const chapter = grain() === "coarse" ? timeline.chapters[timeline.steps[step]?.chapter] : undefined;
    const speed = model.get("speed");
    /** @type {View} */
    const view = { step, grain: grain(), selected: model.get("selected"),
      playing: model.get("playing"), speed, state: count ? states(step) : {}, chapter,
      lit: timeline.steps.slice(chapter?.first ?? step, step + 1), arrived: step === before ? "" : forward
        ? "forward" : "otherwise", covered: 0 };
    root.style.setProperty("--ak-pace", `${Math.round(220 / speed)}ms`);
    root.dataset.phase = timeline.steps[step]?.phase ?? "";
    for (const part of parts) part.show(view);
    before = step;
    schedule();
  }

  /** The clock. Every view of a model has its own, and each is set anew whenever the step changes: the first
   * to ring moves all of them on, so two views never step twice. */
  function schedule() {
    clearTimeout(timer);
    if (!model.get("playing")) return;
    if (here() >= count - 1) return set({ playing: false });
    timer = window.setTimeout(advance, dwell(timeline, here(), grain()) / model.get("speed"));
  }

  /** The picture is drawn anew: with a fold open, or closed. */
  function redraw() {
    folding.arrived();
    drawing.abort();
    drawing = new AbortController();
    stage.close();
    const old = stage;
    stage = parts[1] = draw();
    old.node.replaceWith(stage.node);
    before = -1;
    update();
    // once it has its size
    requestAnimationFrame(() => requestAnimationFrame(() => stage.find(model.get("selected"))));
  }

  widget.follow(["step", "playing", "selected", "speed", "grain"], update);
  widget.follow(["_svg"], redraw);
  widget.atEnd(() => {
    drawing.abort();
    clearTimeout(timer);
    elements.close();
    stage.close();
  });
  return widget.begin(root, update);
}

export { dwell, flowOf, isRight, pathsTo, productAlong, questions, walker, whyNot };
export default { render };
