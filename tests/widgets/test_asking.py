"""What a learner can ask the player: why not this one, which way, which sum, which line, to what end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autokit as ak
from autokit.graphs.model import Timeline
from autokit.widgets.payload import payload
from tests.support import read_number
from tests.widgets.pages import open_file, press


def shared() -> Timeline:
    """A leaf with three ways to it: loss = (a · b + a) · a."""
    a, b = ak.tensor(3.0, requires_grad=True), ak.tensor(-2.0, requires_grad=True)
    c = a * b
    d = c + a
    loss = d * a
    for name, tensor in {"a": a, "b": b, "c": c, "d": d, "loss": loss}.items():
        tensor.name = name
    return ak.record(loss)


def repeated() -> Timeline:
    x, w, b = (
        ak.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        ak.tensor([[1.0, -1.0], [2.0, 0.5]], requires_grad=True),
        ak.tensor([0.5, -0.5], requires_grad=True),
    )
    x.name, w.name, b.name = "x", "w", "b"
    h = x @ w + b
    h.name = "h"
    loss = h.sum()
    loss.name = "loss"
    return ak.record(loss)


def at(story: Timeline, kind: str, number: int = 0) -> int:
    return [k for k, step in enumerate(story) if step.kind == kind][number]


def go(page: Any, step: int) -> None:
    """To ``step``, by going forward."""
    page.get_by_label("Step", exact=True).fill(str(max(step - 1, 0)))
    page.locator(".ak-player").focus()
    if step:
        press(page, "ArrowRight")


@pytest.fixture
def still_page(open_page: Callable[..., Any]) -> Any:
    return open_page(reduced_motion="reduce")


def test_why_not_this_one(module_page: Any) -> None:
    story = shared()
    asked = module_page.evaluate(
        """([t, step]) => {
          const state = player.walker(t)(step);
          return Object.fromEntries(t.graph.nodes.map((n) => [n.label, player.whyNot(t, state, n)]));
        }""",
        [payload(story)["_timeline"], at(story, "accumulate", 2)],
    )
    assert asked["a"] == "Not yet: 1 of 3 contributions are in. Still to come from c, d."
    assert asked["b"] == "Not yet: 0 of 1 contributions are in. Still to come from c."
    assert asked["c"] == "It is ready. Of all that are, the newest goes first."
    assert asked["d"] == asked["loss"] == ""


def test_the_gradient_is_the_sum_over_the_ways(module_page: Any) -> None:
    story = shared()
    found = module_page.evaluate(
        """(t) => {
          const state = player.walker(t)(t.steps.length - 1);
          const { paths, count } = player.pathsTo(t, 0, 9);
          return [count, paths.map((path) => player.productAlong(path, state).product)];
        }""",
        payload(story)["_timeline"],
    )
    assert found == [3, ["−6.0", "3.0", "−3.0"]]
    assert sum(map(read_number, found[1])) == read_number(story.accounts[0].gradient)


def test_ways_are_drawn_with_letters_and_taken_away(still_page: Any, tmp_path: Path) -> None:
    page = open_file(still_page, shared(), tmp_path)
    press(page, "End", "ArrowDown")
    assert page.locator(".ak-panel .ak-title").inner_text() == "a"
    ways = page.locator(".ak-way")
    assert [way.split(":")[0] for way in ways.all_inner_texts()] == ["A", "B", "C", "Follow all at once"]
    ways.nth(1).click()
    assert page.locator(".ak-path").count() == 2 and page.locator(".ak-letter text").all_text_contents() == [
        "B"
    ]
    assert page.evaluate("document.activeElement.textContent").startswith("B:"), "the focus stays"
    ways.nth(3).click()
    assert page.locator(".ak-path").count() == 3 + 2 + 1
    assert page.locator(".ak-letter text").all_text_contents() == ["A", "B", "C"]
    press(page, "Escape")
    assert page.locator(".ak-path").count() == 0


def test_the_wrong_answer_of_an_assignment_is_shown(still_page: Any, tmp_path: Path) -> None:
    story = shared()
    page = open_file(still_page, story, tmp_path)
    first, second = (at(story, "accumulate", k) for k in (1, 2))
    go(page, first)
    assert page.locator(".ak-instead").is_hidden() == (not story.steps[first].instead)
    go(page, at(story, "accumulate", 3))
    assert page.locator(".ak-instead s").inner_text() == "3.0"
    assert second > first


def test_the_account_stands_at_the_end(still_page: Any, tmp_path: Path) -> None:
    story = shared()
    page = open_file(still_page, story, tmp_path)
    go(page, len(story) - 1)
    table = page.locator(".ak-account table")
    assert table.is_visible(), "who went there step by step sees it at once"
    rows = table.locator("tbody tr").evaluate_all("rs => rs.map((r) => [...r.cells].map((c) => c.innerText))")
    assert rows == [
        ["a", "(−3.0) from loss + 3.0 from d + (−6.0) from c", "−6.0", "✓ −6.0", "the same"],
        ["b", "9.0 from c", "9.0", "✓ 9.0", "the same"],
    ]
    press(page, "Escape")
    assert table.is_hidden()
    page.get_by_role("button", name="Show as table").click()
    assert page.locator(".ak-table table").nth(1).locator("tbody tr").count() == 2
    page.locator(".ak-table").get_by_role("button", name="b", exact=True).first.click()
    assert page.locator(".ak-panel .ak-title").inner_text() == "b"


def test_trouble_is_marked_where_it_began(still_page: Any, tmp_path: Path) -> None:
    x = ak.tensor([[1.0, -1.0], [2.0, -3.0]], requires_grad=True)
    h = x.relu()
    h.name = "h"
    story = ak.record(h.sum())
    page = open_file(still_page, story, tmp_path)
    assert page.locator(".ak-trouble").is_hidden(), "not before it is known"
    press(page, "End")
    assert page.locator("[data-element=n1] .ak-trouble").is_visible()
    page.get_by_text("The account").click()
    assert "1 of the 2 units of h" in page.locator(".ak-account li").inner_text()
    page.locator(".ak-account li button").click()
    assert "1 of the 2 units" in page.locator(".ak-panel").inner_text()


def test_the_sum_of_an_element_by_key_and_by_pointer(still_page: Any, tmp_path: Path) -> None:
    story = repeated()
    page = open_file(still_page, story, tmp_path)
    press(page, "End", "ArrowDown", "ArrowDown")
    assert page.locator(".ak-panel .ak-title").inner_text() == "w"
    told = {(each.element, each.field): each.sums for each in story.cells}
    grid = page.get_by_role("grid", name="Gradient of w")
    grid.locator("td").first.focus()
    press(page, "ArrowRight", "ArrowDown")
    assert page.evaluate("document.activeElement.dataset.place") == "3"
    assert page.locator(".ak-sum", has_text="∂loss").inner_text() == told["n1", "gradient"][3]
    assert "= 1.0 · 2.0  (" in told["n1", "gradient"][3]
    press(page, "ArrowUp")
    assert page.evaluate("document.activeElement.dataset.place") == "1"
    assert page.get_by_role("grid", name="Value of w").locator("td").all_inner_texts() == [
        "1.0", "−1.0", "2.0", "0.5"
    ]  # fmt: skip
    press(page, "Escape")
    heat = page.locator("[data-element=n2] [data-part=value-heatmap] rect").bounding_box()
    page.mouse.move(heat["x"] + 0.75 * heat["width"], heat["y"] + 0.5 * heat["height"])
    page.wait_for_selector(".ak-tip:visible")
    assert page.locator(".ak-tip").text_content() == told["n2", "value"][3]
    assert page.locator(".ak-tip").text_content().startswith("v2[1, 1] = −1.0")


def test_a_collapse_is_seen(open_page: Callable[..., Any], tmp_path: Path) -> None:
    story = repeated()
    page = open_file(open_page(reduced_motion="reduce"), story, tmp_path)
    step = at(story, "unbroadcast")
    go(page, step)
    figure = page.locator(".ak-collapse")
    assert figure.locator("p").inner_text() == story.steps[step].formula
    assert figure.locator("g text").all_text_contents() == ["1"] * 6 + ["3", "3"]
    press(page, "ArrowRight")
    assert figure.is_hidden()


def test_a_line_of_the_program_leads_to_its_step(still_page: Any, tmp_path: Path) -> None:
    story = shared()
    page = open_file(still_page, story, tmp_path)
    page.get_by_role("button", name="Code").click()
    lines = page.locator(".ak-line code").all_inner_texts()
    assert lines == ["c = a * b", "d = c + a", "loss = d * a"]
    page.locator(".ak-line").nth(1).click()
    assert story.steps[int(page.locator(".ak-range").input_value())].changes[0].element == "n3"
    assert page.locator(".ak-line[aria-current]").inner_text().endswith("d = c + a")
    assert page.locator(".ak-panel .ak-title").inner_text().endswith("d")
    number = story.graph.nodes[2].source.line
    page.get_by_label("Find a node or line").fill(f"line {number}")
    page.keyboard.press("Enter")
    assert page.locator(".ak-line[aria-current]").inner_text().endswith("c = a * b")


def test_up_and_down_go_from_node_to_node_and_it_is_announced(still_page: Any, tmp_path: Path) -> None:
    page = open_file(still_page, shared(), tmp_path)
    said = []
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp"):
        press(page, key)
        said.append(page.locator(".ak-unseen").text_content())
    assert said == [f"Details of {name} are open." for name in "abaa"]
    press(page, "Escape")
    assert page.locator(".ak-unseen").text_content() == ""


def test_one_sentence_in_caption_picture_and_table(still_page: Any, tmp_path: Path) -> None:
    story = shared()
    page = open_file(still_page, story, tmp_path)
    page.get_by_role("button", name="Show as table").click()
    for step in (0, 5, len(story) - 1):
        go(page, step)
        told = story.steps[step].sentence
        assert page.locator(".ak-sentence").inner_text() == told
        assert page.locator(".ak-stage svg").get_attribute("aria-label").endswith(told)
        assert page.locator(".ak-table caption").first.inner_text().endswith(told)


def test_the_ways_of_a_tensor_tell_what_comes_along_each(still_page: Any, tmp_path: Path) -> None:
    x = ak.tensor([[1.0, -2.0], [3.0, 0.5]], requires_grad=True)
    w = ak.tensor([0.5, -1.0], requires_grad=True)
    story = ak.record(((x * w).tanh() @ w + x.sum(1)).pow(2).sum())
    page = open_file(still_page, story, tmp_path)
    press(page, "End")
    page.locator("[data-element=n0]").first.click()
    (found,) = (each for each in story.ways if each.node == 0)
    *shown, together = page.locator(".ak-product").all_inner_texts()
    assert sorted(shown) == sorted(found.contributions)
    assert together == f"{found.sums[0]} + {found.sums[1]} = {found.total}"
    assert page.locator(".ak-way").count() == 3
