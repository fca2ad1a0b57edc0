"""Samplers: in which order to go through a dataset.

The random ones draw as PyTorch's do, so the same seed gives the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np

from autokit import dtypes, random
from autokit.ops import create, draws, sampling
from autokit.shown import by_type

Item = TypeVar("Item", covariant=True)

_DRAWN_AT_ONCE = 32  # how many indices PyTorch draws at a time with replacement


class Sampler(Generic[Item]):
    """An order of indices; subclasses define ``__iter__`` and, where it is known, ``__len__``."""

    __repr__ = by_type

    def __init__(self, data_source: Any = None) -> None:
        pass

    def __iter__(self) -> Iterator[Item]:
        raise NotImplementedError(f"{type(self).__name__} needs an __iter__(self) that yields indices")


class SequentialSampler(Sampler[int]):
    """0, 1, 2, and so on to the end."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """A random order, new each time.

    Parameters
    ----------
    data_source : sized
        What the indices are for.
    replacement : bool
        Draw each index from all, so that some come twice and some not at all.
    num_samples : int, optional
        How many to draw; as many as there are samples by default.
    generator : Generator, optional
        In place of a new one that the default generator gives the seed for.

    Raises
    ------
    ValueError
        If there is nothing to draw, as from an empty dataset.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: random.Generator | None = None,
    ) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(
                f"num_samples should be a positive integer value, but got num_samples={self.num_samples}"
                + ("; the dataset is empty" if num_samples is None else "")
            )

    @property
    def num_samples(self) -> int:
        """How many indices one pass gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        if self.generator is None:
            generator = random.Generator().manual_seed(draw_seed(None))
        else:
            generator = sampling.source_of("randperm", self.generator, "cpu")
        total = len(self.data_source)
        if self.replacement:
            for start in range(0, self.num_samples, _DRAWN_AT_ONCE):
                count = min(_DRAWN_AT_ONCE, self.num_samples - start)
                yield from generator.integers(0, total, count).tolist()
        else:
            for _ in range(self.num_samples // total):
                yield from _as_ints(generator.permutation(total))
            # PyTorch shuffles once more even where nothing is left to take: the stream must go on alike.
            yield from _as_ints(generator.permutation(total)[: self.num_samples % total])

    def __len__(self) -> int:
        return self.num_samples


def _as_ints(order: Any) -> Iterator[int]:
    """Python's integers of an array, of which few stand in memory at a time."""
    if len(order) and order.max() < 1 << 31:
        order = order.astype(np.int32)
    for start in range(0, len(order), _LISTED_AT_ONCE):
        yield from order[start : start + _LISTED_AT_ONCE].tolist()


_LISTED_AT_ONCE = 1024


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order."""

    def __init__(self, indices: Sequence[int], generator: random.Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        order = sampling.source_of("randperm", self.generator, "cpu").permutation(len(self.indices))
        return iter([self.indices[place] for place in order.tolist()])

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with the chances that ``weights`` say, as to see rare classes as often as others.

    Parameters
    ----------
    weights : sequence of float
        One for each index; they need not add up to 1.
    num_samples : int
        How many to draw.
    replacement : bool
        Whether an index can come more than once.
    generator : Generator, optional
        In place of the default one.

    Raises
    ------
    ValueError
        If ``num_samples`` is not positive, or the weights are not in one row.
    RuntimeError
        When it is gone through, if the weights are negative or all zero, or too few are above zero to draw
        without replacement.

    Examples
    --------
    >>> list(WeightedRandomSampler([0.0, 3.0, 0.0], num_samples=4))
    [1, 1, 1, 1]
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: random.Generator | None = None,
    ) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(
                f"num_samples should be a positive integer value, but got num_samples={num_samples}"
            )
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = create.as_tensor(weights, dtype=dtypes.BY_NAME["float64"])
        if self.weights.ndim != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = draws.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The indices of another sampler in lists of ``batch_size``.

    >>> list(BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self) -> int:
        total = len(self.sampler)  # type: ignore[arg-type]
        return total // self.batch_size if self.drop_last else -(-total // self.batch_size)


def draw_seed(generator: random.Generator | None) -> int:
    """A seed for another generator, drawn as PyTorch draws it, from the default one where none is given."""
    return int(sampling.source_of("random_", generator, "cpu").integers(0, 1 << 63, ()))
