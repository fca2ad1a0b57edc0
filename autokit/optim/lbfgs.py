"""L-BFGS: Newton's method, with the curvature guessed from the last few steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.autograd.modes import enable_grad, no_grad
from autokit.current_gpu import computing_beside, on_the_chosen_gpu
from autokit.ops.gpu.arrays import is_on_cpu
from autokit.ops.gpu.kernels import fused
from autokit.ops.inplace import refuse_change
from autokit.ops.recording import calling_line, storage_of
from autokit.optim.line_search import Place, strong_wolfe
from autokit.optim.optimizer import (
    Line,
    Optimizer,
    Params,
    check_not_negative,
    check_one_element,
    number_of,
)
from autokit.tensor import Tensor, new_tensor


class LBFGS(Optimizer):
    r"""The limited-memory method of Broyden, Fletcher, Goldfarb and Shanno.

    All parameters are one vector :math:`\theta` here.  Newton's method goes
    from :math:`\theta` to :math:`\theta - H g`, where :math:`H` is the inverse
    of the matrix of second derivatives, which is too large to compute.  From
    how the gradient changed over the last steps,
    :math:`y_k = g_{k+1} - g_k` over :math:`s_k = \theta_{k+1} - \theta_k`,
    the product :math:`H g` is guessed by two loops over them: backwards
    :math:`\alpha_k = \rho_k s_k^T q,\; q \leftarrow q - \alpha_k y_k` from :math:`q = -g`,
    with :math:`\rho_k = 1 / y_k^T s_k`; times :math:`y^T s / y^T y` of the last step; and forwards
    :math:`q \leftarrow q + s_k (\alpha_k - \rho_k y_k^T q)`.

    One call of :meth:`step` makes up to ``max_iter`` such steps, and computes
    the loss as often as it needs to: it wants a closure.

    Parameters
    ----------
    params : iterable
        What to train; in one group.
    lr : float or Tensor
        The length of a step, or where the line search starts.
    max_iter : int
        How many steps one call makes at most.
    max_eval : int, optional
        How often one call computes the loss at most; 1.25 ``max_iter`` by default.
    tolerance_grad : float
        Stop where no element of the gradient is larger.
    tolerance_change : float
        Stop where the loss, or all elements, change by less.
    history_size : int
        How many steps are remembered.
    line_search_fn : {None, "strong_wolfe"}
        How the length of a step is chosen: always ``lr``, or by a line search.

    Raises
    ------
    ValueError
        If the learning rate is negative, or there is more than one group.

    References
    ----------
    D. C. Liu and J. Nocedal, "On the limited memory BFGS method for large scale optimization", Mathematical
    Programming 45, 1989.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor([-1.0, 2.0], dtype=torch.float64, requires_grad=True)
    >>> optimizer = LBFGS([x], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2  # Rosenbrock's valley
    ...     loss.backward()
    ...     return loss
    >>> for _ in range(3):
    ...     loss = optimizer.step(closure)
    >>> x
    tensor([1.0000, 1.0000], dtype=torch.float64, requires_grad=True)
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_one_element(lr=lr)
        check_not_negative(lr=lr)
        settings = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, settings)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self) -> list[Tensor]:
        return self.param_groups[0]["params"]

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Go on until a tolerance or a limit is reached.

        Parameters
        ----------
        closure : callable
            Clears the gradients, computes the loss, calls ``backward()`` and returns the loss.

        Returns
        -------
        Tensor
            The loss before the first change.
        """
        with computing_beside(self._params[0].array):
            return self._step(_evaluating(closure))

    def _step(self, closure: Callable[[], Any]) -> Any:
        (group,) = self.param_groups
        lr, line = number_of(group["lr"]), calling_line()
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        first_loss = closure()
        loss, gradient = _number(first_loss), self._gradient()
        evaluations = 1
        state["func_evals"] += 1
        if _largest(gradient) <= group["tolerance_grad"]:
            return first_loss

        last = _LastStep(state)
        curvature = _Curvature(state, group["history_size"])
        for iteration in range(1, math.ceil(group["max_iter"]) + 1):
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                direction = -gradient
                t = min(1.0, 1.0 / float(np.abs(gradient).sum())) * lr
            else:
                curvature.add(step=last.t * last.direction, change=gradient - last.gradient)
                direction = curvature.times_inverse(-gradient)
                t = lr
            last.direction, last.t, last.gradient, last.loss = direction, t, gradient, loss
            slope = float(np.dot(gradient, direction))
            if slope > -group["tolerance_change"]:
                break

            origin = self._values()
            if group["line_search_fn"] is not None:

                def evaluate(t: float, origin: Any = origin, direction: Any = direction) -> Place:
                    self._put(origin + t * direction, line)
                    loss, gradient = _number(closure()), self._gradient()
                    return Place(t, loss, gradient, float(np.dot(gradient, direction)))

                here = Place(0.0, loss, gradient, slope)
                most = group["max_eval"] - evaluations
                place, new_evaluations = strong_wolfe(evaluate, here, t, _largest(direction), most)
                last.t, loss, gradient = place.t, place.loss, place.gradient
                self._put(origin + last.t * direction, line)
            else:
                self._put(origin + t * direction, line)
                new_evaluations = 0
                if iteration != group["max_iter"]:  # after the last step, nobody asks
                    loss, gradient = _number(closure()), self._gradient()
                    new_evaluations = 1
            evaluations += new_evaluations
            state["func_evals"] += new_evaluations
            if (
                evaluations >= group["max_eval"]
                or _largest(gradient) <= group["tolerance_grad"]
                or _largest(last.t * direction) <= group["tolerance_change"]
                or abs(loss - last.loss) < group["tolerance_change"]
            ):
                break

        last.save(state)
        curvature.save(state)
        return first_loss

    def _values(self) -> Any:
        return np.concatenate([_flat(param.array) for param in self._params])

    def _gradient(self) -> Any:
        return np.concatenate(
            [
                _flat(np.zeros_like(param.array) if param._grad is None else param._grad.array)
                for param in self._params
            ]
        )

    def _put(self, values: Any, line: Line) -> None:
        """Let the parameters, one after the other, have ``values``."""
        start = 0
        for param in self._params:
            refuse_change(param)
            array = param.array
            stop = start + array.size * (2 if array.dtype.kind == "c" else 1)
            part = values[start:stop]
            array[...] = (part.view(array.dtype) if array.dtype.kind == "c" else part).reshape(array.shape)
            storage_of(param).change(*line)
            start = stop


class _LastStep:
    """The direction of the last step, how far it went in it, and the gradient and the loss before it."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.direction = _array(state.get("d"))
        self.t = number_of(state.get("t", 0.0))
        self.gradient = _array(state.get("prev_flat_grad"))
        self.loss = number_of(state.get("prev_loss", 0.0))

    def save(self, state: dict[str, Any]) -> None:
        """Keep it for the next call, under PyTorch's names."""
        state.update(
            d=new_tensor(self.direction),
            t=self.t,
            prev_flat_grad=new_tensor(self.gradient),
            prev_loss=self.loss,
        )


class _Curvature:
    """The last steps, and how the gradient changed over them: what is known of the second derivatives."""

    def __init__(self, state: dict[str, Any], size: int) -> None:
        self.size = size
        self.changes = [_array(change) for change in state.get("old_dirs") or ()]
        self.steps = [_array(step) for step in state.get("old_stps") or ()]
        self.rho = [number_of(rho) for rho in state.get("ro") or ()]
        self.scale = number_of(state.get("H_diag", 1))

    def add(self, step: Any, change: Any) -> None:
        """Remember a step, unless the slope along it hardly grew; forget the oldest beyond ``size``."""
        growth = float(np.dot(change, step))
        if growth <= 1e-10:
            return
        for remembered, new in ((self.changes, change), (self.steps, step), (self.rho, 1.0 / growth)):
            if len(remembered) == self.size:
                remembered.pop(0)
            remembered.append(new)
        self.scale = growth / float(np.dot(change, change))

    def times_inverse(self, vector: Any) -> Any:
        """``vector`` times the guess of the inverse of the second derivatives; overwrites it."""
        known = list(zip(self.steps, self.changes, self.rho, strict=True))
        shares = []
        for step, change, rho in reversed(known):
            shares.append(_product(step, vector))
            _less(vector, shares[-1], rho, change)
        vector *= self.scale
        for step, change, rho in known:
            _more(vector, shares.pop(), _product(change, vector), rho, step)
        return vector

    def save(self, state: dict[str, Any]) -> None:
        """Keep it for the next call, under PyTorch's names."""
        state.update(
            old_dirs=[new_tensor(change) for change in self.changes],
            old_stps=[new_tensor(step) for step in self.steps],
            ro=self.rho,
            H_diag=self.scale,
        )


def _product(a: Any, b: Any) -> Any:
    """The inner product: a number, on a GPU an array without dimensions, for which nobody waits."""
    found = np.dot(a, b)
    return float(found) if is_on_cpu(found) else found


@fused
def _less(vector: Any, share: Any, rho: Any, change: Any, /) -> None:
    vector -= share * rho * change


@fused
def _more(vector: Any, share: Any, part: Any, rho: Any, step: Any, /) -> None:
    vector += (share * rho - part * rho) * step


def _evaluating(closure: Callable[[], Any]) -> Callable[[], Any]:
    """``closure`` as the program would call it: recorded, and with the GPU of its own choice current."""

    def evaluate() -> Any:
        with enable_grad(), on_the_chosen_gpu():
            return closure()

    return evaluate


def _flat(array: Any) -> Any:
    """The elements in one dimension; complex ones as two each."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _array(value: Tensor | None) -> Any:
    return None if value is None else value.array


def _largest(vector: Any) -> float:
    return float(np.abs(vector).max())


def _number(loss: Any) -> float:
    if loss is None:
        raise TypeError("the closure of LBFGS must return the loss, but returned None")
    return float(number_of(loss))
