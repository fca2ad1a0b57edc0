"""A sampler gives the order in which the samples of a dataset are used.

The random ones draw as PyTorch's do, so the same seed gives the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any, Generic, TypeVar

from autokit.base.dtypes import BY_NAME
from autokit.base.generator import Generator
from autokit.ops.create import as_tensor
from autokit.ops.draw import multinomial, source_of
from autokit.utils.data.dataset import by_type

Item = TypeVar("Item", covariant=True)

_DRAWN_AT_ONCE = 32  # how many indices PyTorch draws at a time with replacement


class Sampler(Generic[Item]):
    """An order of indices; subclasses define ``__iter__`` and, where there is a length, ``__len__``."""

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
        generator: Generator | None = None,
    ) -> None:
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self._num_samples = num_samples
        require_count("num_samples", self.num_samples, "; the dataset is empty" * (num_samples is None))

    @property
    def num_samples(self) -> int:
        """How many indices one pass gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        if self.generator is None:
            generator = Generator().manual_seed(draw_seed(None))
        else:
            generator = source_of(self.generator, "cpu")
        total = len(self.data_source)
        if self.replacement:
            for start in range(0, self.num_samples, _DRAWN_AT_ONCE):
                count = min(_DRAWN_AT_ONCE, self.num_samples - start)
                yield from generator.integers(0, total, count).tolist()
        else:
            for _ in range(self.num_samples // total):
                yield from generator.permutation(total).tolist()
            # PyTorch shuffles once more even where nothing is left to draw: the stream must go on alike.
            yield from generator.permutation(total)[: self.num_samples % total].tolist()

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        order = source_of(self.generator, "cpu").permutation(len(self.indices))
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
        generator: Generator | None = None,
    ) -> None:
        require_count("num_samples", num_samples)
        self.weights = as_tensor(weights, dtype=BY_NAME["float64"])
        if self.weights.ndim != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        drawn = multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The indices of another sampler in lists of ``batch_size``.

    >>> list(BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        require_count("batch_size", batch_size)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self) -> int:
        return batches_of(len(self.sampler), self.batch_size, self.drop_last)  # type: ignore[arg-type]


def batches_of(total: int, batch_size: int, drop_last: bool) -> int:
    """How many batches ``total`` samples give."""
    return total // batch_size if drop_last else -(-total // batch_size)


def require_count(name: str, value: Any, why: str = "") -> None:
    """Raise unless ``value``, an argument ``name``, is a whole number above 0."""
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}{why}")


def draw_seed(generator: Generator | None) -> int:
    """A seed for another generator, drawn as PyTorch draws it, from the default one where none is given."""
    return int(source_of(generator, "cpu").integers(0, 1 << 63, ()))
