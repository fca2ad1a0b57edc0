"""Forward mode: how a result changes when the inputs move, carried from each operation to the next.

The graph says what was computed from what, so tangents are carried along it
once it stands, in the order in which it was made.  Each operation needs only
its own rule:

* where each element of the result depends on the operands' elements at its own
  place alone, the Jacobian is diagonal, and its own transpose: what takes a
  gradient back takes a tangent forward;
* where an operation is linear in an operand, it does to the tangent what it
  did to the operand;
* everywhere else the rule that takes gradients back is linear in the gradient,
  and its derivative by the gradient, along the tangent, is what is wanted: two
  passes, through this one operation.

References
----------
A. Griewank and A. Walther, *Evaluating Derivatives*, 2nd edition, SIAM, 2008,
section 3.1; J. Townsend, "A new trick for calculating Jacobian vector
products", 2017.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from autokit import autograd
from autokit.autograd.modes import enable_grad, set_grad_enabled
from autokit.autograd.node import Node
from autokit.autograd.saved import fetch_arrays, fetch_tensors, refuse_freed
from autokit.autograd.watch import leading_to
from autokit.current_gpu import computing_beside
from autokit.devices import made_beside
from autokit.dtypes import BY_NUMPY
from autokit.ops import complex_numbers
from autokit.ops.samples import for_each_sample_of
from autokit.ops.unbroadcast import unbroadcast
from autokit.tensor import Tensor, new_tensor


class Tape:
    """The part of a graph from ``inputs``, tensors or nodes, to ``outputs``, in the order of its making."""

    def __init__(self, outputs: Sequence[Tensor], inputs: Iterable[Tensor | Node]) -> None:
        self.inputs = [each if isinstance(each, Node) else each._node or each for each in inputs]  # type: ignore[union-attr]
        self.ends = [each._node or each for each in outputs]
        between = leading_to(set(self.inputs), self.ends).difference(self.inputs)
        self.nodes: list[Node] = sorted(between, key=attrgetter("sequence"))

    def along(self, tangents: Sequence[Tensor], record: bool) -> list[Tensor | None]:
        """How each output changes when the inputs move along ``tangents``; None where it does not.

        With ``record`` the results have a graph themselves.
        """
        found: dict[Any, Tensor] = dict(zip(self.inputs, tangents))
        with set_grad_enabled(record):
            for node in self.nodes:
                if node.freed:
                    refuse_freed(node)
                moving = {
                    place: found[target] for place, target in enumerate(node.targets) if target in found
                }
                if moving and (one := tangent_of(node, moving, record)) is not None:
                    found[node] = one
        return [found.get(end) for end in self.ends]


def tangent_of(node: Node, moving: dict[int, Any], record: bool) -> Any:
    """The tangent of the result of ``node``, from those of the operands that move, by their places.

    Of a custom function with several results it is :class:`~autokit.ops.custom.Parts`.
    """
    operation = node.operation
    if operation.jvp is not None:
        return operation.jvp(moving, **(node.settings or {}))
    with computing_beside(next(iter(moving.values()))):
        return _by_rules(node, moving, record)


def _by_rules(node: Node, moving: dict[int, Tensor], record: bool) -> Any:
    """The tangent of the result of ``node``, by what is known of its operation."""
    operation = node.operation
    if node.shape is None:
        raise NotImplementedError(
            f"forward mode goes through {node.name()}, which has several results, by its own jvp alone: "
            "define it in the autograd.Function as a staticmethod jvp(ctx, *tangents)"
        )
    forward = (lambda vjp: vjp) if not node.way.complex else complex_numbers.forward_rule(operation.name)
    if operation.elementwise and forward is not None:
        parts = [
            forward(vjp)(_spread(moving[place], node), *_values(node, fetch, node.sources[place], record))
            for place, vjp, fetch, *_ in node.way.plain_rules
            if place in moving
        ]
    elif operation.linear:
        parts = [_applied(node, place, tangent, record) for place, tangent in moving.items()]
    else:
        parts = [_transposed(node, moving, record)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total if total.array.dtype == node.dtype else total.to(BY_NUMPY[node.dtype])


def _values(node: Node, fetch: Any, target: Any, record: bool) -> list[Any]:
    """What the rule of ``node`` by ``target`` asks for, as tensors."""
    if not fetch:
        return []
    if record:
        return fetch_tensors(node, fetch, target)
    made = fetch_arrays(node, fetch, target)
    for place, key in enumerate(fetch):
        if key.__class__ is int or key == "out":
            made[place] = new_tensor(made[place])
        elif node.operation.variadic and key in node.operation.operands:
            made[place] = [new_tensor(each) for each in made[place]]
    return made


def _spread(tangent: Tensor, node: Node) -> Tensor:
    """The tangent of an operand, broadcast as the operand was."""
    return tangent if tangent.array.shape == node.shape else tangent.expand(node.shape)


def _applied(node: Node, place: int, tangent: Tensor, record: bool) -> Tensor:
    """What a linear operation makes of the tangent of one operand; the other operands stay."""
    others = [other for other in range(len(node.sources)) if other != place]
    values = dict(zip(others, _values(node, others, None, record)))
    values[place] = tangent
    settings = node.settings or {}
    return node.operation.function(*[values[each] for each in range(len(values))], **settings)


def _transposed(node: Node, moving: dict[int, Tensor], record: bool) -> Tensor:
    """The transpose of what takes a gradient back, applied to the tangents."""
    sources, way = node.sources, node.way
    like = next(iter(moving.values())).array
    zero = made_beside(np.zeros_like, like, shape=node.shape, dtype=node.dtype)
    gradient = for_each_sample_of([node, *moving.values()], new_tensor(zero))
    gradient.requires_grad = True
    gradient.__dict__["_closed"] = True  # known here alone: nobody outside differentiates by it
    with enable_grad():
        if way.joint:
            _, vjp, fetch, *_ = way.plain_rules[0]
            made = dict(enumerate(vjp(gradient, *_values(node, fetch, None, record))))
        else:
            made = {
                place: vjp(gradient, *_values(node, fetch, sources[place], record))
                for place, vjp, fetch, *_ in way.plain_rules
                if place in moving
            }
        sent = {
            place: unbroadcast(each, moving[place].array.shape)
            for place, each in made.items()
            if place in moving and each is not None and each._requires_grad
        }
        sent = {place: _as_real_as(moving[place], each) for place, each in sent.items()}
    if not sent:
        return gradient.detach()
    (found,) = autograd.grad(
        list(sent.values()),
        gradient,
        [moving[place] for place in sent],
        create_graph=record,
        materialize_grads=True,
    )
    assert found is not None
    return found


def _as_real_as(tangent: Tensor, gradient: Tensor) -> Tensor:
    """``gradient`` in the dtype of ``tangent``, which may be real where it is complex."""
    if complex_numbers.is_complex(gradient) and not complex_numbers.is_complex(tangent):
        gradient = np.real(gradient)
    return gradient.to(tangent.dtype)
