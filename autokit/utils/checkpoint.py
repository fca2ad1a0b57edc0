""":func:`checkpoint` saves memory: it computes a part of the graph again when the backward pass needs it.

The first run of the part gives its result and the parameters on which it depends; the graph of this run is
dropped, and one node takes its place.  When a gradient arrives there, the part runs a second time, and the
gradient goes back through the graph of the second run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from threading import get_ident
from typing import Any

from autokit.autograd import Function, enable_grad, grad, is_grad_enabled
from autokit.base.generator import fork_rng, get_rng_state, set_rng_state
from autokit.base.missing import absent
from autokit.engine.detours import DETOURS
from autokit.engine.tensor import Tensor

__getattr__ = absent("torch.utils.checkpoint")

__all__ = ["checkpoint"]


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Call ``function`` without keeping the values that its derivatives need: it runs again on the way back.

    Parameters
    ----------
    function : callable
        Must do the same each time that it runs; it returns a tensor, or a tuple.
    *args, **kwargs
        Its arguments.
    use_reentrant : bool, optional
        Without effect: both of PyTorch's ways are this one.
    preserve_rng_state : bool
        Let the second run draw the same random numbers, so that dropout drops the same.

    Raises
    ------
    RuntimeError
        In the backward pass, if the second run gives other shapes than the first, or if an argument or a
        parameter was changed in place since.

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
    if not is_grad_enabled():
        return function(*args, **kwargs)
    part = _Part(function, args, kwargs, preserve_rng_state)
    tensors = [value for value in args if isinstance(value, Tensor)]
    inputs, output = part.run(tensors)
    outputs = output if isinstance(output, tuple) else (output,)
    if not any(_learns(value) for value in outputs):
        return output
    leaves = _leaves([value for value in outputs if _learns(value)], inputs)
    results = CheckpointFunction.apply(part, outputs, len(tensors), *tensors, *leaves)
    return results if isinstance(output, tuple) else results[0]


class _Part:
    """A function and its arguments but for the tensors, and what it met when it first ran."""

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: Any, preserve_rng_state: bool) -> None:
        self.function, self.kwargs = function, kwargs
        self.others = [None if isinstance(value, Tensor) else value for value in args]
        self.places = [place for place, value in enumerate(args) if isinstance(value, Tensor)]
        self.random = get_rng_state() if preserve_rng_state else None
        self.detours = [detour for detour in DETOURS if detour.thread == get_ident()]  # as of autocast
        self.closed = False
        """Whether gradients end at the border of the graph of a run."""

    def run(self, tensors: Sequence[Tensor]) -> tuple[list[Tensor], Any]:
        """Views of ``tensors``, where the graph of this run begins, and what the function gives for them."""
        inputs = [_Border.apply(tensor, self) for tensor in tensors]
        args = list(self.others)
        for place, tensor in zip(self.places, inputs):
            args[place] = tensor
        return inputs, self.function(*args, **self.kwargs)

    @contextmanager
    def again(self) -> Iterator[None]:
        """A block in which the function meets what it first met, and is recorded."""
        with ExitStack() as stack:
            stack.enter_context(fork_rng(enabled=self.random is not None))
            stack.enter_context(enable_grad())
            for detour in self.detours:
                stack.enter_context(copy(detour))
            if self.random is not None:
                set_rng_state(self.random)
            yield


class _Border(Function):
    """Where the graph of a run begins: its own gradients end here, and second derivatives go on."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, part: _Part) -> Tensor:
        ctx.part = part
        return tensor.detach()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return None if ctx.part.closed else gradients[0], None


class CheckpointFunction(Function):
    """The one node: its operands are the arguments of the part, and the leaves that it uses besides."""

    @staticmethod
    def forward(ctx: Any, part: _Part, outputs: tuple[Any, ...], count: int, *tensors: Tensor) -> Any:
        """Cut the results of the first run off their graph."""
        ctx.part, ctx.count = part, count
        ctx.save_for_backward(*tensors)
        results = tuple(value.detach() if isinstance(value, Tensor) else value for value in outputs)
        constant = [r for r, value in zip(results, outputs) if isinstance(r, Tensor) and not _learns(value)]
        ctx.mark_non_differentiable(*constant)
        return results

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Run the part again, and send the gradients through it."""
        wants_graph, tensors = is_grad_enabled(), ctx.saved_tensors
        with ctx.part.again():
            inputs, output = ctx.part.run(tensors[: ctx.count])
        outputs = output if isinstance(output, tuple) else (output,)
        pairs = [(value, g) for value, g in zip(outputs, gradients) if _learns(value) and g is not None]
        if len(outputs) != len(gradients) or any(value.shape != g.shape for value, g in pairs):
            raise RuntimeError(
                "torch.utils.checkpoint: the second run of the function gave results of other shapes than "
                "the first. It must do the same each time that it runs"
            )
        inputs += tensors[ctx.count :]
        learning = [tensor for tensor in inputs if tensor.requires_grad]
        values, seeds = [value for value, _ in pairs], [g for _, g in pairs]
        # Values from outside that the function uses have a graph that others need too: it is not freed.
        ctx.part.closed = True
        try:
            grads = grad(
                values, learning, seeds, retain_graph=True, create_graph=wants_graph, allow_unused=True
            )
        finally:
            ctx.part.closed = False
        found = iter(grads)
        return None, None, None, *(next(found) if tensor.requires_grad else None for tensor in inputs)


def _learns(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _leaves(outputs: list[Tensor], inputs: list[Tensor]) -> list[Tensor]:
    """The leaves that require grad and that ``outputs`` depend on, but for those behind ``inputs``."""
    seen = {id(tensor.grad_fn) for tensor in inputs}
    found: dict[int, Tensor] = {}
    waiting: list[Any] = [tensor.grad_fn or tensor for tensor in outputs]
    while waiting:
        target = waiting.pop()
        if isinstance(target, Tensor):
            found[id(target)] = target
        elif target is not None and id(target) not in seen:
            seen.add(id(target))
            waiting += target.targets
    return list(found.values())
