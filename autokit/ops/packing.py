"""Saved values in a form of the learner's own: what ``pack_hook`` makes, until ``unpack_hook`` is asked.

``saved_tensors_hooks`` packs all that is saved inside of its block;
``grad_fn._raw_saved_self`` is a :class:`SavedTensor`, whose ``register_hooks``
packs a single value.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from typing import Any

from autokit.autograd.node import FREED, Node
from autokit.autograd.saved import fetch_array
from autokit.ops.direct import direct
from autokit.ops.elementwise import plain_clone
from autokit.shown import by_type
from autokit.tensor import Literal, Tensor
from autokit.thread_state import thread

PackHook = Callable[[Tensor], Any]
UnpackHook = Callable[[Any], Tensor]


class Packed:
    """A saved value as the learner's ``pack_hook`` left it; it is unpacked when a derivative needs it."""

    __slots__ = ("packed", "source", "unpack_hook")
    _storage = None  # what was packed does not change in place

    def __init__(self, tensor: Tensor, shown: Tensor, pack_hook: PackHook, unpack_hook: UnpackHook) -> None:
        """Pack ``tensor``, which the hook sees as ``shown``; nothing it computes is recorded or packed."""
        self.source = tensor._node or (tensor if tensor._requires_grad else None)
        self.unpack_hook = unpack_hook
        state, version = thread.state, shown._version
        before, state.watchers, state.grad_enabled = (state.watchers, state.grad_enabled), (), False
        try:
            self.packed = pack_hook(shown)
        finally:
            state.watchers, state.grad_enabled = before
        if shown._version != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack "
                "hook cannot be modified by in-place operations as this can lead to unexpected side-effects: "
                "let the hook make a new tensor, as tensor * 2 does"
            )

    @property
    def array(self) -> Any:
        """The elements, unpacked."""
        return self._unpacked().array

    def _unpacked(self) -> Tensor:
        made = self.unpack_hook(self.packed)
        if not isinstance(made, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(made).__name__}"
            )
        return made

    def tensor(self) -> Tensor:
        """The value, unpacked, with its place in the graph."""
        made = self._unpacked()
        if self.source is None:
            return made
        if isinstance(self.source, Tensor):  # a leaf, which the unpacked values stand for
            return direct(plain_clone, (self.source,), None, made.array)
        made = made.detach()
        made._node, made._requires_grad = self.source, True
        if thread.state.grad_enabled and self.source.output is not None:
            return direct(
                plain_clone, (made,), None, made.array
            )  # what is made of it must not find the others
        return made


def _in_order(node: Node) -> range:
    """The places of the operands as PyTorch packs them: by its names, of which "other" is before "self"."""
    places, operation = range(len(node.sources)), node.operation
    turned = operation.operands == ("a", "b") and operation.name not in ("dot", "mv")
    return places[::-1] if turned else places


def keep(node: Node, key: Any, packed: Packed) -> None:
    """Let ``node`` hold ``packed`` in place of the operand at the place ``key``, or of its result."""
    node.saved = {**(node.saved or {}), key: packed}
    if key == "out":
        packed.source = None  # it is the node itself, which must not hold itself
        if isinstance(packed.packed, Tensor) and packed.packed._node is node:
            packed.packed = packed.packed.detach()
        if node.output is not None and node.output.size > thread.state.keep:
            node.output = None
    elif not node.way.learns[key]:
        node.sources = (*node.sources[:key], None, *node.sources[key + 1 :])


class SavedTensor:
    """One value that a node saved for its derivative: ``y.grad_fn._raw_saved_self``.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor([2.0, 3.0], requires_grad=True)
    >>> y = x**2
    >>> y.grad_fn._raw_saved_self.register_hooks(lambda t: t.tolist(), torch.tensor)
    >>> y.sum().backward()
    >>> x.grad
    tensor([4., 6.])
    """

    __slots__ = ("_keep", "_node", "_value")

    def __init__(self, node: Node, value: Any, keep: Callable[[Packed], None]) -> None:
        self._node, self._value, self._keep = node, value, keep

    def register_hooks(self, pack_hook: PackHook, unpack_hook: UnpackHook) -> None:
        """Keep ``pack_hook(tensor)`` from now on, and what ``unpack_hook`` makes of that when it is needed.

        Raises
        ------
        RuntimeError
            If there are hooks already, nothing is saved, it was freed or changed, or the hook changes it.
        """
        if not (callable(pack_hook) and callable(unpack_hook)):
            raise TypeError("register_hooks(): pack_hook and unpack_hook must be functions of one argument")
        if self._node.freed:
            raise RuntimeError(f"Calling register_hooks on a saved tensor after it has been freed. {FREED}")
        value = self._value()
        if value is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        if isinstance(value, Packed):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one "
                "pair of hooks is allowed at a time."
            )
        self._keep(Packed(value, value.detach(), pack_hook, unpack_hook))


def saved_by(node: Node, key: Any) -> SavedTensor:
    """What ``node`` saved: the operand at the place ``key``, its result, or None for ``key`` None."""

    def value() -> Any:
        held = (node.saved or {}).get(key)
        if key is None or isinstance(held, Packed):
            return held
        fetch_array(node, key)  # it says so where it was changed since
        return node.result() if key == "out" else node.operand(key)

    return SavedTensor(node, value, lambda packed: keep(node, key, packed))


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

    __repr__ = by_type

    def __init__(self, pack_hook: PackHook, unpack_hook: UnpackHook) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def pack(self, tensor: Tensor) -> Packed:
        """The packed form of ``tensor``."""
        return Packed(tensor, tensor, self.pack_hook, self.unpack_hook)

    def watch(self, node: Node) -> None:
        """Pack what ``node``, which was made just now, saves."""
        if self is not thread.state.packers[-1]:
            return  # the innermost hooks alone have their way
        for place in _in_order(node):
            operand = None if place in node.way.spare else node.operand(place)
            if operand is not None and operand.__class__ is not Literal:  # numbers are not packed
                keep(node, place, self.pack(operand))
        if "out" in node.way.saves:
            keep(node, "out", self.pack(node.result()))  # type: ignore[arg-type]

    def __enter__(self) -> saved_tensors_hooks:
        if not (callable(self.pack_hook) and callable(self.unpack_hook)):
            raise TypeError(
                "saved_tensors_hooks(): both hooks must be functions, and they are of type "
                f"{type(self.pack_hook).__name__} and {type(self.unpack_hook).__name__}"
            )
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


class allow_mutation_on_saved_tensors(saved_tensors_hooks):
    """Let what derivatives need be changed in place: they get the elements that it had when it was saved.

    PyTorch copies them when they are changed, this does so when they are saved.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x.clone()
    ...     loss = (y**2).sum()
    ...     _ = y.zero_()
    ...     loss.backward()
    >>> x.grad
    tensor([2., 2.])
    """

    def __init__(self) -> None:
        super().__init__(lambda tensor: tensor.clone(), self._saved)
        self._inside = False

    def _saved(self, copy: Tensor) -> Tensor:
        if not self._inside:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the "
                "graph was originally recorded."
            )
        return copy

    def __enter__(self) -> saved_tensors_hooks:
        if any(isinstance(packer, allow_mutation_on_saved_tensors) for packer in thread.state.packers):
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        self._inside = True
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        self._inside = False
        super().__exit__(*error)


class disable_saved_tensors_hooks(ContextDecorator):
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
