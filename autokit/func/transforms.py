"""Transforms in reverse mode: from a function, those that compute its gradient, Jacobian or Hessian."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from autokit.engine.tensor import Tensor, new_tensor
from autokit.func.level import Argnums, Entered, Level, basis, derivative, outputs_of
from autokit.func.trees import flatten, unflatten
from autokit.ops.join import stack


def grad_and_value(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that gives both the gradient of ``func`` and its value; see :func:`grad`.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.func.grad_and_value(lambda x: x**2)(torch.tensor(3.0))
    (tensor(6.), tensor(9.))
    """

    @wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        with Level() as level:
            entered = Entered(level, args, argnums, "grad")
            outputs, structure, aux = outputs_of("grad", func(*entered.args, **kwargs), has_aux)
            if structure is not None or outputs[0].array.ndim:
                what = "a container" if structure else f"a tensor of {outputs[0].array.ndim} dimensions"
                raise RuntimeError(
                    f"grad differentiates a function that returns one number, and this one returned {what}; "
                    "use vjp or jacrev for several numbers"
                )
            one = new_tensor(np.ones_like(outputs[0].array))
            found = derivative(outputs, entered.leaves, [one], level.is_watched(outputs))
            gradients = level.leave(unflatten(found, entered.structure))
            return gradients, level.leave((outputs[0], aux) if has_aux else outputs[0])

    return differentiated


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the gradient of ``func``, which returns one number.

    Parameters
    ----------
    func : callable
        Returns a tensor without dimensions; or, with ``has_aux``, a pair of it and anything else.
    argnums : int or tuple of int
        By which positional arguments to differentiate; they may be tensors or nested containers of tensors.
    has_aux : bool
        Return the second part of what ``func`` returns, too.

    Returns
    -------
    callable
        Takes what ``func`` takes. Gradients have the structure of the argument, or are a tuple where
        ``argnums`` is one.

    Raises
    ------
    RuntimeError
        If ``func`` returns no tensor or one with dimensions.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.func import grad
    >>> grad(torch.sin)(torch.tensor(0.0)), grad(grad(lambda x: x**3))(torch.tensor(2.0))
    (tensor(1.), tensor(12.))
    """
    both = grad_and_value(func, argnums, has_aux)

    @wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        gradients, value = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return differentiated


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """``func(*primals)``, and the function that multiplies a vector with its Jacobian from the left.

    Parameters
    ----------
    func : callable
        Returns a tensor, or nested containers of tensors.
    *primals
        Its arguments: tensors, or nested containers of them.
    has_aux : bool
        ``func`` returns a pair, whose second part is returned and not differentiated.

    Returns
    -------
    output, vjp_fn, and aux with ``has_aux``
        ``vjp_fn`` takes cotangents, which are tensors of the structure and the shapes of the output, and
        returns a tuple of gradients, one for each of ``primals``.

    Examples
    --------
    >>> import autokit as torch
    >>> y, pull = torch.func.vjp(torch.sin, torch.zeros(2))
    >>> pull(torch.tensor([1.0, 2.0]))
    (tensor([1., 2.]),)
    """
    with Level() as level:
        entered = Entered(level, primals, tuple(range(len(primals))), "vjp")
        outputs, structure, aux = outputs_of("vjp", func(*entered.args), has_aux)

    def pull(cotangents: Any) -> Any:
        given, form = flatten(cotangents)
        if form != structure:
            raise RuntimeError(
                "the cotangents must have the structure of the outputs: there are "
                f"{len(outputs)} outputs and {len(given)} cotangents"
            )
        with Level() as calling:  # the caller may be inside of another level
            record = calling.is_watched([*outputs, *given])
            found = derivative(outputs, entered.leaves, given, record)
            return calling.leave(unflatten(found, entered.structure))

    output = level.leave(unflatten(outputs, structure))
    return (output, pull, level.leave(aux)) if has_aux else (output, pull)


def jacrev(func: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the Jacobian of ``func``, row by row: a backward pass for each output element.

    Parameters
    ----------
    func : callable
        Returns a tensor, or nested containers of tensors.
    argnums : int or tuple of int
        By which positional arguments.
    has_aux : bool
        ``func`` returns a pair, whose second part is returned and not differentiated.

    Returns
    -------
    callable
        Its results have the structure of the output, with the structure of the arguments inside, and the
        shape of the output followed by that of the argument.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.func.jacrev(lambda x: x**2)(torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    def rows(output: Tensor, inputs: list[Tensor], record: bool) -> list[Tensor]:
        each = [derivative([output], inputs, [seed], record) for seed in basis(output)]
        return [joined([row[place] for row in each], output, one, 0) for place, one in enumerate(inputs)]

    return jacobian_by(rows, "jacrev", func, argnums, has_aux)


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The function that gives the second derivatives of ``func``: the Jacobian of its Jacobian.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.func.hessian(lambda x: x[0] ** 2 * x[1])(torch.tensor([1.0, 2.0]))
    tensor([[4., 2.],
            [2., 0.]])
    """
    return jacrev(jacrev(func, argnums), argnums)


def joined(parts: list[Tensor], output: Tensor, input: Tensor, dim: int) -> Tensor:
    """The rows, or columns, of a Jacobian in one tensor of the shape of ``output`` and then of ``input``."""
    shape = (*output.array.shape, *input.array.shape)
    if not parts:
        return new_tensor(np.zeros_like(output.array, shape=shape))
    return stack(parts, dim).reshape(shape)


def jacobian_by(
    parts: Callable[[Tensor, list[Tensor], bool], list[Tensor]],
    name: str,
    func: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
) -> Callable[..., Any]:
    """The function that gives the Jacobian of ``func``; ``parts`` computes it for one output."""

    @wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        with Level() as level:
            entered = Entered(level, args, argnums, name)
            outputs, structure, aux = outputs_of(name, func(*entered.args, **kwargs), has_aux)
            record = level.is_watched(outputs)
            blocks = [
                unflatten(parts(output, entered.leaves, record), entered.structure) for output in outputs
            ]
            found = level.leave(unflatten(blocks, structure))
            return (found, level.leave(aux)) if has_aux else found

    return differentiated
