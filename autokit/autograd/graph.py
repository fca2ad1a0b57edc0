"""``torch.autograd.graph``: what a program may do with the graph itself.

:class:`saved_tensors_hooks` changes how values are kept for the way back;
:func:`register_multi_grad_hook` waits for several gradients at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from autokit.autograd.node import Node, accumulator
from autokit.ops.direct import direct
from autokit.ops.elementwise import plain_clone
from autokit.ops.inplace import mark_changed
from autokit.tensor import RemovableHandle, Tensor
from autokit.thread_state import thread

__all__ = [
    "GradientEdge",
    "Node",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class Packed:
    """A saved value as the learner's ``pack_hook`` left it; it is unpacked when a derivative needs it."""

    __slots__ = ("packed", "source", "unpack_hook")
    _storage = None  # what was packed does not change in place

    def __init__(self, tensor: Tensor, hooks: saved_tensors_hooks) -> None:
        self.source = tensor._node or (tensor if tensor._requires_grad else None)
        self.packed = hooks.pack_hook(tensor)
        self.unpack_hook = hooks.unpack_hook

    @property
    def array(self) -> Any:
        """The elements, unpacked."""
        return self.tensor().array

    def tensor(self) -> Tensor:
        """The value, unpacked, with its place in the graph."""
        made = self.unpack_hook(self.packed)
        if not isinstance(made, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(made).__name__}"
            )
        if self.source is None:
            return made
        if isinstance(self.source, Tensor):  # a leaf, which the unpacked values stand for
            return direct(plain_clone, (self.source,), None, made.array)
        made = made.detach()
        made._node, made._requires_grad = self.source, True
        return made


class saved_tensors_hooks:
    """Keep what derivatives need in a form of one's own: on disk, compressed, counted.

    Parameters
    ----------
    pack_hook : callable
        Called with each tensor that an operation saves; what it returns is kept.
    unpack_hook : callable
        Called with that when the derivative is computed; returns the tensor.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), torch.tensor):
    ...     y = x.exp()
    >>> y.sum().backward()
    >>> x.grad
    tensor([2.7183, 2.7183])
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def pack(self, tensor: Tensor) -> Packed:
        """The packed form of ``tensor``; nothing that the hook computes is recorded or packed itself."""
        state = thread.state
        before, state.watchers = state.watchers, ()
        try:
            return Packed(tensor, self)
        finally:
            state.watchers = before

    def watch(self, node: Node) -> None:
        """Pack what ``node``, which was made just now, saves."""
        if self is not thread.state.packers[-1]:
            return  # the innermost hooks alone have their way
        saved = dict(node.saved or {})
        sources = list(node.sources)
        for place in range(len(sources)):
            operand = node.operand(place)
            if place not in node.way.spare and operand is not None:
                saved[place] = self.pack(operand)
                if not node.way.learns[place]:
                    sources[place] = None
        if "out" in node.way.saves:
            saved["out"] = self.pack(node.result())  # type: ignore[arg-type]
            if node.output.size > thread.state.keep:
                node.output = None
        node.saved, node.sources = saved, tuple(sources)

    def __enter__(self) -> saved_tensors_hooks:
        state = thread.state
        if state.packing_refused:
            raise RuntimeError(state.packing_refused)
        state.packers = (*state.packers, self)
        state.watchers = (*state.watchers, self.watch)
        return self

    def __exit__(self, *error: object) -> None:
        state = thread.state
        state.packers = state.packers[:-1]
        state.watchers = tuple([watch for watch in state.watchers if watch != self.watch])


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors in the memory of the CPU until they are needed."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: (tensor.device, tensor.cpu()), lambda kept: kept[1].to(kept[0]))


class disable_saved_tensors_hooks:
    """Refuse :class:`saved_tensors_hooks` inside of this block, with ``error_message``."""

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message

    def __enter__(self) -> None:
        state = thread.state
        self.before, state.packing_refused = state.packing_refused, self.error_message
        if state.packers:
            state.packing_refused = self.before
            raise RuntimeError(self.error_message)

    def __exit__(self, *error: object) -> None:
        thread.state.packing_refused = self.before


class GradientEdge(NamedTuple):
    """A place of the graph that a gradient passes: a node, and which of its results."""

    node: Any
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where the gradient of ``tensor`` arrives."""
    if not tensor._requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    return GradientEdge(tensor.grad_fn or accumulator(tensor), 0)


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Note that ``tensor`` was changed in place, by means that autokit does not see."""
    for each in (tensor,) if isinstance(tensor, Tensor) else tensor:
        mark_changed(each)


class register_multi_grad_hook:
    """Call ``fn`` once the gradients of several tensors are known.

    Parameters
    ----------
    tensors : sequence of Tensor
    fn : callable
        Called with the list of gradients when the last of them has come; with
        ``mode="any"`` with the first one.
    mode : "all" or "any"
    """

    def __init__(self, tensors: Sequence[Tensor], fn: Callable[[Any], None], *, mode: str = "all") -> None:
        if mode not in ("all", "any"):
            raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
        self.fn, self.mode = fn, mode
        self.gradients: list[Tensor | None] = [None] * len(tensors)
        self.missing = len(tensors)
        self.handles: list[RemovableHandle] = [
            tensor.register_hook(self._of(place)) for place, tensor in enumerate(tensors)
        ]

    def _of(self, place: int) -> Callable[[Tensor], None]:
        def arrived(gradient: Tensor) -> None:
            first = self.missing == len(self.gradients)
            self.gradients[place] = gradient
            self.missing -= 1
            if self.mode == "any" and first:
                self.fn(gradient)
            if not self.missing:
                made, self.gradients = self.gradients, [None] * len(self.gradients)
                self.missing = len(made)
                if self.mode == "all":
                    self.fn(made)

        return arrived

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self.handles:
            handle.remove()
