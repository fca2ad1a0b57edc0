"""L-BFGS is Newton's method with the second derivatives estimated from the last few steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.engine.inplace import write
from autokit.engine.modes import enable_grad, no_grad
from autokit.engine.tensor import Tensor, new_tensor
from autokit.optim.line_search import Place, strong_wolfe
from autokit.optim.optimizer import Group, Optimizer, Params, checked


class LBFGS(Optimizer):
    r"""The limited-memory method of Broyden, Fletcher, Goldfarb and Shanno.

    All parameters are one vector :math:`\theta` here. Newton's method goes from :math:`\theta` to
    :math:`\theta - H g`, where :math:`H` is the inverse of the matrix of second derivatives, which is too
    large to compute. From how the gradient changed over the last steps,
    :math:`y_k = g_{k+1} - g_k` over :math:`s_k = \theta_{k+1} - \theta_k`,
    the product :math:`H g` is estimated by two loops over them: backwards
    :math:`\alpha_k = \rho_k s_k^T q,\; q \leftarrow q - \alpha_k y_k` from :math:`q = -g`,
    with :math:`\rho_k = 1 / y_k^T s_k`; times :math:`y^T s / y^T y` of the last step; and forwards
    :math:`q \leftarrow q + s_k (\alpha_k - \rho_k y_k^T q)`.

    One call of :meth:`step` takes up to ``max_iter`` such steps, and computes the loss several times, by a
    closure.

    Parameters
    ----------
    params : iterable
        What to train; in one group.
    lr : float or Tensor
        The length of a step, or where the line search starts.
    max_iter : int
        How many steps one call takes at most.
    max_eval : int, optional
        How often one call computes the loss at most; 1.25 ``max_iter`` by default.
    tolerance_grad : float
        Stop where no element of the gradient is larger.
    tolerance_change : float
        Stop where the loss, or all elements, change by less.
    history_size : int
        From how many steps the second derivatives are estimated.
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
        max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        limits = {"max_iter": max_iter, "max_eval": max_eval, "history_size": history_size}
        tolerances = {"tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change}
        super().__init__(params, {**checked(lr=lr), **limits, **tolerances, "line_search_fn": line_search_fn})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self) -> list[Tensor]:
        return self.param_groups[0]["params"]

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Take steps until a tolerance or a limit is reached.

        Parameters
        ----------
        closure : callable
            Clears the gradients, computes the loss, calls ``backward()`` and returns the loss.

        Returns
        -------
        Tensor
            The loss before the first change.
        """
        (group,) = self.param_groups
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        state = self.state[self._params[0]]
        evaluate = enable_grad()(closure)
        first_loss = evaluate()
        loss, gradient = _number(first_loss), self._gradient()
        evaluations = 1
        state.update(func_evals=state.get("func_evals", 0) + 1, n_iter=state.get("n_iter", 0))
        if _largest(gradient) <= group["tolerance_grad"]:
            return first_loss
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction, t = _direction(state, group, gradient)
            slope, before = float(gradient @ direction), loss
            state.update(d=new_tensor(direction), t=t, prev_flat_grad=new_tensor(gradient), prev_loss=loss)
            if slope > -group["tolerance_change"]:
                break
            here = Place(0.0, loss, gradient, slope)
            most = group["max_eval"] - evaluations
            last = iteration == group["max_iter"]
            place, count = self._go(evaluate, direction, here, t, most, last)
            state["t"], loss, gradient = place.t, place.loss, place.gradient
            state["func_evals"] += count
            evaluations += count
            if (
                evaluations >= group["max_eval"]
                or _largest(gradient) <= group["tolerance_grad"]
                or _largest(place.t * direction) <= group["tolerance_change"]
                or abs(loss - before) < group["tolerance_change"]
            ):
                break
        return first_loss

    def _go(
        self, closure: Any, direction: Any, here: Place, t: float, most: int, last: bool
    ) -> tuple[Place, int]:
        """Go in ``direction`` by ``t``, or by a line search; return the place and the number of losses."""
        origin = np.concatenate([param.array.reshape(-1) for param in self._params])

        def evaluate(t: float) -> Place:
            self._put(origin + t * direction)
            loss, gradient = _number(closure()), self._gradient()
            return Place(t, loss, gradient, float(gradient @ direction))

        if self.param_groups[0]["line_search_fn"] is not None:
            place, count = strong_wolfe(evaluate, here, t, _largest(direction), most)
            self._put(origin + place.t * direction)
            return place, count
        if last:  # nobody asks for the loss after the last step
            self._put(origin + t * direction)
            return here._replace(t=t), 0
        return evaluate(t), 1

    def _gradient(self) -> Any:
        gradients = [
            np.zeros_like(param.array) if param._grad is None else param._grad.array for param in self._params
        ]
        return np.concatenate([gradient.reshape(-1) for gradient in gradients])

    def _put(self, values: Any) -> None:
        """Write ``values``, a vector, into the parameters, one after the other."""
        start = 0
        for param in self._params:
            stop = start + param.array.size
            write(param, ..., new_tensor(values[start:stop].reshape(param.array.shape)))
            start = stop


def _direction(state: dict[str, Any], group: Group, gradient: Any) -> tuple[Any, float]:
    """The direction −H g and the first length to try, after the last step was added to the history.

    The history has PyTorch's names: ``old_dirs`` are the changes of the gradient, ``old_stps`` the steps.
    """
    rate = float(group["lr"])
    if state["n_iter"] == 1:
        state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
        return -gradient, min(1.0, 1.0 / float(np.abs(gradient).sum())) * rate
    change = gradient - state["prev_flat_grad"].array
    step = float(state["t"]) * state["d"].array
    growth = float(change @ step)
    if growth > 1e-10:  # else the step says nothing about the curvature
        for name, new in (
            ("old_dirs", new_tensor(change)),
            ("old_stps", new_tensor(step)),
            ("ro", 1 / growth),
        ):
            state[name] = [*state[name], new][-group["history_size"] :]
        state["H_diag"] = growth / float(change @ change)
    history = [
        (step.array, change.array, float(rho))
        for step, change, rho in zip(state["old_stps"], state["old_dirs"], state["ro"], strict=True)
    ]
    vector, shares = -gradient, []
    for step, change, rho in reversed(history):
        shares.append(rho * float(step @ vector))
        vector -= shares[-1] * change
    vector *= float(state["H_diag"])
    for step, change, rho in history:
        vector += (shares.pop() - rho * float(change @ vector)) * step
    return vector, rate


def _largest(vector: Any) -> float:
    return float(np.abs(vector).max())


def _number(loss: Any) -> float:
    if loss is None:
        raise TypeError("the closure of LBFGS must return the loss, but returned None")
    return float(loss)
