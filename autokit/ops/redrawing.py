"""Random numbers drawn into a tensor that is there: ``x.normal_()`` and its like.

They are PyTorch's for the same seed, as in ``sampling``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit import random
from autokit.devices import beside, to_numpy
from autokit.dtypes import DIFFERENTIABLE, FLOATS
from autokit.limits import finfo
from autokit.meta_array import MetaArray, refuse_meta
from autokit.ops.draws import drawn, refuse_chance, refuse_negative_std
from autokit.ops.inplace import in_place, refuse_change
from autokit.ops.names import Names
from autokit.ops.sampling import (
    Draw,
    Generator,
    checked_range,
    in_memory_order,
    in_pairs,
    normal_numbers,
    refuse_dtype,
    source_of,
    whole_number,
)
from autokit.tensor import Tensor, new_tensor


def _redraw(self: Tensor, backward: str, draw: Draw) -> Tensor:
    """Overwrite ``self`` by what ``draw`` gives for its shape."""
    refuse_change(self)
    if self.array.__class__ is MetaArray:
        return self
    return _overwrite(self, backward, in_memory_order(self.array, draw))


def _overwrite(self: Tensor, backward: str, values: np.ndarray) -> Tensor:
    return in_place(drawn)(self, new_tensor(beside(self.array, values)), backward=backward)


def _by_chances(source: random.Generator, like: np.ndarray, chances: np.ndarray) -> np.ndarray:
    order = sorted(range(like.ndim), key=lambda axis: -abs(like.strides[axis]))
    if like.flags.c_contiguous:
        order = list(range(like.ndim))
    return source.bernoulli(chances.transpose(order), None, like.dtype).transpose(np.argsort(order))


def uniform_(
    self: Tensor, from_: float = 0, to: float = 1, *, generator: Generator = None, **ends: Any
) -> Tensor:
    """Draw each element evenly from ``from`` to below ``to``; PyTorch's very numbers for the same seed."""
    low, high = ends.pop("from", from_), to
    if ends:
        raise TypeError(f"uniform_() got an unexpected keyword argument '{next(iter(ends))}'")
    kind = self.array.dtype
    refuse_dtype(kind, "check_uniform_bounds", DIFFERENTIABLE)
    largest = finfo(self.dtype).max
    for name, end in (("from", low), ("to", high)):
        if not -largest <= end <= largest:
            raise RuntimeError(f"{name} is out of bounds for {kind}: it is {end}")
    if not low <= high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
        )
    if high - low > largest:
        raise RuntimeError(
            f"uniform_ expects to-from <= {largest:g}, but found to={high:g} and from={low:g} which result "
            "in to-from to exceed the limit"
        )
    source = source_of("uniform_", generator, self.array)

    def draw(shape: Any, real: Any) -> Any:
        return source.uniform(shape, real, low, high)

    return _redraw(self, "UniformBackward0", lambda shape: in_pairs(draw, shape, kind))


def normal_(self: Tensor, mean: float = 0, std: float = 1, *, generator: Generator = None) -> Tensor:
    """Draw each element from the normal distribution; PyTorch's very numbers for the same seed."""
    refuse_negative_std(std)
    refuse_dtype(self.array.dtype, "normal_kernel_cpu", DIFFERENTIABLE)
    source = source_of("normal_", generator, self.array)
    refuse_change(self)
    if self.array.__class__ is MetaArray:
        return self
    values = normal_numbers(self.array, source, float(mean), float(std))
    return _overwrite(self, "NormalBackward0", values)


def random_(self: Tensor, *ends: Any, generator: Generator = None, **named: Any) -> Tensor:
    """Draw integers: ``random_()``, ``random_(to)`` or ``random_(from, to)``; PyTorch's for the same seed.

    Without ends they go from 0 to the largest integer up to which the dtype holds all; with only a
    beginning, ``random_(from, None)``, to the largest that it holds.
    """
    if not set(named) <= {"from", "to"} or len(ends) + len(named) > 2:
        raise TypeError("random_() takes (), (to) or (from, to)")
    source, kind = source_of("random_", generator, self.array), self.array.dtype
    if kind.kind == "c":
        raise (RuntimeError if ends or named else NotImplementedError)(
            f"\"random_\" not implemented for '{kind.name}': it draws integers; convert with .float()"
        )
    if not ends and not named:
        return _redraw(self, "RandomBackward2", lambda shape: source.full_range(shape, kind))
    if len(ends) == 2:
        low, high = ends
    elif "from" in named:
        low, high = named["from"], ends[0] if ends else named.get("to")
    elif ends and "to" in named:
        low, high = ends[0], named["to"]
    else:
        low, high = 0, ends[0] if ends else named["to"]
    node = "RandomBackward1" if len(ends) == 1 and not named else "RandomBackward0"
    low = whole_number("random_", "from", low)
    if high is None:
        largest = (
            round(2 / finfo(self.dtype).eps)  # up to which it holds all integers
            if kind.kind in FLOATS
            else 1
            if kind.kind == "b"
            else np.iinfo(kind).max
        )
        high = min(int(largest), (1 << 63) - 1) + 1
    else:
        high = whole_number("random_", "to", high)
    low, high = checked_range(low, high, kind)
    return _redraw(self, node, lambda shape: source.integers(low, high, shape, kind))


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator = None) -> Tensor:
    """Set each element to 1 with probability ``p``, a number or a tensor that broadcasts, else to 0.

    With a number the draws are PyTorch's for the same seed where it does not run on an Intel processor,
    see ``autokit.random.generator``; with a tensor, everywhere.
    """
    source = source_of("bernoulli_", generator, self.array)
    if isinstance(p, Tensor):
        refuse_change(self)
        refuse_meta("bernoulli_", p)
        if not self.array.size:
            return self
        p = p.detach().expand(self.shape)
        refuse_dtype(p.array.dtype, "bernoulli_tensor_cpu_p_")
        values = _by_chances(source, self.array, to_numpy(p.expand(self.shape).array))
        return _overwrite(self, "BernoulliBackward1", values)
    refuse_chance(p)
    return _redraw(self, "BernoulliBackward2", lambda shape: source.bernoulli(p, shape, self.array.dtype))


def exponential_(self: Tensor, lambd: float = 1, *, generator: Generator = None) -> Tensor:
    """Draw each element from the exponential distribution with rate ``lambd``.

    PyTorch's numbers for the same seed where it does not run on an Intel processor, see
    ``autokit.random.generator``.
    """
    _refuse_counts(self, "Exponential")
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    source = source_of("exponential_", generator, self.array)
    return _redraw(
        self, "ExponentialBackward0", lambda shape: source.exponential(shape, self.array.dtype, lambd)
    )


def geometric_(self: Tensor, p: float, *, generator: Generator = None) -> Tensor:
    """Draw for each element how many trials the first success takes; PyTorch's for the same seed."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    refuse_dtype(self.array.dtype, "geometric_cpu", "fVui")
    source = source_of("geometric_", generator, self.array)
    return _redraw(self, "GeometricBackward0", lambda shape: source.geometric(shape, self.array.dtype, p))


def cauchy_(self: Tensor, median: float = 0, sigma: float = 1, *, generator: Generator = None) -> Tensor:
    """Draw each element from the Cauchy distribution; PyTorch's for the same seed."""
    _refuse_counts(self, "Cauchy")
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    source = source_of("cauchy_", generator, self.array)
    return _redraw(
        self, "CauchyBackward0", lambda shape: source.cauchy(shape, self.array.dtype, median, sigma)
    )


def log_normal_(self: Tensor, mean: float = 1, std: float = 2, *, generator: Generator = None) -> Tensor:
    """Draw each element so that its logarithm is normal; PyTorch's for the same seed."""
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    refuse_dtype(self.array.dtype, "log_normal_cpu")
    source = source_of("log_normal_", generator, self.array)
    return _redraw(
        self, "LogNormalBackward0", lambda shape: source.log_normal(shape, self.array.dtype, mean, std)
    )


def _refuse_counts(tensor: Tensor, name: str) -> None:
    if tensor.array.dtype.kind not in FLOATS:
        raise RuntimeError(
            f"{name} distribution is a continuous probability distribution. dtype must be a floating point "
            f"but you specified {tensor.dtype.name}"
        )


NAMES = Names(
    methods="bernoulli_ cauchy_ exponential_ geometric_ log_normal_ normal_ random_ uniform_",
)
