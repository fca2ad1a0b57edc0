"""Scans: running sums, products and extremes along a dimension; also differences and integrals along it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.base.devices import module_of
from autokit.base.dtypes import dtype as Dtype
from autokit.base.errors import one_dim, require_floats, require_tensor
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor
from autokit.gpu.lacking import accumulate
from autokit.ops.gather import along, put_back, return_type
from autokit.ops.join import cat
from autokit.ops.names import Names


def _scanned(scan: Callable[..., Any], a: Any, dim: int) -> Any:
    """``np.cumsum`` or ``np.cumprod``: of integers in int64, of floats in float64, which rounds less."""
    is_float = a.dtype.kind == "f"
    run = scan(a, axis=dim, dtype=np.float64 if is_float else np.int64).reshape(a.shape)
    return run.astype(a.dtype, copy=False) if is_float else run


# ---------------------------------------------------------------- running sums


def _from_the_end(rule: Any, g: Any, dim: int) -> Any:
    """A running sum that starts at the last element."""
    return np.flip(on(rule, np.flip(g, dim), dim=dim), dim) if g.ndim else g


@operation(
    "cumulative Σ",
    "running Σ {a}",
    a=derivative("1 up to here", lambda g, dim: _from_the_end(running_sum, g, dim)),
    name="cumsum",
)
def running_sum(a, /, dim):
    """See :func:`cumsum`."""
    return _scanned(np.cumsum, a, dim)


def cumsum(input: Tensor, dim: int, *, dtype: Dtype | None = None) -> Tensor:
    """The sum of the elements up to each one, along ``dim``; integers and bools sum to int64.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.cumsum(torch.tensor([1.0, 2.0, 3.0]), 0)
    tensor([1., 3., 6.])
    """
    return _scan_of("cumsum", running_sum, input, dim, dtype)


def _scan_of(name: str, rule: Any, input: Tensor, dim: int, dtype: Dtype | None) -> Tensor:
    require_tensor(name, input)
    place = one_dim(dim, input.array.ndim)
    if dtype is None:
        return rule(input, dim=place)
    return rule(input.to(dtype), dim=place).to(dtype)


# ---------------------------------------------------------------- running products


def _cumprod_gradient(g: Any, a: Any, out: Any, dim: int) -> Any:
    if not a.ndim or a.shape[dim] < 2:
        return g
    if _is_invertible(out):
        # The derivative of every product from a factor on by this factor: the product over the factor.
        return _from_the_end(running_sum, g * out, dim) / a
    # Without division, by Horner's rule: gₖ + aₖ₊₁ · (gₖ₊₁ + aₖ₊₂ · (…)), times the product of those before.
    g, a = np.swapaxes(g, dim, 0), np.swapaxes(a, dim, 0)
    sums = [g[-1]]
    for place in range(a.shape[0] - 1, 0, -1):
        sums.append(g[place - 1] + a[place] * sums[-1])
    before = on(running_product, np.concatenate([np.ones_like(a[:1]), a[:-1]], axis=0), dim=0)
    return np.swapaxes(before * np.stack(sums[::-1], axis=0), dim, 0)


def _is_invertible(out: Any) -> bool:
    """Whether a running product is nowhere 0, infinite or nan: then none of its factors is."""
    values = out.array if isinstance(out, Tensor) else out
    return bool((np.isfinite(values) & (values != 0)).all())


@operation(
    "cumulative Π",
    "running Π {a}",
    a=derivative("the product of the others up to here", _cumprod_gradient),
    name="cumprod",
)
def running_product(a, /, dim):
    """See :func:`cumprod`."""
    return _scanned(np.cumprod, a, dim)


def cumprod(input: Tensor, dim: int, *, dtype: Dtype | None = None) -> Tensor:
    """The product of the elements up to each one, along ``dim``; integers and bools multiply to int64."""
    return _scan_of("cumprod", running_product, input, dim, dtype)


# ---------------------------------------------------------------- running log Σ exp


def _logcumsumexp_gradient(g: Any, a: Any, out: Any, dim: int) -> Any:
    """Σ gᵢ · exp(aₖ − outᵢ) over i ≥ k, by logarithms, so that none overflows: once for each sign of g."""

    def part(g: Any) -> Any:
        positive = g > 0
        logs = np.where(positive, np.log(np.where(positive, g, 1.0)), -1e30) - out
        return np.exp(_from_the_end(running_logsumexp, logs, dim) + a)

    return part(g) - part(-g) if a.ndim else g


@operation(
    "cumulative log Σ exp",
    "running log Σ exp {a}",
    a=derivative("exp({a} − {out}) up to here", _logcumsumexp_gradient),
    name="logcumsumexp",
)
def running_logsumexp(a, /, dim):
    """See :func:`logcumsumexp`."""
    return accumulate(np.logaddexp, a, dim) if a.ndim else a.copy()


def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """The logarithm of the sum of exponentials of the elements up to each one, along ``dim``."""
    require_tensor("logcumsumexp", input)
    require_floats("logcumsumexp", input.array)
    return running_logsumexp(input, dim=one_dim(dim, input.array.ndim))


# ---------------------------------------------------------------- running extremes


def _running_extreme(extreme: Any, a: Any, dim: int) -> tuple[Any, Any]:
    """The extreme of the elements up to each one, and its place: the last of equal ones."""
    values = accumulate(extreme, a, dim)
    line = module_of(a).arange(a.shape[dim]).reshape((-1,) + (1,) * (a.ndim - dim - 1))
    places = np.where((a == values) | (a != a), line, 0)
    return values, accumulate(np.maximum, places, dim)


@operation("cummax", "running max {a}", a=derivative("1 at the maximum so far", put_back), name="cummax")
def running_max(a, /, dim):
    """See :func:`cummax`."""
    return _running_extreme(np.maximum, a, dim)


@operation("cummin", "running min {a}", a=derivative("1 at the minimum so far", put_back), name="cummin")
def running_min(a, /, dim):
    """See :func:`cummin`."""
    return _running_extreme(np.minimum, a, dim)


_Cummax = return_type("cummax", "values", "indices")
_Cummin = return_type("cummin", "values", "indices")


def cummax(input: Tensor, dim: int) -> Any:
    """The maximum of the elements up to each one, along ``dim``, and its place: the last of equal ones."""
    return _Cummax(*along("cummax", running_max, input, dim))


def cummin(input: Tensor, dim: int) -> Any:
    """The minimum of the elements up to each one, along ``dim``, and its place: the last of equal ones."""
    return _Cummin(*along("cummin", running_min, input, dim))


# ---------------------------------------------------------------- differences


def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """The differences between neighbours along ``dim``, taken ``n`` times; of bools, whether they differ.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.diff(torch.tensor([1, 4, 9, 16]))
    tensor([3, 5, 7])
    """
    require_tensor("diff", input)
    if not input.array.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional: a number has no neighbours")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    place = one_dim(dim, input.array.ndim)
    parts = [part for part in (prepend, input, append) if part is not None]
    result = cat(parts, place) if n and len(parts) > 1 else input
    for _ in range(min(n, result.array.shape[place])):
        steps = result.array.shape[place] - 1
        later = result.narrow(place, 1, max(steps, 0))
        earlier = result.narrow(place, 0, max(steps, 0))
        result = later != earlier if result.array.dtype.kind == "b" else later - earlier
    return result


NAMES = Names(
    both="cummax cummin cumprod cumsum diff logcumsumexp",
    in_place="cumsum",
    numpy={np.cumsum: cumsum, np.cumprod: cumprod, np.diff: diff},
)
