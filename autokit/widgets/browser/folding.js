/**
 * Folded boxes that open: Python draws the picture anew, as long as it is there to draw, or drew it
 * beforehand.
 *
 * @import { Listen } from "./dom.js"
 */

import { h, setEnabled } from "./dom.js";

const OPENS_WITHIN = 4000; // milliseconds until a kernel is taken for dead
const HINT = "This fold opens where its kernel runs; limit= or depth= draws it open from the start.";

/** @param {any} model
 * @param {() => string} nearest what the fold holds that opens where none was clicked @param {Listen} on */
export function makeFolding(model, nearest, on) {
  const opener = h("button", { type: "button", className: "ak-button", title: "Open it (Enter)" },
    "Open fold");
  const closer = h("button",
    { type: "button", className: "ak-button", title: "Close the last one (Backspace)" }, "Fold again");
  const hint = h("p", { className: "ak-hint", role: "status" });
  const node = h("div", { className: "ak-folding", role: "group", "aria-label": "Folds" }, hint, opener,
    closer);
  let patience = 0;

  /** @returns {string[]} */
  const opened = () => model.get("_opened") ?? [];

  /** @param {string[]} folds */
  function ask(folds) {
    hint.textContent = "";
    clearTimeout(patience);
    const silent = () => (hint.textContent = HINT);
    patience = window.setTimeout(silent, OPENS_WITHIN);
    try {
      model.send({ opened: folds });
    } catch {
      silent();
    }
  }

  const act = {
    node,
    /** @param {string} [holds] */
    open(holds = nearest()) {
      if (holds) ask([...opened(), holds]);
    },
    close() {
      if (opened().length) ask(opened().slice(0, -1));
    },
    show() {
      const folded = Boolean(nearest());
      node.hidden = !folded && !opened().length;
      setEnabled(opener, folded);
      setEnabled(closer, opened().length > 0);
    },
    /** The picture has come, or will not be missed. */
    arrived() {
      clearTimeout(patience);
      hint.textContent = "";
    },
  };
  on(opener, "click", () => act.open());
  on(closer, "click", act.close);
  return act;
}
