"""Operations made while the program runs: :func:`custom_operation`, and :func:`join` for their nodes.

A node of the engine has one result.  Where an operation has several, each gets
a node *output k* in front of the operation's node, and these send it their
gradients as :class:`Parts`, which add up by slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from autokit.autograd.node import FREED, Node
from autokit.devices import to_numpy
from autokit.ops.operation import derivative
from autokit.ops.recording import record
from autokit.ops.rules import Operation
from autokit.tensor import Tensor
from autokit.thread_state import thread


def custom_operation(
    name: str,
    operands: Sequence[str],
    setting: str,
    vjp: Callable[..., Any],
    backward: str,
    local: str,
    jvp: Callable[..., Any] | None = None,
) -> Operation:
    """An operation with one rule ``vjp`` for all ``operands``, which gets the value of ``setting``.

    So does ``jvp``, which makes the tangent of the result from those of the operands, by their places.
    It cannot be run again from its operands: its ``forward`` is None.
    """

    def forward() -> None: ...

    kinds = [Parameter(operand, Parameter.POSITIONAL_ONLY) for operand in operands]
    setattr(  # noqa: B010 - the type checker knows no such name
        forward, "__signature__", Signature([*kinds, Parameter(setting, Parameter.KEYWORD_ONLY)])
    )
    formula = f"{name}({', '.join(f'{{{operand}}}' for operand in operands)})"
    made = Operation(forward, name, formula, {"joint": derivative(local, vjp)}, name=name, backward=backward)
    made.forward = None  # type: ignore[assignment]
    made.jvp = jvp
    made.own_way = lambda way, result, sources: way  # type: ignore[method-assign] # the learner's own
    return made


looking_back: ContextVar[bool] = ContextVar("looking_back", default=False)
"""Whether a pass only rehearses: then a freed node may use the small values that stayed for the picture."""

_HELD = "held"


def hold(node: Node, values: Any, tensors: Iterable[Tensor]) -> Any:
    """Let ``node`` hold ``values``, which contain ``tensors``, until it is freed.

    Where all of these are small and not packed, the caller gets ``values``
    back, to keep them for the picture; see :func:`held`.
    """
    if all(isinstance(tensor, Tensor) and tensor.array.size <= thread.state.keep for tensor in tensors):
        return values
    node.saved = {**(node.saved or {}), _HELD: values}
    return None


def held(node: Node | None, kept: Any) -> Any:
    """What :func:`hold` was given; ``kept`` is what it returned.

    Raises
    ------
    RuntimeError
        If the node was freed.
    """
    if node is None or (node.freed and (kept is None or not looking_back.get())):
        raise RuntimeError(FREED if node is None else f"{FREED} They were saved by {node.name()}.")
    return kept if kept is not None else (node.saved or {})[_HELD]


class Parts:
    """Gradients on the way to a node with several outputs: each under its slot.

    It has no shape and no dtype, as the node has none, and adds up as the
    engine adds arrays.
    """

    __slots__ = ("slots",)
    shape = dtype = None
    base = "belongs to the outputs"  # so that the engine adds nothing in place
    size = 0

    def __init__(self, slots: dict[int, Any] | None = None) -> None:
        self.slots = slots or {}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        # As a picture shows it: all elements in a row.
        rows = [to_numpy(getattr(one, "array", one)).ravel() for _, one in sorted(self.slots.items())]
        return np.concatenate([np.zeros(0), *rows]).astype(dtype or float)

    def __array_ufunc__(self, ufunc: Any, method: str, *both: Any, **settings: Any) -> Any:
        # The engine adds large values up by np.add, which otherwise would make arrays of them.
        return both[0] + both[1] if ufunc is np.add else NotImplemented

    def __add__(self, other: Parts) -> Parts:
        slots = dict(self.slots)
        for slot, gradient in other.slots.items():
            slots[slot] = slots[slot] + gradient if slot in slots else gradient
        return Parts(slots)


def join(
    operation: Operation,
    outputs: dict[int, Tensor],
    sources: tuple[Any, ...],
    learns: tuple[bool, ...],
    settings: dict[str, Any],
) -> tuple[Node, dict[int, Node]]:
    """Put ``operation`` into the graph, and a node for each of ``outputs``, which are given by slot.

    One output has the operation's node itself.
    """
    if len(outputs) == 1:
        ((slot, output),) = outputs.items()
        node = _node(operation, output.array, sources, learns, settings)
        return node, {slot: node}
    node = _node(operation, Parts(), sources, learns, settings)
    node.output = None
    return node, {slot: output_of(node, slot, output.array) for slot, output in outputs.items()}


def output_of(node: Node, slot: int, array: Any) -> Node:
    """The node of the output of ``node`` under ``slot``, with the elements ``array``."""
    part = custom_operation(f"output {slot}", ["function"], "slot", _into_slot, node.kind, "1", _out_of_slot)
    return _node(part, array, (node,), (True,), {"slot": slot})


def _into_slot(gradient: Any, slot: int) -> list[Parts]:
    """The derivative of taking one output: its gradient goes back into its slot."""
    return [Parts({slot: gradient})]


def _out_of_slot(moving: dict[int, Parts], slot: int) -> Any:
    """The tangent of one output, where it moves."""
    return moving[0].slots.get(slot)


def _node(
    operation: Operation,
    array: Any,
    sources: tuple[Any, ...],
    learns: tuple[bool, ...],
    settings: dict[str, Any],
) -> Node:
    state = thread.state
    node = record(state, operation, array, operation.way(learns), sources, settings)._node
    assert node is not None
    if array.size > state.keep:
        node.output, node.saved = None, {}
    return node
