"""What the player costs in a browser: a step's script, a frame of motion, and what a story weighs."""

from __future__ import annotations

import json

import autokit as ak
from autokit.graphs.model import Timeline
from autokit.widgets.payload import payload
from autokit.widgets.script import player_css, player_js
from tests.support import chromium_path

_MEASURE = """async ({ code, css, traits }) => {
  document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
  const player = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  const listeners = new Map();
  const all = { step: 0, playing: false, selected: "", speed: 1, grain: "fine", ...traits };
  const model = { get: (name) => all[name], save_changes() {}, off() {}, send() {},
    on: (event, call) => listeners.set(event, [...(listeners.get(event) ?? []), call]),
    set(name, value) {
      if (all[name] === value) return;
      all[name] = value;
      listeners.get("change:" + name)?.forEach((call) => call());
    } };
  const began = performance.now();
  player.default.render({ model, el: document.body });
  const opened = performance.now() - began;
  const count = traits._timeline.steps.length, times = [];
  for (let k = 1; k < count; k += Math.max(1, Math.floor(count / 400))) {
    model.set("step", k - 1);
    const start = performance.now();
    model.set("step", k);
    times.push(performance.now() - start);
    if (times.length % 10 === 0) await new Promise(requestAnimationFrame);
  }
  times.sort((a, b) => a - b);
  model.set("step", Math.floor(count / 2));
  const frames = [];
  model.set("playing", true);
  model.set("speed", 4);
  for (let k = 0; k < 3; k++) await new Promise(requestAnimationFrame); // the jump there
  let last = await new Promise(requestAnimationFrame);
  const until = last + 4000;
  while (last < until) {
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - last);
    last = now;
  }
  frames.sort((a, b) => a - b);
  const late = (all) => all[Math.floor(all.length * 0.99)];
  return { opened, half: times[times.length >> 1], most: late(times), slow: late(frames),
    rate: 1000 * frames.length / frames.reduce((sum, frame) => sum + frame, 0) };
}"""


def chain(nodes: int) -> Timeline:
    """A chain of that many nodes."""
    y = ak.tensor(0.5, requires_grad=True)
    for _ in range(nodes // 5):
        y = (y * 0.9).tanh() + 0.1
    return ak.record(y)


def fan_out(terms: int) -> Timeline:
    """One leaf used in that many terms of a sum."""
    x = ak.tensor(1.0, requires_grad=True)
    total = x * 1.0
    for place in range(2, terms + 1):
        total = total + x * float(place)
    return ak.record(total)


def main() -> None:
    """Print what each story weighs and costs."""
    from playwright.sync_api import sync_playwright

    stories = {"300 nodes": chain(300), "1,000 nodes": chain(1000), "300 terms": fan_out(300)}
    drawn = {name: (story, 150) for name, story in stories.items()}
    drawn["300 nodes, none folded"] = (stories["300 nodes"], 2000)
    drawn["1,000 nodes, none folded"] = (stories["1,000 nodes"], 2000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"])
        for name, (story, limit) in drawn.items():
            traits = payload(story, limit=limit)
            weight = len(json.dumps(traits["_timeline"], ensure_ascii=False).encode())
            page = browser.new_page(viewport={"width": 1200, "height": 900})
            took = page.evaluate(_MEASURE, {"code": player_js(), "css": player_css(), "traits": traits})
            print(
                f"{name}: {len(story.graph)} nodes, {len(story):,} steps, opened in {took['opened']:.0f} ms"
            )
            print(f"  {weight / 1e6:.2f} MB, {weight / len(story):.0f} bytes a step")
            print(f"  script of a step {took['half']:.1f} ms, 99 in 100 under {took['most']:.1f} ms")
            print(f"  {took['rate']:.0f} frames a second, 99 in 100 under {took['slow']:.0f} ms")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
