/**
 * A run of a session, which stops before each node: the kernel lets it go on, and what has run is here.
 *
 * @typedef {{ names: string[], row: string, line: string, box: string, reads: number[], users: number[] }}
 *   Called
 * @typedef {{ short: string, text: string, passes: string[] }} Told
 */

import { extent, makeChart } from "./chart.js";
import { h, icon, iconButton, ICONS, s, setEnabled } from "./dom.js";
import { groupOf, linkButton, press, slide, slider, stepsOf } from "./parts.js";
import { makePicture } from "./picture.js";
import { isPressing, makeView } from "./view.js";

/** @param {{ model: any, el: HTMLElement }} context @returns {() => void} what takes it all down again */
function render({ model, el }) {
  const { signal, on, set, follow, answer, begin } = makeView({ model, el });
  /** @type {Called[]} */ const nodes = model.get("_nodes");
  const told = () => /** @type {Told[]} */ (model.get("_told"));

  const here = () => Math.max(0, Math.min(model.get("step"), told().length));
  const go = (/** @type {number} */ to) => set({ step: Math.max(0, Math.min(nodes.length, to)) });
  const isIn = (/** @type {string} */ trait, /** @type {number} */ k) =>
    nodes[k].names.some((name) => model.get(trait).includes(name));
  /** The node that is looked at: the one that was chosen, else the one that runs next. */
  function looked() {
    const k = nodes.findIndex((node) => node.names.includes(model.get("chosen")));
    return k < 0 ? Math.min(here(), nodes.length - 1) : k;
  }
  const choose = (/** @type {number} */ k) => set({ chosen: nodes[k]?.names[0] ?? "" });
  /** @param {string} trait @param {number} k */
  function toggle(trait, k) {
    const without = model.get(trait).filter((/** @type {string} */ name) => !nodes[k].names.includes(name));
    set({ [trait]: isIn(trait, k) ? without : [...without, nodes[k].names[0]] });
  }

  const act = {
    ...stepsOf(here, nodes.length, go),
    run() {
      const stop = nodes.findIndex((_, k) => k > here() && isIn("breakpoints", k));
      go(stop < 0 ? nodes.length : stop);
    },
    here: () => go(looked()),
    seek() {
      const known = told().findIndex((each, k) => k >= here() && each.passes.includes(filter.value));
      if (known < 0) set({ step: told().length, awaited: filter.value });
      else set({ step: known + 1, chosen: nodes[known].names[0] });
    },
    stop: () => toggle("breakpoints", looked()),
    watch: () => toggle("watched", looked()),
  };

  const picture = makePicture(model.get("_svg"), "The graph of the run",
    (element) => choose(nodes.findIndex((node) => node.box === element && element)), signal);
  const button = (/** @type {string} */ name, /** @type {string} */ key, /** @type {string} */ path = "") =>
    h("button", { type: "button", className: "ak-button ak-toggle", title: `${name} (${key})` },
    ...(path ? [icon(path)] : []), name);
  const buttons = {
    first: iconButton(ICONS.first, "To the start", "Home"), back: iconButton(ICONS.back, "Step back", "←"),
    next: button("Step", "→", ICONS.next), run: button("Run", "Space", ICONS.play),
    last: iconButton(ICONS.last, "To the end", "End"),
    seek: button("Run to filter", "f"), here: button("Run to here", "Enter"),
    stop: button("Breakpoint", "b"), watch: button("Watch", "w"),
  };
  buttons.next.classList.add("ak-strong");
  const filter = h("select", { "aria-label": "Filter" },
    ...model.get("_filters").map((/** @type {string} */ name) => h("option", {}, name)));
  const range = slider("Nodes that have run", { min: 0, max: nodes.length }, go);
  const sentence = h("p", { className: "ak-sentence", "aria-live": "polite" });
  const count = h("span", { className: "ak-count" });
  const title = h("p", { className: "ak-title" });
  const facts = h("dl", {});
  const panel = h("aside", { className: "ak-panel", "aria-label": "The node that is looked at" },
    h("div", { tabIndex: 0, role: "group", "aria-label": "Node" }, h("header", {}, title),
      h("div", { className: "ak-row" }, buttons.here, buttons.stop, buttons.watch), facts));
  const kept = h("div", { className: "ak-desk" });
  const { first, back, next, run, last } = buttons;
  const root = groupOf("ak-player ak-live ak-session",
    `A run of ${nodes.length} nodes, before any pass. Right runs the next node, `
      + "Space runs to the next breakpoint, up and down choose a node.",
    h("div", { className: "ak-main" }, picture.node, panel),
    h("div", { className: "ak-controls" }, sentence, range,
      h("div", { className: "ak-row" }, groupOf("ak-transport", "The run", first, back, next, run, last),
        buttons.seek, filter, h("span", { className: "ak-space" }), count)), kept);
  root.tabIndex = 0;

  const code = (/** @type {Node | string} */ content) => h("dd", { className: "ak-code" }, content);

  function details() {
    const k = looked();
    const { names, row, line, reads, users } = nodes[k];
    const value = k < here() ? told()[k] : null;
    const list = (/** @type {string} */ name, /** @type {number[]} */ all) =>
      (all.length ? [h("dt", {}, name), ...all.map((k) => code(linkButton(nodes[k].row, () => choose(k))))]
        : []);
    title.textContent = names[0];
    facts.replaceChildren(h("dt", {}, "Computes"), code(row),
      h("dt", {}, "Value"), code(value ? value.text : "has not run yet"),
      ...(value?.passes ?? []).flatMap((name) =>
        [h("dt", {}, "Filter"), h("dd", { className: "ak-wrong" }, name)]),
      h("dt", {}, "Defined at"), code(line), ...list("Reads", reads), ...list("Is read by", users));
    buttons.stop.setAttribute("aria-pressed", String(isIn("breakpoints", k)));
    buttons.watch.setAttribute("aria-pressed", String(isIn("watched", k)));
  }

  /** The watched nodes: their values now, and a chart of their means in the runs that were. */
  function watching() {
    const all = nodes.map((_, k) => k).filter((k) => isIn("watched", k));
    kept.hidden = !all.length;
    kept.replaceChildren(...all.map((k) => {
      const { names } = nodes[k];
      const [name] = names;
      const was = Object.entries(model.get("_kept")).find(([key]) => names.includes(key))?.[1] ?? [];
      const now = k < here() ? told()[k].short || told()[k].text : "has not run yet";
      const figure = h("figure", { className: "ak-seat" }, h("figcaption", {}, h("b", {}, name), ` ${now}`));
      if (was.length < 2) return figure;
      const chart = makeChart({ width: 420, height: 150, x: [1, was.length], y: extent(was),
          names: ["run", "mean"], label: `The mean of ${name} in ${was.length} runs` });
      chart.inner.append(chart.line("ak-curve", was.map((/** @type {number} */ mean,
        /** @type {number} */ number) => [number + 1, mean])));
      figure.append(chart.svg);
      return figure;
    }));
  }

  function update() {
    const step = here();
    const failed = told().length === step && !model.get("_where").startsWith("before") && step < nodes.length;
    /** @type {Record<string, Record<string, string>>} */ const shown = {};
    nodes.forEach(({ box }, k) => {
      const wrong = k < step ? told()[k].passes.length > 0 : failed && k === step;
      const status = wrong ? "wrong" : k < step ? "computed" : k === step ? "current" : "hidden";
      if (box) shown[box] = { status, value: k < step ? told()[k].short : "" };
      const group = picture.node.querySelector(`[data-element="${box}"]`);
      group?.querySelector(".ak-break")?.remove();
      if (group && isIn("breakpoints", k))
        group.append(s("circle", { class: "ak-break", r: 6, cx: 0, cy: 0 }, s("title", {}, "breakpoint")));
    });
    picture.show(shown);
    picture.mark(new Set([nodes[looked()]?.box ?? ""]));
    const before = step < nodes.length ? `Before ${nodes[step].row}. ${nodes[step].line}`
      : "The run has ended, and the variables are written.";
    sentence.textContent = failed ? model.get("_where") : before;
    sentence.toggleAttribute("data-wrong", failed);
    count.textContent = `${step} of ${nodes.length} nodes`;
    slide(range, step, `${count.textContent}. ${sentence.textContent}`);
    for (const each of [first, back]) setEnabled(each, step > 0);
    for (const each of [next, run, last, buttons.seek]) setEnabled(each, step < nodes.length && !failed);
    details();
    watching();
  }

  press(buttons, act, on);
  answer(root, {
    ArrowRight: act.next, ArrowLeft: act.back, Home: act.first, End: act.last, " ": act.run,
    Enter: act.here, f: act.seek, b: act.stop, w: act.watch,
    ArrowDown: () => choose(Math.min(nodes.length - 1, looked() + 1)),
    ArrowUp: () => choose(Math.max(0, looked() - 1)), Escape: () => set({ chosen: "" }),
  }, (event) => event.target === filter || isPressing(event));
  follow(["step", "chosen", "breakpoints", "watched", "_told", "_kept", "_where"], update);
  return begin(root, update);
}

export default { render };
