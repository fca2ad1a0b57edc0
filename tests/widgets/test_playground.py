"""The playground: what a hand moves, the kernel computes; what is on the screen is what Python says."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import traitlets

import autokit as ak
from autokit.draw.thumbnail import picture
from autokit.graphs.summary import number
from autokit.widgets.playground import Playground
from tests.widgets.live import show


def bowl(a: Any, b: Any = 2.0) -> Any:
    c = a * b
    d = ak.sin(a)
    return c + d * d


def make() -> Playground:
    return ak.playground(bowl, a=(-2, 2), b=(-1, 3))


def pictures(widget: Any) -> list[tuple[str, str]]:
    """Alternative text and SVG of each image of the still; broken XML raises."""
    found = re.findall(r'<img alt="([^"]*)".*?base64,([^"]*)"', widget.still()["text/html"])
    drawn = [(alt, base64.b64decode(data).decode()) for alt, data in found]
    for _, source in drawn:
        ET.fromstring(source)
    return drawn


def test_a_slider_begins_at_the_functions_default_or_where_gradients_live() -> None:
    assert repr(make()) == "Playground(a=0.8, b=2.0)"
    wide = {"x": (-2, 2), "w": (-2, 2), "b": (-2, 2)}
    for function in (
        lambda x, w, b: (w * x + b) ** 2,
        lambda x, w, b: (x - 0.8).relu() * w * b,
        lambda x, w, b: (-x - 0.5).relu() + w.sin() * b,
    ):
        board = ak.playground(function, **wide)
        assert all(abs(each) >= 1e-3 for each in (board.value, *board.gradients.values())), board
        assert 0.0 not in board.inputs.values()
    assert ak.playground(lambda x: x.round(), x=(-1, 1)).gradients == {"x": 0.0}


def test_value_and_gradients_follow_and_stay_in_range() -> None:
    board = make()
    told: list[float] = []
    board.observe(lambda change: told.append(change["new"]), "value")
    board.a = 1.5
    board.b = 99
    assert board.b == 3.0 and len(told) == 2
    leaf = ak.tensor(1.5, requires_grad=True)
    value = bowl(leaf, ak.tensor(3.0))
    value.backward()
    assert board.value == value.item() and board.gradients["a"] == leaf.grad.item()
    with pytest.raises(traitlets.TraitError, match="a must be a number from -2 to 2"):
        board.a = float("nan")
    with pytest.raises(traitlets.TraitError):
        board.value = 3.0


def test_nobodys_gradient_changes() -> None:
    weight = ak.tensor(2.0, requires_grad=True)
    weight.grad = ak.tensor(7.0)
    board = ak.playground(lambda a: a * weight, a=(0, 1))
    board.a = 0.25
    assert weight.grad.item() == 7.0 and board.gradients == {"a": 2.0}


@pytest.mark.parametrize(
    ("ranges", "error", "words"),
    [
        ({}, TypeError, "needs an input to move"),
        ({"a": (-2, 2), "b": 3}, TypeError, r"b is \(low, high\)"),
        ({"a": (2, -2), "b": (0, 1)}, ValueError, "a low number to a higher one"),
        ({"a": (0, 1, 3), "b": (0, 1)}, ValueError, "the step of a must lie between"),
        ({"layout": (0, 1)}, ValueError, "every widget has a 'layout' of its own"),
    ],
)
def test_what_cannot_be_played_with_is_told(ranges: dict[str, Any], error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        ak.playground(bowl, **ranges)


def test_a_function_of_many_numbers_or_of_none_is_told() -> None:
    with pytest.raises(RuntimeError, match="reduce it, as with"):
        ak.playground(lambda a: a * ak.ones(3), a=(0, 1))
    with pytest.raises(RuntimeError, match="does not depend on a"):
        ak.playground(lambda a: ak.tensor(1.0), a=(0, 1))
    with pytest.raises(TypeError, match="gave float"):
        ak.playground(lambda a: a.item(), a=(0, 1))


def test_the_still_shows_graph_and_chart_in_pictures_and_words() -> None:
    board = make()
    board.a = 0.5
    told = "At a = 0.5, b = 2.0 the value is"
    assert board.still()["text/plain"].startswith(told)
    (graph, drawn), (chart, _) = pictures(board)
    assert graph.startswith(told) and told in chart
    assert {"c", "d", number(board.value)} <= {text.text for text in ET.fromstring(drawn).iter() if text.text}
    assert board.still() == board.still(), "the same on every run"


def test_another_branch_is_another_picture() -> None:
    board = ak.playground(lambda a: a.exp() if a > 0 else a * a, a=(-1, 1))
    board.a = 0.5
    assert ">exp<" in board._svg
    board.a = -0.5
    assert ">exp<" not in board._svg and board.gradients == {"a": -1.0}


def test_a_tensors_picture_stays_in_its_room_when_it_is_drawn_again() -> None:
    board = ak.playground(lambda a: (a * ak.arange(400.0)).sum(), a=(1, 2))
    again = board._shown["thumbnails"]
    places = [(box.node.element, place) for box in board._scene.boxes for place in box.card.thumbnails]
    assert len(places) == 3
    for element, place in places:
        assert again[element][place.part] == picture(place.heat, place.x, place.y)


def test_an_error_in_the_function_is_shown_and_passes() -> None:
    def picky(a: Any) -> Any:
        if a > 0.75:
            raise ValueError("too far")
        return a * a

    board = ak.playground(picky, a=(0, 0.7))
    assert board._chart["values"][0] == 0.0
    board._ranges["a"] = board.traits()["a"].bounds = type(board._ranges["a"])(0, 1, 0.1, 0)
    board.a = 0.8
    assert board._shown["problem"] == "ValueError: too far" and board._shown["at"] == {"a": 0.8}
    board.a = 0.5
    assert board._shown["problem"] == "" and board.value == 0.25


def test_where_the_function_is_not_finite(open_page: Callable[..., Any]) -> None:
    board = ak.playground(lambda a: a.log(), a=(-1, 1))
    board.a = 0.0
    (shown,) = show(open_page(), board)
    assert shown.locator.locator(".ak-result").inner_text() == "−inf"
    board.a = -0.5
    shown.update()
    assert shown.locator.locator(".ak-result").inner_text() == "nan"
    assert board.get_state()["value"] is None and shown.locator.locator(".ak-dot").is_hidden()
    assert len(pictures(board)) == 2


# ---------------------------------------------------------------- in the browser


NUMBERS = """(root) => Object.fromEntries([...root.querySelectorAll("[data-element] [data-field]")].map((t) =>
  [t.closest("[data-element]").dataset.element + "." + t.dataset.field, t.textContent]))"""


def test_sliders_and_keys_reach_python_and_its_numbers_the_screen(open_page: Callable[..., Any]) -> None:
    board = make()
    board.a = 0.0
    (shown,) = show(open_page(), board)
    page, place = shown.page, shown.locator
    place.get_by_label("a", exact=True).focus()
    for key in ("ArrowRight", "ArrowUp", "PageUp", "ArrowLeft"):
        page.keyboard.press(key)
    assert place.get_by_label("a, as a number").input_value() == "0.55"
    page.keyboard.press("End")
    place.get_by_label("b, as a number").fill("1.25")
    page.keyboard.press("Enter")
    page.wait_for_timeout(100)
    assert board.inputs == {"a": 2.0, "b": 1.25}
    shown.update()
    numbers = place.evaluate(NUMBERS)
    for node in board._moment.graph.nodes:
        assert numbers[f"{node.element}.value"] == node.value.text
        assert numbers[f"{node.element}.gradient"] == node.gradient.text
    for edge, sent in board._moment.flows.items():
        assert numbers[f"e{edge}.flow"] == sent.text
    assert place.locator(".ak-result").inner_text() == number(board.value)
    assert place.locator(".ak-slope").all_inner_texts() == [number(g) for g in board.gradients.values()]
    page.wait_for_selector("[aria-live]:text('At a = 2.0, b = 1.25 the value is')", state="attached")


def test_a_click_selects_and_the_arrow_follows_the_gradient(open_page: Callable[..., Any]) -> None:
    board = make()
    (shown,) = show(open_page(), board)
    shown.locator.locator("[data-element=n2]").click()
    shown.page.wait_for_timeout(50)
    assert board.selected == "n2" and shown.locator.locator("[data-element=n2][data-selected]").count() == 1
    before = shown.locator.locator(".ak-shaft").get_attribute("d")
    board.a = -1.5
    shown.update()
    assert shown.locator.locator(".ak-shaft").get_attribute("d") != before


COVERED = """(root) => [...root.querySelectorAll("g:has(> [data-lines]) > [data-part=line]")].map((line) => {
  const { x, y } = line.getPointAtLength(line.getTotalLength() / 2);
  return [...line.parentNode.querySelectorAll("rect")].map((each) => each.getBBox())
    .some((box) => box.x < x && x < box.x + box.width && box.y < y && y < box.y + box.height);
})"""


def test_an_arrow_is_seen_between_the_two_lines_of_a_range(open_page: Callable[..., Any]) -> None:
    (shown,) = show(open_page(), ak.playground(lambda a: (a * ak.arange(400.0)).sum(), a=(1, 2)))
    covered = shown.locator.evaluate(COVERED)
    assert covered and not any(covered)


def test_tab_leads_to_all_and_shows_where_it_is(open_page: Callable[..., Any]) -> None:
    page, places = open_page(), set()
    show(page, make())
    for _ in range(8):
        page.keyboard.press("Tab")
        places.add(page.evaluate("document.activeElement.ariaLabel || document.activeElement.textContent"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "2px"
    assert {"a", "b", "a, as a number", "Back to the start"} <= places


def cube(x: Any) -> Any:
    return x**3 - x


def three(x: Any, w: Any, b: Any) -> Any:
    return (w * x + b - 2) ** 2


def boxes(place: Any, *selectors: str) -> list[dict[str, float]]:
    return [box for each in selectors for one in place.locator(each).all() if (box := one.bounding_box())]


def lies_in(inner: dict[str, float], outer: dict[str, float]) -> bool:
    return all(
        outer[at] - 0.5 <= inner[at] and inner[at] + inner[size] <= outer[at] + outer[size] + 0.5
        for at, size in (("x", "width"), ("y", "height"))
    )


@pytest.mark.parametrize("width", [720, 800, 1280])
def test_all_of_it_is_seen_at_once(width: int, open_page: Callable[..., Any]) -> None:
    boards = (
        ak.playground(cube, x=(-2, 2), secant=True),
        make(),
        ak.playground(three, x=(-2, 2), w=(-2, 2), b=(-1, 3)),
    )
    page = open_page(viewport={"width": width, "height": 720})
    for shown in show(page, *boards):
        page.wait_for_timeout(150)
        (whole,) = boxes(shown.locator, ".ak-playground")
        assert whole["height"] <= 600, "what JupyterLab shows of a notebook in 720 px"
        (sliders,), (chart,) = boxes(shown.locator, ".ak-sliders"), boxes(shown.locator, ".ak-chart")
        assert sliders["x"] + sliders["width"] <= chart["x"] and chart["width"] > 250, "side by side"
        (stage,) = boxes(shown.locator, ".ak-stage")
        drawn = boxes(shown.locator, ".ak-stage [data-part=box]")
        assert len(drawn) > 2 and all(lies_in(box, stage) for box in drawn)
        inside = boxes(shown.locator, ".ak-input > *", ".ak-headline", ".ak-difference:visible")
        assert all(lies_in(box, sliders) for box in inside)
        drawn_wide = shown.locator.locator(".ak-chart").evaluate("(e) => e.viewBox.baseVal.width")
        assert abs(chart["width"] / drawn_wide - 1) < 0.02, "the chart's letters have their own size"


def test_it_is_called_as_the_function_is(open_page: Callable[..., Any]) -> None:
    doubled = lambda x: 2 * x  # noqa: E731
    assert ak.playground(doubled, x=(0, 1))._name == "doubled"
    assert ak.playground(lambda x: 2 * x, x=(0, 1))._name == "f"
    (shown,) = show(open_page(), ak.playground(cube, x=(-2, 2)))
    assert shown.locator.locator(".ak-headline").inner_text().startswith("cube(x) = ")
    assert shown.locator.locator(".ak-slope-label").inner_text() == "∂cube/∂x"
    assert "cube" in shown.locator.locator("[role=group]").first.get_attribute("aria-label")


def test_a_hand_drags_on_the_curve_and_on_the_contour(open_page: Callable[..., Any]) -> None:
    board, bowl_board = ak.playground(cube, x=(-2, 2)), make()
    one, two = show(open_page(viewport={"width": 1000, "height": 1500}), board, bowl_board)
    for shown in (one, two):
        (dot,) = boxes(shown.locator, ".ak-dot")
        (frame,) = boxes(shown.locator, ".ak-chart > svg")
        x, y = dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2
        mouse = shown.page.mouse
        mouse.move(x, y)
        mouse.down()
        mouse.move(frame["x"] + frame["width"] / 4, frame["y"] + frame["height"] / 4)
        mouse.up()
        mouse.move(frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2)
    one.page.wait_for_timeout(100)
    assert board.x == -1.0 and bowl_board.inputs == {"a": -1.0, "b": 2.0}
    two.update()
    (dot,) = boxes(two.locator, ".ak-dot")
    (frame,) = boxes(two.locator, ".ak-chart > svg")
    assert abs(dot["x"] + dot["width"] / 2 - frame["x"] - frame["width"] / 4) < 2


def test_the_secant_comes_to_the_tangent_as_h_grows_small(open_page: Callable[..., Any]) -> None:
    board = ak.playground(cube, x=(-2, 2), secant=True)
    assert "h" not in board.inputs and board.x + board.h <= 2
    gaps = []
    for h in (1.0, 0.1, 0.01):
        board.h = h
        secant = board._shown["secant"]
        np.testing.assert_allclose(secant["slope"], 3 * 0.8**2 + 3 * 0.8 * h + h * h - 1, rtol=1e-3)
        gaps.append(secant["slope"] - board.gradients["x"])
        assert number(gaps[-1]) in secant["words"] and secant["words"] in board._sentence()
    assert gaps == sorted(gaps, reverse=True) and gaps[-1] < 0.03
    board.h = 1.0
    (shown,) = show(open_page(), board)
    ends = [shown.locator.locator(each).get_attribute("d") for each in (".ak-tangent", ".ak-secant")]
    assert ends[0] != ends[1] and len(boxes(shown.locator, ".ak-beyond")) == 1
    assert shown.locator.locator(".ak-difference").inner_text() == board._shown["secant"]["words"]
    shown.locator.get_by_label("h", exact=True).press("ArrowLeft")
    shown.page.wait_for_timeout(50)
    assert board.h == 0.99 and len(pictures(board)) == 2
    for wrong in ({"a": (0, 1), "b": (0, 1)}, {"h": (0, 1)}):
        with pytest.raises(ValueError, match=r"of one input|of its own"):
            ak.playground(lambda *args: sum(args), secant=True, **wrong)
