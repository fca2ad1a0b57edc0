"""Draws whose chances are those in a tensor: normal numbers, successes, events, places.

The numbers are those of PyTorch for the same seed, as in ``sampling``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit import dtypes
from autokit.devices import beside, to_numpy
from autokit.meta_array import MetaArray, is_meta, zeros_for
from autokit.ops.complex_numbers import is_complex
from autokit.ops.create import finished, numpy_dtype, shape_of_sizes
from autokit.ops.errors import broadcast_message, describe
from autokit.ops.gpu.arrays import any_of
from autokit.ops.names import Names
from autokit.ops.operation import derivative, operation
from autokit.ops.sampling import (
    Dtype,
    Generator,
    in_memory_order,
    normal_numbers,
    refuse_dtype,
    source_of,
    whole_number,
)
from autokit.tensor import Tensor, new_tensor
from autokit.thread_state import thread

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


def _with_history(values: np.ndarray | MetaArray, backward: str, *parameters: Tensor) -> Tensor:
    """A tensor of ``values``, which were drawn with these parameters."""
    made = new_tensor(beside(parameters[0].array, values))
    if not (thread.state.forward or any(parameter._requires_grad for parameter in parameters)):
        return made
    return (drawn if len(parameters) == 1 else drawn_for_two)(*parameters, made, backward=backward)


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
        refuse_dtype(kind, "normal_kernel_cpu", dtypes.DIFFERENTIABLE)
        array = normal_numbers(np.empty(shape_of_sizes((size,)), kind), source, float(mean), float(std))
        return finished(array, requires_grad, device)
    kind = tensors[0].array.dtype
    refuse_dtype(kind, "normal_kernel_cpu", dtypes.DIFFERENTIABLE)
    try:
        shape = np.broadcast_shapes(*(each.array.shape for each in tensors))
    except ValueError:
        raise RuntimeError(broadcast_message(*(tuple(each.shape) for each in tensors))) from None
    node = 3 if len(tensors) == 2 else 1 if isinstance(mean, Tensor) else 2
    if any(is_meta(each.array) for each in tensors):
        return _with_history(MetaArray(shape, kind), f"NormalBackward{node}", *tensors)
    unset = np.empty(shape, kind)
    if isinstance(std, Tensor):
        values = normal_numbers(unset, source, 0.0, 1.0) * to_numpy(std.array).astype(kind)
    else:
        values = normal_numbers(unset, source, 0.0, float(std))
    values = values + (to_numpy(mean.array) if isinstance(mean, Tensor) else kind.type(mean))
    return _with_history(values.astype(kind, copy=False), f"NormalBackward{node}", *tensors)


def refuse_negative_std(std: Any) -> None:
    if isinstance(std, Tensor):
        if is_complex(std):
            raise RuntimeError(f"normal expects standard deviation to be non-complex: {describe(std)}")
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
    weights = to_numpy(zeros_for(input.array))

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
    if 0 in weights.shape[:-1] or is_meta(input.array):
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


NAMES = Names(both="bernoulli multinomial", functions="binomial normal poisson")
