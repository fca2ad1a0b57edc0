"""The bytes that a graph keeps alive, drawn step by step: forward they pile up, backward they are freed.

A saved tensor that is a view keeps the whole memory of its base; what several operations save counts once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autokit.engine.node import SEVERAL, Node
from autokit.engine.observed import behind
from autokit.engine.tensor import Tensor
from autokit.graphs.layers import size_text
from autokit.plot.figures import BLUE, FAINT, INK, ORANGE, QUIET, axes_for, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def memory(loss: Tensor, ax: Axes | None = None) -> Axes:
    """Draw how many bytes are alive at each operation, on the way to ``loss`` and on the way back.

    From below: the parameters and the data, which are there all the time; the saved tensors, which pile up
    forward and are freed backward; and the gradients.  Results that nobody saves are not counted, nor what
    your own variables hold, nor what runs inside of a checkpointed part or a Function.

    Parameters
    ----------
    loss : Tensor
        Before ``backward()``, which frees what this counts; nothing changes.
    ax : Axes, optional
        Where to draw; left out, new axes.

    Returns
    -------
    Axes

    Raises
    ------
    RuntimeError
        If ``loss`` has no graph, or a backward pass has freed it.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.ones(100, requires_grad=True)
    >>> memory(x.exp().exp().sum()).get_title()
    'At most 2.0 kB are alive'
    """
    found = bytes_alive(loss)
    count = len(found.operations)
    places = [place + 0.5 for place in range(-1, 2 * count)]
    axes = axes_for(ax, 7.0, 3.6)
    with style():
        ground = [0.0] * (2 * count)
        bands = [([found.given] * (2 * count), FAINT, "parameters and data")]
        bands += [([*found.saved], BLUE, "saved for the way back"), ([*found.gradients], ORANGE, "gradients")]
        for values, colour, words in bands:
            top = [low + value for low, value in zip(ground, values)]
            axes.stairs(top, places, baseline=ground, fill=True, color=colour, label=words)
            ground = top
        axes.axvline(count - 0.5, color=INK, linewidth=1.0, dashes=(4, 3))
        for middle, words in ((0.25, "forward →"), (0.75, "→ backward")):
            axes.text(middle, 1.01, words, transform=axes.transAxes, ha="center", color=QUIET, fontsize=9)
        if count <= 12:
            names = [*found.operations, *reversed(found.operations)]
            axes.set_xticks(range(2 * count), names, rotation=60, ha="right")
        axes.yaxis.set_major_formatter(lambda value, _: size_text(round(value)))
        axes.set(xlim=(places[0], places[-1]), ylim=(0, max(ground) * 1.05), xlabel="operation")
        axes.set_title(f"At most {size_text(round(max(ground)))} are alive", pad=18)
        axes.legend(loc="upper left")
    return axes


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


def bytes_alive(loss: Tensor) -> Memory:
    """The bytes that the graph of ``loss`` keeps alive.

    Raises
    ------
    RuntimeError
        If ``loss`` has no graph, or a backward pass has freed what it saved.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.ones(100, requires_grad=True)
    >>> bytes_alive(x.exp().sum())
    Memory(operations=('exp', 'sum'), given=400, saved=(400, 400, 400, 400), gradients=(0, 0, 404, 800))
    """
    if not isinstance(loss, Tensor) or loss._node is None:
        raise RuntimeError("memory() needs a recorded result")
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
    return math.prod(node.shape) * node.dtype.itemsize if node.dtype is not None else 0


def _bytes(arrays: dict[int, Any]) -> int:
    return sum(array.nbytes for array in arrays.values())
