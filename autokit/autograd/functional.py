"""Jacobians, Hessians and products with them at given inputs, as ``torch.autograd.functional``.

Each function calls ``func`` once, on tensors that stand for the inputs, and follows the graph of that call:
backward for vᵀJ, forward for J·v, and along the graph of the gradient for the Hessian.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autokit.base.missing import absent
from autokit.engine.modes import enable_grad
from autokit.engine.tensor import Tensor
from autokit.func.forward import along
from autokit.func.level import basis, derivative, zeros
from autokit.func.transforms import joined

__getattr__ = absent("torch.autograd.functional")

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vjp"]

Tensors = Tensor | tuple[Tensor, ...]


class _Call:
    """One call of ``func``: tensors that stand for its inputs, and its outputs."""

    def __init__(self, name: str, func: Callable[..., Any], inputs: Any, create_graph: bool) -> None:
        self.name, self.create_graph = name, create_graph
        self.of_tuple, given = _as_tuple(inputs, "inputs", name)
        # New tensors, so that the same ones used by func directly are constants.
        self.inputs = [
            one.view_as(one) if create_graph and one._requires_grad else one.detach().requires_grad_()
            for one in given
        ]
        self.to_tuple, self.outputs = _as_tuple(func(*self.inputs), "outputs of the function", name)

    def vector(self, v: Any, like: Any) -> tuple[Tensor, ...]:
        """The vector ``v``, checked against the tensors ``like``; 1 where it may be left out."""
        if v is None:
            if len(like) != 1 or like[0].array.size != 1:
                raise RuntimeError(f"{self.name}: v may be left out only for a single number")
            return (zeros(like[0]) + 1,)
        _, given = _as_tuple(v, "v", self.name)
        shapes = [list(one.shape) for one in given], [list(one.shape) for one in like]
        if shapes[0] != shapes[1]:
            raise RuntimeError(f"{self.name}: v has the shapes {shapes[0]}, and should have {shapes[1]}")
        return given if self.create_graph else tuple([one.detach() for one in given])

    def gradient(self, outputs: Any, seeds: Any, record: bool) -> list[Tensor]:
        """The gradient of ``outputs`` by the inputs."""
        return derivative(outputs, self.inputs, seeds, record)

    def slope(self) -> list[Tensor]:
        """The gradient of the one number that the function returns, with a graph."""
        if self.to_tuple or self.outputs[0].array.size != 1:
            raise RuntimeError(f"the function given to {self.name} should return a single number")
        return self.gradient(self.outputs, [zeros(self.outputs[0]) + 1], True)

    def finished(self, tensors: Any, as_tuple: bool) -> Any:
        """``tensors`` as the caller gets them: as a tuple or alone, and without a graph if none is wanted."""
        out = tuple([one if self.create_graph else one.detach() for one in tensors])
        return out if as_tuple else out[0]


def _as_tuple(value: Any, what: str, name: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Whether ``value`` is a tuple, and its tensors as a tuple, also if it is a single one."""
    given = value if isinstance(value, tuple) else (value,)
    for one in given:
        if not isinstance(one, Tensor):
            raise TypeError(
                f"The {what} given to {name} must be a Tensor or a tuple of Tensors, got {type(one).__name__}"
            )
    return isinstance(value, tuple), given


@enable_grad()
def vjp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
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

    Examples
    --------
    >>> import autokit as torch
    >>> torch.autograd.functional.vjp(torch.sin, torch.zeros(2), torch.tensor([1.0, 2.0]))
    (tensor([0., 0.]), tensor([1., 2.]))
    """
    call = _Call("vjp", func, inputs, create_graph)
    found = call.gradient(call.outputs, call.vector(v, call.outputs), create_graph)
    return call.finished(call.outputs, call.to_tuple), call.finished(found, call.of_tuple)


@enable_grad()
def jvp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, and J·v: its Jacobian times ``v``, a vector like the inputs; see :func:`vjp`.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.autograd.functional.jvp(lambda x: x.sum() * x, torch.ones(2), torch.tensor([1.0, 0.0]))
    (tensor([2., 2.]), tensor([3., 1.]))
    """
    call = _Call("jvp", func, inputs, create_graph)
    found = along(call.outputs, call.inputs, call.vector(v, call.inputs), create_graph)
    return call.finished(call.outputs, call.to_tuple), call.finished(found, call.to_tuple)


@enable_grad()
def hvp(
    func: Callable[..., Any],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, one number, and H·v: its Hessian times ``v``."""
    call = _Call("hvp", func, inputs, create_graph)
    found = along(call.slope(), call.inputs, call.vector(v, call.inputs), create_graph)
    return call.finished(call.outputs, call.to_tuple), call.finished(found, call.of_tuple)


@enable_grad()
def jacobian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    *,
    vectorize: bool = False,
) -> Any:
    """The Jacobian of ``func`` at ``inputs``: of the shape of the output, followed by that of the input.

    Parameters
    ----------
    func, inputs, create_graph
        As in :func:`vjp`.
    vectorize : bool
        Without effect: rows are computed one by one.

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
    call = _Call("jacobian", func, inputs, create_graph)
    blocks = []
    for output in call.outputs:
        rows = [call.gradient([output], [seed], create_graph) for seed in basis(output)]
        whole = [joined([row[at] for row in rows], output, one, 0) for at, one in enumerate(call.inputs)]
        blocks.append(call.finished(whole, call.of_tuple))
    return tuple(blocks) if call.to_tuple else blocks[0]


def hessian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    *,
    vectorize: bool = False,
) -> Any:
    """The second derivatives of ``func``, which returns one number, at ``inputs``; see :func:`jacobian`.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.autograd.functional.hessian(lambda x: x[0] ** 2 * x[1], torch.tensor([1.0, 2.0]))
    tensor([[4., 2.],
            [2., 0.]])
    """
    of_tuple, given = _as_tuple(inputs, "inputs", "hessian")

    def slope(*inputs: Tensor) -> tuple[Tensor, ...]:
        call = _Call("hessian", func, inputs, True)
        return tuple(call.slope())

    found = jacobian(slope, given, create_graph)
    return found if of_tuple else found[0][0]
