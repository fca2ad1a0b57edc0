/**
 * The player's frame: it fits the window that it is scrolled in, so that the controls never leave it.
 */

import { magnified } from "./dom.js";

const CALM = 300; // milliseconds without a change of size
const ROOM = [1094, 385]; // what Python draws for that was told nothing: a JupyterLab of 1280 by 720 pixels
const PADS = [4, 44]; // pixels of the stage around its picture
const AIR = 4; // pixels between the player and the window's edges
const MOST_ABOVE = 64; // pixels

/** What scrolls a view: the outermost part of the page that does, as a notebook's panel; else the window.
 * @param {HTMLElement} root */
function scrollerOf(root) {
  let found = null;
  for (let at = root.parentElement; at && at !== document.body; at = at.parentElement)
    if (/auto|scroll/.test(getComputedStyle(at).overflowY)) found = at;
  return found;
}

/** Tell the style sheet how many pixels of height the stage may have, and Python in how much room to draw.
 * @param {HTMLElement} root the player @param {HTMLElement[]} under what stands below its stage
 * @param {(room: [number, number]) => void} onRoom hears how much room a picture has, when that is another
 * @param {(call: () => void) => void} atEnd */
export function fitWindow(root, under, onRoom, atEnd) {
  let scroller = /** @type {HTMLElement | null} */ (null);
  let room = 0;
  let patience = 0;
  let told = ROOM;

  function measure() {
    if (!root.isConnected) return;
    if (!scroller?.isConnected) {
      scroller = scrollerOf(root);
      if (scroller) sized.observe(scroller);
    }
    // A page of its own has a heading, which is to stay in sight.
    const above = scroller ? 0 : Math.min(MOST_ABOVE, root.getBoundingClientRect().top + scrollY);
    const seen = (Math.min(innerHeight, scroller?.clientHeight || innerHeight) - above) / magnified(root);
    const left = Math.floor(seen - under.reduce((sum, part) => sum + part.offsetHeight, 0) - 2 * AIR);
    if (left !== room) root.style.setProperty("--ak-room", `${left}px`);
    room = left;
    clearTimeout(patience);
    patience = window.setTimeout(tell, CALM, [root.clientWidth - PADS[0], left - PADS[1]]);
  }

  /** @param {[number, number]} now */
  function tell(now) {
    if (now.every((size, k) => Math.abs(size / told[k] - 1) < 0.1)) return;
    told = now;
    onRoom(now);
  }

  const sized = new ResizeObserver(measure);
  for (const part of [root, ...under]) sized.observe(part);
  addEventListener("resize", measure);
  atEnd(() => {
    clearTimeout(patience);
    removeEventListener("resize", measure);
    sized.disconnect();
  });
}
