"""A dataset is a collection of samples, with an index for each sample.

A dataset is anything with ``__getitem__`` and ``__len__``.  One that can hand out a whole batch at once, as
those of tensors can, says so by a method ``_gather``; see :func:`gatherer`.
"""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

import numpy as np

from autokit.base.errors import way_to_a_tensor
from autokit.base.generator import Generator
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.draw import source_of

Sample = TypeVar("Sample", covariant=True)

Gather = Callable[[list[int]], list[Tensor]]


def gatherer(dataset: Any) -> Gather | None:
    """What takes the samples at many indices out of ``dataset`` as one batch, or None.

    It must be defined beside ``__getitem__`` in the same class: a subclass
    that changes what a sample is, is asked for its samples.
    """
    for kind in type(dataset).__mro__:
        if "_gather" in vars(kind):
            return dataset._gather
        if "__getitem__" in vars(kind):
            return None
    return None


def rows_of(tensors: Iterable[Tensor], indices: list[int]) -> list[Tensor]:
    """The rows of each of ``tensors`` at ``indices``."""
    places = new_tensor(np.array(indices))
    return [tensor[places] for tensor in tensors]


def by_type(shown: object) -> str:
    """The text of an object that has none: its type, without the address, which differs from run to run."""
    return f"<{type(shown).__module__}.{type(shown).__qualname__}>"


class Dataset(Generic[Sample]):
    """A collection of samples, each found by its index.

    Subclasses define ``__getitem__`` and, for most uses, ``__len__``.

    >>> class Squares(Dataset):
    ...     def __getitem__(self, index):
    ...         return index, index**2
    ...     def __len__(self):
    ...         return 10
    >>> Squares()[3]
    (3, 9)
    """

    __repr__ = by_type

    def __getitem__(self, index: Any) -> Sample:
        raise NotImplementedError(
            f"{type(self).__name__} needs a __getitem__(self, index) that returns one sample"
        )

    def __add__(self, other: Dataset[Any]) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[Sample]):
    """Samples that come one after the other, as from a file; subclasses define ``__iter__``."""

    def __iter__(self) -> Iterator[Sample]:
        raise NotImplementedError(f"{type(self).__name__} needs an __iter__(self) that yields samples")


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors side by side: sample ``i`` is the tuple of their ``i``-th rows.

    Raises
    ------
    AssertionError
        If there are no tensors, or they have unequal numbers of rows.
    """

    def __init__(self, *tensors: Tensor) -> None:
        for place, tensor in enumerate(tensors):
            if not isinstance(tensor, Tensor):
                raise AttributeError(
                    f"argument {place} of TensorDataset is {type(tensor).__name__}, and no tensor; "
                    f"{way_to_a_tensor(tensor)}"
                )
        lengths = [len(tensor) for tensor in tensors]
        if len(set(lengths)) != 1:
            raise AssertionError(
                f"Size mismatch between tensors: they have {lengths} rows, and each sample needs one of each"
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])

    def _gather(self, indices: list[int]) -> list[Tensor]:
        return rows_of(self.tensors, indices)


class Subset(Dataset[Sample]):
    """The samples of ``dataset`` at ``indices``, in that order."""

    def __init__(self, dataset: Dataset[Sample], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Sample:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def _gather(self) -> Gather | None:
        gather = gatherer(self.dataset)
        return gather and (lambda indices: gather([self.indices[index] for index in indices]))


class ConcatDataset(Dataset[Any]):
    """Several datasets, one behind the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        self.cumulative_sizes = list(accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range for {len(self)} samples")
        index %= len(self)
        which = bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][index - before]


def random_split(
    dataset: Dataset[Sample], lengths: Sequence[int | float], generator: Generator | None = None
) -> list[Subset[Sample]]:
    """Deal the samples out at random into subsets that do not overlap.

    Parameters
    ----------
    dataset : Dataset
    lengths : sequence of int, or of float
        How many samples each part gets; or fractions that add up to 1, where
        samples left over by rounding down go to the first parts, one each.
    generator : Generator, optional
        In place of the default one.

    Raises
    ------
    ValueError
        If the lengths do not add up to the number of samples, or to 1.

    Examples
    --------
    >>> [len(part) for part in random_split(range(10), [0.75, 0.25])]
    [8, 2]
    """
    total = len(dataset)  # type: ignore[arg-type]
    counts: list[Any] = list(lengths)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        if min(lengths) < 0:
            raise ValueError(f"a fraction of the samples is not between 0 and 1: {list(lengths)}")
        counts = [math.floor(total * fraction) for fraction in lengths]
        for place in range(total - sum(counts)):
            counts[place % len(counts)] += 1
        if 0 in counts:
            place = counts.index(0)
            warnings.warn(
                f"Length of split at index {place} is 0. This might result in an empty dataset.", stacklevel=2
            )
    if sum(counts) != total:
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset! "
            f"{list(lengths)} adds up to {sum(lengths)}, and there are {total} samples"
        )
    order = source_of(generator, "cpu").permutation(total).tolist()
    ends = accumulate(counts)
    return [Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts)]
