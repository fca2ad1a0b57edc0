""":func:`memory` counts the bytes that a graph keeps alive, at each step of the way there and back.

A saved tensor that is a view keeps the whole memory of its base; what several operations save counts once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autokit.engine.node import SEVERAL, Node
from autokit.engine.observed import behind
from autokit.engine.tensor import Tensor


@dataclass(frozen=True)
class Memory:
    """The bytes alive while a graph of some operations is computed, and then walked back.

    Attributes
    ----------
    operations : tuple of str
        Their names, in the order in which they ran.
    given : int
        Of parameters and data, which are there all the time.
    saved, gradients : tuple of int
        Of saved tensors and of gradients: at each operation forward, then at each one backward.
    """

    operations: tuple[str, ...]
    given: int
    saved: tuple[int, ...]
    gradients: tuple[int, ...]

    @property
    def peak(self) -> int:
        """The most bytes that are alive at one moment."""
        return self.given + max(map(sum, zip(self.saved, self.gradients)))


def memory(loss: Tensor) -> Memory:
    """The bytes that the graph of ``loss`` keeps alive.

    Raises
    ------
    TypeError
        If ``loss`` is no tensor.
    RuntimeError
        If ``loss`` has no graph, or a backward pass has freed what it saved.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.ones(100, requires_grad=True)
    >>> memory(x.exp().sum())
    Memory(operations=('exp', 'sum'), given=400, saved=(400, 400, 400, 400), gradients=(0, 0, 404, 800))
    """
    if not isinstance(loss, Tensor):
        raise TypeError(f"memory() follows the graph of a Tensor, and got {type(loss).__name__}")
    if loss._node is None:
        raise RuntimeError("memory() needs a graph: this tensor was computed by no recorded operation")
    nodes = sorted(behind([loss._node]), key=lambda node: node.order)
    if any(node.saved is None for node in nodes):
        raise RuntimeError("backward() has freed what the graph saved: call memory(loss) before backward()")
    sources = [source for node in nodes for source in node.sources if isinstance(source, Tensor)]
    given = {id(array): array for array in map(_whole, (source.array for source in sources))}
    held: dict[int, Any] = {}
    forward = []
    for node in nodes:
        held.update({id(array): array for array in _saved_by(node) if id(array) not in given})
        forward.append(_bytes(held))
    return Memory(
        tuple(node.operation.name for node in nodes),
        _bytes(given),
        (*forward, *reversed(forward)),
        (*[0] * len(nodes), *_gradients(nodes)),
    )


def _gradients(nodes: list[Node]) -> Iterator[int]:
    """The bytes of the gradients at each node of the way back, its own and what it sends among them."""
    alive: dict[Any, int] = {nodes[-1]: _size(nodes[-1])}
    for node in reversed(nodes):
        for target in node.targets:
            if isinstance(target, Node) and target.shape is SEVERAL:
                alive[target] = alive.get(target, 0) + _size(node)
            elif target is not None:
                alive[target] = _size(target) if isinstance(target, Node) else target.array.nbytes
        yield sum(alive.values())
        alive.pop(node, None)


def _saved_by(node: Node) -> Iterator[Any]:
    """The memory behind all that ``node`` saves for its derivatives."""
    settings = node.settings or {}
    context = settings.get("ctx")
    values = [*(node.saved or ()), *settings.values(), *(getattr(context, "_saved", ()))]
    if node.rules.saves_output:
        values += node.output if isinstance(node.output, tuple) else [node.output]
    for value in values:
        array = getattr(value, "array", value)
        if hasattr(array, "nbytes"):
            yield _whole(array)


def _whole(array: Any) -> Any:
    """The array that owns the memory of ``array``."""
    while getattr(array.base, "nbytes", None) is not None:
        array = array.base
    return array


def _size(node: Node) -> int:
    count = 1
    for side in node.shape:
        count *= side
    return count * node.dtype.itemsize if node.dtype is not None else 0


def _bytes(arrays: dict[int, Any]) -> int:
    return sum(array.nbytes for array in arrays.values())
