"""In a real browser, by measurement: every text lies inside its box."""

from __future__ import annotations

import pytest

from autokit.draw import html, svg
from tests.draw import graphs
from tests.draw.graphs import EXAMPLES, timeline
from tests.support import chromium_path, require

require("playwright")

OUTSIDE = """() => {
  const found = [];
  const escapes = (inner, outer) => inner.width > 0 && (inner.left < outer.left - 0.5
    || inner.right > outer.right + 0.5 || inner.top < outer.top - 0.5 || inner.bottom > outer.bottom + 0.5);
  for (const text of document.querySelectorAll('svg text')) {
    const group = text.closest('[data-element], [data-part="left-out"], [data-group]');
    const box = group && !group.dataset.element?.startsWith('e') ? group.querySelector('rect') : null;
    const outer = (box || document.querySelector('svg')).getBoundingClientRect();
    if (escapes(text.getBoundingClientRect(), outer)) found.push(text.textContent);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def page():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"])
        yield browser.new_page()
        browser.close()


@pytest.mark.parametrize("font", ["", "DejaVu Sans"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_text_lies_inside_its_box(page, name: str, font: str) -> None:
    graph = EXAMPLES[name]()
    style = f"<style>svg {{ font-family: '{font}' }}</style>" if font else ""
    for drawn in (svg(graph), svg(timeline(graph)), svg(graph, direction="TB")):
        page.set_content(style + drawn)
        assert page.locator("svg text").count() > 3
        assert page.evaluate(OUTSIDE) == []


def test_the_still_is_an_image_that_loads(page) -> None:
    page.set_content(html(graphs.hostile()))
    size = page.evaluate(
        "() => { const i = document.images[0]; return [i.complete && i.naturalWidth, i.alt]; }"
    )
    assert size[0] > 100
    assert "<script>alert(1)</script>" in size[1]
