"""Containers taken apart as PyTorch's private helpers do it."""

from __future__ import annotations

import importlib
from collections import OrderedDict, deque, namedtuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autokit.utils import _pytree
from tests.libraries import pytorch

Point = namedtuple("Point", "x y")

LEAVES = st.none() | st.integers() | st.text(max_size=2)
TREES = st.recursive(
    LEAVES,
    lambda parts: (
        st.lists(parts, max_size=3)
        | st.lists(parts, max_size=3).map(tuple)
        | st.lists(parts, max_size=2).map(deque)
        | st.dictionaries(st.text(max_size=2), parts, max_size=3)
        | st.dictionaries(st.text(max_size=2), parts, max_size=2).map(OrderedDict)
        | st.builds(Point, parts, parts)
    ),
    max_leaves=8,
)


def theirs() -> Any:
    pytorch()
    return importlib.import_module("torch.utils._pytree")


@given(TREES)
def test_leaves_structure_and_text_are_pytorchs(tree: Any):
    ours, other = _pytree.tree_flatten(tree), theirs().tree_flatten(tree)
    assert ours[0] == other[0] == _pytree.tree_leaves(tree)
    assert repr(ours[1]) == repr(other[1])
    assert (ours[1].num_leaves, ours[1].num_children) == (other[1].num_leaves, other[1].num_children)
    assert _pytree.tree_unflatten(ours[0], ours[1]) == tree
    assert type(_pytree.tree_unflatten(ours[0], ours[1])) is type(tree)


@given(TREES)
def test_maps_are_pytorchs(tree: Any):
    for name, arguments in (
        ("tree_map", (lambda a, b: (a, b), tree, tree)),
        ("tree_map_only", (int, lambda n: n + 1, tree)),
        ("tree_all", (lambda leaf: leaf is None, tree)),
        ("tree_any", (lambda leaf: leaf is None, tree)),
    ):
        assert getattr(_pytree, name)(*arguments) == getattr(theirs(), name)(*arguments)
    leaf = Point(1, 2)
    assert _pytree.tree_leaves([leaf], is_leaf=lambda one: isinstance(one, Point)) == [leaf]


@pytest.mark.parametrize("rest", [[1], {"a": 1}, 3])
def test_trees_that_do_not_match_are_refused(rest: Any):
    for module in (_pytree, theirs()):
        with pytest.raises(ValueError):
            module.tree_map(lambda a, b: a, [1, [2]], rest)
        with pytest.raises(ValueError, match="has length 1 but the spec refers"):
            module.tree_unflatten([1], module.tree_structure([1, 2]))
