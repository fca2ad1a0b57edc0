"""The ten standard graphs, by every layout: nothing overlaps, operands in order, still and player agree."""

from __future__ import annotations

import math

import pytest

from autokit.draw import scene
from autokit.draw.shapes import Scene
from tests.draw.graphs import timeline
from tests.draw.standard import STANDARD
from tests.draw.test_scene import apart, crossed, texts_fit
from tests.support import require

LAYOUTS = ["embedded", "layered", "dot"]


def skip_without(layout: str) -> None:
    if layout == "dot":
        require("dot")


@pytest.mark.parametrize("direction", ["LR", "TB"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", STANDARD)
def test_every_layout_keeps_boxes_texts_and_arrows_apart(name: str, layout: str, direction: str) -> None:
    skip_without(layout)
    picture = scene(STANDARD[name](), layout=layout, direction=direction)
    assert apart(picture)
    assert texts_fit(picture)
    assert crossed(picture) == []
    for line in picture.lines:  # an arrow's head points somewhere
        assert math.dist(line.points[-2], line.points[-1]) > 1


def columns(picture: Scene, direction: str) -> list[list[int]]:
    """The boxes of each column, or row, in their order."""
    found: dict[int, list[tuple[float, int]]] = {}
    for box in picture.boxes:
        x, y = box.x + box.width / 2, box.y + box.height / 2
        along, beside = (x, y) if direction == "LR" else (y, x)
        found.setdefault(round(along), []).append((beside, box.node.id))
    return [[id for _, id in sorted(found[along])] for along in sorted(found)]


@pytest.mark.parametrize("direction", ["LR", "TB"])
@pytest.mark.parametrize("name", STANDARD)
def test_the_boxes_of_the_player_stand_in_the_order_of_the_still(name: str, direction: str) -> None:
    graph = STANDARD[name]()
    still, played = scene(graph, direction=direction), scene(timeline(graph), direction=direction)
    assert columns(still, direction) == columns(played, direction)
    for picture in (still, played):
        flows = [line.flow for line in picture.lines if line.flow.width]
        assert bool(flows) == (picture is played)


@pytest.mark.parametrize("direction", ["LR", "TB"])
@pytest.mark.parametrize("name", STANDARD)
def test_arrows_pass_other_boxes_with_air_between(name: str, direction: str) -> None:
    for data in (STANDARD[name](), timeline(STANDARD[name]())):
        assert crossed(scene(data, direction=direction), air=5) == []


@pytest.mark.parametrize("name", ["conv_net", "matmul_mlp", "diamond", "square", "broadcasting"])
def test_operands_arrive_in_their_order(name: str) -> None:
    graph = STANDARD[name]()
    picture = scene(graph, direction="TB")
    for node in graph.nodes:
        arriving = [line for line in picture.lines if line.edge.target == node.id]
        assert [line.edge.slot for line in sorted(arriving, key=lambda line: line.points[-1])] == list(
            range(len(arriving))
        )
