"""The table and the story."""

from __future__ import annotations

import unicodedata

from hypothesis import given, settings

from autokit.draw import text
from autokit.graphs.model import Graph
from tests.draw import graphs
from tests.draw.graphs import drawn_graphs


def test_the_table_of_a_product() -> None:
    assert text(graphs.product()).splitlines() == [
        "#  name  operation  inputs  shape  dtype    value  gradient",
        "0  a     leaf               []     float32  15.0   20.0",
        "1  b     leaf               []     float32  20.0   15.0",
        "2  c     mul        a, b    []     float32  300.0  1.0",
    ]


@settings(max_examples=60)
@given(drawn_graphs(most=6))
def test_a_line_for_each_node_whatever_its_name(graph: Graph) -> None:
    lines = text(graph).split("\n")
    assert len(lines) == len(graph) + 1 + bool(graph.left_out)
    isolates = {"\u2068", "\u2069"}
    shown = set("".join(lines)) - isolates
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in shown)
    assert not any(unicodedata.bidirectional(c) in ("LRO", "RLO", "LRE", "RLE", "PDF") for c in shown)
