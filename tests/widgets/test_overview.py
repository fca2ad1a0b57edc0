"""The whole graph is seen: what a lesson shows fits into the stage, and every text of it can be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from inspect import getsourcelines
from textwrap import dedent
from typing import Any

import pytest

import autokit as ak
from autokit import draw, nn
from autokit.draw.scene import STAGE
from autokit.graphs.model import Timeline
from autokit.widgets import Player
from tests.widgets.pages import press

MEASURED = """() => {
  const stage = document.querySelector(".ak-seen").getBoundingClientRect();
  const rects = (what) => [...document.querySelectorAll(what)].map((each) => each.getBoundingClientRect());
  const boxes = rects("[data-part=box]");
  const flows = rects('[data-field="flow"] tspan, [data-field="flow"]:not(:has(*))').filter((r) => r.width);
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const texts = [...document.querySelectorAll(".ak-sheet svg text")].filter((each) => each.textContent);
  const scale = (text) => text.getScreenCTM().a;
  return {
    outside: boxes.filter((b) => b.left < stage.left || b.right > stage.right || b.top < stage.top
      || b.bottom > stage.bottom).length,
    boxes: boxes.length,
    flows: flows.length,
    covered: flows.filter((flow) => boxes.some((box) => meet(flow, box))).length,
    smallest: Math.min(...texts.map((text) => parseFloat(getComputedStyle(text).fontSize) * scale(text))),
  };
}"""


def network() -> Timeline:
    """A network of two layers with its loss, and a name for each thing."""
    ak.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 4))
    x, t = ak.randn(5, 10), ak.tensor([0, 1, 2, 3, 0])
    loss = nn.functional.cross_entropy(model(x), t)
    return ak.record(loss)


def attention() -> Timeline:
    """An attention cell with its three weights, and what it is trained by."""
    ak.manual_seed(0)
    x = ak.randn(4, 8)
    Wq, Wk, Wv = (ak.randn(8, 8, requires_grad=True) for _ in range(3))
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    scores = q @ k.T / 8**0.5
    weights = scores.softmax(-1)
    out = weights @ v
    loss = out.pow(2).mean()
    return ak.record(loss)


def scaled_difference() -> ak.Tensor:
    a, b = ak.tensor(3.0, requires_grad=True), ak.tensor(1.0, requires_grad=True)
    return (a - b) ** 2 * 7


@pytest.mark.parametrize("app", ["lab", "notebook7"])
@pytest.mark.parametrize(("make", "boxes", "least"), [(network, 11, 11), (attention, 14, 10)])
def test_the_whole_graph_is_seen_and_read_in_a_notebook(
    app: str, make: Callable[[], Any], boxes: int, least: float, chromium: Any, request: pytest.FixtureRequest
) -> None:
    server = request.getfixturevalue(app)
    if app == "lab":
        server = replace(server, path="doc/tree")  # as ``autokit lab`` opens it
    context = chromium.new_context(viewport={"width": 1280, "height": 720}, reduced_motion="reduce")
    body = dedent("".join(getsourcelines(make)[0][2:])).replace("return ak.record", "ak.animate")
    source = f"import autokit as ak\nfrom autokit import nn\n{body}"
    notebook = server.open(context, f"{make.__name__}.ipynb", [source])
    notebook.run_all()
    page = notebook.page
    player = page.locator(".ak-player")
    player.evaluate("player => player.scrollIntoView()")
    player.focus()
    for key in ("Home", "End"):
        press(page, key)
        page.wait_for_timeout(500)  # until the camera is there
        seen = page.evaluate(MEASURED)
        assert seen["boxes"] == boxes and seen["flows"] >= 12 * (key == "End")
        assert seen["outside"] == seen["covered"] == 0
        assert seen["smallest"] >= least
        bar, window = player.locator(".ak-controls").bounding_box(), player.bounding_box()
        assert bar["y"] + bar["height"] <= 720 and window["y"] >= 0
    context.close()


def test_a_picture_takes_the_direction_that_fits_larger_into_its_room() -> None:
    story = network()
    wide, tall = (draw.scene(story, room=room) for room in ((1130, 380), (500, 1200)))
    assert wide.width > wide.height and tall.height > tall.width
    asked = draw.scene(story, room=(500, 1200), direction="LR")
    assert asked == wide


def test_a_player_is_drawn_for_the_stage_that_the_browser_tells() -> None:
    player = Player(network())
    drawn = player._svg
    player._answer(player, {"room": list(STAGE)}, [])
    assert player._svg == drawn
    player._answer(player, {"room": [500, 1200]}, [])
    assert player._svg != drawn
    down = player._svg
    player._answer(player, {"opened": []}, [])
    assert player._svg == down, "the room is remembered"
    asked = Player(network(), direction="LR")
    drawn = asked._svg
    asked._answer(asked, {"room": [500, 1200]}, [])
    assert asked._svg == drawn, "a direction that was asked for stays"


def test_a_number_of_the_program_stands_in_the_formula_and_has_no_box_and_no_step() -> None:
    story = ak.record(scaled_difference())
    numbers = {node.element for node in story.graph.nodes if node.is_number}
    assert [node.label for node in story.graph.nodes if node.is_number] == ["2", "7"]
    picture = draw.scene(story)
    drawn = {box.node.element for box in picture.boxes if box.node}
    assert drawn | numbers == {node.element for node in story.graph.nodes} and not drawn & numbers
    assert all(step.kind != "input" or not numbers & {*step.touches} for step in story)
    assert all(story.state(0)[element]["value"] for element in numbers)
    assert "pow of v2 and 2" in picture.title and "mul of v4 and 7" in picture.title
    shown = draw.scene(story, show=("value", "formula", "constants"))
    assert len(shown.boxes) == len(story.graph.nodes)


@pytest.mark.parametrize("direction", ["LR", "TB"])
def test_parameters_stand_at_the_side_of_their_operation(direction: str) -> None:
    picture = draw.scene(network(), direction=direction)
    boxes = {box.node.name: box for box in picture.boxes if box.node}
    linear = next(box for box in picture.boxes if box.node and box.node.operation == "linear")
    weight, bias = boxes["0.weight"], boxes["0.bias"]
    if direction == "LR":
        assert weight.y + weight.height < linear.y and linear.y + linear.height < bias.y
    else:
        assert weight.x + weight.width < linear.x and linear.x + linear.width < bias.x
    alone = {box.node.name for box in picture.boxes if box.node and not box.card.fields}
    assert alone == set() and {"value", "gradient"} <= {*weight.card.fields}
