/**
 * The camera: the part of the picture that is seen, and the hand that moves it.
 *
 * The picture lies on a sheet of its own size, and it is the sheet that moves: the browser then shows another
 * part of what it has painted, where a new `viewBox` would lay out and paint all anew, in every frame.
 *
 * @import { Listen } from "./dom.js"
 * @typedef {{ must: string[], may?: string[] }} Aim elements to be seen, and what is good to see beside them;
 *   where there are none, the whole picture
 */

import { glide, h, magnified } from "./dom.js";

/** So many pixels has the smallest text: where all of the picture is shown and the camera rests, where it
 * follows, and where it is projected. */
const [AT_REST, FOLLOWED, PROJECTED] = [10, 11, 15];
const LARGEST = 1.25; // how far a small picture is blown up to fit
const FARTHEST = 0.6; // so much smaller than can be read it gets where both ends of an edge are to be seen

/** @param {SVGSVGElement} svg @param {HTMLElement} node the frame that it is put into
 * @param {{ left: number, top: number, width: number, height: number }} paper
 * @param {() => Aim} lit what the step at hand touches @param {(name: string) => Element | undefined} find
 * @param {(element: string, holds: string) => void} onSelect @param {Listen} on */
export function makeCamera(svg, node, { left, top, width, height }, lit, find, onSelect, on) {
  const camera = { x: left, y: top, scale: 1 };
  let placed = false; // before its first look there is nothing to follow
  let untouched = true; // until the reader moves the camera, it looks after itself
  let gliding = 0;
  let lifted = 0; // how many pixels of the foot something lies over
  let frame = { w: 1, h: 1 }; // of what is seen in pixels: asking for it would lay the page out anew
  /** @type {Aim | null} */ let sought = null; // what was looked for since the last step
  /** @type {Map<string, DOMRect>} */ const boxes = new Map(); // what stands where never changes
  const texts = [...svg.querySelectorAll("text[font-size]")];
  const smallest = Math.min(14, ...texts.map((text) => Number(text.getAttribute("font-size"))));
  const sheet = h("div", { className: "ak-sheet" }, svg);
  const seen = h("div", { className: "ak-seen" }, sheet);
  let drawn = 0; // the scale at which the picture is drawn
  node.replaceChildren(seen);
  const projected = () => Boolean(document.fullscreenElement?.contains(svg));
  const readable = (/** @type {number} */ pixels) => (projected() ? PROJECTED : pixels) / smallest;
  const fitting = () => Math.min(frame.w / width, frame.h / height, projected() ? 3 : LARGEST);
  const all = () => ({ scale: fitting(), x: left + width / 2, y: top + height / 2 });

  /** Show the sheet where the camera stands. @param {boolean} [moving] then it is drawn as large as it was */
  function look(moving = false) {
    if (!drawn || (!moving && drawn !== camera.scale)) {
      drawn = camera.scale;
      Object.assign(svg.style, { width: `${width * drawn}px`, height: `${height * drawn}px` });
    }
    // On whole pixels, so that letters stay sharp.
    const whole = (/** @type {number} */ at) =>
      Math.round(at * camera.scale * devicePixelRatio) / devicePixelRatio;
    const [x, y] = [whole(left - camera.x), whole(top - camera.y)];
    sheet.style.transform = `translate(${x}px, ${y}px) scale(${camera.scale / drawn})`;
  }

  /** Stand at `scale` with the picture's point (x, y) in the middle.
   * @param {{ x: number, y: number, scale: number }} to @param {boolean} [moving] */
  function center({ x, y, scale }, moving) {
    Object.assign(camera, { scale, x: x - frame.w / scale / 2, y: y - frame.h / scale / 2 });
    look(moving);
  }

  /** @param {{ x: number, y: number, scale: number } | null} to @param {number} duration */
  function go(to, duration) {
    if (!to) return;
    cancelAnimationFrame(gliding);
    const { scale } = camera;
    const from = { scale, x: camera.x + frame.w / scale / 2, y: camera.y + frame.h / scale / 2 };
    const zooms = Math.abs(Math.log(to.scale / scale)) > 0.1;
    gliding = glide(duration * (zooms ? 2 : 1), (t) => {
      const between = (/** @type {"x" | "y"} */ at) => from[at] + (to[at] - from[at]) * t;
      const now = from.scale * (to.scale / from.scale) ** t;
      center({ scale: t === 1 ? to.scale : now, x: between("x"), y: between("y") }, t < 1);
    }, (id) => (gliding = id));
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
    cancelAnimationFrame(gliding);
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

  /** Where to stand so that what is aimed at is seen, above what is covered; null where the camera may stay.
   * @param {Aim} aim @param {number} covered */
  function stand({ must, may = [] }, covered) {
    const needed = must.flatMap(boxOf);
    if (!needed.length) return untouched ? all() : null;
    if (untouched && !covered && fitting() >= readable(AT_REST)) return all();
    const beside = may.flatMap(boxOf);
    const [w, tall] = [frame.w - 24, frame.h - covered - 24];
    const fit = (/** @type {DOMRect[]} */ some) =>
      Math.min(w / unionOf(some).width, tall / unionOf(some).height);
    let { scale } = camera;
    if (untouched) {
      const most = readable(FOLLOWED);
      const [both, alone] = [[...needed, ...beside], needed].map((some) => Math.min(most, fit(some)));
      const least = readable(AT_REST);
      const enough = both >= least ? both : Math.max(Math.min(alone, least), FARTHEST * least, fitting());
      // Whoever follows does not breathe: another scale would draw all anew, too.
      scale = scale >= least && scale <= Math.min(enough, most) ? scale : enough;
    }
    // The first matters most, and then as much as there is room for.
    const wanted = [needed[0]];
    for (const box of [...needed, ...beside]) if (fit([...wanted, box]) >= 0.999 * scale) wanted.push(box);
    const { x, y, width: across, height: down } = unionOf(wanted);
    const stays = !covered && !lifted && Math.abs(camera.scale / scale - 1) < 0.02;
    /** The middle of the view along an axis. @param {number} at @param {number} length @param {number} room
     * @param {number} now @param {number} low @param {number} size */
    const middle = (at, length, room, now, low, size) => {
      const margin = 10 / scale;
      if (stays && at >= now + margin && at + length <= now + room - margin) return now + room / 2;
      const to = at + length / 2;
      if (!untouched || covered) return to;
      // Where the reader has not moved it, the camera stays on the picture.
      return room >= size ? low + size / 2 : Math.max(low + room / 2, Math.min(to, low + size - room / 2));
    };
    return {
      scale,
      x: middle(x, across, frame.w / scale, camera.x, left, width),
      y: middle(y, down, (frame.h - covered) / scale, camera.y, top, height) + covered / scale / 2,
    };
  }

  const resized = new ResizeObserver(() => {
    frame = { w: Math.max(seen.clientWidth, 1), h: Math.max(seen.clientHeight, 1) };
    if (frame.w < 2) return; // not laid out: boxes would have no size
    placed = true;
    go(stand(sought ?? lit(), lifted) ?? null, 0);
    look();
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
      untouched = true;
      go(all(), 0);
    },
    /** Whether all of the picture is seen as large as it was drawn. */
    isWhole: () => fitting() >= 1,
    /** Go where the story is. @param {number} duration @param {number} covered pixels at the foot */
    attend(duration, covered) {
      sought = null;
      if (placed) go(stand(lit(), covered), duration);
      lifted = covered;
    },
    /** Bring elements into view. @param {string[]} must @param {number} duration */
    follow(must, duration) {
      sought = { must, may: lit().must };
      if (placed) go(stand(sought, 0), duration);
    },
    close() {
      cancelAnimationFrame(gliding);
      resized.disconnect();
    },
  };
}

/** What holds all of these. @param {DOMRect[]} some */
function unionOf(some) {
  const [x, y] = [Math.min(...some.map((box) => box.left)), Math.min(...some.map((box) => box.top))];
  const width = Math.max(...some.map((box) => box.right)) - x;
  return new DOMRect(x, y, width, Math.max(...some.map((box) => box.bottom)) - y);
}
