/** A widget's model on a page of its own, where there is no notebook: it does what anywidget's does there. */

/** What the page holds for its widget; bytes are written as base64 there. @returns {Record<string, any>} */
export function traitsOfThePage() {
  const bytes = (/** @type {string} */ text) =>
    new DataView(Uint8Array.from(atob(text), (each) => each.charCodeAt(0)).buffer);
  const written = document.getElementById("autokit-traits")?.textContent ?? "{}";
  return JSON.parse(written,
    (_, value) => (typeof value?.["& bytes"] === "string" ? bytes(value["& bytes"]) : value));
}

/** @param {Record<string, any>} traits what it holds; who changes it from outside tells nobody */
export function makeModel(traits) {
  /** @type {Map<string, (() => void)[]>} */ const listeners = new Map();
  const heard = (/** @type {string} */ event) => listeners.get(event) ?? [];
  return {
    get: (/** @type {string} */ name) => traits[name],
    /** @param {string} name @param {any} value */
    set(name, value) {
      if (traits[name] === value) return;
      traits[name] = value;
      for (const call of [...heard(`change:${name}`)]) call();
    },
    save_changes() {},
    send() {
      throw new Error("there is no kernel");
    },
    /** @param {string} event @param {() => void} call */
    on: (event, call) => listeners.set(event, [...heard(event), call]),
    /** @param {string} event @param {() => void} call */
    off: (event, call) => listeners.set(event, heard(event).filter((other) => other !== call)),
  };
}
