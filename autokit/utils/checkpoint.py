"""Less memory for more time: :func:`checkpoint` computes a part of the graph again when it is needed.

The part runs and its graph is walked once, for where the part begins: the
leaves and earlier results that gradients leave it for.  Then that graph is
dropped with all that it saved, and one node stands in its place.  When a
gradient arrives there, the part runs again, and the gradient goes through the
new graph to those beginnings.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any
from weakref import ref

from autokit import random
from autokit.autograd.engine import run_backward
from autokit.autograd.modes import enable_grad, no_grad
from autokit.autograd.node import Node
from autokit.func.calls import zeros
from autokit.func.trees import flatten, unflatten
from autokit.memory import clock
from autokit.ops.custom import Parts, custom_operation, held, hold, join
from autokit.ops.errors import ChangedSince
from autokit.tensor import Tensor
from autokit.thread_state import thread

__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential"]


class CheckpointError(RuntimeError):
    """The second run of a part made something else than the first."""


def _no_contexts() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = _no_contexts,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, which runs again in the backward pass in place of keeping its values.

    Parameters
    ----------
    function : callable
        Returns a tensor or nested containers of them, the same each time.
    *args, **kwargs
        Its arguments; keywords only with ``use_reentrant=False``.
    use_reentrant : bool
        ``False`` is recommended.  With ``True`` the results require grad only
        if an argument does.
    context_fn : callable, optional
        Gives two context managers: for the first run, and for the second.
    determinism_check : {"default", "none"}
        Whether to compare the shapes and dtypes that both runs return.
    debug, early_stop
        Accepted for PyTorch's sake, and without effect.
    preserve_rng_state : bool
        Let the second run draw the same random numbers, so that dropout drops the same.

    Raises
    ------
    CheckpointError
        In the backward pass, if the second run returns other shapes or dtypes.
    ValueError
        For keywords and contexts together with ``use_reentrant=True``.

    References
    ----------
    T. Chen et al., "Training deep nets with sublinear memory cost", 2016.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.utils.checkpoint import checkpoint
    >>> x = torch.ones(2, requires_grad=True)
    >>> checkpoint(lambda x: x.exp().log(), x, use_reentrant=False).sum().backward()
    >>> x.grad
    tensor([1., 1.])
    """
    if use_reentrant is None:
        _warn_of_default("checkpoint")
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not _no_contexts or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        if not any(isinstance(one, Tensor) and one._requires_grad for one in args):
            warnings.warn(
                "None of the inputs have requires_grad=True. Gradients will be None",
                UserWarning,
                stacklevel=2,
            )
            with no_grad():
                return function(*args)
    first, second = context_fn()
    name = "CheckpointFunctionBackward" if use_reentrant else None
    part = _Part(function, args, kwargs, second, preserve_rng_state, determinism_check != "none", name)
    with first:
        return part.first_run()


def _warn_of_default(name: str) -> None:
    warnings.warn(
        f"torch.utils.checkpoint: the use_reentrant parameter of {name} should be passed explicitly. "
        "use_reentrant=False is recommended, but if you need to preserve the current default behavior, you "
        "can pass use_reentrant=True.",
        UserWarning,
        stacklevel=3,
    )


class _Part:
    """A part of the graph that is not kept."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        second: AbstractContextManager[Any],
        preserve_rng_state: bool,
        compare: bool,
        name: str | None,
    ) -> None:
        self.function, self.second, self.compare, self.name = function, second, compare, name
        given, self.structure = flatten((args, kwargs))
        self.arguments = [None if isinstance(one, Tensor) else one for one in given]
        self.tensors: Any = {
            place: (one, one._version) for place, one in enumerate(given) if isinstance(one, Tensor)
        }
        self.state = random.get_rng_state() if preserve_rng_state else None
        self.autocast = thread.state.autocast
        self.beginnings: tuple[Any, ...] = ()
        self.made: list[Any] = []
        self.node: Callable[[], Node | None] = lambda: None

    def first_run(self) -> Any:
        """What the function returns, behind one node."""
        start = next(clock)
        result = self._run(self.tensors)
        outputs, structure = flatten(result)
        ends = {
            slot: one
            for slot, one in enumerate(outputs)
            if isinstance(one, Tensor) and one._node is not None and one._node.sequence > start
        }
        if not ends or not thread.state.grad_enabled:
            return result
        self.beginnings = tuple(_beginnings((one._node for one in ends.values()), start))
        self.made = [
            (one.array.shape, one.array.dtype) if slot in ends else None for slot, one in enumerate(outputs)
        ]
        name = self.name or next(one._node.name() for one in ends.values() if one._node)
        operation = custom_operation(
            "checkpoint",
            [f"input{place}" for place in range(len(self.beginnings))],
            "part",
            lambda gradient, part: part.back(gradient),
            name,
            "computed again",
        )
        learns = (True,) * len(self.beginnings)
        fresh = {slot: one.detach() for slot, one in ends.items()}
        node, nodes = join(operation, fresh, self.beginnings, learns, {"part": self})
        self.node = ref(node)
        self.tensors = hold(node, self.tensors, [tensor for tensor, _ in self.tensors.values()])
        for slot, node in nodes.items():
            outputs[slot] = fresh[slot]
            fresh[slot]._node, fresh[slot]._requires_grad = node, True
        self.slots = tuple(nodes)
        return unflatten(outputs, structure)

    def _run(self, tensors: dict[int, tuple[Tensor, int]]) -> Any:
        arguments = list(self.arguments)
        for place, (tensor, version) in tensors.items():
            if tensor._version != version:
                raise ChangedSince(
                    "one of the variables needed for gradient computation has been modified by an inplace "
                    f"operation: an argument of checkpoint() is at version {tensor._version}; expected "
                    f"version {version} instead. It is needed to compute the part again."
                )
            arguments[place] = tensor
        args, kwargs = unflatten(arguments, self.structure)
        return self.function(*args, **kwargs)

    def back(self, gradient: Any) -> list[Any]:
        """Run the part again, and send ``gradient`` through it to the beginnings."""
        create_graph = thread.state.grad_enabled
        tensors = held(self.node(), self.tensors)
        with random.fork_rng(enabled=self.state is not None), enable_grad(), self.second:
            if self.state is not None:
                random.set_rng_state(self.state)
            around, thread.state.autocast = thread.state.autocast, self.autocast
            try:
                outputs, _ = flatten(self._run(tensors))
            finally:
                thread.state.autocast = around
        self._check(outputs)
        slots = gradient.slots if isinstance(gradient, Parts) else {self.slots[0]: gradient}
        if self.name is not None:  # PyTorch's reentrant kind sends zeros where nothing arrives
            missing = {slot: outputs[slot] for slot in self.slots if slot not in slots}
            nothing = {slot: zeros(one) for slot, one in missing.items()}
            slots = slots | (nothing if create_graph else {slot: one.array for slot, one in nothing.items()})
        with _cut_off(self.beginnings):  # from there on the pass goes on that called this
            found = run_backward(
                [outputs[slot]._node for slot in slots],
                list(slots.values()),
                inputs=self.beginnings,
                retain_graph=create_graph,
                create_graph=create_graph,
                into_leaves=False,
            )
        gradients = [found.get(beginning) for beginning in self.beginnings]
        return gradients if create_graph else [one if one is None else one[...] for one in gradients]

    def _check(self, outputs: list[Any]) -> None:
        again = [
            (one.array.shape, one.array.dtype) if before is not None and one._node is not None else None
            for one, before in zip(outputs, self.made)
        ]
        if len(outputs) != len(self.made) or (self.compare and again != self.made):
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different "
                f"metadata than during the forward pass. saved metadata: {self.made}, recomputed "
                f"metadata: {again}. The function must do the same each time that it runs."
            )


@contextmanager
def _cut_off(places: Iterable[Any]) -> Iterator[None]:
    """Let gradients stop at these nodes and leaves, and none of their hooks run."""
    taken: list[Any] = []
    for place in places:
        if isinstance(place, Node):
            taken.append((place.hooks, place.sources))
            place.hooks, place.sources = None, ()
        else:
            taken.append(place.__dict__.pop("_hooks", None))
    try:
        yield
    finally:
        for place, own in zip(places, taken):
            if isinstance(place, Node):
                place.hooks, place.sources = own
            elif own is not None:
                place.__dict__["_hooks"] = own


def _beginnings(ends: Iterable[Node | None], start: int) -> list[Any]:
    """The leaves, and the nodes that are older than ``start``, behind ``ends``."""
    stack: list[Any] = list(ends)
    seen = set(stack)
    found = []
    while stack:
        for target in stack.pop().targets:
            if target is None or target in seen:
                continue
            seen.add(target)
            if isinstance(target, Node) and target.sequence > start:
                stack.append(target)
            else:
                found.append(target)
    return found


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run ``functions`` one after the other, in ``segments`` parts; all but the last are checkpointed.

    Parameters
    ----------
    functions : Sequential or sequence of callables
    segments : int
        With √n segments of n layers, memory grows as √n.
    input
        What goes into the first.
    use_reentrant, **kwargs
        ``use_reentrant`` and ``preserve_rng_state`` of :func:`checkpoint`.
    """
    if use_reentrant is None:
        _warn_of_default("checkpoint_sequential")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    layers = list(functions.children() if hasattr(functions, "children") else functions)
    size = len(layers) // segments

    def run(part: list[Any]) -> Callable[[Any], Any]:
        def forward(value: Any) -> Any:
            for layer in part:
                value = layer(value)
            return value

        return forward

    end = size * (segments - 1)
    for begin in range(0, end, size):
        input = checkpoint(
            run(layers[begin : begin + size]), input, use_reentrant=use_reentrant, preserve_rng_state=preserve
        )
    return run(layers[end:])(input)
