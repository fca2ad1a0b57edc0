"""A hook that waits for the gradients of several tensors: :class:`register_multi_grad_hook`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from autokit.autograd.node import Hooks
from autokit.autograd.watch import Watch
from autokit.shown import by_type
from autokit.tensor import Tensor


class register_multi_grad_hook:
    """Call ``fn`` once the gradients of several tensors are known.

    Parameters
    ----------
    tensors : sequence of Tensor
    fn : callable
        Called with the list of gradients when the last of those has come that the pass comes to, None
        for the others; with ``mode="any"`` with the first one.
    mode : "all" or "any"
    """

    __repr__ = by_type

    def __init__(self, tensors: Sequence[Tensor], fn: Callable[[Any], None], *, mode: str = "all") -> None:
        if mode not in ("all", "any"):
            raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
        self.fn, self.mode, self.tensors = fn, mode, tuple(tensors)
        self.arrived: WeakKeyDictionary[Watch, dict[int, Tensor]] = WeakKeyDictionary()
        Hooks.on_leaves = True  # so that each pass has a watch of its own
        self.handles = [tensor.register_hook(self._of(place)) for place, tensor in enumerate(self.tensors)]

    def _of(self, place: int) -> Callable[[Tensor], None]:
        def arrives(gradient: Tensor) -> None:
            watch = Watch.running.get()()
            assert watch is not None
            arrived = self.arrived.setdefault(watch, {})
            arrived[place] = gradient
            if self.mode == "any":
                if len(arrived) == 1:
                    self.fn(gradient)
                return
            passed = watch.passed() if len(arrived) < len(self.tensors) else ()
            if not any((t._node or t) in passed and n not in arrived for n, t in enumerate(self.tensors)):
                del self.arrived[watch]
                self.fn([arrived.get(n) for n in range(len(self.tensors))])

        return arrives

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> register_multi_grad_hook:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()
