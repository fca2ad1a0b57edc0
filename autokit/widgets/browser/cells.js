/**
 * The elements of a tensor, one by one: a grid that the keyboard can walk, and for each the sum that made it.
 *
 * Small tensors come with the story. Of others Python is asked, as long as it is there to answer.
 *
 * @import { Listen } from "./dom.js"
 * @import { Cells, Node } from "./story.js"
 */

import { h, magnified } from "./dom.js";
import { numberOf } from "./numbers.js";
import { shapeText } from "./story.js";

const PATIENCE = 4000; // milliseconds until a kernel is taken for dead

/**
 * Questions to Python, answered by a promise.
 * @param {any} model @param {Cells} known
 * @param {(element: string) => boolean} isGiven whether a value is not computed
 * @param {import("./lit.js").Lights} lights
 */
export function makeElements(model, known, isGiven, lights) {
  /** @type {Map<string, (answer: any) => void>} */ const waiting = new Map();
  const key = (/** @type {any} */ q) => [q.element, q.field, q.place, Boolean(q.sum)].join();
  const hear = (/** @type {any} */ answer) => {
    waiting.get(key(answer))?.(answer);
    waiting.delete(key(answer));
  };
  model.on("msg:custom", hear);

  /** @param {{ element: string, field: string, place: number, sum?: boolean }} question
   * @returns {Promise<{ values?: string[], told: string, made?: string }>} */
  function ask(question) {
    const silent = { told: "The kernel holds the numbers, and does not answer." };
    return new Promise((resolve) => {
      waiting.set(key(question), resolve);
      setTimeout(() => resolve(silent), PATIENCE);
      try {
        model.send(question);
      } catch {
        resolve(silent);
      }
    });
  }

  return {
    close: () => model.off("msg:custom", hear),
    dark: lights.clear,
    /** @param {string} element @param {string} field */
    values: (element, field) => known[element]?.[field]?.values,
    /** @param {string} element @param {string} field @param {number} place */
    more: (element, field, place) => ask({ element, field, place }),
    /** How an element came about; what made it lights up in the picture.
     * @param {string} element @param {string} field @param {number} place
     * @param {() => boolean} isAsked whether one still wants to know when the answer is there
     * @returns {Promise<string>} */
    async sum(element, field, place, isAsked) {
      const { sums, made } = known[element]?.[field] ?? {};
      const given = field === "value" && isGiven(element);
      const answer = given ? { told: "Given, not computed." }
        : sums ? { told: sums[place], made: made?.[place] } : await ask({ element, field, place, sum: true });
      if (isAsked()) lights.show(element, field, place, answer.made ?? "");
      return answer.told;
    },
  };
}

/** @typedef {ReturnType<typeof makeElements>} Elements */

/**
 * The grid of one tensor, and below it the sum of the element under the pointer or in focus.
 * @param {Elements} elements @param {Listen} on @param {Node} of @param {string} field @param {string} title
 */
export function makeGrid(elements, on, of, field, title) {
  const element = `n${of.id}`;
  const shape = of.shape ?? [];
  const count = shape.reduce((product, size) => product * size, 1);
  const columns = shape.at(-1) || 1;
  const told = h("p", { className: "ak-sum", role: "status" });
  const body = h("tbody");
  const table = h("table", { role: "grid",
      "aria-label": `${title}, ${shapeText(shape)}: arrow keys walk` }, body);
  const frame = h("div", { className: "ak-grid" }, table);
  const more = h("button", { type: "button", className: "ak-button" });
  const node = h("div", {}, frame, more, told);
  let shown = 0;
  let asked = 0;

  /** @param {string[]} values */
  function add(values) {
    for (const value of values) {
      if (shown % columns === 0) body.append(h("tr"));
      const cell = h("td", { tabIndex: shown ? -1 : 0 }, value);
      const number = numberOf(value);
      cell.dataset.sign = number < 0 ? "−" : number > 0 ? "+" : number === 0 ? "" : "!";
      cell.dataset.place = String(shown);
      body.lastElementChild?.append(cell);
      shown += 1;
    }
    more.hidden = shown >= count;
    more.textContent = shown ? `Show more of ${count.toLocaleString("en")}`
      : `Show all ${count.toLocaleString("en")} elements`;
  }

  /** @param {HTMLElement} cell */
  async function tell(cell) {
    const mine = (asked += 1);
    const isAsked = () => mine === asked && table.isConnected;
    const answer = await elements.sum(element, field, Number(cell.dataset.place), isAsked);
    if (mine === asked) told.textContent = answer;
  }

  const cellOf = (/** @type {Event} */ event) => /** @type {HTMLElement | null} */
    (/** @type {Element} */ (event.target).closest("td"));
  on(table, "pointerover", (/** @type {Event} */ event) => {
    const cell = cellOf(event);
    if (cell) tell(cell);
  });
  on(table, "pointerleave", () => {
    const focused = /** @type {HTMLElement | null} */ (table.querySelector("td:focus"));
    if (focused) tell(focused);
    else elements.dark();
  });
  on(table, "focusout", elements.dark);
  on(table, "focusin", (/** @type {Event} */ event) => {
    const cell = cellOf(event);
    if (!cell) return;
    table.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
    cell.tabIndex = 0;
    tell(cell);
  });
  on(table, "keydown", (/** @type {KeyboardEvent} */ event) => {
    const cell = cellOf(event);
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    if (!cell || !by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    table.querySelector(`[data-place="${Number(cell.dataset.place) + by}"]`)?.focus();
  });
  on(more, "click", async () => {
    const { values, told: why } = await elements.more(element, field, shown);
    add(values ?? []);
    if (!values?.length) told.textContent = why;
  });
  add(elements.values(element, field) ?? []);
  return node;
}

/**
 * The sum of the element under the pointer, beside its place in the picture's heatmap.
 * @param {HTMLElement} stage @param {Elements} elements @param {Listen} on
 */
export function makeTip(stage, elements, on) {
  // the grid says it too
  const tip = h("div", { className: "ak-tip ak-code", hidden: true, "aria-hidden": "true" });
  stage.append(tip);
  let over = "";
  const hide = () => {
    if (over) elements.dark();
    over = "";
    tip.hidden = true;
  };
  on(stage, "pointerleave", hide);
  on(stage, "pointerdown", hide);
  on(stage, "pointermove", async (event) => {
    const heat = /** @type {SVGGElement | null} */
      (/** @type {Element} */ (event.target).closest("[data-columns]"));
    const element = heat?.closest("[data-element]")?.getAttribute("data-element");
    if (!heat || !element) return hide();
    // the frame around the cells: the group's own box has room for corners of lines, which have none
    const frame = (heat.querySelector("rect") ?? heat).getBoundingClientRect();
    const columns = Number(heat.dataset.columns);
    const size = Number(heat.dataset.size) * (heat.getScreenCTM()?.a ?? 1);
    const place = Math.floor((event.clientY - frame.top) / size) * columns + Math.min(columns - 1,
      Math.floor((event.clientX - frame.left) / size));
    const field = heat.dataset.part?.startsWith("gradient") ? "gradient" : "value";
    const mine = `${element} ${field} ${place}`;
    if (mine === over) return;
    over = mine;
    const told = await elements.sum(element, field, Math.max(0, place), () => over === mine);
    if (over !== mine) return;
    tip.textContent = told;
    tip.hidden = false;
    const ground = stage.getBoundingClientRect();
    const by = magnified(stage);
    const beside = (/** @type {number} */ at, /** @type {number} */ own, /** @type {number} */ room) =>
      Math.max(4, Math.min(at, room - own - 4));
    tip.style.left = `${beside((frame.right - ground.left) / by + 8, tip.offsetWidth, stage.offsetWidth)}px`;
    tip.style.top =
      `${beside((event.clientY - ground.top) / by + 12, tip.offsetHeight, stage.offsetHeight)}px`;
  });
}
