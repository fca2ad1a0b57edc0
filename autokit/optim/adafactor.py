"""Adafactor: Adam's second average kept as a row and a column of each matrix, in place of the whole."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.limits import finfo
from autokit.ops.gpu.kernels import fused
from autokit.ops.gpu.rows import over_rows
from autokit.ops.half import widened
from autokit.ops.recording import storage_of
from autokit.optim.elementwise import scalar
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
        if not array.size:
            return
        least, smallest = group["eps"]
        if least is None:
            least = finfo(dtypes.BY_NUMPY[array.dtype]).eps
        lr, step = number_of(group["lr"]), state["step"].array.item()
        share = step ** group["beta2_decay"]
        every, settings = tuple(range(array.ndim)), {"maximize": group["maximize"], "least": float(least)}
        size = _root_mean_square(_in_one_dimension(array), axes=every or (0,))
        if array.ndim > 1:
            row, column = state["row_var"].array, state["col_var"].array
            row[...] = _towards_mean_of_squares(gradient, row, share, axes=array.ndim - 1)
            column[...] = _towards_mean_of_squares(gradient, column, share, axes=array.ndim - 2)
            change = _by_rows_and_columns(gradient, row, column, _mean(row, axes=array.ndim - 2), **settings)
        else:
            change = _by_squares(gradient, state["variance"].array, share, **settings)
        length = _root_mean_square(_in_one_dimension(change), axes=every or (0,))
        if not array.ndim:
            size, length = size.reshape(()), length.reshape(())
        _take_step(
            array,
            change,
            size,
            length,
            1 - lr * group["weight_decay"],
            float(smallest),
            min(lr, 1 / math.sqrt(step)),
            float(group["d"]),
        )


def _in_one_dimension(array: Any) -> Any:
    return array if array.ndim else array.reshape(1)


@over_rows
def _root_mean_square(values: Any, /, axes: Any) -> Any:
    values = widened(values)
    return np.sqrt((values * values).mean(axis=axes, keepdims=True))


@over_rows
def _mean(values: Any, /, axes: Any) -> Any:
    return widened(values).mean(axis=axes, keepdims=True)


@over_rows
def _towards_mean_of_squares(gradient: Any, average: Any, share: Any, /, axes: Any) -> Any:
    slope, before = widened(gradient), widened(average)
    mean = (slope * slope).mean(axis=axes, keepdims=True)
    return (before + (mean - before) * share).astype(average.dtype)


@fused
def _by_rows_and_columns(
    gradient: Any, row: Any, column: Any, mean: Any, /, maximize: bool, least: float
) -> Any:
    slope = widened(-gradient if maximize else gradient)
    estimate = widened(row) * widened(column) / np.maximum(mean, least)
    return slope / np.sqrt(np.maximum(estimate, least * least))


@fused
def _by_squares(gradient: Any, variance: Any, share: Any, /, maximize: bool, least: float) -> Any:
    slope, before = widened(-gradient if maximize else gradient), widened(variance)
    estimate = before + (slope * slope - before) * share
    variance[...] = estimate.astype(variance.dtype)
    return slope / np.sqrt(np.maximum(estimate, least * least))


@fused
def _take_step(
    array: Any, change: Any, size: Any, length: Any, shrink: Any, smallest: Any, rate: Any, most: Any, /
) -> None:
    """The step is as long as the parameter's own size says, and the change no longer than ``most``."""
    rate = np.maximum(size, smallest) * rate
    array[...] = (widened(array) * shrink - change * (rate / np.maximum(length / most, 1.0))).astype(
        array.dtype
    )
