"""The generator: from one seed to an endless stream of words, and from words to numbers.

One seed gives one endless stream of 32-bit words from the Mersenne Twister
MT19937.  Every draw takes the next words and turns them into numbers in the
way that PyTorch does, so that the same seed and the same calls give the same
numbers.  How many words a draw takes is part of the agreement: it decides
what the next draw gets.

Draws here are NumPy arrays; ``autokit.ops.sampling`` makes tensors of them.

PyTorch itself has two streams for some draws.  On Intel processors it leaves
``bernoulli_`` with a number, ``exponential_``, and with them dropout and the
``multinomial`` of one draw or without replacement, to a generator of Intel's
library; on all other processors it takes the words of MT19937.  Here it is
MT19937 everywhere.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit import devices
from autokit.batches.batch import active, of_each, refuse_for_samples
from autokit.dtypes import BY_NUMPY, FLOATS
from autokit.limits import finfo
from autokit.random import cephes
from autokit.random.cephes import multiply_add
from autokit.tensor import Tensor, new_tensor

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

Shape = int | tuple[int, ...]

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)

_DEFAULT_SEED = 67280421310721
_PERIOD = 624  # how many words the twister makes at once
_BLOCK = 16  # how many normal numbers PyTorch makes at once from 16 uniform ones
_WIDE_RANGE = 1 << 28  # integer ranges from here on take two words a number

# The bytes of PyTorch's CPU generator state, so that a state can be carried over either way.
_STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("words", "<u8", _PERIOD),
        ("normal_x", "<f8"),
        ("normal_y", "<f8"),
        ("normal_rho", "<f8"),
        ("normal_is_valid", "<i4"),
        ("unused", "<i4", 3),
    ]
)


def _for_samples(draw: Callable[..., Any]) -> Callable[..., Any]:
    """``draw``, which draws for each sample of a ``vmap`` with ``randomness="different"``."""
    parameters = tuple(signature(draw).parameters)
    place = parameters.index("shape") - 1 if "shape" in parameters else None

    @wraps(draw)
    def apply(self: Generator, *arguments: Any, **settings: Any) -> Any:
        levels = active()
        if not levels:
            return draw(self, *arguments, **settings)
        apart = [level for level in levels if level.randomness == "different" and not level.looping]
        if not apart:
            return draw(self, *arguments, **settings)
        counts = tuple([level.size for level in apart])
        if place is None:
            rows = [draw(self, *arguments, **settings) for _ in range(math.prod(counts))]
            drawn = np.stack(rows).reshape((*counts, *rows[0].shape))
        else:
            if place < len(arguments):
                settings["shape"] = arguments[place]
                settings.update(zip(parameters[place + 2 :], arguments[place + 1 :]))
            shape = settings["shape"]
            settings["shape"] = (*counts, *((shape,) if isinstance(shape, int) else shape))
            drawn = draw(self, *arguments[:place], **settings)
        return of_each(drawn, apart)

    return apply


_SWAPS = 512
"""How many elements a permutation exchanges before it draws again."""


class Generator:
    """A stream of random numbers that depends on its seed alone.

    Parameters
    ----------
    device : str
        Where the numbers are wanted.  The stream is made on the CPU all the same, so that one seed
        gives the same numbers everywhere; on a GPU PyTorch has another stream.

    Examples
    --------
    >>> generator = Generator().manual_seed(0)
    >>> generator.uniform(3)
    array([0.4962566 , 0.7682218 , 0.08847743], dtype=float32)
    >>> generator.initial_seed()
    0
    """

    def __init__(self, device: str | devices.device = "cpu") -> None:
        self.device = devices.device(device)
        devices.module_for(self.device)
        self.manual_seed(_DEFAULT_SEED)

    def __repr__(self) -> str:
        return f"<torch.Generator on {self.device}, seed {self._seed}>"

    # ------------------------------------------------------------ where the stream stands

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream anew from ``seed``, a whole number from -2**63 up to 2**64 - 1.

        As in PyTorch only the lowest 32 bits make a difference.

        Raises
        ------
        RuntimeError
            If it is no whole number.
        ValueError
            If it does not fit.
        """
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        seed = int(seed)
        if not -(1 << 63) <= seed < 1 << 64:
            raise ValueError(f"Overflow when unpacking long long: the seed {seed} does not fit in 64 bits")
        self._seed = seed % (1 << 64)
        self._words_source: np.random.RandomState | None = None
        self._is_fresh = True
        self._spare: float | None = None
        return self

    def seed(self) -> int:
        """Start from a seed that nobody can foresee, and return it."""
        self.manual_seed(int.from_bytes(os.urandom(8), "little"))
        return self._seed

    def initial_seed(self) -> int:
        """The seed that the stream started from."""
        return self._seed

    def get_state(self) -> Tensor:
        """Where the stream stands: a ``uint8`` tensor of 5,056 bytes, each that of PyTorch's own state."""
        twister: Any = self._source().get_state(legacy=True)
        words, position = twister[1:3]
        state = np.zeros((), _STATE)
        state["seed"], state["words"], state["seeded"] = self._seed, words, 1
        state["left"] = _PERIOD + 1 - position if position < _PERIOD else 1
        state["next"] = 0 if self._is_fresh else position
        if self._spare is not None:
            state["normal_y"], state["normal_is_valid"] = self._spare, 1
        return new_tensor(state.reshape(1).view(np.uint8).copy())

    def set_state(self, new_state: Tensor) -> Generator:
        """Go on from where :meth:`get_state` was called.

        Raises
        ------
        TypeError
            If it is no ``uint8`` tensor.
        RuntimeError
            If it is no state.
        """
        if not isinstance(new_state, Tensor) or new_state.array.dtype != np.uint8:
            kind = new_state.dtype if isinstance(new_state, Tensor) else type(new_state).__name__
            raise TypeError(f"expected a torch.ByteTensor, as get_state() gives it, but got {kind}")
        raw = np.ascontiguousarray(devices.to_numpy(new_state.array))
        if raw.shape != (_STATE.itemsize,):
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE.itemsize}, as get_state() gives it, but "
                f"found the input RNG state size to be {raw.size}"
            )
        fields = raw.view(_STATE)[0]
        position = int(fields["next"])
        if not (fields["seeded"] == 1 and 0 < fields["left"] <= _PERIOD and position <= _PERIOD):
            raise RuntimeError("Invalid mt19937 state: it was not made by get_state()")
        self.manual_seed(int(fields["seed"]))
        self._is_fresh = position == 0
        words = fields["words"].astype(np.uint32)
        self._source().set_state(("MT19937", words, position or _PERIOD, 0, 0.0))
        self._spare = float(fields["normal_y"]) if fields["normal_is_valid"] else None
        return self

    def clone_state(self) -> Generator:
        """A generator of its own that stands where this one stands."""
        return Generator(self.device).set_state(self.get_state())

    # ------------------------------------------------------------ even numbers

    @_for_samples
    def uniform(
        self, shape: Shape, dtype: npt.DTypeLike = FLOAT32, low: float = 0.0, high: float = 1.0
    ) -> Array:
        """Numbers spread evenly over [low, high); equal to PyTorch's ``rand`` and ``uniform_``.

        float64 takes two words a number; the others take one, and are drawn in float32.
        """
        dtype = np.dtype(dtype)
        kind = FLOAT64 if dtype == FLOAT64 else FLOAT32
        drawn = self._uniform(_size(shape), kind)
        whole = (low, high) == (0.0, 1.0)
        if not whole:
            start, span = kind.type(low), kind.type(high) - kind.type(low)
            drawn = multiply_add(drawn, span, start)
        if not whole or dtype.itemsize < kind.itemsize:
            drawn = drawn.astype(dtype, copy=False)
            drawn[drawn == np.asarray(high, dtype)] = low  # what rounding brought up to the end
        return drawn.reshape(shape)

    @_for_samples
    def integers(self, low: int, high: int, shape: Shape, dtype: npt.DTypeLike = np.int64) -> Array:
        """Whole numbers from ``low`` up to and without ``high``; equal to PyTorch's ``randint``."""
        span = high - low
        if not 0 < span <= 1 << 64:
            raise RuntimeError(f"integers are drawn from [low, high), so low={low} must be below high={high}")
        size = _size(shape)
        offsets = self._long_words(size) if span >= _WIDE_RANGE else self._words(size).astype(np.uint64)
        if span < 1 << 64:
            offsets %= np.uint64(span)
        else:
            low = 0  # every int64: PyTorch takes the words as they are
        # Adding in uint64 wraps around exactly as two's complement does, so a negative low is fine.
        return (offsets + np.uint64(low % (1 << 64))).view(np.int64).astype(dtype, copy=False).reshape(shape)

    @_for_samples
    def full_range(self, shape: Shape, dtype: npt.DTypeLike) -> Array:
        """PyTorch's ``random_()``: whole numbers from 0 to the largest that ``dtype`` holds exactly."""
        dtype, size = np.dtype(dtype), _size(shape)
        if dtype.kind in FLOATS:
            last = int(2 / finfo(BY_NUMPY[dtype]).eps)
        else:
            last = 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)
        words = self._long_words(size) if dtype.itemsize == 8 else self._words(size).astype(np.uint64)
        return (words % np.uint64(last + 1)).astype(dtype).reshape(shape)

    @_for_samples
    def permutation(self, n: int) -> Array:
        """The numbers 0 to n - 1 in random order; equal to PyTorch's ``randperm``."""
        order = np.arange(n)
        elements = order.data  # reads and writes single elements as fast as a list, in a fifth of its memory
        for start in range(0, n - 1, _SWAPS):
            places = np.arange(start, min(start + _SWAPS, n - 1))
            partners = places + self._words(len(places)) % (n - places)
            for place, partner in enumerate(partners.tolist(), start):
                elements[place], elements[partner] = elements[partner], elements[place]
        return order

    def bernoulli(
        self, p: npt.ArrayLike, shape: Shape | None = None, dtype: npt.DTypeLike | None = None
    ) -> Array:
        """1 with probability ``p``, else 0.

        Without ``shape``, ``p`` is an array of probabilities and the result has its shape and dtype, as
        PyTorch's ``bernoulli(p)``; with it, ``p`` is one number, as in ``bernoulli_(p)`` and dropout.
        """
        chance = np.asarray(p)
        outside = ~((chance >= 0) & (chance <= 1))
        if outside.any():
            raise RuntimeError(
                f"Expected p_in >= 0 && p_in <= 1: a probability lies between 0 and 1, but p holds "
                f"{chance[outside].flat[0]}"
            )
        if shape is None:
            kind = FLOAT64 if chance.dtype == FLOAT64 else FLOAT32
            shape, dtype = chance.shape, dtype or chance.dtype
        else:
            kind = FLOAT64
        drawn = self._even(shape, kind)
        return (drawn < chance).astype(dtype or np.float32)

    @_for_samples
    def _even(self, shape: Shape, kind: np.dtype[Any]) -> Array:
        return self._uniform(_size(shape), kind).reshape(shape)

    # ------------------------------------------------------------ normal numbers

    @_for_samples
    def normal(
        self,
        shape: Shape,
        dtype: npt.DTypeLike = FLOAT32,
        mean: float = 0.0,
        std: float = 1.0,
        in_blocks: bool = True,
    ) -> Array:
        """Numbers from the normal distribution; equal to PyTorch's ``randn`` and ``normal_``.

        Like PyTorch this makes fewer than 16 numbers pair by pair, keeping an odd one for the next such
        call, and more in blocks of 16; without ``in_blocks`` all are made in pairs, as PyTorch does where
        they do not lie one after the other in memory.
        """
        dtype, size = np.dtype(dtype), _size(shape)
        if size < _BLOCK or not in_blocks:
            drawn = self._normal_pairs(size)
            if (mean, std) != (0.0, 1.0):
                drawn = multiply_add(drawn, std, mean)
            return narrowed(drawn, dtype).reshape(shape)
        kind = FLOAT64 if dtype == FLOAT64 else FLOAT32
        drawn = self._normal_blocks(size, kind, dtype)
        if (mean, std) != (0.0, 1.0):
            drawn = multiply_add(drawn, kind.type(std), kind.type(mean))
        return drawn.astype(dtype, copy=False).reshape(shape)

    @_for_samples
    def log_normal(self, shape: Shape, dtype: npt.DTypeLike, mean: float, std: float) -> Array:
        """Numbers whose logarithm is normal; equal to PyTorch's ``log_normal_``."""
        normal = multiply_add(self._normal_pairs(_size(shape)), std, mean)
        return narrowed(_libm(math.exp, normal), dtype).reshape(shape)

    # ------------------------------------------------------------ other distributions, from even numbers

    @_for_samples
    def exponential(self, shape: Shape, dtype: npt.DTypeLike, rate: float = 1.0) -> Array:
        """Waiting times at ``rate``; equal to PyTorch's ``exponential_``."""
        drawn = self._uniform(_size(shape), FLOAT64)
        return narrowed(-1.0 / rate * _libm(math.log1p, -drawn), dtype).reshape(shape)

    @_for_samples
    def geometric(self, shape: Shape, dtype: npt.DTypeLike, p: float) -> Array:
        """How many trials the first success takes; equal to PyTorch's ``geometric_``."""
        with np.errstate(divide="ignore"):
            drawn = np.ceil(np.log(self._uniform(_size(shape), FLOAT64)) / math.log1p(-p))
        return narrowed(drawn, dtype).reshape(shape)

    @_for_samples
    def cauchy(self, shape: Shape, dtype: npt.DTypeLike, median: float, sigma: float) -> Array:
        """Numbers from the Cauchy distribution; equal to PyTorch's ``cauchy_``."""
        angle = math.pi * (self._uniform(_size(shape), FLOAT64) - 0.5)
        return narrowed(multiply_add(_libm(math.tan, angle), sigma, median), dtype).reshape(shape)

    @_for_samples
    def poisson(self, rates: Array) -> Array:
        """How many events happen at each of the ``rates``; equal to PyTorch's ``poisson``."""
        from autokit.random import rejection

        return self._one_by_one(rejection.poisson, rates)

    @_for_samples
    def binomial(self, counts: Array, chances: Array) -> Array:
        """How many of the ``counts`` trials succeed; equal to PyTorch's ``binomial``."""
        from autokit.random import rejection

        return self._one_by_one(rejection.binomial, counts, chances)

    @_for_samples
    def gamma(self, shapes: Array) -> Array:
        """Numbers from gamma distributions of rate 1; equal to PyTorch's."""
        from autokit.random import rejection

        drawn = rejection.gamma(
            lambda: float(self._uniform(1, FLOAT64)[0]),
            lambda: float(self._normal_pairs(1)[0]),
            shapes.ravel().tolist(),
        )
        return np.array(list(drawn), FLOAT64).reshape(shapes.shape)

    def choice(self, weights: Array, count: int) -> Array:
        """``count`` places of each row, with replacement; equal to PyTorch's ``multinomial``."""
        rows = weights.reshape(-1, weights.shape[-1])
        sums = np.cumsum(rows, axis=-1, dtype=np.promote_types(rows.dtype, np.float32))
        sums /= sums[:, -1:]
        drawn = self._uniform(len(rows) * count, FLOAT64).reshape(len(rows), count)
        last = weights.shape[-1] - 1
        chosen = [np.searchsorted(row[:last], at, side="left") for row, at in zip(sums, drawn, strict=True)]
        return np.array(chosen, np.int64).reshape(*weights.shape[:-1], count)

    # ------------------------------------------------------------ from words to numbers

    def _source(self) -> np.random.RandomState:
        if self._words_source is None:  # made late: numpy.random takes time to import
            self._words_source = np.random.RandomState(self._seed % (1 << 32))
        return self._words_source

    def _words(self, count: int) -> Array:
        refuse_for_samples()
        if count:
            self._is_fresh = False
        return self._source().randint(0, 1 << 32, size=count, dtype=np.uint32)

    def _long_words(self, count: int) -> Array:
        pairs = self._words(2 * count).astype(np.uint64)
        return (pairs[0::2] << np.uint64(32)) | pairs[1::2]

    def _uniform(self, count: int, kind: np.dtype[Any]) -> Array:
        if kind == FLOAT32:
            return (self._words(count) & np.uint32(0xFFFFFF)).astype(np.float32) * np.float32(2.0**-24)
        return (self._long_words(count) & np.uint64((1 << 53) - 1)).astype(np.float64) * 2.0**-53

    def _one_by_one(self, method: Callable[..., Iterator[float]], *parameters: Array) -> Array:
        """Draws that take a varying count of even numbers, which ``method`` asks for one at a time."""
        source = self._source()
        start, taken = source.get_state(legacy=True), 0

        def even_numbers() -> Iterator[float]:
            nonlocal taken
            while True:
                for number in self._uniform(256, FLOAT64).tolist():
                    taken += 1
                    yield number

        flat = [parameter.ravel().tolist() for parameter in parameters]
        drawn = list(method(even_numbers().__next__, *flat))
        source.set_state(start)
        self._words(2 * taken)
        return np.array(drawn, parameters[0].dtype).reshape(parameters[0].shape)

    def _normal_pairs(self, size: int) -> Array:
        """Normal numbers two at a time, by Box and Muller's method; the last may have to wait."""
        numbers = [] if self._spare is None or not size else [self._spare]
        even = self._uniform(2 * ((size - len(numbers) + 1) // 2), FLOAT64).tolist()
        for angle, distance in zip(even[0::2], even[1::2], strict=True):
            radius = math.sqrt(-2.0 * math.log1p(-distance))
            numbers.append(radius * math.cos(2.0 * math.pi * angle))
            numbers.append(radius * math.sin(2.0 * math.pi * angle))
        if size:
            self._spare = numbers.pop() if len(numbers) > size else None
        return np.array(numbers, FLOAT64)

    def _normal_blocks(self, size: int, kind: np.dtype[Any], dtype: np.dtype[Any]) -> Array:
        whole = size - size % _BLOCK
        # PyTorch draws for the last places twice, but not in half precision.
        drawn = np.empty(size, kind)
        drawn[:whole] = _box_muller(self._uniform(whole if dtype.itemsize < 4 else size, kind)[:whole])
        if whole < size:  # the last block overlaps the one before
            drawn[-_BLOCK:] = _box_muller(self._uniform(_BLOCK, kind))
        return drawn


def _size(shape: Shape) -> int:
    return math.prod(shape) if isinstance(shape, tuple) else int(shape)


def narrowed(values: Array, dtype: npt.DTypeLike) -> Array:
    """float64 ``values`` in ``dtype``; to half precision by way of float32, as PyTorch goes."""
    dtype = np.dtype(dtype)
    if dtype.kind in FLOATS and dtype.itemsize < 4:
        values = values.astype(np.float32)
    return values.astype(dtype, copy=False)


def _libm(function: Callable[[float], float], values: Array) -> Array:
    """A function of the ``math`` module on each value: NumPy's own do not always round as PyTorch's."""
    return np.fromiter(map(function, values.ravel().tolist()), np.float64, values.size).reshape(values.shape)


def _box_muller(uniform: Array) -> Array:
    """Normal numbers from even ones, in blocks of 16: distances from the first 8, angles from the last 8."""
    blocks = uniform.reshape(-1, 2, _BLOCK // 2)
    normal = np.empty_like(blocks)
    step = 1024  # blocks at a time, so that what is in work stays in the cache
    for start in range(0, len(blocks), step):
        part = blocks[start : start + step]
        one, two_pi = part.dtype.type(1), part.dtype.type(2 * math.pi)
        angle = two_pi * part[:, 1]
        if part.dtype == FLOAT32:
            logarithm, (sine, cosine) = cephes.log(one - part[:, 0]), cephes.sin_cos(angle)
        else:
            logarithm = _libm(math.log, one - part[:, 0])
            sine, cosine = _libm(math.sin, angle), _libm(math.cos, angle)
        radius = np.sqrt(-2 * logarithm)
        normal[start : start + step, 0] = radius * cosine
        normal[start : start + step, 1] = radius * sine
    return normal.reshape(-1)
