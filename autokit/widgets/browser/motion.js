/**
 * Motion: values go along the edges. On the way back the local derivative stands on its edge, what arrives
 * there becomes the product before the eye, and the product goes on.
 *
 * @import { Edge, Step, Timeline, View } from "./story.js"
 */

import { glide, h, prefersStillness, s } from "./dom.js";
import { numberOf } from "./numbers.js";
import { motion } from "./pace.js";
import { flowOf, slopesOf } from "./story.js";

const LONGEST = 34; // signs of a local derivative that have room on an edge

/** How a local derivative is written on its edge: in symbols, then as a number where it is one.
 * @param {Edge} edge @param {string | number | null | undefined} number @returns {string[]} */
export function factorOf({ local }, number) {
  const symbols = local.length > LONGEST ? `${local.slice(0, LONGEST - 1)}…` : local;
  const signed = /^[·⊙×]|gᵀ/.test(symbols) ? symbols : `× ${symbols}`;
  if (!number) return symbols ? [signed] : [];
  return numberOf(local) === numberOf(number) ? [signed] : [signed, `= × ${number}`];
}

/** @param {Timeline} timeline @param {SVGSVGElement} svg
 * @param {{ left: number, top: number, width: number, height: number }} paper
 * @param {ReturnType<typeof import("./camera.js").makeCamera>} camera
 * @param {(name: string) => Element | undefined} find */
export function makeMotion(timeline, svg, paper, camera, find) {
  const onward = slopesOf(timeline) !== "Gradient";
  /** @type {Set<() => void>} */ const moving = new Set();
  /** @type {Element | null} */ let factor = null;

  /** The line of an edge. @param {string} name */
  function lineOf(name) {
    const group = find(name);
    // A copy outside of the page: asking the line itself would lay the whole picture out anew, once a frame.
    const path = /** @type {SVGPathElement | undefined} */
      (group?.querySelector('[data-part="line"]')?.cloneNode());
    const length = path?.getTotalLength() ?? 0;
    if (!group || !path || !length) return null;
    const at = (/** @type {number} */ share) => path.getPointAtLength(length * share);
    const flow = group.querySelector('[data-field="flow"]');
    const [x, y] = ["x", "y"].map((each) => Number(flow?.getAttribute(each)));
    const far = (/** @type {number} */ share) => Math.hypot(at(share).x - x, at(share).y - y);
    const shares = Array.from({ length: 13 }, (_, k) => 0.2 + k / 20);
    // Where the number is to stand: the local derivative does, until then.
    const middle = flow ? shares.reduce((best, each) => (far(each) < far(best) ? each : best)) : 0.5;
    return { group, at, middle };
  }

  /** Something goes along an edge, from one share of its way to another.
   * @param {string} name @param {string} text @param {[number, number]} way @param {number} duration
   * @param {() => void} [arrive] */
  function travel(name, text, [from, to], duration, arrive) {
    const line = lineOf(name);
    if (!line) return arrive?.();
    const direction = to < from ? "backward" : text ? "tangent" : "forward";
    const { sign } = flowOf(text);
    // No part of the picture, which would be painted anew for each frame of its way.
    const traveller = h("div", { className: "ak-traveller", "data-direction": direction, "data-sign": sign },
      sign === "+" ? `+${text}` : text);
    camera.put(traveller);
    line.group.setAttribute("data-travelling", direction);
    let frame = 0;
    const stop = () => {
      cancelAnimationFrame(frame);
      traveller.remove();
      line.group.removeAttribute("data-travelling");
      moving.delete(stop);
    };
    moving.add(stop);
    frame = glide(duration, (t) => {
      traveller.style.transform = camera.at(line.at(from + (to - from) * t));
      if (t < 1) return;
      stop();
      arrive?.();
    }, (id) => (frame = id));
  }

  /** Lines of text on an edge. @param {string} name @param {string[]} lines @param {string} [sign] */
  function write(name, lines, sign = "") {
    factor?.remove();
    const line = lineOf(name);
    if (!line || !lines.length) return;
    const { x, y } = line.at(line.middle);
    const texts = lines.map((text, k) => s("tspan", { x: 0, y: 17 * (k - lines.length / 2) + 12.5 }, text));
    const text = s("text", { "text-anchor": "middle" }, ...texts);
    const plate = s("rect", { rx: 7 });
    factor = s("g", { class: "ak-factor", "data-sign": sign }, plate, text);
    svg.append(/** @type {Element} */ (factor));
    const { width, height } = text.getBBox();
    const ground = { x: -width / 2 - 7, y: -height / 2 - 4, width: width + 14, height: height + 8 };
    for (const [key, value] of Object.entries(ground)) plate.setAttribute(key, String(value));
    /** On the paper. @param {number} at @param {number} low @param {number} room @param {number} size */
    const kept = (at, low, room, size) =>
      Math.max(low + size / 2 + 9, Math.min(at, low + room - size / 2 - 9));
    const [over, down] = [kept(x, paper.left, paper.width, width), kept(y, paper.top, paper.height, height)];
    factor?.setAttribute("transform", `translate(${over} ${down})`);
  }

  /** The local derivative on its edge, or what came of it.
   * @param {Step} step @param {View} view @param {number} duration */
  function derive(step, { state }, duration) {
    const edge = timeline.graph.edges.find(({ id }) => step.touches?.includes(`e${id}`));
    if (!edge) return;
    const name = `e${edge.id}`;
    const lines = factorOf(edge, state[name]?.local);
    write(name, step.kind === "local" ? lines : lines.slice(-1));
    if (step.kind === "local") return;
    const [made, product] = (step.numbers ?? "").split(" = ");
    const come = product ? [made, `= ${product}`] : [...lines, ...`→ ${made}`.split(/ (?=to )/)];
    const after = () => write(name, come, flowOf(product ?? made).sign);
    const middle = lineOf(name)?.middle ?? 0.5;
    const upstream = String(state[`n${onward ? edge.source : edge.target}`]?.gradient ?? "");
    if (duration) travel(name, upstream, [onward ? 0 : 1, middle], duration, after);
    else after();
  }

  function stop() {
    for (const each of [...moving]) each();
  }

  return {
    /** What moves at this step. @param {View} view */
    show(view) {
      stop();
      factor?.remove();
      const time = (/** @type {string} */ kind) =>
        (prefersStillness() || view.arrived !== "forward" ? 0 : motion(kind) / view.speed);
      const alone = view.lit.length === 1 ? view.lit[0] : undefined;
      if (alone && ["local", "product"].includes(alone.kind)) return derive(alone, view, time(alone.kind));
      for (const step of view.lit) {
        const duration = time(alone ? step.kind : "");
        for (const { element, field, value } of duration ? step.changes ?? [] : []) {
          if (field === "status" && value === "forward") travel(element, "", [0, 1], duration);
          const from = alone ? lineOf(element)?.middle ?? 1 : 1;
          if (field === "flow" && value)
            travel(element, String(value), onward ? [0, 1] : [from, 0], duration);
        }
      }
    },
    stop,
  };
}
