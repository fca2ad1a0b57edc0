"""The picture as data: nothing overlaps, everything fits, and nothing is missing."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autokit.draw import scene
from autokit.draw.card import BOLD, SIZES
from autokit.draw.metrics import width
from autokit.draw.part import part
from autokit.draw.shapes import Scene
from autokit.draw.stations import at_the_side
from autokit.graphs.model import Graph
from tests.draw import graphs
from tests.draw.graphs import EXAMPLES, drawn_graphs, timeline
from tests.draw.standard import STANDARD

LAYOUTS = ["embedded", "layered"]
GRAPHS = EXAMPLES | STANDARD


def apart(picture: Scene) -> bool:
    return all(
        a.x + a.width < b.x or b.x + b.width < a.x or a.y + a.height < b.y or b.y + b.height < a.y
        for a, b in combinations(picture.boxes, 2)
    )


def texts_fit(picture: Scene) -> bool:
    for box in picture.boxes:
        for text in box.card.lines:
            taken = width(text.text, SIZES[text.role], text.role in BOLD)
            taken += width(text.formula, SIZES["formula"])
            left = text.x - taken * {"start": 0, "middle": 0.5, "end": 1}[text.anchor]
            if (
                left < 0
                or left + taken > box.width
                or not 0 < text.y - SIZES[text.role] < text.y < box.height
            ):
                return False
    return True


@pytest.mark.parametrize("direction", ["LR", "TB"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_boxes_never_overlap_and_texts_fit(name: str, layout: str, direction: str) -> None:
    for data in (GRAPHS[name](), timeline(GRAPHS[name]())):
        picture = scene(data, layout=layout, direction=direction)
        assert apart(picture)
        assert texts_fit(picture)
        assert all(0 < box.x < box.x + box.width < picture.width for box in picture.boxes)
        assert all(0 < box.y < box.y + box.height < picture.height for box in picture.boxes)


@settings(max_examples=40)
@given(drawn_graphs(), st.sampled_from(LAYOUTS), st.sampled_from(["LR", "TB"]), st.booleans())
def test_any_graph_is_drawn_without_overlap(graph: Graph, layout: str, direction: str, story: bool) -> None:
    picture = scene(timeline(graph) if story else graph, layout=layout, direction=direction)
    assert apart(picture)
    assert texts_fit(picture)
    assert [box.node for box in picture.boxes] == list(graph.nodes)
    assert {line.edge for line in picture.lines} == set(graph.edges)


@settings(max_examples=40)
@given(drawn_graphs(labels=False), st.sampled_from(LAYOUTS), st.sampled_from(["LR", "TB"]))
def test_an_arrow_starts_at_its_source_and_ends_at_its_target(
    graph: Graph, layout: str, direction: str
) -> None:
    picture = scene(graph, layout=layout, direction=direction)
    boxes = {box.node.id: box for box in picture.boxes if box.node}
    beside = {edge.source for edges in at_the_side(part(graph)).values() for edge in edges}
    for line in picture.lines:
        source, target = (boxes[id] for id in (line.edge.source, line.edge.target))
        turned = (direction == "TB") != (line.edge.source in beside)
        ends = [(y, x) if turned else (x, y) for x, y in (line.points[0], line.points[-1])]
        sides = [
            (box.y, box.height, box.x, box.width) if turned else (box.x, box.width, box.y, box.height)
            for box in (source, target)
        ]
        if line.edge.source in beside and sides[0][0] > sides[1][0]:  # from below, or from the right
            ends, sides = ends[::-1], sides[::-1]
        (x, wide, y, high), (to, _, level, tall) = sides
        assert (ends[0][0], ends[1][0]) == pytest.approx((x + wide, to), abs=0.2)
        assert y < ends[0][1] < y + high and level < ends[1][1] < level + tall
        assert len(line.points) % 3 == 1


@pytest.mark.parametrize("direction", ["LR", "TB", "auto"])
@pytest.mark.parametrize("name", GRAPHS)
def test_flows_keep_clear_of_boxes_and_of_each_other(name: str, direction: str) -> None:
    graph = GRAPHS[name]()
    for layout in LAYOUTS:
        picture = scene(timeline(graph), layout=layout, direction=direction)
        flows = [line.flow for line in picture.lines if line.flow.width]
        room = [
            (f.x - f.width / 2, f.y - (20 if f.lines > 1 else 12), f.x + f.width / 2, f.y + 3 * f.lines)
            for f in flows
        ]
        boxes = [(b.x, b.y, b.x + b.width, b.y + b.height) for b in picture.boxes]
        for one, other in [*combinations(room, 2), *((r, b) for r in room for b in boxes)]:
            assert one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]


def test_module_groups_are_framed_around_their_boxes_alone() -> None:
    picture = scene(graphs.mlp(), layout="embedded")
    assert [frame.path for frame in picture.frames] == ["net", "net.0", "net.2"], "one box needs no frame"
    for frame in picture.frames[1:]:
        for box in picture.boxes:
            inside = frame.x < box.x < frame.x + frame.width and frame.y < box.y < frame.y + frame.height
            assert inside == (box.node is not None and box.node.module == frame.path)


@pytest.mark.parametrize("make", [graphs.layers, graphs.chain, graphs.blocks])
def test_what_repeats_is_folded_and_the_picture_says_so(make) -> None:
    graph = make(1000)
    picture = scene(graph)
    folded = [box for box in picture.boxes if box.holds]
    assert 1 <= len(folded) < len(picture.boxes) <= 150
    held = sum(len(box.holds) for box in folded)
    assert held + sum(box.node is not None for box in picture.boxes) == len(graph)
    assert any(f"{held:,} of {len(graph):,} nodes are folded" in note.text for note in picture.notes)
    assert "folded" in picture.title


@pytest.mark.parametrize(
    "options", [{"direction": "RL"}, {"layout": "neato"}, {"limit": 0}, {"depth": -1}, {"show": "colour"}]
)
def test_an_option_that_there_is_not_is_refused(options: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        scene(graphs.product(), **options)


def crossed(picture: Scene, air: float = -1) -> list[tuple[str, int]]:
    """The arrows that run through a box, or as near by as ``air``, by points a twentieth of a piece apart."""
    found = []
    for line in picture.lines:
        for k in range(0, len(line.points) - 1, 3):
            piece = line.points[k : k + 4]
            for t in (i / 20 for i in range(21)):
                weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
                x, y = (sum(w * p[i] for w, p in zip(weights, piece)) for i in (0, 1))
                found += [
                    (line.edge.element, box.node.id)
                    for box in picture.boxes
                    if box.node
                    and (air < 0 or box.node.id not in (line.edge.source, line.edge.target))
                    and box.x - air < x < box.x + box.width + air
                    and box.y - air < y < box.y + box.height + air
                ]
    return found


@pytest.mark.parametrize("direction", ["LR", "TB", "auto"])
@pytest.mark.parametrize("name", STANDARD)
def test_arrows_pass_other_boxes_with_air_between(name: str, direction: str) -> None:
    for data in (STANDARD[name](), timeline(STANDARD[name]())):
        picture = scene(data, direction=direction)
        assert apart(picture) and texts_fit(picture) and crossed(picture, air=5) == []
