"""Products with Jacobians and Hessians, and the whole matrices, of a function at given inputs.

``torch.func`` has the same as functions made from functions; here each call
takes the inputs too.  Results carry a graph only under ``create_graph=True``.

J·v is made in forward mode; see :mod:`autokit.func.forward`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.autograd.modes import inference_mode
from autokit.func.calls import Call, as_tuple, basis, forward, own
from autokit.func.tangents import ForwardLevel
from autokit.func.transforms import along_each, columns_of
from autokit.ops.complex_numbers import is_complex
from autokit.ops.join import stack
from autokit.tensor import Tensor, new_tensor

Tensors = Tensor | tuple[Tensor, ...]


@inference_mode(False)
def vjp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, and vᵀJ: the vector ``v`` times its Jacobian.

    Parameters
    ----------
    func : callable
        Takes tensors, and returns a tensor or a tuple of them.
    inputs : tensor or tuple of tensors
        Where to differentiate.
    v : tensor or tuple of tensors, optional
        Of the shapes of the outputs; 1 for a single element.
    create_graph : bool
        Let the results be differentiable themselves.
    strict : bool
        Raise where an output does not depend on an input, in place of giving zeros.

    Raises
    ------
    RuntimeError
        If ``v`` does not fit, and as ``strict`` says.
    TypeError
        If an input or output is no tensor.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.autograd.functional.vjp(torch.sin, torch.zeros(2), torch.tensor([1.0, 2.0]))
    (tensor([0., 0.]), tensor([1., 2.]))
    """
    call = Call("vjp", func, inputs, create_graph, strict)
    seeds = call.vector(v, call.outputs, call.to_tuple, "the user-provided function returns")
    found = call.gradient(call.outputs, call.inputs, seeds, create_graph)
    return call.finished(call.outputs, call.to_tuple), call.finished(found, call.of_tuple)


@inference_mode(False)
def jvp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, and J·v: its Jacobian times ``v``, a vector like the inputs; see :func:`vjp`.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.autograd.functional.jvp(lambda x: x.sum() * x, torch.ones(2), torch.tensor([1.0, 0.0]))
    (tensor([2., 2.]), tensor([3., 1.]))
    """
    call = Call("jvp", func, inputs, create_graph, strict)
    along = call.vector(v, call.inputs, call.of_tuple, "the input to the user-provided function is")
    found = forward(call, call.outputs, along)
    return call.finished(call.outputs, call.to_tuple), call.finished(found, call.to_tuple)


@inference_mode(False)
def vhp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, one number, and vᵀH: the vector ``v`` times its Hessian; see :func:`vjp`.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), torch.ones(2), torch.tensor([1.0, 2.0]))
    (tensor(2.), tensor([ 6., 12.]))
    """
    call = Call("vhp", func, inputs, create_graph, strict)
    seeds = call.vector(v, call.inputs, call.of_tuple, "the input to the user-provided function is")
    found = call.gradient(call.slope(), call.inputs, seeds, create_graph, "The jacobian")
    return call.finished(call.outputs, call.to_tuple), call.finished(found, call.of_tuple)


@inference_mode(False)
def hvp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, one number, and H·v: its Hessian times ``v``.

    It equals :func:`vhp`, which needs one pass less, where the second
    derivatives are continuous.
    """
    call = Call("hvp", func, inputs, create_graph, strict)
    along = call.vector(v, call.inputs, call.of_tuple, "the input to the user-provided function is")
    found = forward(call, call.slope(), along)
    return call.finished(call.outputs, call.to_tuple), call.finished(found, call.of_tuple)


@inference_mode(False)
def jacobian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of ``func`` at ``inputs``: of the shape of the output, followed by that of the input.

    Parameters
    ----------
    func, inputs, create_graph, strict
        As in :func:`vjp`.
    vectorize : bool
        Accepted for PyTorch's sake: rows are computed one by one.
    strategy : {"reverse-mode", "forward-mode"}
        Whether rows or columns are computed; columns also through what ``no_grad`` does not record.

    Returns
    -------
    tensor, or tuple, or tuple of tuples
        A tuple for several outputs, and in it, or alone, one for several inputs.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.autograd.functional.jacobian(lambda x: x**2, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    if strategy == "forward-mode" and create_graph:
        raise NotImplementedError(
            '`create_graph=True` and `strategy="forward-mode"` are not supported together. Please either set '
            '`create_graph=False` or `strategy="reverse-mode"`.'
        )
    if vectorize and strict:
        raise RuntimeError("`strict=True` and `vectorize=True` are not supported together.")
    if strategy == "forward-mode":
        return _by_columns(func, inputs)
    call = Call("jacobian", func, inputs, create_graph, strict)
    blocks = []
    for output in call.outputs:
        if is_complex(output):
            raise RuntimeError(
                f"grad can be implicitly created only for real scalar outputs but got {output.dtype!r}: let "
                "the function return torch.view_as_real(z) for z"
            )
        rows = [call.gradient([output], call.inputs, [seed], create_graph) for seed in basis(output)]
        shapes = [(*output.array.shape, *own.array.shape) for own in call.inputs]
        whole = [
            stack([row[place] for row in rows]).reshape(shape)
            if rows
            else new_tensor(np.zeros(shape, output.array.dtype))
            for place, shape in enumerate(shapes)
        ]
        blocks.append(call.finished(tuple(whole), call.of_tuple))
    return tuple(blocks) if call.to_tuple else blocks[0]


def _by_columns(func: Callable[..., Any], inputs: Tensors) -> Any:
    """The Jacobian in forward mode, which looks through ``no_grad`` as well."""
    of_tuple, given = as_tuple(inputs, "inputs", "jacobian")
    own_inputs = [own(each) for each in given]
    with ForwardLevel(sum(each.array.size for each in given)) as forward:
        along_each(forward, own_inputs)
        to_tuple, outputs = as_tuple(func(*own_inputs), "outputs of the user-provided function", "jacobian")
        blocks = columns_of(forward, outputs, own_inputs)
    rows = [tuple([each.detach() for each in row]) for row in blocks]
    found = tuple([row if of_tuple else row[0] for row in rows])
    return found if to_tuple else found[0]


def hessian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of ``func``, which returns one number, at ``inputs``; see :func:`jacobian`.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.autograd.functional.hessian(lambda x: x[0] ** 2 * x[1], torch.tensor([1.0, 2.0]))
    tensor([[4., 2.],
            [2., 0.]])
    """
    of_tuple, given = as_tuple(inputs, "inputs", "hessian")

    def number(*inputs: Tensor) -> Tensor:
        output = func(*inputs)
        to_tuple, (*_, last) = as_tuple(output, "outputs of the user-provided function", "hessian")
        if to_tuple or last.array.size != 1:
            raise RuntimeError(
                "The function given to hessian should return a single Tensor that contains a single element"
            )
        return last.reshape(())

    def slope(*inputs: Tensor) -> Any:
        return jacobian(number, inputs, create_graph=True, strict=strict)

    found = jacobian(slope, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found if of_tuple else found[0][0]
