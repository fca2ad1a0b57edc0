"""The approved pictures of the player's moments: ``python -m tests.widgets.approve`` takes them anew.

Look at each before you commit it: alignment, overlap, contrast, calm.  As those
of the standard graphs in ``tests/draw/approved`` they are small.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import autokit as ak
from autokit.graphs.model import Timeline
from autokit.widgets import save_html
from tests.support import chromium_path

APPROVED = Path(__file__).parent / "approved"
_WIDEST = 560


def square() -> Timeline:
    """``loss = (a * b + a) ** 2``, where two contributions come to a."""
    a, b = ak.tensor(3.0, requires_grad=True), ak.tensor(-2.0, requires_grad=True)
    a.name, b.name = "a", "b"
    c = a * b
    c.name = "c"
    d = c + a
    d.name = "d"
    loss = d**2
    loss.name = "loss"
    return ak.record(loss)


def classes() -> Timeline:
    """A linear layer and the cross entropy of four samples, with a bias that is repeated."""
    ak.manual_seed(1)
    x, w, b = ak.randn(4, 3), ak.randn(3, 5, requires_grad=True), ak.zeros(5, requires_grad=True)
    x.name, w.name, b.name = "x", "w", "b"
    logits = x @ w + b
    logits.name = "logits"
    loss = ak.nn.functional.cross_entropy(logits, ak.tensor([0, 2, 1, 4]))
    loss.name = "loss"
    return ak.record(loss)


def over_an_element(page: Any) -> None:
    """The pointer on an element of w's gradient, which tells the sum that made it."""
    box = page.locator("[data-element=n1] [data-part=gradient-heatmap] rect").bounding_box()
    page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 0.5 * box["height"])
    page.locator(".ak-tip").wait_for()


@dataclass(frozen=True)
class Moment:
    """A step of a story, the ``number``-th of its kind counted from 0 and reached by going forward."""

    story: Callable[[], Timeline]
    kind: str
    number: int = 0
    scheme: str = "light"
    size: tuple[int, int] = (1000, 800)
    then: Callable[[Any], None] = lambda page: None


MOMENTS = {
    "start": Moment(square, "input"),
    "forward": Moment(square, "value", 1),
    "seed": Moment(square, "seed"),
    "product_of_matrices": Moment(classes, "accumulate", -1, then=over_an_element),
    "unbroadcast": Moment(classes, "unbroadcast"),
    "accumulate": Moment(square, "accumulate", 3),
    "finish": Moment(square, "finish"),
    "unbroadcast_dark": Moment(classes, "unbroadcast", scheme="dark"),
    "accumulate_dark": Moment(square, "accumulate", 3, scheme="dark"),
    "accumulate_narrow": Moment(square, "accumulate", 3, size=(400, 800)),
}


def shot(browser: Any, moment: Moment) -> Any:
    """What the browser shows of the player at that moment, made small."""
    from PIL import Image

    story = moment.story()
    step = [k for k, each in enumerate(story) if each.kind == moment.kind][moment.number]
    page = browser.new_page(
        viewport={"width": moment.size[0], "height": moment.size[1]},
        color_scheme=moment.scheme,
        reduced_motion="reduce",
    )
    with tempfile.TemporaryDirectory() as folder:
        save_html(story, Path(folder) / "flow.html")
        page.goto((Path(folder) / "flow.html").as_uri())
        for to in range(max(step - 1, 0), step + 1):
            page.get_by_label("Step", exact=True).fill(str(to))
        page.evaluate("document.activeElement.blur()")
        moment.then(page)
        image = Image.open(io.BytesIO(page.locator(".ak-player").screenshot())).convert("RGB")
    page.close()
    scale = min(1.0, _WIDEST / image.width)
    return image.resize((round(image.width * scale), round(image.height * scale)), Image.Resampling.LANCZOS)


def main() -> None:
    from PIL import Image
    from playwright.sync_api import sync_playwright

    APPROVED.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"])
        for name, moment in MOMENTS.items():
            small = shot(browser, moment).quantize(192, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            small.save(APPROVED / f"{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
