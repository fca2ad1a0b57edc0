"""Less memory for more time: :func:`checkpoint` computes a part of the graph again when it is needed.

With ``use_reentrant=False`` the part has its place in the graph, but what its
nodes save is packed as nothing at all.  The first of them that is asked for
its values runs the part again, which saves the same values in the same order.

With ``use_reentrant=True`` the part runs without a graph, as one operation
whose backward runs it again with one, and sends the gradient through that.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any
from weakref import WeakKeyDictionary, ref

from autokit import random
from autokit.autograd import Function, backward
from autokit.autograd.modes import enable_grad
from autokit.autograd.watch import Watch
from autokit.missing import names_of
from autokit.ops.custom_call import Saved
from autokit.ops.packing import saved_tensors_hooks
from autokit.tensor import Tensor
from autokit.thread_state import thread

__getattr__ = names_of("torch.utils.checkpoint")

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "checkpoint",
    "checkpoint_sequential",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]


class CheckpointError(RuntimeError):
    """The second run of a part made something else than the first."""


Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


def noop_context_fn() -> Contexts:
    """Two context managers that do nothing: for the first run of a part, and for the second."""
    return nullcontext(), nullcontext()


_early_stop: bool | None = None
"""What :class:`set_checkpoint_early_stop` says."""


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Say for all checkpoints of a block whether the second run stops once it made what is needed."""
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Accepted for PyTorch's sake, and without effect: errors say what they can."""
    yield


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
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
        Does the same each time.
    *args, **kwargs
        Its arguments; keywords only with ``use_reentrant=False``.
    use_reentrant : bool
        ``False`` is recommended.  With ``True`` the results require grad if an argument does, and
        the way back is by ``backward()`` to all leaves alone.
    context_fn : callable, optional
        Gives two context managers: for the first run, and for the second.
    determinism_check : {"default", "none"}
        Whether to compare the shapes and dtypes of what both runs save.
    debug : bool
        Accepted for PyTorch's sake, and without effect.
    early_stop : bool
        Let the second run stop as soon as all values are there that are needed.
    preserve_rng_state : bool
        Let the second run draw the same random numbers, so that dropout drops the same.

    Raises
    ------
    CheckpointError
        In the backward pass, if the second run saves other values than the first.
    RuntimeError
        There, if an argument was changed in place since; with ``use_reentrant=True`` if some gradients
        alone are asked for, or no result has any.
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
    if not use_reentrant:
        if determinism_check not in ("default", "none"):
            raise ValueError(
                f"determinism_check should be one of ['default', 'none'], but got {determinism_check}"
            )
        first, second = context_fn()
        compare, stop = determinism_check == "default", early_stop if _early_stop is None else _early_stop
        again = _Checkpoint(function, args, kwargs, second, preserve_rng_state, compare, stop)
        with first:
            return again.first_run()
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    if not any(isinstance(one, Tensor) and one._requires_grad for one in args):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", UserWarning, stacklevel=2
        )
    return CheckpointFunction.apply(function, preserve_rng_state, *args)


def _warn_of_default(name: str) -> None:
    warnings.warn(
        f"torch.utils.checkpoint: the use_reentrant parameter of {name} should be passed explicitly. "
        "use_reentrant=False is recommended, but if you need to preserve the current default behavior, you "
        "can pass use_reentrant=True.",
        UserWarning,
        stacklevel=3,
    )


class _Surroundings:
    """What a function met when it first ran, to be met again: the random numbers, and the autocast mode."""

    def __init__(self, preserve_rng_state: bool) -> None:
        self.drawn = random.get_rng_state() if preserve_rng_state else None
        self.autocast = thread.state.autocast

    @contextmanager
    def again(self) -> Iterator[None]:
        """Run a block as the function ran, with a graph."""
        with random.fork_rng(enabled=self.drawn is not None), enable_grad():
            if self.drawn is not None:
                random.set_rng_state(self.drawn)
            around, thread.state.autocast = thread.state.autocast, self.autocast
            try:
                yield
            finally:
                thread.state.autocast = around


class CheckpointFunction(Function):
    """The reentrant kind: one operation, whose backward has a backward pass inside."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """Run the function without a graph, and keep its arguments."""
        ctx.function, ctx.surroundings = function, _Surroundings(preserve_rng_state)
        ctx.others = [None if isinstance(one, Tensor) else one for one in args]
        ctx.places = [place for place, one in enumerate(args) if isinstance(one, Tensor)]
        ctx.save_for_backward(*(args[place] for place in ctx.places))
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Run it again from leaves of its own, and send the gradients to these."""
        watch = Watch.running.get()()
        if watch is not None and watch.wanted is not None:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an "
                "`inputs` parameter to .backward(). To resolve this error, you can either set "
                "use_reentrant=False, or call .backward() without passing the `inputs` argument."
            )
        args = list(ctx.others)
        for place, tensor in zip(ctx.places, ctx.saved_tensors):
            args[place] = tensor.detach()
            args[place]._requires_grad = tensor._requires_grad
        with ctx.surroundings.again():
            made = ctx.function(*args)
        outputs = made if isinstance(made, tuple) else (made,)
        pairs = [
            (one, g) for one, g in zip(outputs, gradients) if isinstance(one, Tensor) and one.requires_grad
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([one for one, _ in pairs], [g for _, g in pairs])
        return None, None, *(one.grad if isinstance(one, Tensor) else None for one in args)


class _Holder:
    """Stands for a saved value that is to be computed again."""

    __slots__ = ("__weakref__",)


class _Done(Exception):
    """The second run made all that is needed."""


class _Checkpoint:
    """One run of a part whose values are not kept, and what its second run makes of them."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        second: AbstractContextManager[Any],
        preserve_rng_state: bool,
        compare: bool,
        early_stop: bool,
    ) -> None:
        self.function, self.args, self.kwargs = function, list(args), kwargs
        self.second, self.compare, self.early_stop = second, compare, early_stop
        self.surroundings = _Surroundings(preserve_rng_state)
        self.holders: list[ref[_Holder]] = []
        self.metadata: list[str] = []
        self.values: WeakKeyDictionary[_Holder, Tensor] = WeakKeyDictionary()
        self.made_in = 0  # the pass that asked for them

    def first_run(self) -> Any:
        """What the function returns, in a graph that keeps none of its values."""
        if not thread.state.grad_enabled:
            return self.function(*self.args, **self.kwargs)
        args = tuple(self.args)
        for place, one in enumerate(args):
            if isinstance(one, Tensor):
                self.args[place] = Saved(one, None)
        with saved_tensors_hooks(self._stand_in, self._value):
            return self.function(*args, **self.kwargs)

    def _stand_in(self, tensor: Tensor) -> _Holder:
        holder = _Holder()
        self.holders.append(ref(holder))
        self.metadata.append(_metadata(tensor))
        return holder

    def _value(self, holder: _Holder) -> Tensor:
        if self.made_in != thread.state.passes or holder not in self.values:
            self._run_again()
            self.made_in = thread.state.passes
        return self.values[holder]

    def _run_again(self) -> None:
        """Fill ``values`` with what is saved by the same run."""
        values: WeakKeyDictionary[_Holder, Tensor] = WeakKeyDictionary()
        metadata: list[str] = []

        def take(tensor: Tensor) -> Tensor:
            place = len(metadata)
            metadata.append(_metadata(tensor))
            holder = self.holders[place]() if place < len(self.holders) else None
            value = tensor.detach()
            if holder is not None:
                values[holder] = value
            if self.early_stop and len(metadata) == len(self.holders):
                raise _Done
            return value

        args = [one.unpack(self) if isinstance(one, Saved) else one for one in self.args]
        hooks = saved_tensors_hooks(take, lambda tensor: tensor)
        with self.surroundings.again(), self.second, hooks, suppress(_Done):
            self.function(*args, **self.kwargs)
        self._check(metadata)
        self.values = values

    def _check(self, metadata: list[str]) -> None:
        if len(metadata) != len(self.holders):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward "
                f"and recomputation.\nNumber of tensors saved during forward: {len(self.holders)}\n"
                f"Number of tensors saved during recomputation: {len(metadata)}.\n"
                "The function must do the same each time that it runs."
            )
        wrong = [place for place, both in enumerate(zip(self.metadata, metadata)) if both[0] != both[1]]
        if self.compare and wrong:
            each = [
                f"tensor at position {place}:\nsaved metadata: {self.metadata[place]}\n"
                f"recomputed metadata: {metadata[place]}\n"
                for place in wrong
            ]
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different "
                f"metadata than during the forward pass.\n{''.join(each)}"
                "The function must do the same each time that it runs."
            )


def _metadata(tensor: Tensor) -> str:
    """What both runs must agree on."""
    return str({"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device})


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
    layers = list(functions.children()) if hasattr(functions, "children") else functions
    size = len(layers) // segments

    def run(part: Any) -> Callable[[Any], Any]:
        def forward(value: Any) -> Any:
            for layer in part:
                value = layer(value)
            return value

        return forward

    end = 0
    for begin in range(0, size * (segments - 1), size):
        end = begin + size
        input = checkpoint(
            run(layers[begin:end]), input, use_reentrant=use_reentrant, preserve_rng_state=preserve
        )
    return run(layers[end:])(input)
