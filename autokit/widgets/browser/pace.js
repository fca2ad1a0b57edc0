/**
 * The pace: how long each step is shown, and how long what moves in it takes.
 *
 * @import { Grain, Timeline } from "./story.js"
 */

/** @type {Record<string, number>} so many milliseconds a step takes at least: its motion is watched */
const WATCHED = { local: 1400, product: 1600, travel: 2000 };
const TRAVELS = 1100; // milliseconds of a travel's two seconds that the contribution is on its way
const ARRIVES = 800; // milliseconds of a product, until what arrives becomes it
const MOVES = 400; // milliseconds of any other motion

/** What a step tells that is new the first time: of tensors, each rule has words of its own.
 * @param {Timeline} timeline @param {number} at */
function subject({ graph: { nodes, edges }, steps }, at) {
  const { kind, touches = [] } = steps[at];
  const derives = kind === "local" || kind === "product";
  const edge = derives ? edges.find((each) => touches.includes(`e${each.id}`)) : undefined;
  const node = edge && nodes[edge.target];
  return `${kind} ${node?.shape?.length ? `${node.symbol} ${edge?.operand}` : ""}`;
}

/** How long a step is shown at speed 1, in milliseconds: the time to read its sentence where it tells
 * something for the first time, and to recognise it later on.
 * @param {Timeline} timeline @param {number} at @param {Grain} grain */
export function dwell(timeline, at, grain) {
  const step = timeline.steps[at];
  if (!step) return 0;
  const told = grain === "coarse" ? timeline.chapters[step.chapter]?.sentence ?? "" : step.sentence;
  const reading = Math.max(1300, Math.min(4200, 500 + 24 * told.length));
  if (grain === "coarse") return reading;
  const kind = subject(timeline, at);
  const first = timeline.steps.findIndex((_, k) => subject(timeline, k) === kind);
  const recognising = Math.max(750, Math.min(2400, 300 + 10 * told.length));
  return Math.max(WATCHED[step.kind] ?? 0, first === at ? reading : recognising);
}

/** How long a motion of this step takes. @param {string} kind */
export const motion = (kind) => ({ travel: TRAVELS, product: ARRIVES })[kind] ?? MOVES;
