"""Random numbers: the very stream of PyTorch's CPU generator, in plain NumPy.

One seed gives one endless stream of 32-bit words from the Mersenne Twister
MT19937.  Every draw takes the next words and turns them into numbers in the
way that PyTorch does, so that the same seed and the same calls give the same
numbers.  How many words a draw takes is part of the agreement: it decides
what the next draw gets.

Draws here are NumPy arrays; the functions of the same names that make
tensors (``rand``, ``randn``, ...) only wrap them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit import devices

__all__ = [
    "Generator",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

Shape = int | tuple[int, ...]

_DEFAULT_SEED = 67280421310721
_BLOCK = 16  # how many normal numbers PyTorch makes at once from 16 uniform ones
_WIDE_RANGE = 1 << 28  # integer ranges from here on take two words a number

# The bytes of PyTorch's CPU generator state, so that a state can be carried over either way.
_STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("words", "<u8", 624),
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
        Only ``"cpu"``: the stream is made on the CPU.

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
        if self.device.type != "cpu":
            raise RuntimeError(f"a Generator makes its numbers on the CPU, not on {str(device)!r}")
        self.manual_seed(_DEFAULT_SEED)

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream anew from ``seed``, a whole number from -2**63 up to 2**64 - 1.

        As in PyTorch only the lowest 32 bits make a difference.
        """
        seed = int(seed)
        if not -(1 << 63) <= seed < 1 << 64:
            raise ValueError(f"seed {seed} does not fit in 64 bits")
        self._seed = seed % (1 << 64)
        self._words_source: np.random.RandomState | None = None
        self._spare: float | None = None
        return self

    def seed(self) -> int:
        """Start from a seed that nobody can foresee, and return it."""
        self.manual_seed(int.from_bytes(os.urandom(8), "little"))
        return self._seed

    def initial_seed(self) -> int:
        """The seed that the stream started from."""
        return self._seed

    def get_state(self) -> Array:
        """Where the stream stands, as 5,056 ``uint8``: byte for byte the form of PyTorch's own state.

        (One state has two spellings in PyTorch, "fresh" and "used up"; here both are written as the first.)
        """
        twister: Any = self._source().get_state(legacy=True)
        words, position = twister[1:3]
        state = np.zeros((), _STATE)
        state["seed"], state["words"], state["seeded"] = self._seed, words, 1
        state["left"] = 625 - position if position < 624 else 1
        state["next"] = position if position < 624 else 0
        if self._spare is not None:
            state["normal_y"], state["normal_is_valid"] = self._spare, 1
        return state.reshape(1).view(np.uint8).copy()

    def set_state(self, state: npt.ArrayLike) -> Generator:
        """Go on from where :meth:`get_state` was called."""
        raw = np.ascontiguousarray(state)
        if raw.dtype != np.uint8:
            raise TypeError(f"the state of a generator is uint8, as get_state gives it, not {raw.dtype}")
        if raw.shape != (_STATE.itemsize,):
            raise RuntimeError(
                f"the state of a generator has {_STATE.itemsize} bytes, as get_state gives it, "
                f"but this one has shape {raw.shape}"
            )
        fields = raw.view(_STATE)[0]
        self.manual_seed(int(fields["seed"]))
        position = int(fields["next"]) if fields["left"] > 1 else 624
        self._source().set_state(("MT19937", fields["words"].astype(np.uint32), position, 0, 0.0))
        self._spare = float(fields["normal_y"]) if fields["normal_is_valid"] else None
        return self

    def clone_state(self) -> Generator:
        """A generator of its own that stands where this one stands."""
        return Generator(self.device).set_state(self.get_state())

    def uniform(
        self, shape: Shape, dtype: npt.DTypeLike = np.float32, low: float = 0.0, high: float = 1.0
    ) -> Array:
        """Numbers spread evenly over [low, high).

        Equal to PyTorch's ``rand`` in float32 and float64, and to its ``uniform_`` in float32;
        ``uniform_`` in float64 may differ in the last bit.  Other dtypes are drawn in float32.
        """
        if not low <= high:
            raise RuntimeError(f"uniform draws from [low, high), but low={low} is above high={high}")
        kind = np.dtype(np.float64 if np.dtype(dtype) == np.float64 else np.float32)
        drawn = self._uniform(_size(shape), kind)
        if (low, high) != (0.0, 1.0):
            start, span = kind.type(low), kind.type(high) - kind.type(low)
            drawn = _multiply_add(drawn, span, start) if kind == np.float32 else drawn * span + start
        return drawn.astype(dtype, copy=False).reshape(shape)

    def normal(
        self, shape: Shape, dtype: npt.DTypeLike = np.float32, mean: float = 0.0, std: float = 1.0
    ) -> Array:
        """Numbers from the normal distribution with this mean and standard deviation.

        Equal to PyTorch's ``randn`` and ``normal_`` in float32, and in float64 below 16 numbers; from 16
        on, float64 may differ in the last bits (below 5e-16 was measured).  Like PyTorch this makes fewer
        than 16 numbers pair by pair, keeping an odd one for the next such call, and more in blocks of 16.
        Other dtypes are drawn in float32.
        """
        if not std >= 0:
            raise RuntimeError(f"the standard deviation must be 0 or more, but it is {std}")
        kind = np.dtype(np.float64 if np.dtype(dtype) == np.float64 else np.float32)
        size = _size(shape)
        if size < _BLOCK:
            drawn = np.array([self._next_normal() * std + mean for _ in range(size)], kind)
        else:
            drawn = self._normal_blocks(size, kind)
            if (mean, std) != (0.0, 1.0):
                centre, scale = kind.type(mean), kind.type(std)
                drawn = _multiply_add(drawn, scale, centre) if kind == np.float32 else drawn * scale + centre
        return drawn.astype(dtype, copy=False).reshape(shape)

    def integers(self, low: int, high: int, shape: Shape, dtype: npt.DTypeLike = np.int64) -> Array:
        """Whole numbers from ``low`` up to and without ``high``; equal to PyTorch's ``randint``."""
        low, high = int(low), int(high)
        if not low < high:
            raise RuntimeError(f"integers are drawn from [low, high), so low={low} must be below high={high}")
        kind, size = np.dtype(dtype), _size(shape)
        if kind.kind in "iu":
            limits = np.iinfo(kind)
            if low < limits.min or high - 1 > limits.max:
                raise RuntimeError(
                    f"{low} to {high - 1} is out of bounds for {kind}, with {limits.min} to {limits.max}"
                )
        wide = high - low >= _WIDE_RANGE
        offsets = self._long_words(size) if wide else self._words(size).astype(np.uint64)
        if high - low < 1 << 64:
            offsets %= np.uint64(high - low)
        # Adding in uint64 wraps around exactly as two's complement does, so a negative low is fine.
        return (offsets + np.uint64(low % (1 << 64))).view(np.int64).astype(kind, copy=False).reshape(shape)

    def permutation(self, n: int) -> Array:
        """The numbers 0 to n - 1 in random order; equal to PyTorch's ``randperm``."""
        if n < 0:
            raise RuntimeError(f"a permutation needs n of 0 or more, but n is {n}")
        order = list(range(n))
        places = np.arange(max(n - 1, 0))
        partners = places + self._words(len(places)) % (n - places)
        for place, partner in enumerate(partners.tolist()):
            order[place], order[partner] = order[partner], order[place]
        return np.array(order, np.int64)

    def bernoulli(
        self, p: npt.ArrayLike, shape: Shape | None = None, dtype: npt.DTypeLike | None = None
    ) -> Array:
        """1 with probability ``p``, else 0.

        Without ``shape``, ``p`` is an array of probabilities and the result has its shape and dtype, as
        PyTorch's ``bernoulli(p)``; with it, ``p`` is one number, as in ``bernoulli_(p)`` and dropout.
        """
        chance = np.asarray(p)
        if not np.all((chance >= 0) & (chance <= 1)):
            raise RuntimeError(f"a probability lies between 0 and 1, but p holds {_first_outside(chance)}")
        if shape is None:
            kind = np.dtype(np.float64 if chance.dtype == np.float64 else np.float32)
            shape, dtype = chance.shape, dtype or chance.dtype
        else:
            kind = np.dtype(np.float64)
        drawn = self._uniform(_size(shape), kind).reshape(shape)
        return (drawn < chance).astype(dtype or np.float32)

    # From words to numbers.

    def _source(self) -> np.random.RandomState:
        if self._words_source is None:  # made late: numpy.random takes time to import
            self._words_source = np.random.RandomState(self._seed % (1 << 32))
        return self._words_source

    def _words(self, count: int) -> Array:
        return self._source().randint(0, 1 << 32, size=count, dtype=np.uint32)

    def _long_words(self, count: int) -> Array:
        pairs = self._words(2 * count).astype(np.uint64)
        return (pairs[0::2] << np.uint64(32)) | pairs[1::2]

    def _uniform(self, count: int, kind: np.dtype[Any]) -> Array:
        if kind == np.float32:
            return (self._words(count) & np.uint32(0xFFFFFF)).astype(np.float32) * np.float32(2.0**-24)
        return (self._long_words(count) & np.uint64((1 << 53) - 1)).astype(np.float64) * 2.0**-53

    def _next_normal(self) -> float:
        """One normal number; Box and Muller's method makes two at a time, the second waits for its turn."""
        if self._spare is not None:
            ready, self._spare = self._spare, None
            return ready
        angle, distance = self._uniform(2, np.dtype(np.float64)).tolist()
        radius = math.sqrt(-2.0 * math.log1p(-distance))
        self._spare = radius * math.sin(2.0 * math.pi * angle)
        return radius * math.cos(2.0 * math.pi * angle)

    def _normal_blocks(self, size: int, kind: np.dtype[Any]) -> Array:
        drawn = self._uniform(size, kind)
        whole = size - size % _BLOCK
        drawn[:whole] = _box_muller(drawn[:whole])
        if whole < size:  # the last block overlaps the one before
            drawn[-_BLOCK:] = _box_muller(self._uniform(_BLOCK, kind))
        return drawn


def _size(shape: Shape) -> int:
    return math.prod(shape) if isinstance(shape, tuple) else int(shape)


def _first_outside(chance: Array) -> Any:
    return chance[~((chance >= 0) & (chance <= 1))].flat[0]


def _box_muller(uniform: Array) -> Array:
    """Normal numbers from even ones, in blocks of 16: distances from the first 8, angles from the last 8."""
    blocks = uniform.reshape(-1, 2, _BLOCK // 2)
    normal = np.empty_like(blocks)
    step = 1024  # blocks at a time, so that what is in work stays in the cache
    for start in range(0, len(blocks), step):
        part = blocks[start : start + step]
        one, two_pi = part.dtype.type(1), part.dtype.type(2 * math.pi)
        angle = two_pi * part[:, 1]
        if part.dtype == np.float32:
            logarithm, (sine, cosine) = _log(one - part[:, 0]), _sin_cos(angle)
        else:
            logarithm, sine, cosine = np.log(one - part[:, 0]), np.sin(angle), np.cos(angle)
        radius = np.sqrt(-2 * logarithm)
        normal[start : start + step, 0] = radius * cosine
        normal[start : start + step, 1] = radius * sine
    return normal.reshape(-1)


# The float32 logarithm, sine and cosine that PyTorch's blocks of 16 use on x86 processors: the polynomials
# of the Cephes library, each multiply-add rounded once.  NumPy's own differ in the last bit one time in ten.

_LOG = (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
        -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)  # fmt: skip
_LOG_2 = (-2.12194440e-4, 0.693359375)  # their sum is log(2)
_QUARTER_PI = (0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8)  # their sum is pi / 4
_SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)


def _multiply_add(a: Array, b: Any, c: Any) -> Array:
    """``a * b + c`` of float32, rounded once, as a processor's fused multiply-add does."""
    exact = np.multiply(a, b, dtype=np.float64)
    exact += c
    return exact.astype(np.float32)


def _polynomial(coefficients: tuple[float, ...], x: Array) -> Array:
    result = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        result = _multiply_add(result, x, np.float32(coefficient))
    return result


def _log(x: Array) -> Array:
    fraction, exponent = np.frexp(x)
    small = fraction < np.float32(math.sqrt(0.5))
    exponent = (exponent - small).astype(np.float32)
    x = np.where(small, fraction + fraction, fraction) - np.float32(1)
    square = x * x
    tail = _multiply_add(_polynomial(_LOG, x) * x, square, exponent * np.float32(_LOG_2[0]))
    tail = _multiply_add(square, np.float32(-0.5), tail)
    return _multiply_add(exponent, np.float32(_LOG_2[1]), x + tail)


def _sin_cos(angle: Array) -> tuple[Array, Array]:
    octant = (angle * np.float32(4 / math.pi)).astype(np.int32)
    octant = (octant + 1) & ~1  # to the nearest even one: the rest lies within pi / 4 of zero
    turns = octant.astype(np.float32)
    for part in _QUARTER_PI:
        angle = _multiply_add(turns, np.float32(-part), angle)
    square = angle * angle
    sine = _multiply_add(_polynomial(_SIN, square) * square, angle, angle)
    cosine = _multiply_add(_polynomial(_COS, square) * square, square, square * np.float32(-0.5))
    cosine += np.float32(1)
    crossed = (octant & 2) != 0
    sine, cosine = np.where(crossed, cosine, sine), np.where(crossed, sine, cosine)
    return np.where(octant & 4, -sine, sine), np.where((octant + 2) & 4, -cosine, cosine)


default_generator = Generator()
"""The generator of every draw that names no other."""


def manual_seed(seed: int) -> Generator:
    """Start the default generator's stream anew from ``seed``, and return that generator.

    >>> _ = manual_seed(0)
    >>> default_generator.integers(0, 10, (4,))
    array([4, 9, 3, 0])
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Start the default generator from a seed that nobody can foresee, and return it."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Array:
    """Where the default generator stands; see :meth:`Generator.get_state`."""
    return default_generator.get_state()


def set_rng_state(new_state: npt.ArrayLike) -> None:
    """Go on from where :func:`get_rng_state` was called."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:
    """Draw freely in this block: the default generator stands afterwards where it stood before.

    ``devices`` is accepted for PyTorch's sake; there is one generator, that of the CPU.

    >>> _ = manual_seed(0)
    >>> with fork_rng():
    ...     _ = default_generator.uniform(100)
    >>> default_generator.uniform(1)
    array([0.4962566], dtype=float32)
    """
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)
