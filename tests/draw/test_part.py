"""What is drawn of a graph that is too large, and what is said of the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autokit.draw.part import LIMIT, part
from tests.draw.graphs import Builder, chain, diamond, drawn_graphs, layers


def test_a_small_graph_is_drawn_whole() -> None:
    graph = diamond()
    drawn = part(graph)
    assert (drawn.nodes, drawn.edges, drawn.cut, drawn.left_out) == (graph.nodes, graph.edges, (), "")


def test_the_newest_operations_stay_and_the_rest_is_counted() -> None:
    drawn = part(layers(1000))
    assert len(drawn.nodes) == LIMIT
    assert [node.id for node in drawn.nodes] == list(range(850, 1000))
    assert drawn.left_out == "846 earlier operations and 4 inputs"


def test_an_operation_keeps_the_leaves_that_it_reads() -> None:
    b = Builder()
    weight = b.add(label="w", value=1.0)
    last = b.add(label="x", value=1.0)
    for _ in range(50):
        last = b.add("mul", (last, weight), value=1.0)
    drawn = part(b.graph(), 10)
    assert weight in {node.id for node in drawn.nodes}
    assert sum(edge.source == weight for edge in drawn.edges) == 9


@given(drawn_graphs(labels=False), st.integers(1, 8))
def test_everything_is_drawn_or_counted(graph, limit: int) -> None:
    drawn = part(graph, limit)
    kept = {node.id for node in drawn.nodes}
    assert 1 <= len(kept) <= limit
    assert all(edge.source in kept and edge.target in kept for edge in drawn.edges)
    assert all(edge.source not in kept and edge.target in kept for edge in drawn.cut)
    assert len({edge.target for edge in drawn.cut}) == len(drawn.cut)
    counted = sum(int(word) for word in drawn.left_out.split() if word.isdigit())
    assert len(kept) + counted == len(graph)


def test_a_million_operations() -> None:
    graph = chain(200_000)
    assert len(part(graph).nodes) == LIMIT


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        part(diamond(), 0)
