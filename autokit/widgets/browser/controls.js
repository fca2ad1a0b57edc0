/**
 * The controls: scrubber, buttons and choices.
 *
 * @import { Listen } from "./dom.js"
 * @import { Grain, Timeline, View } from "./story.js"
 */

import { h, icon, iconButton, ICONS, setEnabled } from "./dom.js";
import { neighbour } from "./story.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4];

/** @param {string} name @param {[string, string][]} options */
function choice(name, options) {
  const select = h("select", { "aria-label": name },
    ...options.map(([value, text]) => h("option", { value }, text)));
  return { select, label: h("label", { className: "ak-choice" }, h("span", {}, name), select) };
}

/**
 * Scrubber, buttons and choices.
 * @param {Timeline} timeline
 * @param
 *   {Record<"first" | "back" | "play" | "next" | "last" | "predict" | "table" | "program", () => void> & {
 *   seek: (step: number) => void, speed: (speed: number) => void, grain: (grain: Grain) => void }} act
 * @param {Listen} on
 */
export function makeControls(timeline, act, on) {
  const count = timeline.steps.length;
  const place = (/** @type {number} */ step) =>
    `${count > 1 ? (100 * Math.max(0, Math.min(step, count - 1))) / (count - 1) : 0}%`;
  const track = h("div", { className: "ak-track" });
  for (const phase of /** @type {const} */ (["forward", "turn", "backward"])) {
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
  const range = h("input", { type: "range", min: 0, max: Math.max(count - 1, 0), step: 1, value: 0,
      className: "ak-range", "aria-label": "Step" });
  const scrubber = h("div", { className: "ak-scrubber" }, track, range);

  const buttons = {
    first: iconButton(ICONS.first, "To the start", "Home"), back: iconButton(ICONS.back, "Step back", "←"),
    play: h("button", { type: "button", className: "ak-button ak-strong ak-play" }),
    next: iconButton(ICONS.next, "Step forward", "→"), last: iconButton(ICONS.last, "To the end", "End"),
  };
  const speed = choice("Speed", SPEEDS.map((x) => [String(x), `${x}×`]));
  const grain = choice("Detail", [["fine", "Every step"], ["coarse", "Chapters"]]);
  const predict = h("button",
    { type: "button", className: "ak-button ak-toggle", "aria-pressed": "false",
    title: "Guess each number before it is shown" }, "Predict");
  const table = h("button", { type: "button", className: "ak-button ak-toggle", "aria-pressed": "false" },
    "Show as table");
  const program = h("button", { type: "button", className: "ak-button ak-toggle", "aria-pressed": "false" },
    "Code");
  const node = h("div", { className: "ak-controls" }, scrubber,
    h("div", { className: "ak-row" },
      h("div", { className: "ak-transport", role: "group", "aria-label": "Playback" },
        ...Object.values(buttons)),
      h("span", { className: "ak-space" }), speed.label, grain.label, predict, program, table));

  for (const [name, button] of Object.entries(buttons)) {
    on(button, "click", () => button.getAttribute("aria-disabled") !== "true"
      && act[/** @type {"play"} */ (name)]());
  }
  on(range, "input", () => act.seek(Number(range.value)));
  on(speed.select, "change", () => act.speed(Number(speed.select.value)));
  on(grain.select, "change", () => act.grain(grain.select.value));
  on(predict, "click", act.predict);
  on(table, "click", act.table);
  on(program, "click", act.program);

  let playing = /** @type {boolean | null} */ (null);
  return {
    node,
    predict,
    program,
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
      if (![...speed.select.options].some((option) => option.value === pace))
        speed.select.append(h("option", { value: pace }, `${view.speed}×`));
      speed.select.value = pace;
      grain.select.value = view.grain;
    },
  };
}
