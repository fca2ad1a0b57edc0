/**
 * The controls: scrubber, buttons and choices.
 *
 * @import { Listen } from "./dom.js"
 * @import { Grain, Timeline, View } from "./story.js"
 */

import { h } from "./dom.js";
import { makeTransport, slide, slider, toggleButton } from "./parts.js";
import { neighbour, PHASES } from "./story.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4];

/** @param {string} name @param {[string, string][]} options */
function choice(name, options) {
  const select = h("select", { "aria-label": name },
    ...options.map(([value, text]) => h("option", { value }, text)));
  return { select, label: h("label", { className: "ak-choice" }, h("span", {}, name), select) };
}

/** @param {Timeline} timeline
 * @param {Record<"first" | "back" | "play" | "next" | "last" | "predict" | "table" | "program", () => void> &
 * { seek: (step: number) => void, speed: (speed: number) => void, grain: (grain: Grain) => void }} act
 * @param {Listen} on */
export function makeControls(timeline, act, on) {
  const count = timeline.steps.length;
  const place = (/** @type {number} */ step) =>
    `${count > 1 ? (100 * Math.max(0, Math.min(step, count - 1))) / (count - 1) : 0}%`;
  const track = h("div", { className: "ak-track" });
  for (const phase of Object.keys(PHASES)) {
    const first = timeline.steps.findIndex((step) => step.phase === phase);
    if (first < 0) continue;
    const last = timeline.steps.findLastIndex((step) => step.phase === phase);
    const part = h("span", { "data-phase": phase });
    part.style.left = place(first - 0.5);
    part.style.right = `calc(100% - ${place(last + 0.5)})`;
    track.append(part);
  }
  if (timeline.chapters.length <= 120) {
    for (const chapter of timeline.chapters.slice(1)) {
      const tick = h("i");
      tick.style.left = place(chapter.first - 0.5);
      track.append(tick);
    }
  }
  const range = slider("Step", { min: 0, max: Math.max(count - 1, 0), step: 1, value: 0,
    className: "ak-range" }, act.seek);
  const scrubber = h("div", { className: "ak-scrubber" }, track, range);

  const transport = makeTransport(act, on);
  const speed = choice("Speed", SPEEDS.map((x) => [String(x), `${x}×`]));
  const grain = choice("Detail", [["fine", "Every step"], ["coarse", "Chapters"]]);
  const predict = toggleButton("Predict",
    { title: "Guess each number before it is shown", onclick: act.predict });
  const table = toggleButton("Show as table", { onclick: act.table });
  const program = toggleButton("Code", { onclick: act.program });
  const node = h("div", { className: "ak-controls" }, scrubber,
    h("div", { className: "ak-row" }, transport.node, h("span", { className: "ak-space" }), speed.label,
      grain.label, predict, program, table));

  on(speed.select, "change", () => act.speed(Number(speed.select.value)));
  on(grain.select, "change", () => act.grain(grain.select.value));

  return {
    node,
    keys: transport.keys,
    predict,
    program,
    table,
    /** @param {View} view */
    show(view) {
      const sentence = timeline.steps[view.step]?.sentence ?? "";
      slide(range, view.step, `${view.step + 1} of ${count}: ${sentence}`);
      scrubber.style.setProperty("--ak-at", place(view.step));
      const back = neighbour(timeline, view.grain, view.step, -1) < view.step;
      transport.show(back, view.step < count - 1, view.playing);
      const pace = String(view.speed);
      if (![...speed.select.options].some((option) => option.value === pace))
        speed.select.append(h("option", { value: pace }, `${view.speed}×`));
      speed.select.value = pace;
      grain.select.value = view.grain;
    },
  };
}
