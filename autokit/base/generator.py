"""A generator turns a seed into an endless stream of random numbers, that of PyTorch's CPU generator.

The Mersenne Twister MT19937 turns the seed into 32-bit words.  Every draw uses up the next words and computes
its numbers from them as PyTorch does, so that the same seed and the same calls give the same numbers.  How
many words a draw uses up matters as well, since the next draw starts behind them.  Draws are NumPy arrays
here; ``autokit.ops.draw`` creates tensors from them.

On Intel processors PyTorch draws dropout, ``bernoulli_`` with a number, ``exponential_`` and some of
``multinomial`` from another stream, that of Intel's library; autokit draws them from MT19937 everywhere.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from autokit.base import cephes, devices
from autokit.base.cephes import multiply_add

Array = npt.NDArray[Any]
Shape = int | tuple[int, ...]
Draw = Callable[[], float]

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)

_DEFAULT_SEED = 67280421310721
_PERIOD = 624  # how many words the twister computes at once
_BLOCK = 16  # how many normal numbers are computed together, from 16 uniform ones
_WIDE_RANGE = 1 << 28  # integer ranges from here on take two words a number
_SWAPS = 512  # for how many exchanges a permutation draws at once

# The bytes of a state of PyTorch's generator, so that both libraries can read each other's states.
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


class Generator:
    """A stream of random numbers that depends on its seed alone.

    Parameters
    ----------
    device : str
        Where the numbers are wanted.  The stream is always computed on the CPU, so that a seed gives the same
        numbers on every device; PyTorch has another stream on a GPU.

    Examples
    --------
    >>> generator = Generator().manual_seed(0)
    >>> generator.uniform(3)
    array([0.4962566 , 0.7682218 , 0.08847743], dtype=float32)
    >>> generator.initial_seed()
    0
    """

    tensor_of: Callable[[Array], Any] = staticmethod(lambda array: array)
    """Creates a tensor from a state's bytes; ``autokit.ops.create`` sets it: this file imports no tensors."""

    def __init__(self, device: str | devices.device = "cpu") -> None:
        self.device = devices.device(device)
        devices.module_for(self.device)  # raises where there is no such device
        self.manual_seed(_DEFAULT_SEED)

    def __repr__(self) -> str:
        return f"<torch.Generator on {self.device}, seed {self._seed}>"

    # ------------------------------------------------------------ the seed and the state

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream anew from ``seed``, a whole number from -2**63 up to 2**64 - 1.

        Only the lowest 32 bits make a difference.
        """
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        if not -(1 << 63) <= seed < 1 << 64:
            raise ValueError(f"the seed {seed} does not fit in 64 bits")
        self._seed = int(seed) % (1 << 64)
        self._twister: np.random.RandomState | None = None
        self._is_fresh = True
        self._spare: float | None = None  # the second number of a pair of normal ones, for the next draw
        return self

    def seed(self) -> int:
        """Start from a seed that nobody can foresee, and return it."""
        return self.manual_seed(int.from_bytes(os.urandom(8), "little"))._seed

    def initial_seed(self) -> int:
        """The seed that the stream started from."""
        return self._seed

    def get_state(self) -> Any:
        """The point that the stream has reached: a ``uint8`` tensor of the 5,056 bytes of PyTorch's state."""
        twister: Any = self._source().get_state(legacy=True)
        words, position = twister[1:3]
        state = np.zeros((), _STATE)
        state["seed"], state["words"], state["seeded"] = self._seed, words, 1
        state["left"] = _PERIOD + 1 - position if position < _PERIOD else 1
        state["next"] = 0 if self._is_fresh else position
        if self._spare is not None:
            state["normal_y"], state["normal_is_valid"] = self._spare, 1
        return Generator.tensor_of(state.reshape(1).view(np.uint8).copy())

    def set_state(self, new_state: Any) -> Generator:
        """Go on from where :meth:`get_state` was called.

        Raises
        ------
        TypeError
            If it is no ``uint8`` tensor.
        RuntimeError
            If it is no state.
        """
        array = getattr(new_state, "array", None)
        if array is None or array.dtype != np.uint8:
            kind = type(new_state).__name__ if array is None else f"a tensor of {array.dtype}"
            raise TypeError(f"expected a torch.ByteTensor, as get_state() gives it, but got {kind}")
        raw = np.ascontiguousarray(devices.to_numpy(array))
        if raw.shape != (_STATE.itemsize,):
            raise RuntimeError(
                f"a generator's state has {_STATE.itemsize} bytes, but this one has {raw.size}"
            )
        fields = raw.view(_STATE)[0]
        position = int(fields["next"])
        if not (fields["seeded"] == 1 and 0 < fields["left"] <= _PERIOD and position <= _PERIOD):
            raise RuntimeError("Invalid mt19937 state: these bytes do not come from get_state()")
        self.manual_seed(int(fields["seed"]))
        self._is_fresh = position == 0
        words = fields["words"].astype(np.uint32)
        self._source().set_state(("MT19937", words, position or _PERIOD, 0, 0.0))
        self._spare = float(fields["normal_y"]) if fields["normal_is_valid"] else None
        return self

    def clone_state(self) -> Generator:
        """A second generator at the same point of the same stream."""
        twin = Generator(self.device).manual_seed(self._seed)
        twin._is_fresh, twin._spare = self._is_fresh, self._spare
        twin._source().set_state(self._source().get_state(legacy=True))
        return twin

    # ------------------------------------------------------------ uniform numbers and integers

    def uniform(
        self, shape: Shape, dtype: npt.DTypeLike = FLOAT32, low: float = 0.0, high: float = 1.0
    ) -> Array:
        """Uniform numbers in [low, high).

        float64 takes two words a number; the others take one, and are drawn in float32.
        """
        dtype = np.dtype(dtype)
        kind = FLOAT64 if dtype == FLOAT64 else FLOAT32
        drawn = self._uniform(_size(shape), kind)
        if (low, high) != (0.0, 1.0):
            drawn = multiply_add(drawn, kind.type(high) - kind.type(low), kind.type(low))
        drawn = drawn.astype(dtype, copy=False)
        drawn[drawn == np.asarray(high, dtype)] = low  # what rounding brought up to the end
        return drawn.reshape(shape)

    def integers(self, low: int, high: int, shape: Shape, dtype: npt.DTypeLike = np.int64) -> Array:
        """Whole numbers from ``low`` up to and without ``high``."""
        span = high - low
        if not 0 < span <= 1 << 64:
            raise RuntimeError(f"integers are drawn from [low, high), so low={low} must be below high={high}")
        size = _size(shape)
        offsets = self._long_words(size) if span >= _WIDE_RANGE else self._words(size).astype(np.uint64)
        if span < 1 << 64:
            offsets %= np.uint64(span)
        else:
            low = 0  # every int64 is possible: the words are the numbers
        # Adding in uint64 wraps around exactly as two's complement does, so a negative low is fine.
        return (offsets + np.uint64(low % (1 << 64))).view(np.int64).astype(dtype, copy=False).reshape(shape)

    def full_range(self, shape: Shape, dtype: npt.DTypeLike) -> Array:
        """PyTorch's ``random_()``: whole numbers from 0 to the largest that ``dtype`` holds exactly."""
        dtype, size = np.dtype(dtype), _size(shape)
        if dtype.kind == "f":
            last = int(2 / np.finfo(dtype).eps)
        else:
            last = 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)
        words = self._long_words(size) if dtype.itemsize == 8 else self._words(size).astype(np.uint64)
        return (words % np.uint64(last + 1)).astype(dtype).reshape(shape)

    def permutation(self, n: int) -> Array:
        """The numbers 0 to n - 1 in random order, by exchanging each place with one behind it."""
        order = np.arange(n)
        elements = order.data  # reads and writes single elements as fast as a list, in a fifth of its memory
        for start in range(0, n - 1, _SWAPS):
            places = np.arange(start, min(start + _SWAPS, n - 1))
            partners = places + self._words(len(places)) % (n - places)
            for place, partner in enumerate(partners.tolist(), start):
                elements[place], elements[partner] = elements[partner], elements[place]
        return order

    def bernoulli(self, p: Any, shape: Shape | None = None, dtype: npt.DTypeLike | None = None) -> Array:
        """1 with probability ``p``, else 0.

        Without ``shape``, ``p`` is an array of probabilities and the result has its shape and dtype; with it
        ``p`` is one number, as in dropout.
        """
        chance = np.asarray(p)
        outside = ~((chance >= 0) & (chance <= 1))
        if outside.any():
            raise RuntimeError(
                f"Expected p_in >= 0 && p_in <= 1: a probability lies between 0 and 1, but p holds "
                f"{chance[outside].flat[0]}"
            )
        kind = FLOAT32 if shape is None and chance.dtype != FLOAT64 else FLOAT64
        if shape is None:
            shape, dtype = chance.shape, dtype or chance.dtype
        drawn = self._uniform(_size(shape), kind).reshape(shape)
        return (drawn < chance).astype(dtype or FLOAT32)

    # ------------------------------------------------------------ normal numbers

    def normal(
        self,
        shape: Shape,
        dtype: npt.DTypeLike = FLOAT32,
        mean: float = 0.0,
        std: float = 1.0,
        in_blocks: bool = True,
    ) -> Array:
        """Numbers from the normal distribution.

        Fewer than 16 numbers are computed in pairs, and a number left over serves the next such call; 16 and
        more are computed in blocks of 16. Without ``in_blocks`` all are computed in pairs, as for a tensor
        whose elements do not lie one after the other in memory.
        """
        dtype, size = np.dtype(dtype), _size(shape)
        if size < _BLOCK or not in_blocks:
            drawn = self._normal_pairs(size)
        else:
            drawn = self._normal_blocks(size, FLOAT64 if dtype == FLOAT64 else FLOAT32, dtype)
        if (mean, std) != (0.0, 1.0):
            drawn = multiply_add(drawn, drawn.dtype.type(std), drawn.dtype.type(mean))
        return _rounded(drawn, dtype).reshape(shape)

    def _normal_pairs(self, size: int) -> Array:
        """Normal numbers two at a time, by Box and Muller's method; one left over is kept."""
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
        # Words are used up for the last places too, which are drawn again below, but not in half precision.
        drawn = np.empty(size, kind)
        drawn[:whole] = _box_muller(self._uniform(whole if dtype.itemsize < 4 else size, kind)[:whole])
        if whole < size:  # the last block overlaps the one before
            drawn[-_BLOCK:] = _box_muller(self._uniform(_BLOCK, kind))
        return drawn

    # ------------------------------------------------------------ other distributions, from uniform numbers

    def exponential(self, shape: Shape, dtype: npt.DTypeLike = FLOAT32, rate: float = 1.0) -> Array:
        """Waiting times for events that happen at ``rate``."""
        drawn = self._uniform(_size(shape), FLOAT64)
        return _rounded(-1.0 / rate * _exactly(math.log1p, -drawn), np.dtype(dtype)).reshape(shape)

    def choice(self, weights: Array, count: int) -> Array:
        """``count`` places of each row, drawn with replacement, with the row's elements as weights."""
        rows = weights.reshape(-1, weights.shape[-1])
        sums = np.cumsum(rows, axis=-1, dtype=np.promote_types(rows.dtype, np.float32))
        sums /= sums[:, -1:]
        drawn = self._uniform(len(rows) * count, FLOAT64).reshape(len(rows), count)
        last = weights.shape[-1] - 1
        chosen = [np.searchsorted(row[:last], at, side="left") for row, at in zip(sums, drawn, strict=True)]
        return np.array(chosen, np.int64).reshape(*weights.shape[:-1], count)

    def poisson(self, rates: Array) -> Array:
        """How many events happen at each of the ``rates``."""
        drawn = [_poisson(self._uniform_number, rate) for rate in rates.ravel().tolist()]
        return np.array(drawn, rates.dtype).reshape(rates.shape)

    def gamma(self, shapes: Array) -> Array:
        """Numbers from gamma distributions of rate 1, by Marsaglia and Tsang's cube of a normal number.

        Shapes below 1 are raised by 1, and the number is multiplied by a power of a uniform one.

        References
        ----------
        G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", ACM Transactions on
        Mathematical Software 26, 2000.
        """
        drawn = []
        for shape in shapes.ravel().tolist():
            scale = (1 - self._uniform_number()) ** (1 / shape) if 0 < shape < 1 else 1.0
            d = shape + (shape < 1) - _THIRD
            drawn.append(scale * d * self._gamma_cube(d) if shape else 0.0)
        return np.array(drawn, FLOAT64).reshape(shapes.shape)

    def _gamma_cube(self, d: float) -> float:
        c = 1 / math.sqrt(9 * d)
        while True:
            x = float(self._normal_pairs(1)[0])
            if 1 + c * x <= 0:
                continue
            v = (1 + c * x) ** 3
            u = 1 - self._uniform_number()
            if u < 1 - _SQUEEZE * x**4 or math.log(u) < 0.5 * x * x + d * (1 - v + math.log(v)):
                return v

    # ------------------------------------------------------------ from words to uniform numbers

    def _source(self) -> np.random.RandomState:
        if self._twister is None:  # not sooner, as numpy.random takes time to import
            self._twister = np.random.RandomState(self._seed % (1 << 32))
        return self._twister

    def _words(self, count: int) -> Array:
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

    def _uniform_number(self) -> float:
        return float(self._uniform(1, FLOAT64)[0])


_THIRD, _SQUEEZE = 0.3333333432674408, 0.03310000151395798  # 1/3 and 0.0331, rounded to float32


def _size(shape: Shape) -> int:
    return math.prod(shape) if isinstance(shape, tuple) else int(shape)


def _rounded(values: Array, dtype: np.dtype[Any]) -> Array:
    """``values`` in ``dtype``; for half precision they are rounded to float32 first."""
    if dtype.itemsize < 4:
        values = values.astype(np.float32)
    return values.astype(dtype, copy=False)


def _exactly(function: Callable[[float], float], values: Array) -> Array:
    """A function of the ``math`` module of each value; NumPy's function may differ in the last bit."""
    return np.fromiter(map(function, values.ravel().tolist()), np.float64, values.size).reshape(values.shape)


def _box_muller(uniform: Array) -> Array:
    """Normal numbers from uniform ones, in blocks of 16: 8 give distances from 0, the other 8 angles."""
    blocks = uniform.reshape(-1, 2, _BLOCK // 2)
    normal = np.empty_like(blocks)
    step = 1024  # blocks at a time: intermediate results stay in the cache
    for start in range(0, len(blocks), step):
        part = blocks[start : start + step]
        angle = part.dtype.type(2 * math.pi) * part[:, 1]
        if part.dtype == FLOAT32:
            logarithm, (sine, cosine) = cephes.log(np.float32(1) - part[:, 0]), cephes.sin_cos(angle)
        else:
            logarithm = _exactly(math.log, 1 - part[:, 0])
            sine = _exactly(math.sin, angle)
            cosine = _exactly(math.cos, angle)
        radius = np.sqrt(-2 * logarithm)
        normal[start : start + step, 0] = radius * cosine
        normal[start : start + step, 1] = radius * sine
    return normal.reshape(-1)


def _poisson(draw: Draw, rate: float) -> int:
    """One count of events: by products of uniform numbers below a rate of 10, else by rejection.

    References
    ----------
    W. Hörmann, "The transformed rejection method for generating Poisson random variables", Insurance:
    Mathematics and Economics 12, 1993.
    """
    if not 0 <= rate < math.inf:
        raise RuntimeError(f"invalid Poisson rate, expected it to be 0 or more and finite, but it is {rate}")
    if rate == 0:
        return 0
    if rate < 10:
        count, product = 0, draw()
        while product > math.exp(-rate):
            count += 1
            product *= draw()
        return count
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    while True:
        u = draw() - 0.5
        v = draw()
        edge = 0.5 - abs(u)
        if edge == 0:
            continue
        count = math.floor((2 * a / edge + b) * u + rate + 0.43)
        if edge >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return count
        if count < 0 or (edge < 0.013 and v > edge):
            continue
        height = (math.log(v) if v > 0 else -math.inf) + math.log(inverse_alpha)
        height -= math.log(a / (edge * edge) + b)
        if height <= -rate + count * math.log(rate) - math.lgamma(count + 1):
            return count


# ---------------------------------------------------------------- the generators that programs share

default_generator = Generator()
"""The generator of every draw that is not given another one."""

STREAMS: dict[str, Generator] = {"cpu": default_generator}
"""The generator by a device's type; a GPU shares the CPU's until ``torch.cuda.manual_seed`` gives it one."""


def generator_for(place: devices.device) -> Generator:
    """The generator of draws for the device ``place``."""
    return STREAMS.get(place.type, default_generator)


def manual_seed(seed: Any) -> Generator:
    """Start the default generator's stream anew from ``seed``, and return that generator.

    A GPU's numbers come from it too, until ``torch.cuda.manual_seed`` gives it a stream.

    >>> _ = manual_seed(0)
    >>> default_generator.integers(0, 10, (4,))
    array([4, 9, 3, 0])
    """
    STREAMS.pop("cuda", None)
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Start the default generator from a seed that nobody can foresee, and return it."""
    STREAMS.pop("cuda", None)
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """The state of the default generator; see :meth:`Generator.get_state`."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Go on from where :func:`get_rng_state` was called."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, device_type: Any = None) -> Iterator[None]:
    """Restore the generators after this block, so that its draws do not change those that follow.

    ``devices`` and ``device_type`` have no effect: all generators are restored.

    >>> _ = manual_seed(0)
    >>> with fork_rng():
    ...     _ = default_generator.uniform(100)
    >>> default_generator.uniform(1)
    array([0.4962566], dtype=float32)
    """
    before = {place: generator.clone_state() for place, generator in STREAMS.items()}
    try:
        yield
    finally:
        if enabled:
            vars(default_generator).update(vars(before.pop("cpu")))
            STREAMS.clear()
            STREAMS.update({"cpu": default_generator, **before})
