"""Random tensors: new ones, in the shape of another, by probabilities in a tensor, and into a tensor.

For the same seed the numbers are PyTorch's; ``autokit.base.generator`` computes them.  They are written in
the order in which the elements lie in memory, which is not always row by row.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import index
from typing import Any, Unpack

import numpy as np

from autokit.base.devices import beside, get_default_device, to_numpy
from autokit.base.devices import device as Device
from autokit.base.errors import broadcast_error, require_floats, require_tensor
from autokit.base.generator import Generator, generator_for
from autokit.engine.detours import DETOURS, of_this_thread
from autokit.engine.inplace import assign, refuse_change
from autokit.engine.operation import derivative, operation
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.create import Options, created, empty, empty_like, number, shape_of
from autokit.ops.names import Names

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


def source_of(generator: Generator | None, device: Any = None) -> Generator:
    """The ``generator`` that was given, or that of draws for ``device``."""
    if generator is None:
        generator = generator_for(get_default_device() if device is None else Device(device))
    if not isinstance(generator, Generator):
        raise TypeError(f"argument 'generator' must be torch.Generator, not {type(generator).__name__}")
    for each in of_this_thread() if DETOURS else ():
        generator = each.source(generator)
    return generator


def in_memory_order(array: Any, draw: Callable[[Shape], Array]) -> Array:
    """The numbers of ``draw`` in the shape of ``array``, in the order in which its elements lie in memory."""
    if array.flags.c_contiguous or 0 in array.strides:
        return draw(array.shape)
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    back = [order.index(axis) for axis in range(array.ndim)]
    return draw(tuple([array.shape[axis] for axis in order])).transpose(back)


# ---------------------------------------------------------------- into a tensor


def _redraw(
    self: Tensor, generator: Generator | None, draw: Callable[[Generator, Shape, np.dtype[Any]], Array]
) -> Tensor:
    """Overwrite ``self`` with the numbers that ``draw`` returns for its shape and dtype."""
    refuse_change(self)  # before a number is drawn
    source = source_of(generator, self.device)
    kind = self.array.dtype
    drawn = in_memory_order(self.array, lambda shape: draw(source, shape, kind))
    return assign(self, new_tensor(beside(drawn, self.array)))


def uniform_(self: Tensor, from_: float = 0, to: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Draw each element from the uniform distribution on [``from_``, ``to``)."""
    require_floats("uniform_", self.array)
    if not from_ <= to:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={from_} > to={to}")
    return _redraw(self, generator, lambda source, shape, kind: source.uniform(shape, kind, from_, to))


def normal_(self: Tensor, mean: float = 0, std: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Draw each element from the normal distribution."""
    require_floats("normal_", self.array)
    _refuse_negative(std)
    mean = float(mean)
    std = float(std)
    in_blocks = self.array.flags.c_contiguous
    return _redraw(
        self, generator, lambda source, shape, kind: source.normal(shape, kind, mean, std, in_blocks)
    )


def random_(self: Tensor, *ends: Any, generator: Generator | None = None) -> Tensor:
    """Draw integers: ``random_()``, ``random_(to)`` or ``random_(from, to)``.

    Without ends they go from 0 to the largest integer up to which the dtype holds all.
    """
    if not ends:
        return _redraw(self, generator, lambda source, shape, kind: source.full_range(shape, kind))
    low, high = [index(number(end)) for end in (0, *ends)[-2:]]
    if not low < high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    kind = self.array.dtype
    if kind.kind != "f":
        least, most = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
        if low < least or high - 1 > most:
            raise RuntimeError(f"the numbers from {low} to {high - 1} are out of bounds for {kind}")
    return _redraw(self, generator, lambda source, shape, kind: source.integers(low, high, shape, kind))


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Set each element to 1 with probability ``p``, a number or a tensor that broadcasts, else to 0."""
    if not isinstance(p, Tensor):
        return _redraw(self, generator, lambda source, shape, kind: source.bernoulli(p, shape, kind))
    chances = np.broadcast_to(to_numpy(p.array), self.array.shape)
    return _redraw(self, generator, lambda source, shape, kind: source.bernoulli(chances, dtype=kind))


def exponential_(self: Tensor, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Draw each element from the exponential distribution with rate ``lambd``."""
    require_floats("exponential_", self.array)
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return _redraw(self, generator, lambda source, shape, kind: source.exponential(shape, kind, lambd))


# ---------------------------------------------------------------- new tensors


def _new(create: Callable[..., Tensor], draw: Callable[[Tensor], Tensor], options: Any) -> Tensor:
    """A new tensor into which ``draw`` writes; it requires grad only afterwards."""
    learns = options.pop("requires_grad", False)
    return draw(create(**options)).requires_grad_(learns)


def rand(
    *sizes: Any, size: Any = None, generator: Generator | None = None, **options: Unpack[Options]
) -> Tensor:
    """Numbers from the uniform distribution on [0, 1).

    >>> import autokit as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.rand(2)
    tensor([0.4963, 0.7682])
    """
    create = partial(empty, *sizes, size=size)
    return _new(create, lambda into: uniform_(into, generator=generator), options)


def randn(
    *sizes: Any, size: Any = None, generator: Generator | None = None, **options: Unpack[Options]
) -> Tensor:
    """Numbers drawn from the normal distribution of mean 0 and variance 1."""
    create = partial(empty, *sizes, size=size)
    return _new(create, lambda into: normal_(into, generator=generator), options)


def randint(
    low: Any = 0,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """Random integers from ``low`` (0 if left out) to below ``high``: ``randint(10, (2, 3))``.

    Raises
    ------
    RuntimeError
        If there is no integer in that range, or the dtype does not hold it.
    """
    if isinstance(high, tuple | list):
        high, size = None, high
    if not isinstance(size, tuple | list):
        raise TypeError(
            f"randint() takes (high, size) or (low, high, size), and a tuple as size, not {size!r}"
        )
    ends = (low,) if high is None else (low, high)
    options["dtype"] = options.get("dtype") or np.int64
    return _new(partial(empty, size), lambda into: random_(into, *ends, generator=generator), options)


def randperm(n: int, *, generator: Generator | None = None, **options: Unpack[Options]) -> Tensor:
    """The integers from 0 to below ``n`` in random order."""
    (count,), source = shape_of("randperm", (n,)), source_of(generator, options.get("device"))
    options["dtype"] = options.get("dtype") or np.int64
    return created(source.permutation(count).astype, **options)


def rand_like(input: Tensor, *, generator: Generator | None = None, **options: Unpack[Options]) -> Tensor:
    """As :func:`rand`, in the shape and dtype of ``input``."""
    return _new(partial(empty_like, input), lambda into: uniform_(into, generator=generator), options)


def randn_like(input: Tensor, *, generator: Generator | None = None, **options: Unpack[Options]) -> Tensor:
    """As :func:`randn`, in the shape and dtype of ``input``."""
    return _new(partial(empty_like, input), lambda into: normal_(into, generator=generator), options)


def randint_like(
    input: Tensor,
    low: Any,
    high: Any = None,
    *,
    generator: Generator | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """As :func:`randint`, in the shape and dtype of ``input``."""
    ends = (low,) if high is None else (low, high)
    return _new(partial(empty_like, input), lambda into: random_(into, *ends, generator=generator), options)


# ---------------------------------------------------------------- by probabilities in a tensor

_NO_GRADIENT = derivative("0", lambda g: np.zeros_like(g))


@operation("~", "{mean} + {std} · noise", mean=_NO_GRADIENT, std=_NO_GRADIENT, name="normal")
def _normal(mean, std, noise, /):
    """Normal numbers, whose derivative by the parameters of the distribution is 0."""
    return mean + std * noise


@operation("~", "drawn for {a}", a=_NO_GRADIENT, name="drawn", mixed=True)
def _drawn(a, values, /):
    """Numbers that were drawn, whose derivative by the parameters of the distribution is 0."""
    return values


def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    **options: Unpack[Options],
) -> Tensor:
    """Numbers from normal distributions.

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
    _refuse_negative(std)
    tensors = [one for one in (mean, std) if isinstance(one, Tensor)]
    if (size is None) == (not tensors):
        raise TypeError(
            "normal() received an invalid combination of arguments: it takes tensors for mean or std, or two "
            "numbers and a size, as in torch.normal(0.0, 1.0, (2, 3))"
        )
    if not tensors:
        return _new(partial(empty, size), lambda into: normal_(into, mean, std, generator=generator), options)
    first = tensors[0].array
    require_floats("normal", first)
    try:
        shape = np.broadcast_shapes(*[one.array.shape for one in tensors])
    except ValueError:
        raise broadcast_error([one.array.shape for one in tensors]) from None
    scale = 1.0 if isinstance(std, Tensor) else float(std)
    noise = source_of(generator, tensors[0].device).normal(shape, first.dtype, 0.0, scale)
    return _normal(mean, std if isinstance(std, Tensor) else 1.0, new_tensor(beside(noise, first)))


def _refuse_negative(std: Any) -> None:
    least = std.array.min() if isinstance(std, Tensor) and std.array.size else std
    if not isinstance(least, Tensor) and not least >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {float(least):g}")


def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """1 with the probability in ``input`` at that place, else 0.

    With ``p``, that is the probability everywhere, and of ``input`` only the shape and dtype count.
    """
    require_tensor("bernoulli", input)
    source, array = source_of(generator, input.device), input.array
    if p is not None:
        drawn = source.bernoulli(p, array.shape, array.dtype)
    else:
        require_floats("bernoulli", array)
        drawn = source.bernoulli(to_numpy(array))
    return _drawn(input, new_tensor(beside(drawn, array)))


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """How many events happen, at the rates in ``input``."""
    require_floats("poisson", input.array)
    drawn = source_of(generator, input.device).poisson(to_numpy(input.array))
    return _drawn(input, new_tensor(beside(drawn, input.array)))


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Places in each row of ``input``, drawn with its elements as weights.

    One draw, or draws without replacement, divide each weight by a waiting time from the exponential
    distribution and take the places of the largest; several with replacement look uniform numbers up in the
    running sums of the weights.

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
    require_tensor("multinomial", input)
    weights = to_numpy(input.array)
    source = source_of(generator, input.device)
    if weights.dtype.kind != "f" or weights.ndim not in (1, 2):
        raise RuntimeError(
            "prob_dist must be 1 or 2 dim and hold floats: multinomial draws with a row of weights, or a "
            f"matrix of rows, but got {input.dtype.name} in shape {list(input.shape)}"
        )
    if index(num_samples) <= 0 or not replacement and num_samples > weights.shape[-1]:
        raise RuntimeError(
            f"cannot sample n_sample = {num_samples} places of {weights.shape[-1]} without replacement: draw "
            "from 1 to that many, or with replacement=True"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not weights.any(axis=-1).all():
        raise RuntimeError("invalid multinomial distribution: all weights of a row are 0")
    if replacement and num_samples > 1:
        places = source.choice(weights, num_samples)
    else:
        waits = in_memory_order(weights, lambda shape: source.exponential(shape, weights.dtype))
        with np.errstate(divide="ignore"):
            order = np.argsort(-weights / waits, axis=-1, kind="stable")
        places = np.ascontiguousarray(order[..., :num_samples])
    return new_tensor(beside(places, input.array))


NAMES = Names(
    both="bernoulli multinomial",
    functions="normal poisson rand rand_like randint randint_like randn randn_like randperm",
    methods="bernoulli_ exponential_ normal_ random_ uniform_",
)
