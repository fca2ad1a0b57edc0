/**
 * Folded boxes: each stands for many nodes, and shows on its face how many are done and which one is at work.
 * They open: Python draws the picture anew, as long as it is there to draw, or drew it beforehand.
 *
 * @import { Timeline, View } from "./story.js"
 */

import { h, s, setEnabled } from "./dom.js";
import { groupOf, textButton } from "./parts.js";
import { nameOf } from "./story.js";

const OPENS_WITHIN = 4000; // milliseconds until a kernel is taken for dead
const HINT = "This fold opens where its kernel runs; limit= or depth= draws it open from the start.";
const LETTER = 6.6; // how wide a sign of the line is that tells of the node at work

/** The nodes that a folded box stands for, of "3-9 12". @param {string} text */
export function heldBy(text) {
  return text.split(" ").filter(Boolean).flatMap((run) => {
    const [first, last = first] = run.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, k) => first + k);
  });
}

/** @param {Timeline} timeline @param {SVGSVGElement} svg */
export function makeFolds({ graph, steps }, svg) {
  const groups = [.../** @type {NodeListOf<SVGGElement>} */ (svg.querySelectorAll('[data-part="fold"]'))];
  const folds = groups.map((group) => {
    const held = heldBy(group.dataset.holds ?? "").map((id) => `n${id}`);
    const box = group.querySelector("rect:nth-of-type(2)");
    const [width, height] = ["width", "height"].map((name) => Number(box?.getAttribute(name)));
    const bar = { x: 10, y: height - 8, height: 4, rx: 2 };
    const done = s("rect", { ...bar, width: 0, class: "ak-done" });
    box?.after(s("rect", { ...bar, width: width - 20, class: "ak-open" }), done);
    const detail = group.querySelector("text:last-of-type");
    const title = group.querySelector("text")?.textContent ?? "";
    const count = detail?.textContent ?? "";
    return { group, held: new Set(held), done, width: width - 20, detail, title, count };
  });
  /** @type {Map<string, SVGGElement>} */ const home = new Map();
  for (const { group, held } of folds) for (const name of held) home.set(name, group);
  for (const edge of folds.length ? graph.edges : []) {
    const around = home.get(`n${edge.target}`) ?? home.get(`n${edge.source}`);
    if (around && !svg.querySelector(`[data-element="e${edge.id}"]`)) home.set(`e${edge.id}`, around);
  }

  return {
    /** The box in which a node, or an edge between two, is folded. @param {string} name */
    home: (name) => home.get(name),
    first: groups[0],
    /** @param {View} view @param {string[]} touches */
    show({ state, selected, step }, touches) {
      const back = steps[step]?.phase === "backward";
      for (const { group, held, done, width, detail, title, count } of folds) {
        const now = [...touches, selected].find((name) => held.has(name));
        const node = now && graph.nodes[Number(now.slice(1))];
        const statuses = [...held].map((name) => String(state[name]?.status));
        const open = statuses.find((status) => !["dim", "final", "computed"].includes(status));
        group.dataset.status = String(open ?? statuses[0]);
        group.dataset.node = now ?? [...held].at(-1);
        group.dataset.phase = back ? "backward" : "forward";
        const counted = statuses.filter((status) => !back || status !== "dim");
        const undone = back ? ["waiting", "ready", "current"] : ["hidden", "undefined"];
        const over = counted.filter((status) => !undone.includes(status));
        done.setAttribute("width", String((width * over.length) / Math.max(counted.length, 1)));
        if (!detail) continue;
        const path = node?.module ?? "";
        const part = path.startsWith(title) ? path.slice(title.length).replace(/^\./, "") : path;
        const told = node ? `▸ ${[part, node.symbol, nameOf(node)].filter(Boolean).join(" ")}` : count;
        const room = Math.floor(width / LETTER);
        detail.textContent = told.length > room && node ? `${told.slice(0, room - 1)}…` : told;
      }
    },
  };
}

/** @param {any} model @param {import("./view.js").Widget} widget
 * @param {() => string} nearest what the fold holds that opens where none was clicked */
export function makeFolding(model, { send, atEnd }, nearest) {
  const opener = textButton("Open fold", { title: "Open it (Enter)", onclick: () => act.open() });
  const closer = textButton("Fold again",
    { title: "Close the last one (Backspace)", onclick: () => act.close() });
  const hint = h("p", { className: "ak-hint", role: "status" });
  const node = groupOf("ak-folding", "Folds", hint, opener, closer);
  let patience = 0;

  /** @returns {string[]} */
  const opened = () => model.get("_opened") ?? [];

  /** @param {string[]} folds */
  function ask(folds) {
    act.arrived();
    const silent = () => (hint.textContent = HINT);
    patience = window.setTimeout(silent, OPENS_WITHIN);
    if (!send({ opened: folds })) silent();
  }

  const act = {
    node,
    /** @param {string} [holds] */
    open(holds = nearest()) {
      if (holds) ask([...opened(), holds]);
    },
    close() {
      if (opened().length) ask(opened().slice(0, -1));
    },
    show() {
      const folded = Boolean(nearest());
      node.hidden = !folded && !opened().length;
      setEnabled(opener, folded);
      setEnabled(closer, opened().length > 0);
    },
    /** The picture has come, or will not be missed. */
    arrived() {
      clearTimeout(patience);
      hint.textContent = "";
    },
  };
  atEnd(act.arrived);
  return act;
}
