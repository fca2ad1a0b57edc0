"""In a real browser: every text lies inside its box, by measurement, and the pictures look as approved."""

from __future__ import annotations

import pytest

from autokit.draw import html, svg
from tests.draw import graphs
from tests.draw.approve import APPROVED, difference, pictures, shot
from tests.draw.graphs import EXAMPLES, timeline
from tests.draw.standard import STANDARD
from tests.support import require

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
def page(chromium):
    page = chromium.new_page(viewport={"width": 3200, "height": 2400})
    yield page
    page.close()


@pytest.mark.parametrize("font", ["", "DejaVu Sans"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_text_lies_inside_its_box(page, name: str, font: str) -> None:
    graph = EXAMPLES[name]()
    style = f"<style>svg {{ font-family: '{font}' }}</style>" if font else ""
    for drawn in (svg(graph), svg(timeline(graph)), svg(graph, direction="TB")):
        page.set_content(style + drawn)
        assert page.locator("svg text").count() > 3
        assert page.evaluate(OUTSIDE) == []


def test_the_standard_graphs_look_as_approved(page) -> None:
    require("matplotlib")  # which brings Pillow
    from PIL import Image

    shown = {name: shot(page, drawn) for name, drawn in pictures().items()}
    assert {path.stem for path in APPROVED.glob("*.png")} == set(shown)
    approved = {name: Image.open(APPROVED / f"{name}.png") for name in shown}
    away = {name: difference(shown[name], approved[name]) for name in shown}
    assert {name: part for name, part in away.items() if part > 0.015} == {}
    # The measure sees what it is to see: another theme, another order, a value that is another.
    assert difference(shown["diamond"], approved["diamond_dark"]) > 0.5
    moved = shot(page, svg(STANDARD["conv_net"](), layout="layered", direction="TB"))
    assert difference(moved, approved["conv_net"]) > 0.015
    assert sum(path.stat().st_size for path in APPROVED.glob("*.png")) < 600_000


def test_the_still_is_an_image_that_loads(page) -> None:
    page.set_content(html(graphs.hostile()))
    size = page.evaluate(
        "() => { const i = document.images[0]; return [i.complete && i.naturalWidth, i.alt]; }"
    )
    assert size[0] > 100
    assert "<script>alert(1)</script>" in size[1]
