/** Small parts that several widgets show. */

import { h, icon, iconButton, ICONS, setEnabled } from "./dom.js";

/** What belongs together.
 * @param {string} className @param {string} name @param {...(Node | string)} children */
export const groupOf = (className, name, ...children) =>
  h("div", { className, role: "group", "aria-label": name }, ...children);

/** What may be scrolled.
 * @param {string} className @param {string} name @param {...(Node | string)} children */
export const regionOf = (className, name, ...children) =>
  h("div", { className, tabIndex: 0, role: "region", "aria-label": name }, ...children);

/** A button that reads as a link. @param {string} words @param {() => void} onclick */
export const linkButton = (words, onclick) => h("button", { type: "button", className: "ak-link", onclick },
  words);

/** A button of its own words. @param {string} words @param {Record<string, any>} [props] */
export const textButton = (words, props = {}) =>
  h("button", { type: "button", className: "ak-button", ...props }, words);

/** A button that is pressed or not. @param {string} words @param {Record<string, any>} [props] */
export const toggleButton = (words, props = {}) =>
  textButton(words, { className: "ak-button ak-toggle", "aria-pressed": "false", ...props });

/** @param {string} name @param {Record<string, any>} ends @param {(value: number) => void} onMove */
export function slider(name, ends, onMove) {
  const range = h("input", { type: "range", className: "ak-slide", "aria-label": name, ...ends });
  range.oninput = () => onMove(Number(range.value));
  return range;
}

/** Let a slider stand somewhere, and say what that is. @param {any} range @param {number} value
 * @param {string} words */
export function slide(range, value, words) {
  range.value = String(value);
  range.setAttribute("aria-valuetext", words);
}

/** The buttons of a picture's camera, and others.
 * @param {() => { zoom: (factor: number) => void, fit: () => void }} camera
 * @param {string[]} [keys] that do the same @param {...Element} more */
export function zoomButtons(camera, [out, into, whole] = [], ...more) {
  const zooms = [iconButton(ICONS.minus, "Zoom out", out), iconButton(ICONS.plus, "Zoom in", into),
    iconButton(ICONS.fit, "Fit the whole graph", whole)];
  zooms[0].onclick = () => camera().zoom(0.8);
  zooms[1].onclick = () => camera().zoom(1.25);
  zooms[2].onclick = () => camera().fit();
  return groupOf("ak-zoom", "Zoom", ...zooms, ...more);
}

/** A row of a table for something drawn: its mark, its name, which chooses it, and cells to be filled.
 * @param {string} name @param {Element} mark @param {number} cells @param {(() => void) | null} choose */
export function drawnRow(name, mark, cells, choose) {
  const row = h("tr", {}, h("th", { scope: "row" }, mark, choose ? linkButton(name, choose) : name),
    ...Array.from({ length: cells }, () => h("td")));
  row.dataset.name = name;
  return row;
}

/** Mark all that is drawn of what was chosen by its name. @param {HTMLElement} root @param {string} chosen
 * @param {boolean} isThere */
export function markChosen(root, chosen, isThere) {
  root.toggleAttribute("data-chosen", isThere);
  for (const each of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-name]"))) {
    const isChosen = each.dataset.name === chosen;
    each.toggleAttribute("data-mark", isChosen);
    each.querySelector("button")?.setAttribute("aria-pressed", String(isChosen));
  }
}

/** Let buttons do what their names say, unless they have nothing to do.
 * @param {Record<string, Element>} buttons @param {Record<string, any>} act
 * @param {import("./dom.js").Listen} on */
export function press(buttons, act, on) {
  for (const [what, button] of Object.entries(buttons))
    on(button, "click", () => button.getAttribute("aria-disabled") !== "true" && act[what]());
}

/** The ways through steps 0 to `last`. @param {() => number} here @param {number} last
 * @param {(step: number) => void} go */
export const stepsOf = (here, last, go) => ({
  first: () => go(0),
  back: () => go(here() - 1),
  next: () => go(here() + 1),
  last: () => go(last),
});

const STEPS = { first: "To the start", back: "Step back", next: "Step forward", last: "To the end" };
const KEYS = { first: "Home", back: "←", next: "→", last: "End" };

/** Buttons that go through steps, and the keys that do the same.
 * @param {Record<string, () => void>} act with `play`, they play too @param {import("./dom.js").Listen} on
 * @param {Record<keyof STEPS, string>} [names] what the buttons do */
export function makeTransport(act, on, names = STEPS) {
  const [first, back, next, last] = /** @type {(keyof STEPS)[]} */ (Object.keys(STEPS))
    .map((what) => iconButton(ICONS[what], names[what], KEYS[what]));
  const play = h("button", { type: "button", className: "ak-button ak-strong ak-play" });
  const middle = act.play ? { play } : {};
  const buttons = { first, back, ...middle, next, last };
  press(buttons, act, on);
  return {
    node: groupOf("ak-transport", "Playback", ...Object.values(buttons)),
    keys: { Home: act.first, ArrowLeft: act.back, ArrowRight: act.next, End: act.last,
      ...(act.play ? { " ": act.play } : {}) },
    /** @param {boolean} isAfter whether there is a step before @param {boolean} isBefore or after
     * @param {boolean} [playing] */
    show(isAfter, isBefore, playing = false) {
      for (const button of [first, back]) setEnabled(button, isAfter);
      for (const button of [next, last]) setEnabled(button, isBefore);
      const name = playing ? "Pause" : "Play";
      if (play.textContent !== name) play.replaceChildren(icon(playing ? ICONS.pause : ICONS.play), name);
      play.title = `${name} (Space)`;
    },
  };
}
