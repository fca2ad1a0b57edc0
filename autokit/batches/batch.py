"""One array for all samples that each of them takes for its own: :class:`Batch`.

Inside ``vmap(f)`` a tensor is an ordinary tensor.  Only the array that it holds
is another one: a :class:`Batch` has the arrays of all samples in one, ``full``,
whose first dimension counts the samples, and shows the shape of a single
sample.  All rules of autokit speak NumPy, and NumPy lets an array of another
kind answer for itself (NEP 13 and 18).  So ``a * b`` in a rule is one product
of the two ``full``, and every rule, and every derivative, is a rule for a batch
without a word about it::

    a: shape (3,)      full (64, 3)
    b: shape ()        full (64,)      -> aligned (64, 1)
    a * b: shape (3,)  full (64, 3)

An array that is no batch is the same for all samples, and so is a batch whose
``full`` has one sample only: it is repeated where it meets others.

Each ``vmap`` is a :class:`Level`; where they nest, the batch of the inner level
holds a batch of the outer one as its ``full``.

What has no rule raises :class:`NotBatched`; the operation is then run on one
sample after the other (``autokit.ops.samples``).

References
----------
R. Frostig, M. J. Johnson and C. Leary, "Compiling machine learning programs
via high-level tracing", SysML 2018, where such a transform of a function of one
example is called ``vmap``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from autokit.thread_state import thread


class NotBatched(RuntimeError):
    """There is no rule for this on all samples at once."""


_next_serial = count(1).__next__


class Level:
    """One run of a ``vmap``: how many samples there are, and what they do about random numbers.

    ``serial`` orders nested levels: the newest is the innermost.
    """

    __slots__ = ("looping", "randomness", "serial", "size")

    def __init__(self, size: int, randomness: str = "error") -> None:
        from autokit.batches import products, rules  # noqa: F401 - by which samples answer NumPy

        self.serial = _next_serial()
        self.size = size
        self.randomness = randomness
        self.looping = False

    def __enter__(self) -> Level:
        active().append(self)
        return self

    def __exit__(self, *error: object) -> None:
        active().remove(self)


def active() -> list[Level]:
    """The levels that this thread is inside of, from the outermost."""
    return thread.state.levels


def refuse_for_samples() -> None:
    """Raise inside of a ``vmap`` that does not say what samples do about random numbers."""
    for level in active():
        if level.randomness == "error":
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' "
                "or 'different' randomness flags on vmap or perform the randomness operation out of vmap"
            )


def of_all_samples(array: Any) -> Any:
    """``array``, and in place of a batch the array that holds all samples, along its first dimensions."""
    return array.memory if array.__class__ is Batch else array


def of_each(array: Any, levels: list[Level]) -> Any:
    """``array``, whose first dimensions are the samples of ``levels`` from the outermost, as a batch."""
    for level in levels:
        array = Batch(array, level)
    return array


def newest(values: Iterable[Any]) -> Level | None:
    """The innermost level of the batches among ``values``, and in the sequences among them."""
    found: Level | None = None
    for value in values:
        kind = value.__class__
        if kind is Batch:
            level = value.level
        elif kind is tuple or kind is list:
            level = newest(value)
        else:
            continue
        if level is not None and (found is None or level.serial > found.serial):
            found = level
    return found


def levels_of(array: Any) -> tuple[Level, ...]:
    """The levels that ``array`` has samples of, from the innermost."""
    found: tuple[Level, ...] = ()
    while array.__class__ is Batch:
        found = (*found, array.level)
        array = array.full
    return found


def wrap(full: Any, level: Level) -> Any:
    """The batch of ``level`` whose samples lie along the first dimension of ``full``.

    Where ``full`` is a batch of a newer level, that one stays outermost.
    """
    if full.__class__ is Batch and full.level.serial > level.serial:
        return Batch(wrap(np.swapaxes(full.full, 0, 1), level), full.level)
    return Batch(full, level)


def full_of(array: Any, level: Level) -> Any:
    """The samples of ``level`` along a first dimension; the same for each where it has none."""
    if array.__class__ is Batch:
        if array.level is level:
            full = array.full
            if full.shape[0] != level.size:
                full = np.broadcast_to(full, (level.size, *full.shape[1:]))
            return full
        if array.level.serial > level.serial:
            # As a sample of the newer level has it, so behind its dimension.
            return Batch(np.swapaxes(full_of(array.full_alone(), level), 0, 1), array.level)
    return np.broadcast_to(array, (level.size, *np.shape(array)))


def aligned(value: Any, level: Level, ndim: int) -> Any:
    """``value`` so that it broadcasts, behind the samples, with others of ``ndim`` dimensions."""
    if value.__class__ is not Batch or value.level is not level:
        return value
    full = value.full
    missing = ndim + 1 - full.ndim
    return full[(slice(None), *(None,) * missing)] if missing > 0 else full


def ndim_of(value: Any) -> int:
    """How many dimensions a value, an array or a number, has."""
    return value.ndim if hasattr(value, "ndim") else np.ndim(value)


def wrapped(result: Any, level: Level) -> Any:
    """The result of a function of whole arrays, one or several, as batches."""
    if isinstance(result, tuple):
        parts = [wrapped(each, level) for each in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    return Batch(result, level)


RULES: dict[Any, Callable[..., Any]] = {}
"""For a function of NumPy, what it does with batches: ``rule(level, *arguments)``; see ``rules``."""

UFUNC_RULES: dict[tuple[Any, str], Callable[..., Any]] = {}
"""The same for universal functions, where the samples are not to be had by broadcasting."""


def _method(function: Any) -> Any:
    def apply(self: Batch, *arguments: Any, **settings: Any) -> Any:
        return function(self, *arguments, **settings)

    return apply


class Batch(NDArrayOperatorsMixin):
    """The arrays of all samples in one, which shows the shape of a single one; see the head of this file."""

    __slots__ = ("__weakref__", "full", "level")
    __hash__ = object.__hash__

    def __init__(self, full: Any, level: Level) -> None:
        self.full = full
        self.level = level

    # ------------------------------------------------------------ what a sample is

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one sample."""
        return self.full.shape[1:]

    @property
    def ndim(self) -> int:
        """How many dimensions a sample has."""
        return self.full.ndim - 1

    @property
    def size(self) -> int:
        """How many elements a sample has."""
        found = 1
        for length in self.full.shape[1:]:
            found *= length
        return found

    @property
    def dtype(self) -> np.dtype:
        """The type of the elements."""
        return self.full.dtype

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self.full.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of one sample."""
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """The steps in memory inside of a sample."""
        return self.full.strides[1:]

    @property
    def flags(self) -> Any:
        """How the samples lie in memory."""
        return self.full.flags

    @property
    def base(self) -> Any:
        """The array whose memory this is a view of."""
        return self.full.base

    @property
    def memory(self) -> Any:
        """The array of all levels' samples."""
        array: Any = self
        while array.__class__ is Batch:
            array = array.full
        return array

    @property
    def data(self) -> Any:
        """Where the first sample lies in memory: its address, as ``ptr``."""
        return SimpleNamespace(ptr=self.memory.__array_interface__["data"][0])

    @property
    def T(self) -> Any:
        """The dimensions of each sample in the opposite order."""
        return np.transpose(self)

    @property
    def mT(self) -> Any:
        """The last two dimensions exchanged."""
        return np.swapaxes(self, -1, -2)

    @property
    def real(self) -> Any:
        """The real parts."""
        return Batch(self.full.real, self.level)

    @property
    def imag(self) -> Any:
        """The imaginary parts."""
        return Batch(self.full.imag, self.level)

    def full_alone(self) -> Any:
        """``full`` with every sample, also where all are the same."""
        return full_of(self, self.level)

    def sample(self, place: int) -> Any:
        """One sample."""
        return self.full[place if self.full.shape[0] != 1 else 0]

    # ------------------------------------------------------------ NumPy's protocols

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        out = settings.pop("out", None)
        where = settings.get("where", True)
        level = newest((*inputs, where, *(out or ())))
        assert level is not None
        rule = UFUNC_RULES.get((ufunc, method)) or UFUNC_RULES.get((None, method))
        if rule is not None:
            result = rule(level, ufunc, *inputs, **settings)
        elif method == "__call__" and ufunc.signature is None:
            ndim = max([ndim_of(value) for value in inputs])
            if where is not True:
                settings["where"] = aligned(where, level, ndim)
            arrays = [aligned(value, level, ndim) for value in inputs]
            result = wrapped(ufunc(*arrays, **settings), level)
        else:
            raise NotBatched(f"vmap has no batching rule for {ufunc.__name__}.{method}")
        if out is None:
            return result
        return self._into(out, result if isinstance(result, tuple) else (result,))

    @staticmethod
    def _into(out: tuple[Any, ...], results: tuple[Any, ...]) -> Any:
        for target, result in zip(out, results):
            if target.__class__ is not Batch:
                raise NotBatched(
                    "vmap: inplace arithmetic is not possible because a tensor that all samples share would "
                    "have to hold what each has for itself; write y = x + 1 in place of x.add_(1), or "
                    "map over x, too"
                )
            target[...] = result
        return out[0] if len(out) == 1 else out

    def __array_function__(self, function: Any, kinds: Any, arguments: Any, settings: Any) -> Any:
        rule = RULES.get(function)
        if rule is None:
            raise NotBatched(f"vmap has no batching rule for {function.__name__}")
        level = newest((*arguments, *settings.values()))
        assert level is not None
        return rule(level, *arguments, **settings)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise NotBatched(
            "Cannot access data pointer of Tensor that doesn't have storage: in a vmap, the values of one "
            "sample cannot be had as an array while all are computed together; return them from the "
            "function, and look at them outside"
        )

    # ------------------------------------------------------------ no single value is to be had

    def agreed(self) -> Any:
        """The one element, where all samples have the same: for the checks that rules make.

        A program asks by ``item``.
        """
        array = self.memory
        first = array.reshape(-1)[:1]
        if (
            self.size != 1
            or not first.size
            or not ((array == first) | (array != array) & (first != first)).all()
        ):
            raise NotBatched("vmap: samples differ in a value that decides how to go on")
        return first[0]

    def item(self) -> Any:
        """Raise: each sample has another value."""
        raise NotBatched(
            "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling "
            ".item() on a Tensor, please try to rewrite what you're doing with other operations. Each sample "
            "has another value: torch.where(condition, a, b) chooses for each, where an `if` cannot."
        )

    def __bool__(self) -> bool:
        return bool(self.agreed())

    def __int__(self) -> int:
        return int(self.agreed())

    def __float__(self) -> float:
        return float(self.agreed())

    def __index__(self) -> int:
        if self.ndim or self.dtype.kind not in "ui":
            raise TypeError("only integers of no dimensions are an index")
        return self.agreed().__index__()

    def tolist(self) -> Any:
        """Raise: each sample has another value."""
        self.item()

    def __len__(self) -> int:
        if self.full.ndim < 2:
            raise TypeError("len() of unsized object")
        return self.full.shape[1]

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    # ------------------------------------------------------------ parts

    def __getitem__(self, index: Any) -> Any:
        from autokit.batches.places import read

        return read(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        from autokit.batches.places import write

        write(self, index, value)

    def grow(self) -> None:
        """Give every sample its own memory, before one of them is written to."""
        full = self.full
        if full.shape[0] == self.level.size and (full.__class__ is Batch or full.flags.writeable):
            return
        if full.shape[0] != self.level.size and full.base is not None:
            raise NotBatched("vmap: a view of what all samples share cannot be changed for each of them")
        self.full = np.broadcast_to(full, (self.level.size, *full.shape[1:])).copy()

    # ------------------------------------------------------------ methods of arrays

    def astype(self, dtype: Any, copy: bool = True, **settings: Any) -> Any:
        """The elements as ``dtype``."""
        full = self.full.astype(dtype, copy=copy)
        return self if full is self.full else Batch(full, self.level)

    def copy(self, order: str = "C") -> Any:
        """The same in memory of its own."""
        return Batch(self.full.copy(order), self.level)

    def view(self, dtype: Any) -> Any:
        """The bytes of each sample read anew."""
        if not self.ndim and np.dtype(dtype).itemsize != self.itemsize:
            raise ValueError(
                "Changing the dtype of a 0d array is only supported if the itemsize is unchanged"
            )
        return Batch(self.full.view(dtype), self.level)

    def fill(self, value: Any) -> None:
        """Write ``value`` everywhere."""
        self[...] = value

    def reshape(self, *shape: Any, **settings: Any) -> Any:
        """Each sample under another shape."""
        return np.reshape(self, shape[0] if len(shape) == 1 else shape)

    def transpose(self, *axes: Any) -> Any:
        """Each sample with its dimensions in another order."""
        if len(axes) == 1 and not isinstance(axes[0], int):
            axes = axes[0]
        return np.transpose(self, axes if axes is not None and len(axes) else None)

    swapaxes = _method(np.swapaxes)
    squeeze = _method(np.squeeze)
    ravel = flatten = _method(np.ravel)
    sum = _method(np.sum)
    mean = _method(np.mean)
    prod = _method(np.prod)
    max = _method(np.max)
    min = _method(np.min)
    any = _method(np.any)
    all = _method(np.all)
    var = _method(np.var)
    std = _method(np.std)
    argmax = _method(np.argmax)
    argmin = _method(np.argmin)
    argsort = _method(np.argsort)
    cumsum = _method(np.cumsum)
    cumprod = _method(np.cumprod)
    take = _method(np.take)
    repeat = _method(np.repeat)
    round = _method(np.round)
    clip = _method(np.clip)
    dot = _method(np.dot)
    diagonal = _method(np.diagonal)
    trace = _method(np.trace)
    conj = _method(np.conjugate)

    def __repr__(self) -> str:
        return f"Batch(size={self.level.size}, full={self.full!r})"
