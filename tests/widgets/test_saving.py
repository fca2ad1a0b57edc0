"""What a live widget writes: pages that work without a kernel or a network, and pictures of its still."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autokit as ak
from autokit import nn, optim
from autokit.graphs.summary import number
from tests.support import require
from tests.widgets.live import show
from tests.widgets.pages import violations
from tests.widgets.test_descent import race
from tests.widgets.test_explorer import make as explorer
from tests.widgets.test_looks import CONTRAST
from tests.widgets.test_monitor import run
from tests.widgets.test_playground import bowl

require("matplotlib")

HOSTILE = "</script><script>alert(1)</script>"


MAKERS: dict[str, Callable[[], Any]] = {
    "playground": lambda: ak.playground(bowl, a=(-2, 2), b=(-1, 3)),
    "monitor": lambda: run(poison=30),
    "explorer": lambda: explorer(selected="0.0"),
    "descent": race,
}


@pytest.fixture(scope="module", params=MAKERS)
def widget(request: pytest.FixtureRequest) -> Any:
    return MAKERS[request.param]()


def opened(page: Any, widget: Any, folder: Path, **options: Any) -> Any:
    """The saved page; a request for anything but the file fails the test."""
    page.on(
        "request", lambda request: None if request.url.startswith(("file:", "data:")) else asked.append(1)
    )
    asked: list[int] = []
    widget.save(folder / "w.html", **options)
    page.goto((folder / "w.html").as_uri())
    page.locator(".ak-player").wait_for()
    assert not asked
    return page


@pytest.mark.parametrize("saved", [True, False])
@pytest.mark.parametrize(("scheme", "width"), [("light", 1000), ("dark", 360)])
def test_a_page_stands_alone_and_everyone_can_read_it_and_the_live_widget(
    open_page: Callable[..., Any], widget: Any, tmp_path: Path, scheme: str, width: int, saved: bool
) -> None:
    page = open_page(color_scheme=scheme, reduced_motion="reduce", viewport={"width": width, "height": 900})
    if saved:
        opened(page, widget, tmp_path, title=HOSTILE)
        assert page.title() == HOSTILE and page.locator("main script, main img").count() == 0
    else:
        show(page, widget)
    assert violations(page) == [] and page.evaluate(CONTRAST) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_without_scripts_a_page_shows_the_still(
    open_page: Callable[..., Any], widget: Any, tmp_path: Path
) -> None:
    page = open_page(java_script_enabled=False)
    widget.save(tmp_path / "w.html")
    page.goto((tmp_path / "w.html").as_uri())
    assert page.locator("noscript img, img").first.bounding_box()["width"] > 100


STRANGE = "\x07<b>\x00 \ud800"


def test_names_of_any_characters_can_be_saved(tmp_path: Path) -> None:
    model = nn.Sequential()
    model.add_module(STRANGE, nn.Linear(2, 1))
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    watch = ak.monitor(model, optimizer)
    loss = model(ak.ones(1, 2)).sum()
    loss.backward()
    optimizer.step()
    watch.step(loss * float("inf"))
    race = ak.descent(lambda x, y: x * x + y * y, {STRANGE: optim.SGD}, steps=2)
    for strange in (watch, race, ak.explore(model, ak.ones(1, 2))):
        strange.save(tmp_path / "w.html")


def test_another_ending_is_told(widget: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"should end in \.html"):
        widget.save(tmp_path / "w.pdf")


def test_a_saved_playground_answers_as_the_kernel_would(
    open_page: Callable[..., Any], tmp_path: Path
) -> None:
    def branching(a: Any, b: Any) -> Any:
        return a * b if a < 0 else (a + b).exp()

    board = ak.playground(branching, a=(-2, 2), b=(-1, 3, 0.5))
    page = opened(open_page(), board, tmp_path)
    for a, b in ((-2, 3), (1.4, -1), (2, 3), (-0.2, 0.5)):
        page.get_by_label("a", exact=True).fill(str(a))
        page.get_by_label("b", exact=True).fill(str(b))
        board.a, board.b = a, b
        assert page.locator(".ak-result").inner_text() == number(board.value)
        slopes = page.locator(".ak-slope").all_inner_texts()
        assert slopes == [number(board.gradients[name]) for name in "ab"]
        shown = page.locator("[data-field=value]").all_text_contents()
        assert shown == [node.value.text for node in board._moment.graph.nodes]
    # A number between two places is taken to the nearest, and what is shown holds for that one.
    page.get_by_label("a, as a number").fill("1.49")
    page.get_by_label("a, as a number").press("Enter")
    assert page.get_by_label("a", exact=True).input_value() == "1.4"


def test_a_saved_descent_steps_and_plays(open_page: Callable[..., Any], tmp_path: Path) -> None:
    widget = race(speed=10.0)
    page = opened(open_page(), widget, tmp_path)
    page.get_by_label("Step", exact=True).fill("7")
    assert page.locator(".ak-sentence").inner_text() == widget._sentence(7)
    page.locator(".ak-descent").focus()
    page.keyboard.press("Space")
    page.get_by_text("12 / 12").wait_for()  # a page allows no function of a string


def test_a_saved_explorer_links_tree_and_graph(open_page: Callable[..., Any], tmp_path: Path) -> None:
    page = opened(open_page(), explorer(), tmp_path)
    page.get_by_role("treeitem").nth(1).click()
    assert page.locator("[data-selected]").count() > 0


def test_a_monitor_saved_in_the_middle_says_so_and_holds_the_run_so_far(
    open_page: Callable[..., Any], tmp_path: Path
) -> None:
    watch = run(20, done=False)
    page = opened(open_page(), watch, tmp_path)
    told = page.locator(".ak-progress").inner_text()
    assert "Saved while it ran" in told and "20 of 20" in told
    assert watch.running
    watch.finish()
