/** Small help with the DOM: elements, icons, and motion that lasts for some frames. */

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; a property if it has one of that name, else an attribute. Text is always text.
 * @param {string} tag @param {Record<string, any>} [props] @param {...(Node | string)} children
 * @returns {any} */
export function h(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key in made) /** @type {any} */ (made)[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(.../** @type {any} */ (children));
  return made;
}

/** A table, with rows of its body.
 * @param {string | Element} caption @param {string[]} names of the columns @param {Element[]} rows
 * @returns {any} */
export const tableOf = (caption, names, rows) => h("table", {}, h("caption", {}, caption),
  h("thead", {}, h("tr", {}, ...names.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, ...rows));

const LINES = [-9, 9.5]; // as autokit.draw.svg has them: the arrow runs between a range's two lines

/** Where the lines of a text of the picture stand. @param {Element} text @param {number} y */
export const baselines = (text, y) => (text.hasAttribute("data-lines") ? LINES.map((by) => y + by) : [y]);

/** A ground for the text on a line, so that the line does not run through its gaps.
 * @param {Element} text */
export function plates(text) {
  const [x, y, wide, size] = ["x", "y", "data-width", "font-size"]
    .map((name) => Number(text.getAttribute(name)));
  return baselines(text, y).map((at) => s("rect", { "data-part": "plate", x: x - wide / 2 - 2,
    y: at - size, width: wide + 4, height: 1.3 * size, rx: 3 }));
}

/** Words of the picture: a range stands in two lines where the text may have them.
 * @param {Element} text @param {string} words */
export function write(text, words) {
  const at = words.startsWith("all ") ? 3 : words.indexOf(" to ");
  const lines = at < 0 ? [] : baselines(text, Number(text.getAttribute("y")));
  if (lines.length < 2) text.textContent = words;
  else {
    const [low, high] = [words.slice(0, at), words.slice(at + 1)];
    text.replaceChildren(line(text, low, lines[0]), " ", line(text, high, lines[1]));
  }
}

/** @param {Element} text @param {string} words @param {number} y */
const line = (text, words, y) => s("tspan", { x: text.getAttribute("x") ?? 0, y }, words);

/** @param {string} tag @param {Record<string, string | number>} attributes @param {...any} children
 * @returns {any} */
export function s(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/** Listening that ends with a view. @typedef {(target: EventTarget, event: string, call: (event: any) =>
 * void, options?: any) => void} Listen
 * @param {AbortSignal} signal @returns {Listen} */
export const listening = (signal) => (target, event, call, options) => target.addEventListener(event, call,
  { signal, ...options });

/** @param {string} path */
export const icon = (path) => s("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" },
  s("path", { d: path, fill: "currentColor" }));

export const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z", back: "M12 3v10L4 8z", play: "M4 2.5v11l9-5.5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z", next: "M4 3v10l8-5z", last: "M11 3h2v10h-2zM3 3v10l7-5z",
  plus: "M7 3h2v4h4v2H9v4H7V9H3V7h4z", minus: "M3 7h10v2H3z", fit: "M1 3h14v10H1zm2 2v6h10V5zM5 7h6v2H5z",
  full: "M2 2h4v2H4v2H2zM10 2h4v4h-2V4h-2zM2 10h2v2h2v2H2zM12 10h2v4h-4v-2h2z",
  close: "M4.2 2.8 8 6.6l3.8-3.8 1.4 1.4L9.4 8l3.8 3.8-1.4 1.4L8 9.4l-3.8 3.8-1.4-1.4L6.6 8 2.8 4.2z",
};

/** A button with an icon, a name for assistive technology and a tooltip that may tell the key.
 * @param {string} path @param {string} name @param {string} [key] */
export const iconButton = (path, name, key) =>
  h("button", { type: "button", className: "ak-button", "aria-label": name, title: key ? `${name} (${key})`
    : name }, icon(path));

/** A button is kept focusable when it has nothing to do, so that the keyboard does not lose its place.
 * @param {Element} button @param {boolean} enabled */
export const setEnabled = (button, enabled) => button.setAttribute("aria-disabled", String(!enabled));

/** How many times as large an element is shown as its style says: a page of slides may be magnified.
 * @param {HTMLElement} element */
export const magnified = (element) => element.getBoundingClientRect().width / element.offsetWidth || 1;

export const prefersStillness = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Call `draw(t)` once a frame while t eases from 0 to 1; `hold` is told the id that cancels the next frame.
 * @param {number} duration @param {(t: number) => void} draw @param {(id: number) => void} hold */
export function glide(duration, draw, hold) {
  if (duration <= 0) {
    draw(1);
    return 0;
  }
  const start = performance.now();
  const frame = (/** @type {number} */ now) => {
    const t = Math.max(0, Math.min(1, (now - start) / duration));
    draw(t * t * (3 - 2 * t));
    if (t < 1) hold(requestAnimationFrame(frame));
  };
  draw(0);
  return requestAnimationFrame(frame);
}
