"""What is drawn of a graph that is too large, and what is said of the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autokit.draw.fold import ranges
from autokit.draw.part import part
from tests.draw.graphs import blocks, chain, drawn_graphs, layers


@given(drawn_graphs(labels=False), st.integers(1, 8))
def test_everything_is_drawn_folded_or_counted(graph, limit: int) -> None:
    drawn = part(graph, limit)
    kept = {node.id for node in drawn.nodes}
    folded = [id for fold in drawn.folds for id in fold.nodes]
    assert 1 <= len(kept) + len(drawn.folds) <= limit
    assert len(folded) == len(set(folded)) and not kept & set(folded)
    held = kept | set(folded)
    assert all(edge.source in kept and edge.target in kept for edge in drawn.edges)
    assert all(
        {edge.source, edge.target} <= held and not {edge.source, edge.target} <= kept
        for edge in drawn.bundles
    )
    assert all(edge.source not in held and edge.target in held for edge in drawn.cut)
    counted = sum(int(word) for word in drawn.left_out.split() if word.isdigit())
    assert len(held) + counted == len(graph)


@given(drawn_graphs(labels=False), st.integers(1, 8), st.none() | st.integers(0, 3))
def test_no_fold_makes_a_circle(graph, limit: int, depth: int | None) -> None:
    drawn = part(graph, limit, depth)
    box = drawn.boxes()
    reads: dict[int, set[int]] = {}
    for edge in (*drawn.edges, *drawn.bundles):
        reads.setdefault(box[edge.target], set()).add(box[edge.source])
    done: set[int] = set()
    waiting = set(box.values())
    while ready := {place for place in waiting if reads.get(place, set()) <= done}:
        done |= ready
        waiting -= ready
    assert not waiting


def test_modules_fold_to_the_depth_asked_for() -> None:
    graph = blocks(3)
    assert part(graph).folds == ()
    (whole,) = part(graph, depth=0).folds
    assert (whole.title, whole.caption, whole.holds) == ("blocks", "Sequential", "6 operations, 3 inputs")
    each = part(graph, depth=1).folds
    assert [(fold.title, fold.caption, fold.holds) for fold in each] == [
        (f"blocks.{i}", "Block", "2 operations, 1 input") for i in range(3)
    ]
    assert [fold.title for fold in part(graph, depth=2).folds] == [f"blocks.{i}.0" for i in range(3)]


def test_the_page_decides_how_deep_to_fold_and_what_repeats() -> None:
    assert part(blocks(40)).folds == ()
    (middle,) = part(blocks(400)).folds
    assert (middle.title, middle.caption) == ("398 times", "Block")
    assert middle.holds == "796 operations, 398 inputs"
    first, *_, last = part(layers(1000)).nodes
    (repeated,) = part(layers(1000)).folds
    assert repeated.title == "247 times" and repeated.caption == "mul, add, tanh, sub"
    assert first.id == 0 and last.id == 999 and part(layers(1000)).left_out == ""


@pytest.mark.parametrize("make", [blocks, layers, chain])
def test_what_repeats_opens_from_both_ends_until_all_is_open(make) -> None:
    graph, opened, boxes = make(200), [], []
    while (drawn := part(graph, opened=opened)).folds:
        boxes.append(len(drawn.nodes))
        opened += [ranges(fold.nodes) for fold in drawn.folds]
        assert drawn.left_out == "" and len(boxes) < 40
    assert boxes == sorted(set(boxes)) and len(drawn.nodes) == len(graph)
