/** What every widget does: it hears its model and its reader, and nothing of it stays when it goes. */

import { listening } from "./dom.js";

/** @typedef {ReturnType<typeof makeView>} Widget */

/** @param {{ model: any, el: HTMLElement }} context */
export function makeView({ model, el }) {
  const leaving = new AbortController();
  const { signal } = leaving;
  const atEnd = (/** @type {() => void} */ call) => signal.addEventListener("abort", call);
  const on = listening(signal);
  return {
    signal,
    atEnd,
    on,
    /** Set traits here and in Python; where the kernel is gone, the page goes on with what it has.
     * @param {Record<string, any>} traits */
    set(traits) {
      for (const [name, value] of Object.entries(traits)) model.set(name, value);
      try {
        model.save_changes();
      } catch {
        // There is no kernel to hear of it.
      }
    },
    /** Ask the kernel; false where there is none to hear of it. @param {Record<string, any>} question */
    send(question) {
      try {
        model.send(question);
        return true;
      } catch {
        return false;
      }
    },
    /** Call whenever one of these traits changes. @param {string[]} names @param {() => void} call */
    follow(names, call) {
      for (const name of names) {
        model.on(`change:${name}`, call);
        atEnd(() => model.off(`change:${name}`, call));
      }
    },
    /** Answer keys; all others stay the page's, and so do those that an element below has use for.
     * @param {Element} root @param {Record<string, () => unknown>} keys
     * @param {(event: KeyboardEvent) => boolean} [isUsed] */
    answer(root, keys, isUsed = () => false) {
      on(root, "keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || isUsed(event)) return;
        const names = event.shiftKey ? [`Shift${event.key}`, event.key] : [event.key];
        const name = names.find((each) => Object.hasOwn(keys, each));
        if (!name) return;
        event.preventDefault();
        event.stopPropagation();
        keys[name]();
      });
    },
    /** Put the widget on the page, where it shows what the model says.
     * @param {HTMLElement} root @param {() => void} update @returns {() => void} what takes it all down */
    begin(root, update) {
      ownKeys(root, signal);
      el.append(root);
      atEnd(() => root.remove());
      update();
      return () => leaving.abort();
    },
  };
}

/** JupyterLab and Notebook take keys before a widget hears of them, unless an attribute says that they are
 * not theirs. They look for it from the element with the focus upward, and may match that element first: so
 * it stands there too. Running and saving stay the notebook's.
 * @param {Element} root @param {AbortSignal} signal */
function ownKeys(root, signal) {
  const own = "data-lm-suppress-shortcuts";
  root.setAttribute(own, "true");
  window.addEventListener("keydown", (event) => {
    const { target } = event;
    if (!(target instanceof Element && root.contains(target))) return;
    const labs = event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key === "Enter");
    for (const each of [root, target]) {
      if (labs && !target.matches("input:not([type=range])")) each.removeAttribute(own);
      else each.setAttribute(own, "true");
    }
  }, { signal, capture: true });
}

/** Whether a key presses the button that has the focus. @param {KeyboardEvent} event */
export const isPressing = ({ key, target }) => [" ", "Enter"].includes(key)
  && /** @type {Element} */ (target).matches("button, summary, a, [role=grid] *");
