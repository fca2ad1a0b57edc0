"""Trees are nested containers, such as a dict of lists of tensors; they are flattened and restored here.

Tuples, named tuples, lists and dicts are containers; everything else is a leaf of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple


class Structure(NamedTuple):
    """A container without its leaves: its type, its keys, and its children; a leaf's structure is None."""

    kind: type
    keys: tuple[Any, ...]
    children: tuple[Structure | None, ...]


def flatten(tree: Any) -> tuple[list[Any], Structure | None]:
    """The leaves of ``tree`` in order, and its structure.

    >>> flatten({"a": 1, "b": (2, [3])})[0]
    [1, 2, 3]
    """
    leaves: list[Any] = []
    return leaves, _take_apart(tree, leaves)


def _take_apart(tree: Any, leaves: list[Any]) -> Structure | None:
    if isinstance(tree, dict):
        return Structure(type(tree), tuple(tree), tuple([_take_apart(e, leaves) for e in tree.values()]))
    if type(tree) in (tuple, list) or hasattr(tree, "_fields"):
        return Structure(type(tree), (), tuple([_take_apart(each, leaves) for each in tree]))
    leaves.append(tree)
    return None


def unflatten(leaves: list[Any], structure: Structure | None) -> Any:
    """The tree of that ``structure`` with these ``leaves``.

    >>> unflatten([1, 2], flatten([0, {"a": 0}])[1])
    [1, {'a': 2}]
    """
    return _put_together(iter(leaves), structure)


def _put_together(leaves: Iterator[Any], structure: Structure | None) -> Any:
    if structure is None:
        return next(leaves)
    kind = structure.kind
    parts = [_put_together(leaves, child) for child in structure.children]
    if issubclass(kind, dict):
        return dict(zip(structure.keys, parts))
    return kind(*parts) if hasattr(kind, "_fields") else kind(parts)  # type: ignore[call-arg]


def mapped(tree: Any, change: Callable[[Any], Any]) -> Any:
    """``tree`` with ``change`` applied to each leaf.

    >>> mapped({"a": 1, "b": (2, [3])}, str)
    {'a': '1', 'b': ('2', ['3'])}
    """
    if isinstance(tree, dict):
        return {name: mapped(value, change) for name, value in tree.items()}
    if isinstance(tree, list):
        return [mapped(each, change) for each in tree]
    if isinstance(tree, tuple):
        several = [mapped(each, change) for each in tree]
        return type(tree)(*several) if hasattr(tree, "_fields") else type(tree)(several)
    return change(tree)


def spread(prefix: Any, tree: Any) -> list[Any] | None:
    """For each leaf of ``tree`` the leaf of ``prefix`` above it; None where ``prefix`` does not fit.

    >>> spread((0, None), ([1, 2], 3)), spread((0, 1), [1])
    ([0, 0, None], None)
    """
    if type(prefix) not in (tuple, list, dict):
        return [prefix] * len(flatten(tree)[0])
    if type(prefix) is not type(tree) or len(prefix) != len(tree):
        return None
    if isinstance(prefix, dict):
        if prefix.keys() != tree.keys():
            return None
        pairs = [(prefix[key], tree[key]) for key in tree]
    else:
        pairs = list(zip(prefix, tree))
    found: list[Any] = []
    for above, below in pairs:
        part = spread(above, below)
        if part is None:
            return None
        found += part
    return found
