"""What a program recorded is judged: how many boxes and arrows its graph has, and which operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autokit.classroom.checking import BLANK, NO_HINTS, Verdict, is_blank, spoken, verdict
from autokit.engine.tensor import Tensor
from autokit.graphs.capture import graph


@spoken
def check_graph(
    tensor: Any,
    *,
    nodes: int | None = None,
    edges: int | None = None,
    has: Iterable[str] = (),
    lacks: Iterable[str] = (),
    why: Mapping = NO_HINTS,
    hint: str | Sequence[str] = "",
) -> Verdict:
    """Judge what was recorded.

    Parameters
    ----------
    tensor : Tensor or graph
        The end of the computation, or a graph: of ``ak.graph``, or a static one.
    nodes, edges : int, optional
        How many boxes and arrows there are to be.
    has, lacks : iterable of str
        Operations, by their names or symbols, that have to be there, or must not.
    why : dict, optional
        For a typical wrong number of boxes or arrows what to tell in place of ``hint``.
    hint : str, or list of str
        As for :func:`autokit.classroom.check`.

    Examples
    --------
    >>> import autokit as ak
    >>> x = ak.tensor(3.0, requires_grad=True)
    >>> check_graph(x * x + x, nodes=3, edges=4, has=["+"], lacks=["exp"])
    Right.
    >>> check_graph(x * 2, has=["where"])
    Not yet: the graph has no where.
    >>> check_graph(6.0, nodes=3)
    Not yet: a tensor with its record is expected; a plain number has none: leave out .item() and float().
    """
    if is_blank(tensor):
        return verdict(BLANK)
    drawn: Any = graph(tensor) if isinstance(tensor, Tensor) else tensor
    if not hasattr(drawn, "nodes"):
        expected = "a tensor with its record is expected; a plain number has none"
        return verdict(f"{expected}: leave out .item() and float()", hint)
    arrows = drawn.edges if hasattr(drawn, "edges") else [o for node in drawn.nodes for o in node.operands()]
    for kind, wanted, count in (("boxes", nodes, len(drawn.nodes)), ("arrows", edges, len(arrows))):
        if wanted is not None and count != wanted:
            too = "many" if count > wanted else "few"
            return verdict(f"the graph has {count} {kind}, which is too {too}", why.get(count, hint))
    there = {getattr(node, field, "") for node in drawn.nodes for field in ("operation", "symbol", "name")}
    for name in has:
        if name not in there:
            return verdict(f"the graph has no {name}", hint)
    for name in lacks:
        if name in there:
            return verdict(f"the graph has {name}, which is not to be there", hint)
    return verdict("")
