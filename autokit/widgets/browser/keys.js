/** Which keys are a widget's own in a notebook, and which are the notebook's. */

/**
 * JupyterLab and Notebook take keys before a widget hears of them, unless an attribute says that they are not
 * theirs. They look for it from the element with the focus upward, and may match that element first: so it
 * stands
 * there too. Running and saving stay the notebook's.
 * @param {Element} root @param {AbortSignal} signal
 */
export function ownKeys(root, signal) {
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
