"""The ends of a graph as a program looks at them: leaves, gradient edges, and what arrives at a node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from autokit.autograd.node import Hooks, Node
from autokit.devices import device, device_of
from autokit.dtypes import BY_NUMPY
from autokit.size import Size
from autokit.tensor import Tensor, new_tensor


class AccumulateGrad:
    """The end of the graph at a leaf, where its gradient is added to ``.grad``.

    The engine sends gradients straight to the leaf; this object only shows
    that end in ``next_functions``.
    """

    __slots__ = ("__weakref__", "variable")
    __module__ = "builtins"  # so its type is shown as in PyTorch, as that of a node is

    def __init__(self, variable: Tensor) -> None:
        self.variable = variable

    next_functions = ()
    requires_grad = True

    def name(self) -> str:
        """PyTorch's name of this kind of node."""
        return "torch::autograd::AccumulateGrad"

    def _sequence_nr(self) -> int:
        return 2**64 - 1  # it is taken before all others that are ready

    @property
    def _input_metadata(self) -> tuple[InputMetadata, ...]:
        tensor = self.variable
        return (InputMetadata(tensor.shape, tensor.dtype, tensor.device),)

    def own_hooks(self) -> Hooks:
        """Its hooks, which stay with the leaf."""
        Hooks.on_leaves = True
        return self.variable.__dict__.setdefault("_accumulator_hooks", Hooks())

    metadata, register_hook, register_prehook = Node.metadata, Node.register_hook, Node.register_prehook

    def __repr__(self) -> str:
        return "<AccumulateGrad>"


def accumulator(leaf: Tensor) -> AccumulateGrad:
    """The one ``AccumulateGrad`` of ``leaf``, for as long as somebody holds it."""
    known = leaf.__dict__.get("_accumulator", lambda: None)()
    if known is None:
        known = AccumulateGrad(leaf)
        leaf.__dict__["_accumulator"] = ref(known)
    return known


class InputMetadata(NamedTuple):
    """What a gradient that arrives is like: an item of ``grad_fn._input_metadata``."""

    shape: Size
    dtype: Any
    device: Any
    is_nested_tensor: bool = False
    is_cpp_nested_tensor: bool = False


def metadata_of(node: Node) -> tuple[InputMetadata, ...]:
    """For each result of ``node`` what its gradient is like."""
    if node.dtype is None:  # a learner's function of several results: those that are still held
        results = (reference() for reference in (node.settings or {})["ctx"]._nodes.values())
        return tuple([one for result in results if result is not None for one in metadata_of(result)])
    return (InputMetadata(Size.of(node.shape), BY_NUMPY[node.dtype], _device_behind(node)),)


def _device_behind(node: Any) -> Any:
    """The device of a result, or, where that was let go, of what it was made from."""
    waiting = [node]
    while waiting:
        place = waiting.pop()
        array = place.output if isinstance(place, Node) else place.array
        if array is not None:
            return device_of(array)
        waiting += [source for source in place.sources if source is not None]
    return device("cpu")


class GradientEdge(NamedTuple):
    """A place of the graph that a gradient passes: a node, and which of its results.

    :func:`autokit.autograd.grad` and :func:`autokit.autograd.backward` take it in place of a tensor.
    """

    node: Any
    output_nr: int
    ownership_token: Any = None

    def stands_for(self) -> Tensor:
        """The leaf that it is of, or a tensor at its node."""
        if not isinstance(self.node, Node):
            return self.node.variable
        node: Any = self.node
        if node.dtype is None:  # of several results
            node = node._nodes[self.output_nr]()
        known = node.result()
        if known is None:  # its elements are not needed
            known = new_tensor(np.broadcast_to(np.zeros((), node.dtype), node.shape))
            known._node, known._requires_grad = node, True
        return known


def tensors_of(given: Any) -> list[Tensor]:
    """The tensors that are given, one or several; one that stands there for each gradient edge."""
    each = [given] if isinstance(given, Tensor | GradientEdge) else list(given)
    return [one.stands_for() if isinstance(one, GradientEdge) else one for one in each]


def wanted(given: Any, function: str) -> tuple[list[Any], list[Tensor]]:
    """What gradients are wanted of, as it is given and as tensors: one, several, or the values of a dict.

    Raises
    ------
    RuntimeError
        If there is none, or one is neither a tensor nor a gradient edge.
    TypeError
        If it is no sequence, or a mapping that is no dict.
    """
    if isinstance(given, Mapping):
        if type(given) is not dict:
            raise TypeError(
                f"`inputs` argument to `{function}()` must be a dict, not {type(given).__name__}."
            )
        given = given.values()
    each = [given] if isinstance(given, Tensor | GradientEdge) else list(given)
    if not each:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    for one in each:
        if not isinstance(one, Tensor | GradientEdge):
            raise RuntimeError(
                f"all inputs have to be Tensors or GradientEdges, but got {type(one).__name__}"
            )
    return each, tensors_of(each)
