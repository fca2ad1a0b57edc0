/**
 * The story as pure functions: what is shown at a step, where the player stands, what is asked.
 *
 * @typedef {{ element: string, field: string, value: string | number | null }} Change
 * @typedef {{ kind: string, phase: string, chapter: number, sentence: string,
 *   formula?: string, numbers?: string, note?: string, instead?: string, collapse?: Collapse, touches?:
 *   string[], changes?: Change[] }} Step
 * @typedef {{ shape: number[], to?: number[], axes: number[], values?: number[], sums?: number[] }} Collapse
 * @typedef {{ node: number, edges?: number[], contributions?: string[], gradient: string, difference?:
 *   string, agrees?: boolean, assigned?: string }} Account
 * @typedef {{ kind: string, node: number, sentence: string }} Trouble
 * @typedef {{ first: number, last: number, sentence: string }} Chapter
 * @typedef {{ text: string, minimum?: string, maximum?: string, mean?: string, nan?: number, infinite?:
 *   number }} Summary
 * @typedef {{ id: number, kind: string, operation?: string, symbol?: string, formula?: string, backward?:
 *   string, label?: string, shape?: number[], dtype: string, value?: Summary, gradient?: Summary,
 *   requires_grad: boolean, module?: string, source?: { file: string, line: number, text: string }, saved?:
 *   string[] }} Node
 * @typedef {{ id: number, source: number, target: number, slot: number, operand: string, local: string,
 *   requires_grad: boolean }} Edge
 * @typedef {{ graph: { nodes: Node[], edges: Edge[], outputs?: number[], view?: { slopes: string } }, steps:
 *   Step[], chapters: Chapter[], initial?: Change[], accounts?: Account[], troubles?: Trouble[], ways?: {
 *   node: number, paths: number[][], contributions: string[], sums?: string[], total?: string }[] }} Timeline
 * @typedef {Record<string, Record<string, { values: string[], sums?: string[], made?: string[] }>>} Cells by
 *   element and field
 * @typedef {"fine" | "coarse"} Grain
 * @typedef {Record<string, Record<string, string | number | null>>} State
 * @typedef {{ element: string, field: string, answer: string, text: string }} Question
 * @typedef {{ step: number, grain: Grain, selected: string, playing: boolean, speed: number, state: State,
 *   lit: Step[], chapter?: Chapter, arrived: "forward" | "otherwise" | "", covered: number }} View  what is
 *   on screen: `lit` are the steps that it tells of, as a `chapter` where it is coarse, `arrived` says
 *   whether it was reached by going forward, in another way, or stood here already, and `covered` how many
 *   pixels of the picture's foot something lies over
 */

import { numberOf } from "./numbers.js";

/** What the picture shows at a step: the equal of Python's `Timeline.state`, for one step after the other
 * without beginning anew each time. The state returned is good until the next call.
 * @param {Timeline} timeline @returns {(step: number) => State} */
export function walker(timeline) {
  /** @type {State} */ const state = {};
  /** @type {Change[][]} what each step changed, to take it back */ const undo = [];
  const put = (/** @type {Change[]} */ changes) => changes.map(({ element, field, value }) => {
    const fields = (state[element] ??= {});
    const before = { element, field, value: fields[field] };
    fields[field] = value;
    return before;
  });
  put(timeline.initial ?? []);
  return (step) => {
    while (undo.length <= step) undo.push(put(timeline.steps[undo.length].changes ?? []));
    while (undo.length > step + 1) {
      for (const { element, field, value } of /** @type {Change[]} */ (undo.pop()).reverse()) {
        if (value !== undefined) state[element][field] = value;
        else if (delete state[element][field] && !Object.keys(state[element]).length) delete state[element];
      }
    }
    return state;
  };
}

/** Where the player stands when asked for `step`: there, or at the end of its chapter.
 * @param {Timeline} timeline @param {Grain} grain @param {number} step */
export function stop(timeline, grain, step) {
  const kept = Math.max(0, Math.min(step, timeline.steps.length - 1));
  return (grain === "coarse" && timeline.chapters.find((c) => c.first <= kept && kept <= c.last)?.last)
    || kept;
}

/** The stop after `step` (direction 1) or before it (-1).
 * @param {Timeline} timeline @param {Grain} grain @param {number} step @param {1 | -1} direction */
export function neighbour(timeline, grain, step, direction) {
  if (grain === "fine") return stop(timeline, grain, step + direction);
  const ends = timeline.chapters.map((c) => c.last);
  return direction > 0 ? ends.find((end) => end > step) ?? ends.at(-1) ?? 0
    : ends.findLast((end) => end < step) ?? ends[0] ?? 0;
}

/** How large a number or a range is, and its sign, read from its text; other words have none.
 * @param {string | number | null | undefined} text */
export function flowOf(text) {
  const told = String(text ?? "");
  const words = told.match(/\p{L}+/gu) ?? [];
  const isNumber = words.every((word) => ["e", "inf", "nan", "to", "all"].includes(word));
  const found = isNumber ? told.match(/[-−]?(?:\d+\.?\d*(?:e[+−-]?\d+)?|inf)/g) : null;
  const numbers = (found ?? []).map(numberOf);
  const negative = numbers.some((x) => x < 0);
  const positive = numbers.some((x) => x > 0);
  const sign = negative && positive ? "±" : negative ? "−" : positive ? "+" : "";
  return { magnitude: Math.max(0, ...numbers.map(Math.abs)), sign };
}

/** Whether a typed guess is the answer: within one percent, as the answer shown is rounded.
 * @param {string} guess @param {string} answer */
export function isRight(guess, answer) {
  const [guessed, right] = [numberOf(guess), numberOf(answer)];
  if (Number.isNaN(right)) return guess.trim().toLowerCase() === answer.toLowerCase();
  if (!Number.isFinite(right)) return guessed === right;
  return Math.abs(guessed - right) <= Math.max(0.01 * Math.abs(right), right === 0 ? 1e-3 : 0);
}

/** The questions of predict-then-reveal: for each step that would give away a number, what to ask before it.
 * A contribution is asked for at its product, where the story shows one, else where it travels.
 * @param {Timeline} timeline @returns {Map<number, Question>} */
export function questions(timeline) {
  const { nodes, edges } = timeline.graph;
  const asked = new Map();
  timeline.steps.forEach((step, k) => {
    for (const { element, field, value } of step.changes ?? []) {
      if (typeof value !== "string" || !/^[-−]?(\d+\.?\d*(e[+−-]?\d+)?|inf|nan)$/.test(value)) continue;
      if (field === "value" && step.kind === "value") {
        const node = nodes.find((n) => `n${n.id}` === element);
        if (node)
          asked.set(k, { element, field, answer: value,
            text: `What is the value of ${nameOf(node)}${node.formula ? ` = ${node.formula}` : ""}?` });
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
        asked.set(at, { element, field, answer: value, text: slopesOf(timeline) === "Tangent"
          ? `What comes to ${from} from ${to}: local derivative × tangent?`
          : `What does ${from} send back to ${to}: upstream gradient × local derivative?` });
      }
    }
  });
  return asked;
}

/** Why a node's rule does not run at this moment of the way back; empty where it runs now or has run.
 * @param {Timeline} timeline @param {State} state @param {Node} node */
export function whyNot({ graph: { nodes, edges } }, state, node) {
  const { status } = state[`n${node.id}`] ?? {};
  if (status === "dim") return "No gradient is needed here: nothing that it was made from learns.";
  if (status === "ready") return node.kind === "leaf" ? "Its gradient is complete."
    : "It is ready. Of all that are, the newest goes first.";
  if (status !== "waiting") return "";
  const uses = edges.filter((e) => e.source === node.id && e.requires_grad && ["waiting", "ready", "current",
      "final"].includes(String(state[`n${e.target}`]?.status)));
  const open = uses.filter((e) => !state[`e${e.id}`]?.flow);
  const from = [...new Set(open.map((e) => nameOf(nodes[e.target])))];
  const arrived = `${uses.length - open.length} of ${uses.length} contributions are in`;
  return `Not yet: ${arrived}. Still to come from ${from.join(", ")}.`;
}

/** The ways from the output back to a node, each as its edges in the order of the pass: a gradient is the sum
 * over them. `count` is how many there are in all; of these the first `most` are followed.
 * @param {Timeline} timeline @param {number} id @param {number} most */
export function pathsTo({ graph: { nodes, edges, outputs } }, id, most) {
  /** @type {Map<number, Edge[]>} */ const out = new Map();
  for (const e of edges) if (e.requires_grad) out.set(e.source, [...(out.get(e.source) ?? []), e]);
  const end = outputs?.[0] ?? nodes.length - 1;
  /** @type {Map<number, number>} */ const counts = new Map([[end, 1]]);
  for (let k = nodes.length - 1; k >= 0; k--) {
    const uses = out.get(nodes[k].id);
    if (uses && nodes[k].id !== end)
      counts.set(nodes[k].id, uses.reduce((sum, e) => sum + (counts.get(e.target) ?? 0), 0));
  }
  /** @type {Edge[][]} */ const paths = [];
  const stack = id === end ? [] : [{ at: id, path: /** @type {Edge[]} */ ([]) }];
  while (stack.length && paths.length < most) {
    const { at, path } = /** @type {{ at: number, path: Edge[] }} */ (stack.pop());
    if (at === end) paths.push(path);
    else for (const e of [...(out.get(at) ?? [])]
      .reverse()) if (counts.get(e.target)) stack.push({ at: e.target, path: [e, ...path] });
  }
  return { paths, count: id === end ? 0 : counts.get(id) ?? 0 };
}

/** The one sentence of what is shown. @param {View} view */
export const told = ({ lit, chapter }) => chapter?.sentence ?? lit.at(-1)?.sentence ?? "";

/** Whether all contributions to a node are in: then its gradient is shown whole.
 * @param {Record<string, any>} fields */
export const isFinal = ({ status, gradient }) => ["ready", "current", "final"]
  .includes(status) && Boolean(gradient) && gradient !== "—";

/** What stands beside the values, as gradients or tangents. @param {Timeline} timeline */
export const slopesOf = ({ graph: { view } }) =>
  (view?.slopes ?? "gradient").replace(/^./, (letter) => letter.toUpperCase());

/** @param {Node} node */
export const nameOf = (node) => node.label || `v${node.id}`;

/** @param {number[] | undefined} shape */
export const shapeText = (shape) => (shape?.length ? `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`
  : "scalar");

/** @type {Record<string, string>} */
export const PHASES = { forward: "→ Forward", reduce: "Reduce-scatter", turn: "↻ Turn-around",
  backward: "← Backward", gather: "All-gather" };

/** @type {Record<string, string>} */
export const KINDS = {
  input: "Input", operands: "Operands", value: "Value", turn: "Half way", seed: "Seed",
  select: "Next node", upstream: "Upstream gradient", local: "Local derivative", product: "Product",
  unbroadcast: "Un-broadcast", travel: "Travel", accumulate: "Accumulate", leaf: "Leaf gradient", sum: "Sum",
  copy: "Copy", finish: "Finish",
};

/** @type {Record<string, string>} */
export const STATUSES = {
  hidden: "not computed", computed: "computed", waiting: "waiting for contributions", ready: "ready",
  current: "its rule runs now", final: "gradient final", dim: "needs no gradient",
};
