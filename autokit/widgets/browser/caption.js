/**
 * The caption: what happens at this step in words, symbols and numbers; or the question that stands before
 * the next.
 *
 * @import { Listen } from "./dom.js"
 * @import { Question, Timeline, View } from "./story.js"
 */

import { h } from "./dom.js";
import { regionOf } from "./parts.js";
import { isRight, KINDS, PHASES, told } from "./story.js";
import { accountTable } from "./table.js";

/** @param {Timeline} timeline @param {(element: string) => void} onSelect @param {Listen} on */
export function makeCaption(timeline, onSelect, on) {
  const phase = h("span", { className: "ak-phase" });
  const kind = h("span", { className: "ak-kind" });
  const score = h("span", { className: "ak-score" });
  const count = h("span", { className: "ak-count" });
  const sentence = h("p", { className: "ak-sentence", "aria-live": "polite" });
  const formula = h("code", { className: "ak-formula" });
  const numbers = h("code", { className: "ak-numbers" });
  const instead = h("span", { className: "ak-instead" });
  const note = h("p");
  const why = h("details", { className: "ak-why" }, h("summary", {}, "Why?"), note);
  const account = h("details", { className: "ak-why ak-account" }, h("summary", {}, "The account"),
    regionOf("", "The account", accountTable(timeline, onSelect)));
  const verdict = h("span", { className: "ak-verdict", role: "status" });
  const ask = h("span", { className: "ak-ask" });
  const answer = h("input", { type: "text", autocomplete: "off", className: "ak-answer", inputMode: "text" });
  const form = h("form", { className: "ak-question", hidden: true },
    h("label", {}, ask, answer), h("button", { type: "submit", className: "ak-button ak-strong" }, "Check"),
    h("button", { type: "button", className: "ak-button ak-reveal" }, "Reveal"));
  const node = h("div", { className: "ak-caption" }, h("div", { className: "ak-meta" }, phase, kind),
    h("div", { className: "ak-telling" }, sentence, form, verdict),
    h("div", { className: "ak-meta ak-tally" }, count, score),
    h("div", { className: "ak-symbols" }, formula, numbers, instead, h("span", { className: "ak-space" }),
      why, account));

  let selected = "";
  let right = 0;
  let tried = 0;
  let first = true; // only the first answer to a question counts
  /** @type {{ question: Question, done: () => void } | null} */ let open = null;

  /** @param {string} text @param {string} mood */
  function say(text, mood) {
    verdict.textContent = text;
    verdict.dataset.mood = mood;
  }

  /** @param {boolean} good @param {string} text */
  function close(good, text) {
    if (!open) return;
    const { done } = open;
    if (first) {
      tried += 1;
      right += Number(good);
    }
    end();
    done();
    say(text, good ? "right" : "");
  }

  function end() {
    open = null;
    form.hidden = true;
    sentence.hidden = false;
    score.textContent = tried ? `Predicted ${right} / ${tried}` : "";
  }

  on(form, "submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!open || !answer.value.trim()) return;
    if (isRight(answer.value, open.question.answer)) return close(true, `✓ Right: ${open.question.answer}`);
    say(`✗ ${answer.value.trim()} is not it. Try again, or reveal.`, "wrong");
    if (first) tried += 1;
    first = false;
    score.textContent = `Predicted ${right} / ${tried}`;
    answer.select();
  });
  on(form.querySelector(".ak-reveal"), "click", () => close(false, `It is ${open?.question.answer}.`));

  return {
    node,
    /** Whether a question is open; if so, it asks for attention again. */
    asking() {
      if (open) answer.focus({ preventScroll: true });
      return open !== null;
    },
    /** Close what lies over the picture; says whether something did. */
    fold() {
      const opened = [why, account].filter((details) => details.open);
      for (const details of opened) {
        details.open = false;
        details.querySelector("summary")?.focus({ preventScroll: true });
      }
      return opened.length > 0;
    },
    cancel() {
      if (open) end();
      say("", "");
    },
    /** @param {Question} question @param {() => void} done */
    ask(question, done) {
      open = { question, done };
      first = true;
      ask.textContent = question.text;
      answer.value = "";
      say("", "");
      form.hidden = false;
      sentence.hidden = true;
      answer.focus({ preventScroll: true });
    },
    /** @param {View} view */
    show(view) {
      // they would lie over the details
      if (view.selected && view.selected !== selected) why.open = account.open = false;
      selected = view.selected;
      if (!view.arrived && open) return;
      if (open) end();
      if (view.arrived) say("", "");
      const step = timeline.steps[view.step];
      const coarse = view.chapter;
      const [at, of] = coarse ? [step.chapter + 1, timeline.chapters.length]
        : [view.step + 1, timeline.steps.length];
      node.dataset.phase = step?.phase ?? "";
      phase.textContent = step ? PHASES[step.phase] : "";
      kind.textContent = !step || step.phase === "turn" ? "" : coarse ? "Chapter"
        : KINDS[step.kind] ?? step.kind;
      count.textContent = `${step ? at : 0} / ${of}`;
      const words = told(view);
      if (sentence.textContent !== words) sentence.textContent = words;
      formula.textContent = step?.formula ?? "";
      numbers.textContent = step?.numbers ?? "";
      note.textContent = step?.note ?? "";
      instead.replaceChildren(...(step?.instead ? ["with = : ", h("s", {}, step.instead), " ✗"] : []));
      why.hidden = !step?.note;
      account.hidden = step?.kind !== "finish" || !timeline.accounts?.length;
      if (view.arrived) {
        why.open = false;
        account.open = view.arrived === "forward" && !account.hidden;
      }
    },
  };
}
