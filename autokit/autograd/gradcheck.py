"""Gradients are compared with differences: :func:`gradcheck`; :func:`gradgradcheck` for second derivatives.

The central difference (f(x + h) − f(x − h)) / 2h approximates each element of a Jacobian up to a multiple of
h².
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.autograd import grad as gradient_of
from autokit.base import errors
from autokit.base.devices import beside, to_numpy
from autokit.base.missing import absent
from autokit.engine.tensor import Tensor, new_tensor

__getattr__ = absent("torch.autograd.gradcheck")

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """A gradient differs from the central differences, or is no valid gradient."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
) -> bool:
    """Whether the gradient of ``func`` at ``inputs`` is what central differences give.

    For every output and every input that requires grad the whole Jacobian is computed in both ways; they
    agree where |analytical − numerical| ≤ ``atol`` + ``rtol`` · |numerical|. Also, the backward pass must
    give the same twice, and zeros where zeros arrive.

    Parameters
    ----------
    func : callable
        Takes ``inputs`` and returns a tensor or a tuple of them.
    inputs : tensor or tuple
        In float64; differences of less precise numbers tell little.
    eps : float
        How far each element is moved to either side.
    atol, rtol : float
        The absolute and relative tolerance.
    raise_exception : bool
        Raise, in place of returning False.
    nondet_tol : float
        By how much two runs of the backward pass may differ.

    Raises
    ------
    GradcheckError
        If they disagree; it names the input, the element and both numbers.
    ValueError
        If no input requires grad.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(lambda x: x.exp() * x, x)
    True
    """
    given = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    try:
        _Check(func, given, eps, atol, rtol).run(nondet_tol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def central_differences(evaluate: Callable[[], Any], array: Any, step: float) -> list[Any]:
    """How fast ``evaluate()`` changes with each element of ``array``, which is moved and put back."""
    places = np.ndindex(array.shape)
    return [
        (_moved(evaluate, array, each, step) - _moved(evaluate, array, each, -step)) / (2 * step)
        for each in places
    ]


def _moved(evaluate: Callable[[], Any], array: Any, place: tuple[int, ...], by: float) -> Any:
    """``evaluate()`` while one element is larger by ``by``."""
    before = array[place].item()
    array[place] = before + by  # the version counter need not count it: the old value returns
    try:
        return evaluate()
    finally:
        array[place] = before


class _Check:
    """The check of one function at one point."""

    def __init__(
        self, func: Callable[..., Any], inputs: tuple[Any, ...], eps: float, atol: float, rtol: float
    ) -> None:
        self.func, self.inputs, self.eps, self.atol, self.rtol = func, inputs, eps, atol, rtol
        self.places = [place for place, one in enumerate(inputs) if getattr(one, "requires_grad", False)]
        self.learning = [inputs[place] for place in self.places]
        if not self.places:
            raise ValueError("gradcheck expects at least one input tensor with requires_grad=True")
        for one in self.learning:
            if one.array.dtype != np.float64:
                warnings.warn(
                    "gradcheck will likely fail where an input is not of double precision: "
                    f"{errors.describe(one)}; make it with dtype=torch.float64",
                    stacklevel=4,
                )

    def outputs(self) -> tuple[Any, ...]:
        result = self.func(*self.inputs)
        return tuple(result) if isinstance(result, tuple | list) else (result,)

    def gradients(self, output: Tensor, seed: np.ndarray) -> list[np.ndarray]:
        """The gradient of ``output`` by each input that requires grad."""
        sent = new_tensor(beside(seed, output.array))
        found = gradient_of(output, self.learning, sent, retain_graph=True, materialize_grads=True)
        return [to_numpy(one.array) for one in found if one is not None]

    def analytical(self, output: Tensor) -> list[np.ndarray]:
        """The Jacobian of ``output`` by each input: a row for each element of the input."""
        size, shape = output.array.size, output.array.shape
        basis = np.eye(size, dtype=output.array.dtype).reshape(size, *shape)
        columns = [self.gradients(output, seed) for seed in basis]
        return [
            np.stack([column[at].reshape(-1) for column in columns], 1)
            if columns
            else np.zeros((one.array.size, 0))
            for at, one in enumerate(self.learning)
        ]

    def numerical(self, tensor: Tensor, slot: int) -> np.ndarray:
        """The Jacobian of the output at ``slot`` by ``tensor``, whose elements are moved one by one."""
        rows = central_differences(lambda: self.numbers(slot), tensor.array, self.eps)
        return np.stack(rows) if rows else np.zeros((0, self.numbers(slot).size))

    def numbers(self, slot: int) -> np.ndarray:
        """The elements of the output at ``slot``."""
        return to_numpy(self.outputs()[slot].array).astype(np.float64).reshape(-1)

    def run(self, nondet_tol: float) -> None:
        """Compare both Jacobians of each output by each input."""
        for slot, output in enumerate(self.outputs()):
            if not isinstance(output, Tensor):
                raise TypeError(f"gradcheck: the function returned {type(output).__name__}, and not a tensor")
            if output.array.dtype.kind != "f":
                continue
            if not output._requires_grad:
                self.check_constant(slot)
                continue
            first, second = self.analytical(output), self.analytical(output)
            for place, tensor, one, other in zip(self.places, self.learning, first, second):
                if one.size and np.abs(one - other).max() > nondet_tol:
                    raise GradcheckError(
                        f"two backward passes differ by {np.abs(one - other).max():.3g}, for output {slot} "
                        f"and input {place}"
                    )
                differences = self.numerical(tensor, slot)
                if not np.allclose(one, differences, self.rtol, self.atol):
                    raise GradcheckError(self.mismatch(slot, place, one, differences))
            zeros = self.gradients(output, np.zeros(output.array.shape, output.array.dtype))
            if any([found.any() for found in zeros]):
                raise GradcheckError(f"zeros sent back to output {slot} do not arrive as zeros")

    def check_constant(self, slot: int) -> None:
        """Raise if the output at ``slot``, and no other one either, requires grad but changes."""
        if any([getattr(output, "_requires_grad", False) for output in self.outputs()]):
            return
        if any([self.numerical(one, slot).any() for one in self.learning]):
            raise GradcheckError(
                f"output {slot} does not require grad, but it changes with the inputs. The graph is cut, as "
                "by .detach(), .item() or no_grad()"
            )

    def mismatch(self, slot: int, place: int, one: np.ndarray, differences: np.ndarray) -> str:
        """What is wrong, where it is worst, and what the mistake may be."""
        tensor, output = self.inputs[place], self.outputs()[slot]
        wrong = ~np.isclose(one, differences, self.rtol, self.atol)
        size = np.nan_to_num(np.abs(one - differences), nan=np.inf, posinf=np.inf)
        row, column = np.unravel_index(np.where(wrong, size, -1).argmax(), one.shape)
        where = [int(at) for at in np.unravel_index(row, tensor.array.shape)]
        which = [int(at) for at in np.unravel_index(column, output.array.shape)]
        return (
            f"Jacobian mismatch for output {slot} with respect to input {place},\n"
            f"numerical:{differences}\nanalytical:{one}\n"
            f"{wrong.sum()} of {wrong.size} entries disagree. Worst: the derivative of output {slot} at "
            f"{which} by input {place}, {errors.describe(tensor)}, at {where} is "
            f"{differences[row, column]:.6g} by differences, and backward gives {one[row, column]:.6g}."
            + self.guess(tensor, slot, tuple(where), int(column), one, differences)
        )

    def guess(
        self, tensor: Tensor, slot: int, place: tuple[int, ...], column: int, one: Any, differences: Any
    ) -> str:
        """What the mistake may be."""
        if tensor.array.dtype != np.float64:
            return f" The input is {tensor.dtype.name}: differences of {self.eps} are lost in its rounding."
        left, here, right = (
            _moved(lambda: self.numbers(slot), tensor.array, place, by)[column]
            for by in (-self.eps, 0.0, self.eps)
        )
        before = (here - left) / self.eps
        after = (right - here) / self.eps
        if abs(after - before) > 0.01 * (1 + abs(after)):
            return (
                f" There is a kink or a jump: the slope is {before:.6g} before it, and {after:.6g} after it."
            )
        both = (differences != 0) & np.isfinite(one)
        ratio = one[both] / differences[both]
        if ratio.size and np.ptp(ratio) < 1e-3 and not np.any(one[~both]):
            return f" Backward gives {ratio.mean():.4g} times the right value everywhere."
        return ""


def gradgradcheck(func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, **settings: Any) -> bool:
    """Whether the second derivatives of ``func`` at ``inputs`` are what differences of the first give.

    Parameters
    ----------
    func, inputs
        As in :func:`gradcheck`.
    grad_outputs : tensor or tuple of tensors, optional
        The gradients that are sent back; random numbers from −1 to 1 if left out.
    **settings
        The settings of :func:`gradcheck`, which see also for what it raises.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(lambda x: x.exp() * x, x)
    True
    """
    given = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    learning = [place for place, one in enumerate(given) if getattr(one, "requires_grad", False)]

    def outputs_of(*args: Any) -> list[Tensor]:
        result = func(*args)
        each = result if isinstance(result, tuple | list) else (result,)
        return [one for one in each if one._requires_grad]

    if grad_outputs is None:
        sent = tuple([one.detach().clone().uniform_(-1, 1).requires_grad_() for one in outputs_of(*given)])
    else:
        sent = tuple(grad_outputs) if isinstance(grad_outputs, tuple | list) else (grad_outputs,)

    def first(*args: Any) -> tuple[Tensor, ...]:
        args, seeds = args[: len(given)], args[len(given) :]
        sources = [args[place] for place in learning]
        found = gradient_of(outputs_of(*args), sources, seeds, create_graph=True, allow_unused=True)
        return tuple([one for one in found if one is not None])

    return gradcheck(first, (*given, *sent), **settings)
