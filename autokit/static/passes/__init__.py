"""Passes: each takes a static graph, gives a new one, and says in words what it did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from os import PathLike
from typing import Any, NamedTuple

from autokit.base import doors
from autokit.static.graph import Graph
from autokit.static.passes.algebra import RULES
from autokit.static.passes.blocks import group_into_blocks
from autokit.static.passes.needless import FOLDING, SHARING, eliminate_dead_code
from autokit.static.passes.numpy_forms import FORMS
from autokit.static.passes.rewriting import rewrite

PASSES: dict[str, Callable[[Graph], tuple[Graph, str]]] = {
    "dead code": eliminate_dead_code,
    "constants": partial(rewrite, rules=FOLDING),
    "algebra": partial(rewrite, rules=RULES),
    "common subexpressions": partial(rewrite, rules=SHARING),
    "NumPy's own forms": partial(rewrite, rules=FORMS),
    "blocks": group_into_blocks,
}
"""All passes by their names."""

FOR_LOOPS = ("constants", "algebra", "constants", "common subexpressions", "dead code")
"""Those that run, in this order, where Numba compiles loops, which read the plain forms better."""

DEFAULT = (*FOR_LOOPS, "NumPy's own forms", "algebra", *FOR_LOOPS[3:], "blocks")
"""Those that run where NumPy computes."""


class Pass(NamedTuple):
    """What a pass did: its name, words, and the graph before and after it."""

    name: str
    words: str
    before: Graph
    after: Graph


class Passes(list[Pass]):
    """The passes that ran over a graph, in their order; a notebook shows them with a slider."""

    def __repr__(self) -> str:
        rows = [f"{each.name}: {each.words} ({len(each.after.nodes)} nodes)" for each in self]
        return "\n".join(rows) or "no passes"

    def _ipython_display_(self) -> None:
        doors.passes(self[0].before, self)._ipython_display_() if self else print(self)

    def save(self, path: str | PathLike[str], **options: Any) -> None:
        """Write them to ``path``: a page with a slider, ``.html``, or a picture, ``.svg`` or ``.png``."""
        doors.passes(self[0].before, self).save(path, **options)


def run_passes(graph: Graph, names: Sequence[str] = DEFAULT) -> Passes:
    """Run passes one after the other; ``graph`` stays as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from autokit.static.traced import Tape
    >>> tape = Tape()
    >>> x = tape.given("input", np.ones(3), "x")
    >>> tape.graph.outputs = [(x * 1 + np.exp(x) - np.exp(x)).node]
    >>> for done in run_passes(tape.graph, ["algebra", "common subexpressions", "dead code"]):
    ...     print(done.name, "|", done.words, "|", len(done.after.nodes))
    algebra | x · 1 = x (1×) | 5
    common subexpressions | values that were computed before (1×) | 4
    dead code | nothing to do | 4
    """
    done = Passes()
    for name in names:
        before = graph
        changed, words = PASSES[name](before)
        graph = changed if words else before
        done.append(Pass(name, words or "nothing to do", before, graph))
    return done
