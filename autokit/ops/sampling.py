"""Random tensors: made new and made like another; ``redrawing`` draws into one that is there.

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
from autokit.devices import beside, to_numpy
from autokit.limits import finfo
from autokit.meta_array import MetaArray, is_meta
from autokit.ops.create import finished, numpy_dtype, shape_of_sizes
from autokit.ops.errors import broadcast_message
from autokit.ops.filled import like_dtype
from autokit.ops.gpu.arrays import any_of
from autokit.ops.names import Names, write_out
from autokit.ops.operation import derivative, operation
from autokit.tensor import Tensor, new_tensor

Generator = random.Generator | None
Dtype = dtypes.dtype | None
Draw = Callable[[tuple[int, ...]], np.ndarray]


_NO_GRADIENT = derivative("0", lambda g: np.zeros_like(g))


@operation(
    "~",
    "drawn for {a}",
    a=_NO_GRADIENT,
    backward=lambda node: node.settings["backward"],
    mixed=True,
)
def drawn(a, values, /, backward):
    """Numbers that were drawn: by what they were drawn with their derivative is 0."""
    return values


@operation(
    "~",
    "drawn for {a} and {b}",
    a=_NO_GRADIENT,
    b=_NO_GRADIENT,
    backward=lambda node: node.settings["backward"],
    mixed=True,
)
def drawn_for_two(a, b, values, /, backward):
    """Numbers that were drawn with two parameters."""
    return values


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


def _with_history(values: np.ndarray | MetaArray, backward: str, *parameters: Tensor) -> Tensor:
    """A tensor of ``values``, which were drawn with these parameters."""
    made = new_tensor(beside(parameters[0].array, values))
    if not any(parameter._requires_grad for parameter in parameters):
        return made
    return (drawn if len(parameters) == 1 else drawn_for_two)(*parameters, made, backward=backward)


# ---------------------------------------------------------------- made new


def _drawn_dtype(dtype: Any, out: Tensor | None) -> np.dtype:
    """The dtype to draw in: how many words a number takes depends on it, so that of ``out`` counts."""
    return out.array.dtype if out is not None and dtype is None else numpy_dtype(dtype)


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
    kind = _drawn_dtype(dtype, out)
    refuse_dtype(kind, "check_uniform_bounds", dtypes.DIFFERENTIABLE)
    array = in_pairs(source_of("rand", generator, device).uniform, shape_of_sizes(sizes, size), kind)
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
    kind = _drawn_dtype(dtype, out)
    refuse_dtype(kind, "normal_kernel_cpu", dtypes.DIFFERENTIABLE)
    source, shape = source_of("randn", generator, device), shape_of_sizes(sizes, size)
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
    array = source_of("randint", generator, device).integers(low, high, shape_of_sizes((size,)), kind)
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
    return value.__index__()


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


# ---------------------------------------------------------------- from distributions


def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator = None,
    dtype: Dtype = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers from normal distributions; PyTorch's for the same seed.

    Parameters
    ----------
    mean, std : number or Tensor
        Of each element where they are tensors, which broadcast; of all where they are numbers.
    size : tuple of int
        The shape, where both are numbers.

    Raises
    ------
    RuntimeError
        If a standard deviation is negative.

    Examples
    --------
    >>> import autokit as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.normal(torch.tensor([0.0, 100.0]), torch.tensor([1.0, 0.1]))
    tensor([ 1.5410, 99.9707])
    """
    refuse_negative_std(std)
    tensors = [each for each in (mean, std) if isinstance(each, Tensor)]
    source = source_of("normal", generator, tensors[0].array if tensors else device)
    if (size is None) == (not tensors):
        raise TypeError(
            "normal() received an invalid combination of arguments: it takes tensors for mean or std, or two "
            "numbers and a size, as in torch.normal(0.0, 1.0, (2, 3))"
        )
    if not tensors:
        kind = numpy_dtype(dtype)
        refuse_dtype(kind, "normal_kernel_cpu")
        array = source.normal(shape_of_sizes((size,)), kind, float(mean), float(std))
        return finished(array, requires_grad, device)
    kind = tensors[0].array.dtype
    refuse_dtype(kind, "normal_kernel_cpu")
    try:
        shape = np.broadcast_shapes(*(each.array.shape for each in tensors))
    except ValueError:
        raise RuntimeError(broadcast_message(*(tuple(each.shape) for each in tensors))) from None
    node = 3 if len(tensors) == 2 else 1 if isinstance(mean, Tensor) else 2
    if any(is_meta(each.array) for each in tensors):
        return _with_history(MetaArray(shape, kind), f"NormalBackward{node}", *tensors)
    if isinstance(std, Tensor):
        values = source.normal(shape, kind) * to_numpy(std.array).astype(kind)
    else:
        values = source.normal(shape, kind, 0.0, float(std))
    values = values + (to_numpy(mean.array) if isinstance(mean, Tensor) else kind.type(mean))
    return _with_history(values.astype(kind, copy=False), f"NormalBackward{node}", *tensors)


def refuse_negative_std(std: Any) -> None:
    if isinstance(std, Tensor):
        if std.array.size and any_of(~(std.array >= 0)):
            raise RuntimeError("normal expects all elements of std >= 0.0")
    elif not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")


def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator = None) -> Tensor:
    """1 with the probability in ``input`` at that place, else 0; PyTorch's for the same seed.

    With ``p``, that is the probability everywhere, and of ``input`` only the shape and dtype count; these
    draws are PyTorch's where it does not run on an Intel processor, see ``autokit.random.generator``.

    Raises
    ------
    RuntimeError
        If something is no probability.
    """
    source = source_of("bernoulli", generator, input.array)
    kind = input.array.dtype
    if is_meta(input.array):
        array = input.array
    elif p is not None:
        refuse_chance(p)
        array = source.bernoulli(p, input.array.shape, kind)
    else:
        refuse_dtype(kind, "bernoulli_tensor_cpu_p_")
        array = source.bernoulli(to_numpy(input.array))
    return _with_history(array, "BernoulliBackward0", input)


def refuse_chance(p: Any) -> None:
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")


def poisson(input: Tensor, generator: Generator = None) -> Tensor:
    """How many events happen, at the rates in ``input``; PyTorch's for the same seed."""
    refuse_dtype(input.array.dtype, "poisson_cpu")
    source, rates = source_of("poisson", generator, input.array), input.array
    values = rates if is_meta(rates) else source.poisson(to_numpy(rates))
    return _with_history(values, "PoissonBackward0", input)


def binomial(count: Tensor, prob: Tensor, generator: Generator = None) -> Tensor:
    """How many of ``count`` trials succeed, each with probability ``prob``; PyTorch's for the same seed."""
    for name, tensor in (("count", count), ("prob", prob)):
        if tensor.array.dtype.kind not in dtypes.FLOATS:
            raise ValueError(
                f"binomial only supports floating-point dtypes for {name}, got: {tensor.dtype.name}: "
                "convert it with .float()"
            )
    if count.array.dtype != prob.array.dtype:
        raise RuntimeError(
            f"binomial: count and prob must have the same dtype, but are {count.dtype} and {prob.dtype}"
        )
    try:
        counts, chances = np.broadcast_arrays(to_numpy(count.array), to_numpy(prob.array))
    except ValueError:
        raise RuntimeError(broadcast_message(tuple(count.shape), tuple(prob.shape))) from None
    values = source_of("binomial", generator, count.array).binomial(counts, chances)
    return _with_history(values, "BinomialBackward0", count, prob)


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator = None
) -> Tensor:
    """Places in each row of ``input``, drawn with its elements as weights.

    One draw, or draws without replacement, divide each weight by a waiting time from the exponential
    distribution and take the places of the largest; several with replacement look even numbers up in the
    running sums of the weights.  The places are PyTorch's for the same seed; without replacement where it
    does not run on an Intel processor, see ``autokit.random.generator``, and but for the order among places
    of weight 0, which come last.

    Parameters
    ----------
    input : Tensor
        Weights, one row or a matrix of rows; they need not sum to 1.
    num_samples : int
        How many places to draw from each row.
    replacement : bool
        Whether a place may be drawn again.

    Raises
    ------
    RuntimeError
        If there are fewer places than are to be drawn, or a weight is negative, infinite or NaN, or all
        weights of a row are 0.
    """
    source = source_of("multinomial", generator, input.array)
    weights = to_numpy(input.array)

    def drawn_beside(places: Any) -> Tensor:
        return new_tensor(beside(input.array, places))

    if weights.dtype.kind not in dtypes.FLOATS:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {input.dtype}; use .float()"
        )
    if weights.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, and its shape is {tuple(input.shape)}")
    num_samples = whole_number("multinomial", "num_samples", num_samples)
    if num_samples <= 0:
        raise RuntimeError(f"cannot sample n_sample <= 0 samples: num_samples is {num_samples}")
    if not replacement and num_samples > weights.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement: "
            f"{num_samples} of {weights.shape[-1]}"
        )
    if 0 in weights.shape[:-1]:
        return drawn_beside(np.zeros((*weights.shape[:-1], num_samples), np.int64))
    if not weights.size:
        raise RuntimeError(
            "invalid multinomial distribution (sum of probabilities <= 0): there are no weights"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not weights.any(axis=-1).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if replacement and num_samples > 1:
        return drawn_beside(source.choice(weights, num_samples))
    waits = in_memory_order(input.array, lambda shape: source.exponential(shape, weights.dtype))
    with np.errstate(divide="ignore"):
        keys = weights / waits
    if num_samples == 1:
        return drawn_beside(keys.argmax(axis=-1, keepdims=True))
    places = np.argsort(-keys, axis=-1, kind="stable")
    return drawn_beside(np.ascontiguousarray(places[..., :num_samples]))


NAMES = Names(
    both="bernoulli multinomial",
    functions="binomial normal poisson rand rand_like randint randint_like randn randn_like randperm",
)
