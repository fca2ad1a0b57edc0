"""What ``ak.graph`` is asked to draw: how deep, which facts, which way; and the graph of the way back."""

from __future__ import annotations

import re

import pytest

import autokit as ak
from autokit import draw
from autokit.graphs.view import FACTS, SHOWN, View


def simple() -> ak.Tensor:
    x = ak.tensor([1.0, -2.0], requires_grad=True)
    y = (x - 3.0).relu()
    return y.sum()


def test_the_view_is_kept_with_the_graph_and_in_its_json():
    assert ak.graph(simple()).view == View(None, SHOWN, "auto")
    graph = ak.graph(simple(), depth=1, show=["formula", "value"], direction="TB")
    assert graph.view == View(1, ("value", "formula"), "TB")
    assert '"direction": "TB"' in graph.to_json()
    assert ak.graph(simple(), show="all").view.show == FACTS


@pytest.mark.parametrize("wrong", [{"depth": -1}, {"depth": True}, {"show": "colour"}, {"direction": "RL"}])
def test_what_there_is_not_is_refused(wrong: dict):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ak.graph(simple(), **wrong)


@pytest.mark.parametrize(
    ("fact", "seen"),
    [
        ("value", ">value<"),
        ("gradient", ">grad<"),
        ("shape", "[2]"),
        ("dtype", "float32"),
        ("formula", "= max(v2, 0)"),
        ("local", "∂/∂v2 = 1 where v2 &gt; 0, else 0"),
        ("saved", "its result"),
        ("source", "y = (x - 3.0).relu()"),
        ("constants", ">constant<"),
    ],
)
def test_a_box_shows_what_it_is_asked_to(fact: str, seen: str):
    def texts(*show: str) -> str:
        return re.sub("<title>.*?</title>", "", draw.svg(ak.graph(simple(), show=show)))

    assert seen in texts(fact)
    assert seen not in texts(*(other for other in FACTS if other != fact))


def test_the_way_back_is_that_of_the_engine():
    a = ak.tensor(2.0, requires_grad=True)
    b = ak.tensor(3.0, requires_grad=True)
    c = a * b
    d = c - a
    d.backward()
    back = ak.graph(d, backward=True)
    assert [(node.label, node.formula, node.saved) for node in back.nodes] == [
        ("SubBackward0", "d = c − a", ()),
        ("MulBackward0", "c = a · b", ("a = 2.0", "b = 3.0")),
        ("AccumulateGrad", "b.grad += g", ()),
        ("AccumulateGrad", "a.grad += g", ()),
    ]
    walked = [
        (node.name(), following.name().rpartition(":")[2])
        for node in (d.grad_fn, c.grad_fn)
        for following, _ in node.next_functions
    ]
    assert sorted((back.nodes[e.source].label, back.nodes[e.target].label) for e in back.edges) == sorted(
        walked
    )
    assert [node.gradient.text for node in back.nodes if node.gradient] == ["2.0", "2.0"]
    assert "not kept" not in draw.text(back)
    drawn = draw.svg(back)
    assert "AccumulateGrad" in drawn and ">saves<" in drawn and "Way back of 4 nodes" in drawn


def test_a_graph_and_a_story_print_as_the_table_that_a_notebook_stores():
    total = simple()
    total.backward(retain_graph=True)
    for shown in (ak.graph(total), ak.record(total), ak.graph(total, depth=0, backward=True)):
        assert str(shown) == repr(shown) == shown._repr_mimebundle_()["text/plain"] == draw.text(shown)
    assert "[1.0, -2.0]" in str(ak.graph(total)) and "AddBackward" not in str(ak.graph(total))
