"""Forward mode: how a result changes when the inputs move, carried from each operation to the next.

The graph says what was computed from what, so :func:`tangents` walks over it once, the oldest node first,
and carries the tangents of the operands to that of the result. No operation needs a rule for that. The rule
that takes gradients back is linear in the gradient: it multiplies with the transposed Jacobian, g ↦ Jᵀg. So
its own derivative by g, in the direction t, is (Jᵀ)ᵀt = Jt, the tangent of the result.

References
----------
A. Griewank and A. Walther, *Evaluating Derivatives*, 2nd edition, SIAM, 2008, section 3.1; J. Townsend, "A new
trick for calculating Jacobian vector products", 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autokit.autograd import grad as gradient_of
from autokit.engine.backward import fetch, fitted
from autokit.engine.modes import enable_grad, set_grad_enabled
from autokit.engine.node import SEVERAL, Gradients, Node
from autokit.engine.observed import fetch_tensors, leading_to
from autokit.engine.tensor import Tensor, new_tensor
from autokit.func.level import Argnums, Entered, Level, basis, outputs_of, zeros
from autokit.func.transforms import jacobian_by, joined
from autokit.func.trees import flatten, unflatten


def tangents(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], directions: Sequence[Tensor], record: bool = False
) -> Iterator[tuple[Any, Any]]:
    """For each node between ``inputs`` and ``outputs``, the oldest first, the node and its tangent.

    The inputs move along ``directions``. With ``record`` the tangents have a graph themselves. The tangent of
    an operation with several results is a tuple.
    """
    found: dict[Any, Any] = {each._node or each: along for each, along in zip(inputs, directions)}
    yield from found.items()
    between = leading_to(set(found), [each._node or each for each in outputs]).difference(found)
    for node in sorted(between, key=lambda node: node.order):
        moving = {place: found[end] for place, end in enumerate(node.targets) if end in found}
        with set_grad_enabled(record):
            found[node] = tangent_of(node, moving, record)
        yield node, found[node]


def tangent_of(node: Node, moving: dict[int, Any], record: bool) -> Any:
    """The tangent of the result of ``node``, from those of the operands, by their places."""
    if node.owner is not node:  # one of several results
        (several,) = moving.values()
        return several[(node.settings or {})["slot"]]
    if node.shape is SEVERAL:
        unknown: Any = Gradients([_unknown(each.shape, each.dtype) for each in _results(node)])
    else:
        unknown = _unknown(node.shape, node.dtype)
    with enable_grad():
        sent = _sent_back(node, unknown, moving, record)
    if not sent:
        return Gradients(map(zeros, unknown)) if node.shape is SEVERAL else zeros(unknown)
    found = gradient_of(
        list(sent.values()),
        list(unknown) if node.shape is SEVERAL else unknown,
        [moving[place] for place in sent],
        create_graph=record,
        materialize_grads=True,
    )
    return Gradients(found) if node.shape is SEVERAL else found[0]


def _unknown(shape: tuple[int, ...], dtype: Any) -> Tensor:
    """The gradient by which a rule is differentiated; the rule is linear, so its value does not matter."""
    gradient = new_tensor(np.zeros(shape, dtype))
    gradient._requires_grad = True
    gradient.__dict__["_closed"] = True
    return gradient


def _sent_back(node: Node, g: Any, moving: dict[int, Any], record: bool) -> dict[int, Tensor]:
    """What the rules of ``node`` compute from the gradient ``g``, by the places of the operands that move."""
    rules = node.rules
    computed: dict[int, Any] = {}
    for place, vjp, needs in rules.plain:
        needs = (needs,) if needs.__class__ is int else needs or ()
        if not rules.joint and place not in moving:
            continue
        fetch_values = fetch_tensors if record else fetch_constants
        one = vjp(g, *fetch_values(node, needs, node.sources[place]))
        computed.update(enumerate(one) if rules.joint else {place: one}.items())
    return {
        place: fitted(one, moving[place].array)
        for place, one in computed.items()
        if place in moving and one is not None and one._requires_grad
    }
