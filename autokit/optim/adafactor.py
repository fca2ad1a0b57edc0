"""Adafactor: Adam's second average kept as a row and a column of each matrix, in place of the whole."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.limits import finfo
from autokit.ops.gpu.arrays import is_on_cpu
from autokit.ops.half import widened
from autokit.ops.recording import storage_of
from autokit.optim.elementwise import move_towards, scalar
from autokit.optim.optimizer import Line, Optimizer, Params, check_one_element, number_of
from autokit.tensor import Tensor, new_tensor


class Adafactor(Optimizer):
    r"""Adaptive steps with little memory: for an n×m matrix n + m numbers are remembered, not 2·n·m.

    .. math::
        r_t &\leftarrow \text{mean of } g_t^2 \text{ over columns, averaged over time},\quad
        c_t \text{ likewise over rows} \\
        v_t &= r_t c_t / \text{mean}(r_t), \quad
        u_t = g_t / \sqrt{v_t}, \quad u_t \leftarrow u_t / \max(1, \text{rms}(u_t) / d) \\
        \theta_t &= \theta_{t-1} - \max(\epsilon_2, \text{rms}(\theta_{t-1}))
        \min(\text{lr}, 1/\sqrt{t})\, u_t

    Parameters
    ----------
    params : iterable
        What to train; see :class:`Optimizer`.
    lr : float or Tensor
        The largest relative step.
    beta2_decay : float
        The average over time keeps ``1 - t ** beta2_decay`` at step t.
    eps : (float or None, float)
        The least of v, whose default is that of the dtype; and the least size of a parameter.
    d : float
        The largest root mean square of u.
    weight_decay : float
        What each parameter loses in a step, as a part of ``lr``.
    foreach : bool, optional
        Accepted for PyTorch's sake, and without effect.
    maximize : bool
        Climb in place of descending.

    Raises
    ------
    ValueError
        If a setting is out of its range, or there is nothing to train.

    References
    ----------
    N. Shazeer and M. Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost", ICML 2018.
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_one_element(lr=lr)
        rate: Any = lr
        for words, value, right in (
            ("Learning rate should be >= 0", rate, rate >= 0.0),
            ("beta2_decay should be <= 0", beta2_decay, beta2_decay <= 0.0),
            ("epsilon1 should be >= 0", eps[0], eps[0] is None or eps[0] >= 0.0),
            ("epsilon2 should be >= 0", eps[1], eps[1] >= 0.0),
            ("Clipping threshold d should be >= 1", d, d >= 1.0),
            ("weight_decay should be >= 0", weight_decay, weight_decay >= 0.0),
        ):
            if not right:
                raise ValueError(f"{words} but is: {value}")
        settings = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, settings)

    def _begun(self, param: Tensor) -> dict[str, Tensor]:
        shape = param.array.shape
        if len(shape) < 2:
            return {"step": scalar(0.0), "variance": new_tensor(np.zeros_like(param.array))}
        like = param.array[..., :1], param.array[..., :1, :]
        row, column = (new_tensor(np.zeros_like(each)) for each in like)
        return {"step": scalar(0.0), "row_var": row, "col_var": column}

    def _update(self, group: dict[str, Any], line: Line) -> None:
        for param in group["params"]:
            if param._grad is None:
                continue
            if param.array.dtype.kind == "c":
                raise RuntimeError("Adafactor does not support complex parameters")
            state = self.state[param]
            if not state:
                state.update(self._begun(param))
            state["step"].array += 1
            with np.errstate(all="ignore"):
                self._change(param.array, param._grad.array, state, group)
            storage_of(param).change(*line)

    def _change(self, array: Any, gradient: Any, state: dict[str, Tensor], group: dict[str, Any]) -> None:
        least, smallest = group["eps"]
        if least is None:
            least = finfo(dtypes.BY_NUMPY[array.dtype]).eps
        lr, step = number_of(group["lr"]), state["step"].array.item()
        share = step ** group["beta2_decay"]
        values, slope = widened(array), widened(-gradient if group["maximize"] else gradient)
        larger = max if is_on_cpu(array) else np.maximum  # which asks no GPU for a number
        size = larger(smallest, _root_mean_square(values)) * min(lr, 1 / math.sqrt(step))
        if group["weight_decay"]:
            values = values * (1 - lr * group["weight_decay"])
        squares = slope * slope
        if array.ndim > 1:
            row, column = state["row_var"].array, state["col_var"].array
            move_towards(row, squares.mean(axis=-1, keepdims=True).astype(row.dtype), share)
            move_towards(column, squares.mean(axis=-2, keepdims=True).astype(row.dtype), share)
            rows = widened(row)
            estimate = rows * widened(column) / np.maximum(rows.mean(axis=-2, keepdims=True), least)
        else:
            variance = state["variance"].array
            move_towards(variance, squares.astype(variance.dtype), share)
            estimate = widened(variance)
        change = slope / np.sqrt(np.maximum(estimate, least * least))
        change *= size / larger(1.0, _root_mean_square(change) / group["d"])
        array[...] = values - change


def _root_mean_square(values: Any) -> Any:
    """A number; on a GPU an array without dimensions."""
    if not values.size:
        return 0.0
    square = (values * values).mean()
    return math.sqrt(float(square)) if is_on_cpu(values) else np.sqrt(square)
