"""Random tensors, made new and made like another; ``draws`` draws by a tensor, and ``redrawing`` into one.

The numbers are those of PyTorch for the same seed; ``autokit.random`` makes
them.  A tensor that does not lie in memory row by row is filled in the order
in which it lies there, as PyTorch fills it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autokit import dtypes, random
from autokit.limits import finfo
from autokit.ops.create import finished, numpy_dtype, shape_of_sizes
from autokit.ops.filled import like_dtype
from autokit.ops.names import Names, write_out
from autokit.tensor import Tensor

Generator = random.Generator | None
Dtype = dtypes.dtype | None
Draw = Callable[[tuple[int, ...]], np.ndarray]


def source_of(name: str, generator: Any, where: Any) -> random.Generator:
    """The generator that was given, or that of the device ``where``, which an array there may stand for."""
    if generator is None:
        return random.generator_for(where)
    if not isinstance(generator, random.Generator):
        raise TypeError(
            f"{name}(): argument 'generator' must be torch.Generator, not {type(generator).__name__}"
        )
    return generator


def refuse_dtype(dtype: np.dtype, name: str, kinds: str = dtypes.FLOATS) -> None:
    if dtype.kind not in kinds:
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{dtypes.BY_NUMPY[dtype].name}': it draws real numbers; "
            "give dtype=torch.float32, or convert with .float()"
        )


def in_memory_order(array: np.ndarray, draw: Draw) -> np.ndarray:
    """What ``draw`` gives for the shape of ``array``, the first numbers where ``array`` begins in memory."""
    if array.flags.c_contiguous or 0 in array.strides:
        return draw(array.shape)
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    back = [order.index(axis) for axis in range(array.ndim)]
    return draw(tuple(array.shape[axis] for axis in order)).transpose(back)


def like_in_memory(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """An unfilled array with the shape of ``array``, and its order of dimensions in memory."""
    return in_memory_order(array, lambda shape: np.empty(shape, dtype))


# ---------------------------------------------------------------- made new


def _drawn_dtype(dtype: Any, out: Tensor | None) -> np.dtype:
    """The dtype to draw in: how many words a number takes depends on it, so that of ``out`` counts."""
    return out.array.dtype if out is not None and dtype is None else numpy_dtype(dtype)


def _lies_otherwise(out: Tensor | None, shape: tuple[int, ...], kind: np.dtype) -> bool:
    """Whether ``out`` is filled in another order than that of its indices: in that of its memory."""
    if out is None or out._requires_grad:
        return False
    array = out.array
    return array.shape == shape and array.dtype == kind and not array.flags.c_contiguous


def rand(
    *sizes: Any,
    size: Any = None,
    generator: Generator = None,
    out: Tensor | None = None,
    dtype: Dtype = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers drawn evenly from 0 to below 1; PyTorch's very numbers for the same seed."""
    kind, shape = _drawn_dtype(dtype, out), shape_of_sizes(sizes, size, "rand")
    refuse_dtype(kind, "check_uniform_bounds", dtypes.DIFFERENTIABLE)
    if _lies_otherwise(out, shape, kind):
        return out.uniform_(generator=generator)  # type: ignore[union-attr]
    array = in_pairs(source_of("rand", generator, device).uniform, shape, kind)
    made = finished(array, requires_grad, device)
    return made if out is None else write_out("rand", made, out)


def randn(
    *sizes: Any,
    size: Any = None,
    generator: Generator = None,
    out: Tensor | None = None,
    dtype: Dtype = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers drawn from the normal distribution of mean 0 and variance 1; PyTorch's for the same seed."""
    kind, shape = _drawn_dtype(dtype, out), shape_of_sizes(sizes, size, "randn")
    refuse_dtype(kind, "normal_kernel_cpu", dtypes.DIFFERENTIABLE)
    if _lies_otherwise(out, shape, kind):
        return out.normal_(generator=generator)  # type: ignore[union-attr]
    source = source_of("randn", generator, device)
    array = source.normal(shape, kind) if kind.kind != "c" else _normal(source, shape, kind, 0.0, 1.0, True)
    made = finished(array, requires_grad, device)
    return made if out is None else write_out("randn", made, out)


def randint(
    low: int = 0,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator = None,
    dtype: Dtype = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Integers drawn evenly from ``low`` (0 if left out) to below ``high``; PyTorch's for the same seed.

    Raises
    ------
    RuntimeError
        If there is no integer in that range, or the dtype does not hold it.
    """
    if isinstance(high, tuple | list):
        high, size = None, high
    if high is None:
        low, high = 0, low
    if not isinstance(size, tuple | list):
        raise TypeError(
            "randint() received an invalid combination of arguments: it takes (high, size) or "
            f"(low, high, size), and the size as a tuple, not {size!r}"
        )
    low, high = whole_number("randint", "low", low), whole_number("randint", "high", high)
    kind = np.dtype(np.int64) if dtype is None else numpy_dtype(dtype)
    low, high = checked_range(low, high, kind)
    array = source_of("randint", generator, device).integers(
        low, high, shape_of_sizes((size,), None, "randint"), kind
    )
    return finished(array, requires_grad, device)


def randperm(
    n: int,
    *,
    generator: Generator = None,
    dtype: Dtype = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The integers from 0 to below ``n`` in random order; PyTorch's order for the same seed.

    Raises
    ------
    RuntimeError
        If ``n`` is negative, or above what the dtype holds.
    """
    (n,) = shape_of_sizes((whole_number("randperm", "n", n),))
    kind = np.dtype(np.int64) if dtype is None else numpy_dtype(dtype)
    if kind.kind in "bc":
        raise NotImplementedError(f"\"randperm\" not implemented for '{kind.name}': give dtype=torch.int64")
    most = (
        int(2 / finfo(dtypes.BY_NUMPY[kind]).eps) if kind.kind in dtypes.FLOATS else int(np.iinfo(kind).max)
    )
    if n > most + 1:
        raise RuntimeError(f"n cannot be greater than {most + 1} for {dtypes.BY_NUMPY[kind].name} type")
    order = source_of("randperm", generator, device).permutation(n)
    return finished(order.astype(kind), requires_grad, device)


def whole_number(function: str, argument: str, value: Any) -> int:
    if isinstance(value, Tensor) and value.array.size == 1 and value.array.dtype.kind in "ui":
        return int(value.array.item())
    if isinstance(value, bool | float | str) or not hasattr(value, "__index__"):
        raise TypeError(f"{function}(): argument '{argument}' must be int, not {type(value).__name__}")
    whole = value.__index__()
    if not -(1 << 63) <= whole < 1 << 63:
        raise ValueError(f"Overflow when unpacking long long: {argument}={whole} does not fit into int64")
    return whole


def checked_range(low: int, high: int, kind: np.dtype) -> tuple[int, int]:
    """The ends of a range of integers, checked for this dtype."""
    if not low < high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if kind.kind == "c":
        raise RuntimeError(
            "check_random_bounds handles only integral, floating-point and boolean types: complex numbers "
            "have no order"
        )
    if kind.kind in dtypes.FLOATS:
        last = int(finfo(dtypes.BY_NUMPY[kind]).max)
        first = -last
    else:
        first, last = (0, 1) if kind.kind == "b" else (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
    for name, value in (("from", low), ("to - 1", high - 1)):
        if not first <= value <= last:
            raise RuntimeError(f"{name} is out of bounds for {kind}: {value} is not in {first} to {last}")
    return low, high


# ---------------------------------------------------------------- made like another


def rand_like(
    input: Tensor,
    *,
    generator: Generator = None,
    dtype: Dtype = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """As :func:`rand`, in the shape and dtype of ``input``."""
    like = like_in_memory(input.array, like_dtype(input, dtype))
    refuse_dtype(like.dtype, "check_uniform_bounds", dtypes.DIFFERENTIABLE)
    source = source_of("rand_like", generator, device or input.array)
    array = in_memory_order(like, lambda shape: in_pairs(source.uniform, shape, like.dtype))
    return finished(array, requires_grad, device or input.device)


def randn_like(
    input: Tensor,
    *,
    generator: Generator = None,
    dtype: Dtype = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """As :func:`randn`, in the shape and dtype of ``input``."""
    like = like_in_memory(input.array, like_dtype(input, dtype))
    refuse_dtype(like.dtype, "normal_kernel_cpu", dtypes.DIFFERENTIABLE)
    array = normal_numbers(like, source_of("randn_like", generator, device or input.array), 0.0, 1.0)
    return finished(array, requires_grad, device or input.device)


def randint_like(
    input: Tensor,
    low: Any = 0,
    high: Any = None,
    *,
    generator: Generator = None,
    dtype: Dtype = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """As :func:`randint`, in the shape and dtype of ``input``."""
    if high is None:
        low, high = 0, low
    like = like_in_memory(input.array, like_dtype(input, dtype))
    if isinstance(high, Tensor) and high.array.ndim:
        raise RuntimeError(f"high must be a scalar tensor and on CPU, but its shape is {tuple(high.shape)}")
    low, high = checked_range(
        whole_number("randint_like", "low", low), whole_number("randint_like", "high", high), like.dtype
    )
    source = source_of("randint_like", generator, device or input.array)
    array = in_memory_order(like, lambda shape: source.integers(low, high, shape, like.dtype))
    return finished(array, requires_grad, device or input.device)


def normal_numbers(array: np.ndarray, source: random.Generator, mean: float, std: float) -> np.ndarray:
    in_blocks = array.flags.c_contiguous
    return in_memory_order(array, lambda shape: _normal(source, shape, array.dtype, mean, std, in_blocks))


def _normal(
    source: random.Generator, shape: tuple[int, ...], kind: np.dtype, mean: float, std: float, in_blocks: bool
) -> np.ndarray:
    """Normal numbers; the two parts of a complex one share its variance."""
    own = std / math.sqrt(2) if kind.kind == "c" else std
    return in_pairs(lambda size, real: source.normal(size, real, mean, own, in_blocks), shape, kind)


def in_pairs(draw: Callable[..., np.ndarray], shape: tuple[int, ...], kind: np.dtype) -> np.ndarray:
    """What ``draw`` gives for a shape and a dtype; for a complex one it draws two real numbers each."""
    if kind.kind != "c":
        return draw(shape, kind)
    pairs = draw((*shape, 2), dtypes.BY_NUMPY[kind].to_real().numpy)
    return pairs.view(kind)[..., 0] if pairs.size else np.zeros(shape, kind)


NAMES = Names(functions="rand rand_like randint randint_like randn randn_like randperm")
