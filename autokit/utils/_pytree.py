"""Nested containers as PyTorch's own helpers take them apart; programs use them though the name is private.

Tuples, named tuples, lists, dicts and deques are containers; everything else
is a leaf, None too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from autokit.func.trees import Structure, flatten, unflatten

__all__ = [
    "PyTree",
    "TreeSpec",
    "tree_all",
    "tree_any",
    "tree_flatten",
    "tree_iter",
    "tree_leaves",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
]

PyTree = Any
IsLeaf = Callable[[Any], bool] | None


class TreeSpec:
    """The structure of a container without its leaves; a single leaf shows as ``*``."""

    __slots__ = ("structure",)

    def __init__(self, structure: Structure | None) -> None:
        self.structure = structure

    @property
    def type(self) -> Any:
        """The kind of the outermost container; None of a leaf."""
        return None if self.structure is None else self.structure.kind

    @property
    def num_leaves(self) -> int:
        """How many leaves it is of."""
        return 1 if self.structure is None else sum(child.num_leaves for child in self.children())

    @property
    def num_children(self) -> int:
        """How many parts the outermost container has."""
        return 0 if self.structure is None else len(self.structure.children)

    def children(self) -> list[TreeSpec]:
        """The structures of the parts."""
        return [] if self.structure is None else [TreeSpec(child) for child in self.structure.children]

    def is_leaf(self) -> bool:
        """Whether it is no container."""
        return self.structure is None

    def unflatten(self, leaves: Any) -> Any:
        """The container of these ``leaves``."""
        return tree_unflatten(leaves, self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeSpec) and self.structure == other.structure

    def __hash__(self) -> int:
        return hash(self.structure)

    def __repr__(self) -> str:
        if self.structure is None:
            return "*"
        kind = self.structure.kind
        named = hasattr(kind, "_fields")
        context = kind if named else list(self.structure.keys) if issubclass(kind, dict) else None
        parts = ",\n  ".join(repr(child).replace("\n", "\n  ") for child in self.children())
        return f"TreeSpec({'namedtuple' if named else kind.__name__}, {context}, [{parts}])"


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of ``tree`` in order, and its structure.

    >>> tree_flatten({"a": 1, "b": [2, None]})[0]
    [1, 2, None]
    """
    leaves, structure = flatten(tree, is_leaf)
    return leaves, TreeSpec(structure)


def tree_unflatten(leaves: Any, treespec: TreeSpec) -> PyTree:
    """The tree of that structure with these ``leaves``; ValueError where there are more or fewer."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree "
            f"that holds {treespec.num_leaves} items ({treespec})."
        )
    return unflatten(leaves, treespec.structure)


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """The leaves, one after the other."""
    return iter(flatten(tree, is_leaf)[0])


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of ``tree`` in order."""
    return flatten(tree, is_leaf)[0]


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The structure of ``tree``."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """``tree`` with ``func`` applied to each leaf, and to those at its place in ``rests``.

    >>> tree_map(lambda a, b: a + b, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    leaves, structure = flatten(tree, is_leaf)
    columns = [leaves]
    for rest in rests:
        others, found = flatten(rest, is_leaf)
        _require_alike(structure, found)
        columns.append(others)
    return unflatten([func(*each) for each in zip(*columns)], structure)


def _require_alike(first: Structure | None, second: Structure | None) -> None:
    kinds = [None if one is None else one.kind for one in (first, second)]
    if kinds[0] != kinds[1]:
        raise ValueError(f"Node type mismatch; expected {kinds[0]}, but got {kinds[1]}.")
    if first is None or second is None:
        return
    if len(first.children) != len(second.children):
        raise ValueError(
            f"Node arity mismatch; expected {len(first.children)}, but got {len(second.children)}."
        )
    if set(first.keys) != set(second.keys):
        raise ValueError(f"Node keys mismatch; expected {list(first.keys)}, but got {list(second.keys)}.")
    for pair in zip(first.children, second.children):
        _require_alike(*pair)


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Call ``func`` of each leaf, and return ``tree`` itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(kinds: Any, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """``tree`` with ``func`` applied to the leaves of a type, of several, or of which a function says so."""
    chosen = kinds if callable(kinds) and not isinstance(kinds, type) else lambda one: isinstance(one, kinds)
    return tree_map(lambda leaf: func(leaf) if chosen(leaf) else leaf, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether ``pred`` holds for each leaf."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether ``pred`` holds for some leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))
