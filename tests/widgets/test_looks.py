"""Whether everyone can read and reach the player: contrast, names, focus, narrow windows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autokit.graphs.model import Timeline
from tests.widgets.pages import open_file, press, violations
from tests.widgets.test_recorded import broadcast

CONTRAST = """() => {
  const rgba = (text) => { // any CSS colour, through a pixel
    const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
    canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].map((x) => x / 255);
  };
  const light = ([r, g, b]) => [r, g, b].map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
    .reduce((sum, x, k) => sum + x * [0.2126, 0.7152, 0.0722][k], 0);
  const over = (top, under) => [0, 1, 2].map((k) => top[k] * top[3] + under[k] * (1 - top[3]));
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const box = at.closest?.("[data-element]")?.querySelector('[data-part="box"]');
      const painted = box && at instanceof SVGElement;
      const paint = rgba(painted ? getComputedStyle(box).fill : getComputedStyle(at).backgroundColor);
      if (paint[3] > 0.99) return paint;
    }
    return [1, 1, 1, 1];
  };
  const poor = [];
  for (const element of document.querySelectorAll(".ak-player *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const exempt = element.closest('[aria-disabled="true"], option, datalist, [data-part="pending-badge"]');
    if (!own || exempt || !element.checkVisibility()) continue;
    const svg = element instanceof SVGElement;
    const style = getComputedStyle(element);
    const [ink, paper] = [rgba(svg ? style.fill : style.color), ground(element)];
    const [a, b] = [light(over(ink, paper)), light(paper)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push([element.textContent, style.color, ratio.toFixed(2)]);
  }
  return poor;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(
    open_page: Callable[..., Any], story: Timeline, tmp_path: Path, scheme: str
) -> None:
    page = open_file(open_page(color_scheme=scheme, reduced_motion="reduce"), story, tmp_path)
    paper = page.locator(".ak-player").evaluate("p => getComputedStyle(p).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    page.locator("[data-element=n2]").click()
    page.get_by_role("button", name="Predict").click()
    for step in range(len(story)):
        page.get_by_label("Step", exact=True).fill(str(step))
        assert page.evaluate(CONTRAST) == []
    page.get_by_role("button", name="Show as table").click()
    assert page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("width", [320, 480, 1000])
def test_nothing_jumps_or_is_cut_off(
    open_page: Callable[..., Any], story: Timeline, tmp_path: Path, width: int
) -> None:
    page = open_file(open_page(viewport={"width": width, "height": 800}), story, tmp_path)
    heights = set()
    for _ in range(len(story)):
        heights.add(page.locator(".ak-player").bounding_box()["height"])
        press(page, "ArrowRight")
    assert len(heights) == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for button in page.locator(
        ".ak-player button:visible, .ak-player select, .ak-player input:visible"
    ).all():
        box = button.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width


def test_every_control_has_a_name_and_a_visible_focus(page: Any) -> None:
    controls = page.locator(
        ".ak-player button:visible, .ak-player select, .ak-player input:visible, .ak-player summary:visible"
    )
    names = controls.evaluate_all(
        "cs => cs.map((c) => c.ariaLabel || c.textContent.trim() || c.labels?.[0]?.textContent.trim() || '')"
    )
    assert len(names) >= 14 and all(names)
    seen = set()
    page.locator(".ak-player").focus()
    for _ in range(20):
        page.keyboard.press("Tab")
        style = page.evaluate(
            "() => { const a = document.activeElement; const s = getComputedStyle(a);"
            " return a.closest('.ak-player')"
            " && [a.ariaLabel || a.textContent, s.outlineStyle, s.outlineWidth] }"
        )
        if style is None:
            break
        assert style[1] != "none" and style[2] == "2px", style
        seen.add(style[0])
    assert len(seen) >= 12
    assert page.locator(".ak-sentence").get_attribute("aria-live") == "polite"
    assert page.locator(".ak-player").get_attribute("data-lm-suppress-shortcuts") == "true"


@pytest.mark.parametrize(("scheme", "width"), [("light", 1000), ("dark", 360)])
def test_axe_core_finds_nothing(
    open_page: Callable[..., Any], tmp_path: Path, scheme: str, width: int
) -> None:
    options = {
        "color_scheme": scheme,
        "reduced_motion": "reduce",
        "viewport": {"width": width, "height": 900},
    }
    story = broadcast()
    page = open_file(open_page(**options), story, tmp_path)
    kinds = [step.kind for step in story]
    assert violations(page) == []
    page.get_by_role("button", name="Code").click()
    for step in (kinds.index("unbroadcast"), kinds.index("accumulate"), len(story) - 1):
        page.get_by_label("Step", exact=True).fill(str(step - 1))
        page.locator(".ak-player").focus()
        press(page, "ArrowRight")
        assert violations(page) == [], kinds[step]
    press(page, "ArrowDown", "ArrowDown")
    assert page.locator(".ak-grid").count() == 2 and violations(page) == []
    page.get_by_role("button", name="Show as table").click()
    assert violations(page) == []
    page.get_by_role("button", name="Show as table").click()
    page.get_by_role("button", name="Predict").click()
    press(page, "Home")
    while not page.locator(".ak-question").is_visible():
        page.get_by_role("button", name="Step forward").click()
    assert violations(page) == []
