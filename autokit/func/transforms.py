"""Functions made from functions: gradients, products with Jacobians, Jacobians and Hessians.

Each transform opens a :class:`~autokit.func.levels.Level`.  The inputs that it
differentiates by enter the level as tensors of its own, which stand for the
caller's; whatever else the function uses is a constant to this level.  Since derivatives are
computed by recorded operations wherever somebody outside may want to
differentiate them again, levels nest to any depth.

References
----------
B. A. Pearlmutter and J. M. Siskind, "Reverse-mode AD in a functional
framework: Lambda the ultimate backpropagator", TOPLAS 30(2), 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from itertools import islice
from typing import Any

import numpy as np

from autokit.devices import made_beside
from autokit.func.calls import basis, zeros
from autokit.func.levels import Argnums, Entered, Level, outputs_of, tensors_of
from autokit.func.tangents import ForwardLevel, require_numbers_that_move
from autokit.func.trees import flatten, unflatten
from autokit.ops.complex_numbers import is_complex
from autokit.ops.join import stack
from autokit.tensor import Tensor, new_tensor


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
            output, aux = outputs_of("grad_and_value", func(*entered.args, **kwargs), has_aux)
            if not isinstance(output, Tensor):
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a tensor, got "
                    f"{type(output).__name__}"
                )
            if output.array.ndim:
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor with "
                    f"{output.array.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            one = new_tensor(made_beside(np.ones_like, output.array))
            record = level.is_watched([output])
            found = level.derivative([output], entered.leaves, [one], record)
            gradients = level.leave(unflatten(found, entered.structure))
            return gradients, level.leave((output, aux) if has_aux else output)

    return differentiated


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the gradient of ``func``, which returns one number.

    Parameters
    ----------
    func : callable
        Returns a tensor without dimensions; or, with ``has_aux``, a pair of it and anything else.
    argnums : int or tuple of int
        By which positional arguments; each may be a tensor or nested containers of them.
    has_aux : bool
        Return the second part of what ``func`` returns, too.

    Returns
    -------
    callable
        Takes what ``func`` takes.  Gradients have the structure of the
        argument, or are a tuple where ``argnums`` is one.

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
        ``func`` returns a pair, whose second part is only handed on.

    Returns
    -------
    output, vjp_fn, and aux with ``has_aux``
        ``vjp_fn`` takes cotangents of the structure of the output, and returns
        a tuple of gradients, one for each of ``primals``.

    Examples
    --------
    >>> import autokit as torch
    >>> y, pull = torch.func.vjp(torch.sin, torch.zeros(2))
    >>> pull(torch.tensor([1.0, 2.0]))
    (tensor([1., 2.]),)
    """
    if not primals:
        raise RuntimeError("vjp(f, *primals): expected at least one primal to differentiate by")
    with Level() as level:
        entered = Entered(level, primals, tuple(range(len(primals))), "vjp")
        result, aux = outputs_of("vjp", func(*entered.args), has_aux)
        outputs, structure = tensors_of("vjp(f, *primals)", result)

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given, form = flatten(cotangents)
        if form != structure:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to "
                f"the function: there are {len(outputs)} outputs and {len(given)} cotangents"
            )
        # Whoever calls may be inside of another level than the one that made this.
        with Level() as calling:
            record = calling.is_watched([*outputs, *given])
            found = level.derivative(outputs, entered.leaves, given, record)
            return calling.leave(unflatten(found, entered.structure))

    output = level.leave(unflatten(outputs, structure))
    return (output, pull, level.leave(aux)) if has_aux else (output, pull)


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> Any:
    """``func(*primals)``, and its derivative along ``tangents``: the Jacobian times that vector.

    It is made in forward mode; see :mod:`autokit.func.tangents`.

    Parameters
    ----------
    func : callable
        Returns a tensor, or nested containers of tensors.
    primals, tangents : tuple
        The arguments, and a direction for each, of the same structure and shapes.
    strict : bool
        Accepted for PyTorch's sake.
    has_aux : bool
        ``func`` returns a pair, whose second part is only handed on.

    Returns
    -------
    output, jvp_output, and aux with ``has_aux``

    Examples
    --------
    >>> import autokit as torch
    >>> torch.func.jvp(torch.sin, (torch.tensor(0.0),), (torch.tensor(2.0),))
    (tensor(0.), tensor(2.))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"jvp(f, primals, tangents): Expected primals to be a tuple, got {type(primals).__name__}"
        )
    if not isinstance(tangents, tuple):
        raise RuntimeError(
            f"jvp(f, primals, tangents): Expected tangents to be a tuple, got {type(tangents).__name__}"
        )
    directions, form = flatten(tangents)
    with Level(forward=True) as level:
        entered = Entered(level, primals, tuple(range(len(primals))), "jvp")
        if form != entered.structure:
            raise RuntimeError(
                "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure"
            )
        for primal, direction in zip(entered.leaves, directions):
            if not isinstance(direction, Tensor) or direction.array.shape != primal.array.shape:
                raise RuntimeError(
                    "jvp(f, primals, tangents): Expected each tangent to be a tensor of the shape of its "
                    f"primal, {list(primal.array.shape)}, got {list(getattr(direction, 'shape', ()))}"
                )
        with ForwardLevel() as forward:
            for primal, direction in zip(entered.leaves, directions):
                require_numbers_that_move("primal", primal)
                require_numbers_that_move("tangent", direction)
                forward.note(primal, [direction])
            result, aux = outputs_of("jvp", func(*entered.args), has_aux)
            outputs, structure = tensors_of("jvp(f, primals, tangents)", result)
            products = [moving[0] for moving in forward.found(outputs)]
        found = level.leave((unflatten(outputs, structure), unflatten(products, structure)))
        return (*found, level.leave(aux)) if has_aux else found


def jacrev(
    func: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[..., Any]:
    """The function that gives the Jacobian of ``func``, row by row: a reverse pass for each output element.

    Parameters
    ----------
    func : callable
        Returns a tensor, or nested containers of tensors.
    argnums : int or tuple of int
        By which positional arguments.
    has_aux : bool
        ``func`` returns a pair, whose second part is only handed on.
    chunk_size : int, optional
        Accepted for PyTorch's sake: one row at a time needs the least memory.

    Returns
    -------
    callable
        Its results have the structure of the output, with the structure of
        the arguments inside, and the shape of the output followed by that of
        the argument.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.func.jacrev(lambda x: x**2)(torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    def rows(call: Callable[[], list[Tensor]], level: Level, inputs: list[Tensor]) -> Any:
        outputs = call()
        record = level.is_watched(outputs)
        made = []
        for output in outputs:
            each = [level.derivative([output], inputs, [seed], record) for seed in basis(output)]
            made.append(
                [_joined([row[place] for row in each], output, own, 0) for place, own in enumerate(inputs)]
            )
        return outputs, made

    return _jacobian("jacrev", func, argnums, has_aux, rows)


def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """The function that gives the Jacobian of ``func``, column by column: see :func:`jvp` and :func:`jacrev`.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.func.jacfwd(lambda x: x.sum() * x)(torch.tensor([1.0, 2.0]))
    tensor([[4., 1.],
            [2., 5.]])
    """

    def columns(call: Callable[[], list[Tensor]], level: Level, inputs: list[Tensor]) -> Any:
        with ForwardLevel(sum(each.array.size for each in inputs)) as forward:
            along_each(forward, inputs)
            outputs = call()
            return outputs, columns_of(forward, outputs, inputs)

    return _jacobian("jacfwd", func, argnums, has_aux, columns, forward=True)


def along_each(forward: ForwardLevel, inputs: Sequence[Tensor]) -> None:
    """Let each element of ``inputs`` move in a direction of its own."""
    before = 0
    for input in inputs:
        require_numbers_that_move("primal", input)
        alone: list[Tensor | None] = [zeros(input) for _ in range(forward.directions)]
        alone[before : before + input.array.size] = basis(input)
        before += input.array.size
        forward.note(input, alone)


def columns_of(
    forward: ForwardLevel, outputs: Sequence[Tensor], inputs: Sequence[Tensor]
) -> list[list[Tensor]]:
    """For each output the Jacobian by each input, whose elements moved as :func:`along_each` lets them."""
    blocks = []
    for output, columns in zip(outputs, forward.found(outputs)):
        rest = iter(columns)
        blocks.append(
            [_joined(list(islice(rest, own.array.size)), output, own, output.array.ndim) for own in inputs]
        )
    return blocks


def _joined(parts: list[Tensor], output: Tensor, input: Tensor, dim: int) -> Tensor:
    """The rows, or columns, of a Jacobian in one tensor of the shape of ``output`` and then of ``input``."""
    shape = (*output.array.shape, *input.array.shape)
    if not parts:
        return new_tensor(made_beside(np.zeros_like, output.array, shape=shape))
    return stack(parts, dim).reshape(shape)


def _jacobian(
    name: str,
    func: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    parts: Callable[[Callable[[], list[Tensor]], Level, list[Tensor]], Any],
    forward: bool = False,
) -> Callable[..., Any]:
    @wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        aux = structure = None
        with Level(forward) as level:
            entered = Entered(level, args, argnums, name)
            _refuse_complex(name, "inputs", entered.leaves)

            def call() -> list[Tensor]:
                nonlocal aux, structure
                result, aux = outputs_of(name, func(*entered.args, **kwargs), has_aux)
                outputs, structure = tensors_of(f"{name}(f, ...)(*args)", result)
                _refuse_complex(name, "outputs", outputs)
                for output in outputs:
                    if output.array.dtype.kind in "bui":
                        raise RuntimeError(
                            f"{name}(f, ...): All outputs of f must be floating-point or complex Tensors, "
                            f"got Tensor with dtype {output.dtype}"
                        )
                return outputs

            _, rows = parts(call, level, entered.leaves)
            blocks = [unflatten(row, entered.structure) for row in rows]
            found = level.leave(unflatten(blocks, structure))
            return (found, level.leave(aux)) if has_aux else found

    return differentiated


def _refuse_complex(name: str, what: str, tensors: list[Tensor]) -> None:
    """Raise where one of the ``tensors`` is complex: a table of slopes has one number for each pair."""
    for place, each in enumerate(tensors):
        if is_complex(each):
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened input idx: "
                f"{place}. Take torch.view_as_real(z) for z; vjp and jvp know complex numbers"
            )


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The function that gives the second derivatives of ``func``: ``jacfwd(jacrev(func))``.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.func.hessian(lambda x: x[0] ** 2 * x[1])(torch.tensor([1.0, 2.0]))
    tensor([[4., 2.],
            [2., 0.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
