/** A picture that Python drew, as a part of the page. */

/** What `markup` draws, for a frame that is told how large it is. The page names it, and says more than its
 * title does.
 * @param {string} markup an SVG @param {HTMLElement} frame */
export function drawingOf(markup, frame) {
  const parsed = new DOMParser().parseFromString(markup, "image/svg+xml");
  if (parsed.querySelector("parsererror") || parsed.documentElement.localName !== "svg")
    throw new Error("autokit: the picture is no well-formed SVG");
  const svg = /** @type {SVGSVGElement} */
    (document.importNode(/** @type {any} */ (parsed.documentElement), true));
  for (const name of ["width", "height", "aria-label", "aria-labelledby", "aria-describedby"])
    svg.removeAttribute(name);
  svg.setAttribute("role", "img");
  svg.querySelector(":scope > title")?.remove();
  const [left, top, width, height] = (svg.getAttribute("viewBox") ?? "0 0 300 150").split(" ").map(Number);
  frame.style.setProperty("--ak-width", String(width));
  frame.style.setProperty("--ak-height", String(height));
  return { svg, paper: { left, top, width, height } };
}
