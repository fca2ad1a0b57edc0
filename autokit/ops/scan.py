"""Running results along a dimension: cumulative sums, products and extremes, and what undoes them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.devices import contiguous, module_of
from autokit.ops.blocks import loop_over_rows
from autokit.ops.dims import place_of
from autokit.ops.errors import kind_of
from autokit.ops.exponential import log_of_sum
from autokit.ops.gather import plain_gather, scatter_zeros
from autokit.ops.gpu.arrays import known
from autokit.ops.gpu.ufuncs import accumulate
from autokit.ops.guards import guards
from autokit.ops.join import cat
from autokit.ops.names import Names
from autokit.ops.native import is_large
from autokit.ops.operation import derivative, on, operation
from autokit.ops.recording import apart
from autokit.ops.reduce import converted, require_operand
from autokit.ops.return_types import return_type
from autokit.ops.running import accumulated
from autokit.tensor import Tensor, new_tensor


def _scan(ufunc: Any, a: Any, dim: int, reverse: bool = False) -> Any:
    """``ufunc`` accumulated along ``dim``, in twice the precision, as PyTorch does."""
    wide: Any = np.int64
    if a.dtype.kind in dtypes.DIFFERENTIABLE:
        wide = np.complex128 if a.dtype.kind == "c" else np.float64 if a.dtype.itemsize > 2 else np.float32
    if not a.ndim:
        place_of(dim, 0, "cumsum")
        return a.astype(a.dtype if a.dtype.kind in dtypes.DIFFERENTIABLE else wide)
    quick = accumulated(ufunc, a, dim, reverse) if ufunc is np.add or ufunc is np.multiply else None
    if quick is not None:
        return quick
    run = np.flip(a, dim) if reverse else a
    run = accumulate(ufunc, run, axis=dim, dtype=wide)
    if a.dtype.kind in dtypes.DIFFERENTIABLE and run.dtype != a.dtype:
        run = run.astype(a.dtype)
    return np.flip(run, dim) if reverse else run


@operation(
    "cumulative Σ",
    "running Σ {a}",
    a=derivative("1 up to here", lambda g, dim, reverse: on(plain_cumsum, g, dim=dim, reverse=not reverse)),
    name="cumsum",
    layout=contiguous,
    linear=True,
)
def plain_cumsum(a, /, dim, reverse=False):
    """See :func:`cumsum`."""
    return _scan(np.add, a, dim, reverse)


def _refuse_bools(name: str, input: Tensor, dim: int, dtype: dtypes.dtype | None) -> None:
    place_of(dim, input.array.ndim, name)
    if dtype is dtypes.BY_NAME["bool"] and input.array.ndim and input.array.size:
        raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool': give dtype=torch.int64")


def cumsum(input: Tensor, dim: int, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """The sum of the elements up to each, along ``dim``; integers and bools sum to int64."""
    require_operand("cumsum", input)
    _refuse_bools("cumsum", input, dim, dtype)
    return converted(plain_cumsum(converted(input, dtype), dim), dtype)


def _before(a: Any, dim: int, first: Any) -> Any:
    """The element before each along ``dim``, with ``first`` before the first one."""
    rows = np.swapaxes(a, dim, -1)
    return np.swapaxes(np.concatenate([first(rows[..., :1]), rows[..., :-1]], axis=-1), dim, -1)


def _recur(a: Any, factors: Any, dim: int, transposed: bool) -> Any:
    return on(recurrence, a, factors, dim=dim, transposed=transposed)


def _recurrence_by_factors(g: Any, a: Any, factors: Any, out: Any, dim: int, transposed: bool) -> Any:
    back = _recur(g, factors, dim, not transposed)
    return out * _before(back, dim, np.zeros_like) if transposed else back * _before(out, dim, np.zeros_like)


@operation(
    "recurrence",
    "{a} + {factors} · the one before",
    a=derivative(
        "products of {factors}",
        lambda g, factors, dim, transposed: _recur(g, factors, dim, not transposed),
    ),
    factors=derivative("the one before", _recurrence_by_factors),
    backward="MulBackward0",
)
def recurrence(a, factors, /, dim, transposed):
    """hᵢ = aᵢ + factorsᵢ · hᵢ₋₁ along ``dim``; where ``transposed``, hᵢ = aᵢ + factorsᵢ₊₁ · hᵢ₊₁.

    In each pass every sum takes in the one as far before it as it itself is long (W. D. Hillis and G. L.
    Steele, "Data parallel algorithms", Communications of the ACM 29, 1986).
    """
    sums, factors = (np.swapaxes(each, dim, -1) for each in (a, factors))
    if transposed:
        sums, factors = np.flip(sums, -1), np.flip(factors, -1)
        factors = np.concatenate([factors[..., :1], factors[..., :-1]], axis=-1)
    reach = 1
    while reach < sums.shape[-1]:
        gained = sums[..., reach:] + factors[..., reach:] * sums[..., :-reach]
        products = factors[..., reach:] * factors[..., :-reach]
        sums = np.concatenate([sums[..., :reach], gained], axis=-1)
        factors = np.concatenate([factors[..., :reach], products], axis=-1)
        reach *= 2
    return np.swapaxes(np.flip(sums, -1) if transposed else sums, dim, -1)


def _cumprod_gradient(g: Any, a: Any, out: Any, shape: tuple[int, ...], dim: int) -> Any:
    if not shape:
        return g
    if _nowhere_zero(a):
        return on(plain_cumsum, g * out, dim=dim, reverse=True) / a
    before = on(plain_cumprod, _before(a, dim, np.ones_like), dim=dim)
    return before * _recur(g, a, dim, True)


def _nowhere_zero(a: Any) -> bool:
    return known((a.array if isinstance(a, Tensor) else a) != 0)


def _cumprod_gradient_of_arrays(g: Any, a: Any, out: Any, shape: tuple[int, ...], dim: int) -> Any:
    if not shape or _nowhere_zero(a):
        return _cumprod_gradient(g, a, out, shape, dim)
    zeros = a == 0
    first = zeros & (np.cumsum(zeros, axis=dim) == 1)
    before = _scan(np.add, g * out, dim, reverse=True) / np.where(zeros, 1, a)
    at = _scan(np.add, g * _scan(np.multiply, np.where(first, 1, a), dim), dim, reverse=True)
    seen = np.cumsum(zeros, axis=dim) > 0
    return np.where(first, at, np.where(seen, 0, before)).astype(g.dtype)


@operation(
    "cumulative Π",
    "running Π {a}",
    a=derivative("the product of the others up to here", _cumprod_gradient, _cumprod_gradient_of_arrays),
    name="cumprod",
    layout=contiguous,
)
def plain_cumprod(a, /, dim):
    """See :func:`cumprod`."""
    return _scan(np.multiply, a, dim)


def cumprod(input: Tensor, dim: int, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """The product of the elements up to each, along ``dim``; integers and bools multiply to int64."""
    require_operand("cumprod", input)
    _refuse_bools("cumprod", input, dim, dtype)
    return converted(plain_cumprod(converted(input, dtype), dim), dtype)


def _weigh(v: Any, a: Any, total: Any, dim: int, transposed: bool) -> Any:
    return on(shares, v, a, total, dim=dim, transposed=transposed) if len(a.shape) else v


def _shares_by_a(g: Any, v: Any, a: Any, total: Any, out: Any, dim: int, transposed: bool) -> Any:
    return g * out if transposed else v * _weigh(g, a, total, dim, True)


def _shares_by_total(g: Any, v: Any, a: Any, total: Any, out: Any, dim: int, transposed: bool) -> Any:
    return -(v * _weigh(g, a, total, dim, False) if transposed else g * out)


@operation(
    "Σ · exp",
    "Σ {v} · exp({a} − {total})",
    v=derivative(
        "exp({a} − {total})",
        lambda g, a, total, dim, transposed: _weigh(g, a, total, dim, not transposed),
    ),
    a=derivative("{v} · exp({a} − {total})", _shares_by_a),
    total=derivative("−{out}", _shares_by_total),
    backward="MulBackward0",
)
def shares(v, a, total, /, dim, transposed):
    """Σⱼ vⱼ · exp(aⱼ − totalᵢ), over j ≤ i: each ``total`` shared out over the elements that it is made of.

    Where ``transposed``, Σᵢ over i ≥ j: what comes back to an element from each ``total`` that it is part of.
    Only ever sums of logarithms, for each sign of a real ``v``: so no exponential overflows.
    """
    before, behind = (-total, a) if transposed else (a, -total)
    signs = (1, -1) if v.dtype.kind != "c" else (1,)
    sums = [np.exp(_scan_sums(_logarithm(v * sign) + before, dim, transposed) + behind) for sign in signs]
    return sums[0] - sums[1] if len(sums) > 1 else sums[0]


def _logarithm(a: Any) -> Any:
    """log(a); −∞ for 0, and of real numbers for all below."""
    has_one = a != 0 if a.dtype.kind == "c" else a > 0
    return np.where(has_one, np.log(np.where(has_one, a, 1)), -np.inf)


def _scan_sums(a: Any, dim: int, reverse: bool = False) -> Any:
    """The logarithms of running sums of exponentials."""
    return _scan(np.logaddexp if a.dtype.kind != "c" else log_of_sum, a, dim, reverse)


@operation(
    "cumulative log Σ exp",
    "running log Σ exp {a}",
    a=derivative("exp({a} − {out}) up to here", lambda g, a, out, dim: _weigh(g, a, out, dim, True)),
    name="logcumsumexp",
    layout=contiguous,
)
def plain_logcumsumexp(a, /, dim):
    """See :func:`logcumsumexp`."""
    if a.dtype.kind not in dtypes.DIFFERENTIABLE:
        raise NotImplementedError(
            f"\"logcumsumexp_out_cpu\" not implemented for '{kind_of(a)}'; convert it with .float()"
        )
    return _scan_sums(a, dim)


def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """The logarithm of the sum of exponentials of the elements up to each, along ``dim``."""
    require_operand("logcumsumexp", input)
    return plain_logcumsumexp(input, place_of(dim, input.array.ndim, "logcumsumexp"))


# ---------------------------------------------------------------- running extremes


def _to_places(g: Any, shape: tuple[int, ...], dim: int, index: Any) -> Any:
    return on(scatter_zeros, g, shape=shape, dim=dim, index=index) if shape else g


def _places_so_far(a: Any, dim: int, sign: float) -> Any:
    """Where the extreme so far is, found by a compiled loop; None without one."""
    if not a.ndim or a.__class__ is not np.ndarray or not a.flags.c_contiguous or not is_large(a):
        return None
    index = np.empty(a.shape, np.int64)
    cubes = [each.reshape(math.prod(a.shape[:dim]), a.shape[dim], -1) for each in (a, index)]
    return index if loop_over_rows("native_sums.places_so_far", *cubes, others=(np.float32(sign),)) else None


def _running(name: str, extreme: Any) -> Any:
    pair = return_type(name, "values", "indices")

    @operation(
        name,
        f"running {name[3:]} {{a}}",
        a=derivative(f"1 at the place of the {name[3:]}imum so far", _to_places),
        name=name,
        layout=contiguous,
    )
    def read(a, /, dim, index):
        """The elements of ``a`` at the places ``index`` along ``dim``."""
        return plain_gather.operation.forward(a, dim, index) if a.ndim else a.copy()

    def apply(input: Tensor, dim: int) -> Any:
        require_operand(name, input)
        a = input.array
        place = place_of(dim, a.ndim, name)
        index = _places_so_far(a, place, 1 if extreme is np.maximum else -1)
        if index is not None:
            pass
        elif a.ndim:
            runs = accumulate(extreme, a, axis=place)
            line = (
                module_of(a).arange(a.shape[place]).reshape([-1 if n == place else 1 for n in range(a.ndim)])
            )
            # The last place where the extreme so far was met: of equal elements the later, of nans too.
            hits = (a == runs) | (a != a)
            index = contiguous(accumulate(np.maximum, np.where(hits, line, 0), axis=place))
        else:
            index = np.zeros_like(a, dtype=np.int64)
        return pair(read(input, place, index), new_tensor(apart(index, input._requires_grad)))

    apply.__name__ = name
    apply.__doc__ = (
        f"The {name[3:]}imum of the elements up to each, along ``dim``, and its place: the last of equals."
    )
    return guards("input", results=(1,))(apply)


cummax = _running("cummax", np.maximum)
cummin = _running("cummin", np.minimum)


# ---------------------------------------------------------------- differences and areas


def _part(a: Tensor, dim: int, start: int | None, stop: int | None) -> Tensor:
    return a[(slice(None),) * dim + (slice(start, stop),)]


def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """The differences between neighbours along ``dim``, taken ``n`` times; of bools, whether they differ."""
    require_operand("diff", input)
    if not input.array.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    place = place_of(dim, input.array.ndim, "diff")
    parts = [part for part in (prepend, input, append) if part is not None]
    for part in parts:
        _check_beside(input, part, place)
    if not n:
        return input.clone()
    if len(parts) > 1:
        input = cat(parts, place)
    for _ in range(min(n, input.shape[place])):
        later, earlier = _part(input, place, 1, None), _part(input, place, None, -1)
        input = later.ne(earlier) if input.array.dtype.kind == "b" else later - earlier
    return input


def _check_beside(input: Tensor, part: Tensor, place: int) -> None:
    """Raise unless ``part`` may be put before or behind ``input`` along the dimension ``place``."""
    own, other = input.array.shape, part.array.shape
    if len(own) != len(other):
        raise RuntimeError(
            "diff expects prepend or append to be the same dimension as input: they have "
            f"{len(other)} and {len(own)} dimensions"
        )
    if own[:place] + own[place + 1 :] != other[:place] + other[place + 1 :]:
        raise RuntimeError(
            "diff expects the shape of tensor to prepend or append to match that of input except along the "
            f"differencing dimension: the shapes are {list(other)} and {list(own)}, and the dimension {place}"
        )


def _areas(name: str, y: Tensor, x: Tensor | None, dx: Any, dim: int) -> tuple[Tensor, int]:
    """The area under each step of ``y``, and the place of ``dim``."""
    require_operand(name, y)
    place = place_of(dim, y.array.ndim, name)
    for each, value in {"y": y, "x": x, "dx": dx}.items():
        is_bool = isinstance(value, bool) or isinstance(value, Tensor) and value.array.dtype.kind == "b"
        if is_bool and (name == "cumulative_trapezoid" or y.array.ndim and y.shape[place]):
            raise RuntimeError(f"{name}: received a bool input for `{each}`, but bool is not supported")
    if not y.array.ndim:
        raise IndexError(
            f"{name}: Dimension specified as {dim} but tensor has no dimensions: there are no steps"
        )
    heights = _part(y, place, 1, None) + _part(y, place, None, -1)
    if x is None:
        return heights * (0.5 if dx is None else dx / 2), place
    if dx is not None:
        raise TypeError(f"{name}() received both x and dx; give one of them")
    if x.array.ndim == 1:
        if x.shape[0] != y.shape[place] and (y.shape[place] or name != "trapezoid"):
            raise RuntimeError(
                f"{name}: There must be one `x` value for each sample point; there are {x.shape[0]} for "
                f"{y.shape[place]}"
            )
        widths = diff(x).reshape([-1 if n == place else 1 for n in range(y.array.ndim)])
    else:
        widths = diff(x, dim=place if x.array.ndim > y.array.ndim else place - y.array.ndim)
    return heights * widths / 2.0, place


def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integral of ``y`` along ``dim`` by the trapezoid rule, at points ``x`` or in steps of ``dx``."""
    areas, place = _areas("trapezoid", y, x, dx, dim)
    if not y.shape[place]:
        shape = tuple(y.shape)
        return new_tensor(np.zeros(shape[:place] + shape[place + 1 :], y.array.dtype))
    if x is None:
        ends = y.select(place, 0) + y.select(place, -1)
        return (y.sum(place) - ends * 0.5) * (1.0 if dx is None else dx)
    return areas.sum(place)


def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integrals of :func:`trapezoid` up to each step."""
    areas, place = _areas("cumulative_trapezoid", y, x, dx, dim)
    return cumsum(areas, place)


NAMES = Names(
    both="cummax cummin cumprod cumsum diff logcumsumexp",
    functions="cumulative_trapezoid trapezoid",
    in_place="cumprod cumsum",
    aliases={"trapz": "trapezoid"},
)
