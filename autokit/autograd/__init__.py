"""Automatic differentiation: :func:`backward` and :func:`grad`, and the modes that switch recording.

``engine`` is the method, ``node`` the graph that it walks, ``saved`` what the
rules ask of a node, ``modes`` what each thread is doing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit import missing
from autokit.autograd.engine import run_backward
from autokit.autograd.modes import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from autokit.autograd.node import Node
from autokit.devices import made_beside, module_of
from autokit.ops.ends import tensors_of, wanted
from autokit.ops.errors import describe, flag
from autokit.ops.warn import warn
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import UNUSUAL, thread

_LAZY = {
    "Function": "autokit.autograd.function",
    "Variable": "autokit.tensortypes",
    "detect_anomaly": "autokit.debug.anomaly",
    "enforce_grad_layout_policy": "autokit.idle_modes",
    "forward_ad": "autokit.autograd",
    "function": "autokit.autograd",
    "functional": "autokit.autograd",
    "grad_mode": "autokit.autograd",
    "gradcheck": "autokit.autograd",
    "gradgradcheck": "autokit.func.gradcheck",
    "is_multithreading_enabled": "autokit.idle_modes",
    "set_detect_anomaly": "autokit.debug.anomaly",
    "set_multithreading_enabled": "autokit.idle_modes",
    "variable": "autokit.autograd",
}
"""Names that load more than the engine, and where they are."""


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        home = _LAZY[name]
        return import_module(f"{home}.{name}") if home == __name__ else getattr(import_module(home), name)
    raise missing.error("torch.autograd", name)


__all__ = [
    "Function",
    "Variable",
    "backward",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]

Tensors = Tensor | Sequence[Tensor]


def backward(
    tensors: Tensors,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensors | None = None,
) -> None:
    """Add the gradient of ``tensors`` by every leaf to the leaf's ``.grad``.

    See :meth:`autokit.Tensor.backward`; with several tensors the gradients of
    all are added up.

    Raises
    ------
    RuntimeError
        If a tensor has no graph, the graph was freed, or a gradient to begin
        with is missing or of the wrong shape.
    """
    if create_graph is not False:
        create_graph = _keeps_a_graph(create_graph)
    given_ones, chosen = ([], []) if inputs is None else wanted(inputs, "backward")
    outputs = tensors_of(tensors)
    begin = seeds(outputs, grad_tensors, create_graph)
    for tensor, given in zip(chosen, given_ones):
        if tensor is given:  # and no edge
            tensor.retain_grad()
    run_backward(
        [tensor._node or tensor for tensor in outputs],
        begin,
        inputs=[tensor._node or tensor for tensor in chosen] or None,
        retain_graph=create_graph if retain_graph is None else flag("retain_graph", retain_graph),
        create_graph=create_graph,
    )


def _backward_of_a_tensor(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradient of this tensor by every leaf behind it to the leaf's ``.grad``.

    Parameters
    ----------
    gradient : Tensor, optional
        The gradient to begin with, of this tensor's shape; 1 for a single element.
    retain_graph : bool, optional
        Keep the saved values, so that ``backward`` can run again.
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
    if inputs is not None or not (gradient is None or isinstance(gradient, Tensor)):
        backward(self, gradient, retain_graph, create_graph, inputs)
        return
    if create_graph is not False:
        create_graph = _keeps_a_graph(create_graph)
    begin = _seed(0, self, gradient, create_graph)
    retain = create_graph if retain_graph is None else flag("retain_graph", retain_graph)
    run_backward((self._node or self,), (begin,), retain_graph=retain, create_graph=create_graph)


_backward_of_a_tensor.__name__, _backward_of_a_tensor.__qualname__ = "backward", "Tensor.backward"
setattr(Tensor, "backward", _backward_of_a_tensor)  # noqa: B010 - the type checker knows no such name


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
    outputs, inputs : tensor or sequence of tensors; of ``inputs`` a dict too, which makes one of gradients
    grad_outputs : optional
        The gradient to begin with for each output; 1 for single elements.
    retain_graph : bool, optional
        Keep the saved values; by default as ``create_graph``.
    create_graph : bool
        Record the computation, so that the result can be differentiated again.
    only_inputs : bool
        Accepted for PyTorch's sake: no other gradient is accumulated.
    allow_unused : bool, optional
        Give None for an input that takes no part, in place of an error.
    is_grads_batched : bool
        Each of ``grad_outputs`` holds many along a first dimension, which the results have too.
    materialize_grads : bool
        Give zeros in that case.

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
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    create_graph = flag("create_graph", create_graph)
    unused = flag("allow_unused", materialize_grads if allow_unused is None else allow_unused)
    moving = bool(thread.state.forward) and not create_graph
    if moving:  # operations on tensors carry tangents
        create_graph, retain_graph = True, bool(retain_graph)
    ends, (_, sources) = tensors_of(outputs), wanted(inputs, "grad")
    if is_grads_batched:
        from autokit.func.batching import vmap

        def once(*given: Any) -> tuple[Tensor | None, ...]:
            return grad(ends, sources, given, True, create_graph, materialize_grads=unused)  # no None

        given = tensors_of([None] if grad_outputs is None else grad_outputs)
        return _named(inputs, vmap(once)(*given))
    begin = seeds(ends, grad_outputs, create_graph)
    for source in sources:
        if not source._requires_grad:
            raise RuntimeError(
                "One of the differentiated Tensors does not require grad: "
                f"{describe(source)}; make it with requires_grad=True"
            )
    places = [source._node or source for source in sources]
    found = run_backward(
        [end._node or end for end in ends],
        begin,
        inputs=places,
        retain_graph=create_graph if retain_graph is None else flag("retain_graph", retain_graph),
        create_graph=create_graph,
        into_leaves=False,
    )
    gradients: list[Tensor | None] = []
    for index, (source, place) in enumerate(zip(sources, places)):
        gradient = found.get(place)
        if gradient is None and not unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {index} appears to not have been used in the graph. Set "
                f"allow_unused=True if this is the desired behavior. It is {describe(source)}."
            )
        if gradient is None and materialize_grads:
            gradient = made_beside(np.zeros_like, source.array)
        as_it_is = gradient is None or isinstance(gradient, Tensor)
        gradients.append(gradient if as_it_is else new_tensor(gradient))
    if moving:
        from autokit.func.tangents import apart_from_graph

        return _named(inputs, apart_from_graph(gradients))
    return _named(inputs, tuple(gradients))


def _named(inputs: Any, gradients: tuple[Tensor | None, ...]) -> Any:
    return dict(zip(inputs, gradients)) if isinstance(inputs, dict) else gradients


_warned_of_a_cycle = False


def _keeps_a_graph(create_graph: Any) -> bool:
    """``create_graph`` as a bool; warns, as PyTorch does just once, of what that leaves behind."""
    global _warned_of_a_cycle
    create_graph = flag("create_graph", create_graph)
    if create_graph and not _warned_of_a_cycle:
        _warned_of_a_cycle = True
        warn(
            "Using backward() with create_graph=True will create a reference cycle between the parameter and "
            "its gradient which can cause a memory leak. We recommend using autograd.grad when creating the "
            "graph to avoid this. If you have to use this function, make sure to reset the .grad fields of "
            "your parameters to None after use to break the cycle and avoid the leak."
        )
    return create_graph


def seeds(outputs: list[Tensor], given: Any, as_tensors: bool) -> list[Any]:
    """The gradient that each output begins with, checked."""
    each = [None] * len(outputs) if given is None else [given] if isinstance(given, Tensor) else list(given)
    for gradient in each:
        if gradient is not None and not isinstance(gradient, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
    if len(each) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(each)} gradients")
    return [_seed(place, output, seed, as_tensors) for place, (output, seed) in enumerate(zip(outputs, each))]


def _seed(place: int, output: Tensor, seed: Any, as_tensor: bool) -> Any:
    if not isinstance(output, Tensor):
        raise AssertionError(f"Expected output to be a torch.Tensor, but got {type(output).__name__}")
    node = output._node
    if not output._requires_grad or (node.__class__ is not Node and node is not None and not node.kind):
        raise RuntimeError(
            f"element {place} of tensors does not require grad and does not have a grad_fn: nothing that "
            f"{describe(output)} was made from has requires_grad=True, or it was made under no_grad()"
        )
    if seed is None:
        like = output.array
        shape = like.shape
        if shape and like.size != 1:
            raise RuntimeError(
                "grad can be implicitly created only for scalar outputs: this one is "
                f"{describe(output)}; reduce it, as with .sum(), or pass gradient= of that shape"
            )
        if UNUSUAL:
            if like.dtype.kind == "c":
                raise RuntimeError(
                    "grad can be implicitly created only for real scalar outputs but got "
                    f"{output.dtype!r}: a complex number has no direction to grow in; take the gradient of a "
                    "real number that is made of it, as of .abs() or .real, or pass gradient="
                )
            array = made_beside(np.ones_like, like, order="C")
        else:
            array = (np if like.__class__ is np.ndarray else module_of(like)).empty(shape, like.dtype)
            array.fill(1)  # sooner done than by ones()
        return new_tensor(array) if as_tensor else array
    if seed.array.shape != output.array.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{place}] has a shape of {seed.shape} and "
            f"output[{place}] has a shape of {output.shape}."
        )
    if UNUSUAL and seed.dtype.is_complex != output.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch "
            f"in dtype: grad_output[{place}] has a dtype of {seed.dtype!r} and output[{place}] has a dtype "
            f"of {output.dtype!r}."
        )
    return seed if as_tensor else seed.array.astype(output.array.dtype, copy=False)


from autokit.autograd import graph  # noqa: E402, F401 - needs the functions above
