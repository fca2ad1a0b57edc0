"""The error of a difference quotient against its step: a large step cuts off, a small one rounds off."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit.autograd import grad
from autokit.base.dtypes import BY_NAME, as_dtype
from autokit.engine.modes import enable_grad, no_grad
from autokit.engine.tensor import Tensor
from autokit.graphs.summary import number
from autokit.ops.create import tensor
from autokit.plot.figures import QUIET, SERIES, axes_for, power_text, scale_by_powers, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PER_DECADE = 4


def nudges(f: Callable[[Any], Any], x: float, ax: Axes | None = None, dtype: Any = "float64") -> Axes:
    """Draw the error of a difference quotient of ``f`` at ``x`` against its step h, in powers of ten.

    One curve for ``(f(x + h) − f(x)) / h``, one for the central ``(f(x + h) − f(x − h)) / 2h``.  From right
    to left the error falls with h, and with h² for the central one; then rounding takes over, and it grows.
    The slope that both are compared with is the gradient, in float64.

    Parameters
    ----------
    f : callable
        Takes a 0-dimensional tensor, and returns a tensor of one element.
    x : float
    ax : Axes, optional
        Where to draw; left out, new axes.
    dtype : dtype, optional
        In which ``f`` is computed, float64 if left out: float32 rounds off far earlier than float64.

    Returns
    -------
    Axes

    Raises
    ------
    TypeError
        If ``f`` gives no tensor.

    Examples
    --------
    >>> [line.get_label() for line in nudges(lambda x: x**3 - x, 2.0).lines[:2]]
    ['one-sided: best at h = 2·10⁻⁸', 'central: best at h = 3·10⁻⁶']
    """
    place = tensor(float(x), dtype=BY_NAME["float64"], requires_grad=True)
    with enable_grad():
        value = f(place)
    if not isinstance(value, Tensor):
        raise TypeError(f"nudges(): f should give a Tensor of its argument, and gave {type(value).__name__}")
    (found,) = grad(value.sum(), place)
    assert found is not None
    slope = float(found.item())
    dtype = as_dtype(dtype)
    smallest = -16 if dtype.itemsize > 4 else -8
    steps = np.logspace(smallest, 0, -smallest * _PER_DECADE + 1)

    def at(moved: float) -> float:
        return float(f(tensor(moved, dtype=dtype)).item())

    with no_grad():
        quotients = {
            "one-sided": [(at(x + h) - at(x)) / h for h in steps],
            "central": [(at(x + h) - at(x - h)) / (2 * h) for h in steps],
        }
    axes = axes_for(ax, 6.0, 4.0)
    with style():
        for (words, slopes), colour, mark in zip(quotients.items(), SERIES[4:], "os"):
            errors = np.abs(np.array(slopes) - slope)
            best = power_text(float(f"{steps[np.argmin(errors)]:.0e}"))
            # An error of 0 has no place on an axis of powers: it stands at the lower end.
            shown = np.maximum(errors, 1e-17 * max(1.0, abs(slope)))
            axes.plot(steps, shown, f"-{mark}", color=colour, ms=3.5, label=f"{words}: best at h = {best}")
        axes.set(xlabel="step h", ylabel="error of the slope")
        for which in ("x", "y"):
            scale_by_powers(axes, which)
        axes.set_title(f"Slope {number(slope)} at x = {number(x)}, by nudges")
        for side, words in ((0.02, "← rounding"), (0.98, "cut off too early →")):
            align = "left" if side < 0.5 else "right"
            axes.text(side, 0.02, words, transform=axes.transAxes, ha=align, color=QUIET, fontsize=9)
        axes.legend(loc="upper center")
    return axes
