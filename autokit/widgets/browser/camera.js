/**
 * The camera: the part of the picture that is seen, and the hand that moves it.
 *
 * The picture lies on a sheet of its own size, and it is the sheet that moves: the browser then shows
 * another part of
 * what it has painted, where a new `viewBox` would lay out and paint each element anew, in every frame.
 *
 * @import { Listen } from "./dom.js"
 */

import { glide, h, magnified } from "./dom.js";

// below this scale the picture is not shrunk to fit but followed: on a low stage, else, and projected
const READABLE = [0.8, 0.9, 1.2];
const TWO = 450; // so high are two nodes with the edge between them
const LARGEST = 1.25; // how far a small picture is blown up to fit

/**
 * @param {SVGSVGElement} svg @param {HTMLElement} node the frame that it is put into
 * @param {{ left: number, top: number, width: number, height: number }} paper
 * @param {(() => string[]) | null} lit the elements that the step at hand touches; null shows all, always
 * @param {(name: string) => Element | undefined} find
 * @param {(element: string, holds: string) => void} onSelect @param {Listen} on
 */
export function makeCamera(svg, node, { left, top, width, height }, lit, find, onSelect, on) {
  const camera = { x: left, y: top, scale: 1 };
  let placed = false; // before its first look there is nothing to follow
  let untouched = true; // until the reader moves the camera, it looks after itself
  let gliding = 0;
  let lifted = false; // above what covers the foot
  let frame = { w: 1, h: 1 }; // of what is seen in pixels: asking for it would lay the page out anew
  /** @type {Map<string, DOMRect>} */ const boxes = new Map(); // what stands where never changes
  const sheet = h("div", { className: "ak-sheet" }, svg);
  const seen = h("div", { className: "ak-seen" }, sheet);
  let drawn = 0; // the scale at which the picture is drawn
  node.replaceChildren(seen);
  const projected = () => Boolean(document.fullscreenElement?.contains(svg));
  const readable = () => Math.max(READABLE[0], Math.min(READABLE[projected() ? 2 : 1], frame.h / TWO));
  const fitting = () => Math.min(frame.w / width, frame.h / height, projected() ? 3 : LARGEST);

  function look() {
    if (drawn !== camera.scale) {
      drawn = camera.scale;
      Object.assign(svg.style, { width: `${width * drawn}px`, height: `${height * drawn}px` });
    }
    // On whole pixels, so that letters stay sharp.
    const [x, y] = [left - camera.x, top - camera.y]
      .map((at) => Math.round(at * drawn * devicePixelRatio) / devicePixelRatio);
    sheet.style.transform = `translate(${x}px, ${y}px)`;
  }

  /** Stand at `scale` with the picture's point (x, y) in the middle.
   * @param {number} x @param {number} y @param {number} scale */
  function center(x, y, scale) {
    const { w, h: tall } = frame;
    Object.assign(camera, { scale, x: x - w / scale / 2, y: y - tall / scale / 2 });
    look();
  }

  /** The whole picture, or as much of its beginning as can be read. */
  function home() {
    placed = true;
    cancelAnimationFrame(gliding);
    if (!lit || fitting() >= readable()) return whole();
    const { w, h: tall } = frame;
    const scale = readable();
    center(left + Math.min(width, w / scale) / 2, top + Math.min(height, tall / scale) / 2, scale);
    follow(lit(), 0);
  }

  function whole() {
    center(left + width / 2, top + height / 2, fitting());
  }

  /** Move the picture by pixels. @param {number} dx @param {number} dy */
  function pan(dx, dy) {
    untouched = false;
    cancelAnimationFrame(gliding);
    camera.x -= dx / camera.scale;
    camera.y -= dy / camera.scale;
    look();
  }

  /** @param {number} factor @param {{ x: number, y: number }} [at] in the stage's pixels */
  function zoom(factor, at) {
    untouched = false;
    const { w, h: tall } = frame;
    const { x, y } = at ?? { x: w / 2, y: tall / 2 };
    const scale = Math.max(Math.min(fitting(), 0.2), Math.min(4, camera.scale * factor));
    camera.x += x / camera.scale - x / scale;
    camera.y += y / camera.scale - y / scale;
    camera.scale = scale;
    look();
  }

  /** Where an element stands on the paper. @param {string} name */
  function boxOf(name) {
    const group = /** @type {SVGGElement | undefined} */ (find(name));
    if (group && !boxes.has(name)) {
      const { x, y, width: w, height: tall } = group.getBBox();
      const { e, f } = group.transform.baseVal.consolidate()?.matrix ?? { e: 0, f: 0 };
      boxes.set(name, new DOMRect(x + e, y + f, w, tall));
    }
    return boxes.get(name) ?? [];
  }

  /** Bring elements into view if they are not, above what is covered.
   * @param {string[]} names @param {number} duration @param {number} [covered] */
  function follow(names, duration, covered = 0) {
    if (frame.w < 2) return; // not laid out yet: boxes would have no size
    const wanted = names.flatMap(boxOf);
    if (!wanted.length) return;
    const [wide, tall] = [frame.w / camera.scale, (frame.h - covered) / camera.scale];
    const low = (/** @type {"left" | "top"} */ side) => Math.min(...wanted.map((b) => b[side]));
    const high = (/** @type {"right" | "bottom"} */ side) => Math.max(...wanted.map((b) => b[side]));
    // the first matters most
    while (wanted.length > 1 && (high("right") - low("left") > wide || high("bottom") - low("top") > tall))
      wanted.pop();
    const margin = 12 / camera.scale;
    const shift = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ room) =>
      from >= margin && to <= room - margin ? 0 : (from + to - room) / 2;
    const dx = shift(low("left") - camera.x, high("right") - camera.x, wide);
    const dy = shift(low("top") - camera.y, high("bottom") - camera.y, tall);
    if (!dx && !dy && !lifted) return;
    // Where the reader has not moved it, the camera stays on the picture.
    const kept = (/** @type {number} */ at, /** @type {number} */ low, /** @type {number} */ length,
      /** @type {number} */ room) =>
      !untouched || covered ? at : room >= length ? low + (length - room) / 2
        : Math.max(low, Math.min(at, low + length - room));
    const from = { x: camera.x, y: camera.y };
    const to = { x: kept(from.x + dx, left, width, wide), y: kept(from.y + dy, top, height, tall) };
    cancelAnimationFrame(gliding);
    gliding = glide(duration, (t) => {
      camera.x = from.x + (to.x - from.x) * t;
      camera.y = from.y + (to.y - from.y) * t;
      look();
    }, (id) => (gliding = id));
  }

  const resized = new ResizeObserver(() => {
    frame = { w: Math.max(seen.clientWidth, 1), h: Math.max(seen.clientHeight, 1) };
    untouched ? home() : look();
  });
  resized.observe(node);

  // -- the hand: drag to pan, ctrl and wheel to zoom, click to select

  let drag = /** @type {{ x: number, y: number, id: number, moving: boolean, by: number } | null} */ (null);
  on(node, "pointerdown", (event) => {
    if (event.button === 0) drag = { x: event.clientX, y: event.clientY, id: event.pointerId, moving: false,
      by: magnified(seen) };
  });
  on(node, "pointermove", (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moving && Math.hypot(dx, dy) < 4) return;
    if (!drag.moving) node.setPointerCapture(drag.id);
    drag = { ...drag, x: event.clientX, y: event.clientY, moving: true };
    pan(dx / drag.by, dy / drag.by);
  });
  const drop = () => (drag = null);
  on(node, "pointerup", (event) => {
    if (drag && !drag.moving) {
      const hit = /** @type {Element} */ (event.target).closest('[data-element^="n"], [data-node]');
      onSelect(hit?.getAttribute("data-node") ?? hit?.getAttribute("data-element") ?? "",
        hit?.getAttribute("data-holds") ?? "");
    }
    drop();
  });
  on(node, "pointercancel", drop);
  on(node, "wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the page's to scroll
    event.preventDefault();
    const { left: x, top: y } = seen.getBoundingClientRect();
    const by = magnified(seen);
    zoom(Math.exp(-event.deltaY / 300), { x: (event.clientX - x) / by, y: (event.clientY - y) / by });
  }, { passive: false });

  return {
    zoom,
    pan,
    /** Put something small on the sheet. @param {Element} thing */
    put: (thing) => sheet.append(thing),
    /** Where a point of the picture is on the sheet, as a CSS transform. @param {DOMPoint} point */
    at: ({ x, y }) => `translate(${(x - left) * drawn}px, ${(y - top) * drawn}px) scale(${drawn})`,
    fit() {
      untouched = !lit || fitting() >= readable();
      cancelAnimationFrame(gliding);
      whole();
    },
    /** Go where the story is, unless all of the picture is seen.
     * @param {string[]} names @param {number} duration @param {number} covered pixels at the foot */
    attend(names, duration, covered) {
      if (placed && (covered || lifted || fitting() < readable() || !untouched))
        follow(names, duration, covered);
      lifted = covered > 0;
    },
    follow,
    close() {
      cancelAnimationFrame(gliding);
      resized.disconnect();
    },
  };
}
