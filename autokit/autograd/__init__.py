"""Automatic differentiation as programs call it: :func:`backward`, :func:`grad`, ``no_grad`` and others.

These functions check their arguments and start a backward pass, which ``autokit.engine`` carries out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from autokit.base import errors
from autokit.base.missing import absent
from autokit.engine import backward as plain
from autokit.engine.function import Function
from autokit.engine.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
    thread,
)
from autokit.engine.node import HOOKED
from autokit.engine.observed import Watch, observed
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.join import stack

Tensors = Tensor | Sequence[Tensor]

__all__ = [
    "Function",
    "Variable",
    "backward",
    "enable_grad",
    "function",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
    "variable",
]


class _Variables(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor)


class Variable(metaclass=_Variables):
    """The old name of a tensor in the graph: ``Variable(x, requires_grad=True)`` gives a leaf."""

    def __new__(cls, data: Tensor, requires_grad: bool = False) -> Any:
        return new_tensor(data.array).requires_grad_(requires_grad)


def backward(
    tensors: Tensors,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensors | None = None,
) -> None:
    """Add the gradient of ``tensors`` by every leaf to the leaf's ``.grad``.

    See :meth:`autokit.Tensor.backward`; with several tensors the gradients of all are added up.

    Raises
    ------
    RuntimeError
        If a tensor has no graph, the graph was freed, or a gradient to begin with is missing or of the wrong
        shape.
    """
    outputs = _several(tensors)
    wanted = None if inputs is None else _several(inputs)
    for each in wanted or ():
        if each._node is not None:
            each.retain_grad()
    run_backward(
        [tensor._node or tensor for tensor in outputs],
        _seeds(outputs, grad_tensors, create_graph),
        inputs=None if wanted is None else [tensor._node or tensor for tensor in wanted],
        retain_graph=create_graph if retain_graph is None else retain_graph,
        create_graph=create_graph,
    )


def _backward_of_a_tensor(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensors | None = None,
) -> None:
    """Add the gradient of this tensor by every leaf that it was computed from to the leaf's ``.grad``.

    Parameters
    ----------
    gradient : Tensor, optional
        The gradient to begin with, of this tensor's shape; 1 for a single element.
    retain_graph : bool, optional
        Keep the saved tensors, so that ``backward`` can run again.
    create_graph : bool
        Record the computation of the gradients themselves.
    inputs : tensor or sequence of tensors, optional
        Only these leaves.

    Raises
    ------
    RuntimeError
        If there is no graph, it was freed, or a gradient is missing or of the wrong shape.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """
    if inputs is not None:
        backward(self, gradient, retain_graph, create_graph, inputs)
        return
    seed = _seed(0, self, gradient, create_graph)
    retain = create_graph if retain_graph is None else retain_graph
    run_backward((self._node or self,), (seed,), retain_graph=retain, create_graph=create_graph)


_backward_of_a_tensor.__name__, _backward_of_a_tensor.__qualname__ = "backward", "Tensor.backward"
Tensor.backward = _backward_of_a_tensor  # type: ignore[attr-defined]


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradient of ``outputs`` by each of ``inputs``; no ``.grad`` is touched.

    Parameters
    ----------
    outputs, inputs : tensor or sequence of tensors
    grad_outputs : optional
        The gradient to begin with for each output; 1 for single elements.
    retain_graph : bool, optional
        Keep the saved tensors; by default as ``create_graph``.
    create_graph : bool
        Record the computation, so that the result can be differentiated again.
    only_inputs : bool
        Without effect: no other gradient is computed.
    allow_unused : bool, optional
        Give None for an input that takes no part, in place of an error.
    is_grads_batched : bool
        Each of ``grad_outputs`` holds many gradients along a first dimension, which the results have too.
    materialize_grads : bool
        Give zeros for an input that takes no part.

    Raises
    ------
    RuntimeError
        If an input takes no part or needs no gradient, and as :func:`backward`.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> (slope,) = torch.autograd.grad(x**3, x, create_graph=True)
    >>> slope.item(), torch.autograd.grad(slope, x)[0].item()
    (27.0, 18.0)
    """
    ends, sources = _several(outputs), _several(inputs)
    unused = materialize_grads if allow_unused is None else allow_unused
    if is_grads_batched:
        return _many_grads(ends, sources, grad_outputs, create_graph)
    for source in sources:
        errors.require_tensor("grad", source, "inputs", 1)
        if not source._requires_grad:
            raise RuntimeError(
                "One of the differentiated Tensors does not require grad: "
                f"{errors.describe(source)}; make it with requires_grad=True"
            )
    places = [source._node or source for source in sources]
    found = run_backward(
        [end._node or end for end in ends],
        _seeds(ends, grad_outputs, create_graph),
        inputs=places,
        retain_graph=create_graph if retain_graph is None else retain_graph,
        create_graph=create_graph,
        into_leaves=False,
    )
    gradients: list[Tensor | None] = []
    for index, (source, place) in enumerate(zip(sources, places)):
        gradient = found.get(place)
        if gradient is None and not unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {index} appears to not have been used in the graph. Set "
                f"allow_unused=True if this is the desired behavior. It is {errors.describe(source)}."
            )
        if gradient is None and materialize_grads:
            gradient = np.zeros_like(source.array)
        gradients.append(
            gradient if gradient is None or isinstance(gradient, Tensor) else new_tensor(gradient)
        )
    return tuple(gradients)


def _many_grads(ends: list[Tensor], sources: list[Tensor], given: Any, create_graph: bool) -> tuple[Any, ...]:
    """The gradients for each of the seeds that ``given`` holds along its first dimension, stacked."""
    given = _several(given)
    each = [
        grad(ends, sources, [one[place] for one in given], True, create_graph, materialize_grads=True)
        for place in range(len(given[0]))
    ]
    return tuple([stack(one) for one in zip(*each)])


def run_backward(
    roots: Sequence[Any],
    seeds: Sequence[Any],
    *,
    retain_graph: bool = False,
    create_graph: bool = False,
    inputs: Iterable[Any] | None = None,
    into_leaves: bool = True,
) -> dict[Any, Any]:
    """Run a backward pass, plain or observed; return the gradient of each of ``inputs``, nodes and leaves.

    ``seeds`` are the gradients of ``roots``: arrays, or tensors under ``create_graph``.
    """
    state = thread.state
    before, state.recording = state.recording, create_graph
    try:
        if inputs is None and not (create_graph or HOOKED or state.listener):
            plain.backward(roots, seeds, retain_graph)
            return {}
        wanted = None if inputs is None else set(inputs)
        watch = Watch(roots, wanted, state.listener, create_graph, retain_graph or create_graph, into_leaves)
        for _ in observed(roots, seeds, watch):
            pass
        return watch.found
    finally:
        state.recording = before


def _several(tensors: Any) -> list[Any]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _seeds(outputs: list[Tensor], given: Any, as_tensors: bool) -> list[Any]:
    """The seeds, the gradients with which the pass begins at the outputs, checked."""
    each = [None] * len(outputs) if given is None else _several(given)
    if len(each) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(each)} gradients")
    return [_seed(place, output, seed, as_tensors) for place, (output, seed) in enumerate(zip(outputs, each))]


def _seed(place: int, output: Tensor, seed: Any, as_tensor: bool) -> Any:
    errors.require_tensor("backward", output, "tensors")
    if not output._requires_grad:
        raise RuntimeError(
            f"element {place} of tensors does not require grad and does not have a grad_fn: nothing that "
            f"{errors.describe(output)} was computed from has requires_grad=True, or no_grad() was on"
        )
    array = output.array
    if seed is None:
        if array.size != 1:
            raise RuntimeError(
                "grad can be implicitly created only for scalar outputs: this one is "
                f"{errors.describe(output)}; reduce it, as with .sum(), or pass gradient= of that shape"
            )
        ones = np.ones_like(array)
        return new_tensor(ones) if as_tensor else ones
    if not isinstance(seed, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(seed).__name__}")
    if seed.array.shape != array.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{place}] has a shape of {seed.shape} and output[{place}] has a "
            f"shape of {output.shape}."
        )
    return seed if as_tensor else seed.array.astype(array.dtype, copy=False)


_absent = absent("torch.autograd")


def __getattr__(name: str) -> Any:
    if name == "functional":  # it imports autokit.func, and is imported when it is first used
        from autokit.autograd.functional import jacobian  # noqa: F401 - importing it binds the file's name

        return globals()[name]
    return _absent(name)


from autokit.autograd import function, grad_mode, graph, variable  # noqa: E402 - they need the functions above
from autokit.autograd.gradcheck import gradcheck, gradgradcheck  # noqa: E402
