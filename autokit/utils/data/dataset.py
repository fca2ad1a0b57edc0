"""Datasets: what there is to learn from, one sample at a time.

A dataset is anything with ``__getitem__`` and ``__len__``.  One that can also
hand out the samples of a whole batch at once may do so by ``__getitems__``; and
one that can hand out the batch itself, as those made of tensors can, says so by
a method ``_gather``; see :func:`gatherer`.
"""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

from autokit import random
from autokit.ops.errors import way_to_a_tensor
from autokit.ops.sampling import source_of
from autokit.shown import by_type
from autokit.tensor import Tensor

Sample = TypeVar("Sample", covariant=True)


Gather = Callable[[list[int]], list[Tensor]]


def gatherer(dataset: Any) -> Gather | None:
    """What takes the samples at many indices out of ``dataset`` as one batch, or None.

    It must be defined beside ``__getitem__`` in the same class: a subclass
    that changes what a sample is, is asked for its samples.
    """
    return _beside_getitem(dataset, "_gather")


def together(dataset: Any) -> Callable[[list[int]], list[Any]] | None:
    """What gives the samples of ``dataset`` at many indices as a list, its ``__getitems__``, or None."""
    if not hasattr(type(dataset), "__getitem__"):
        return getattr(dataset, "__getitems__", None)
    return _beside_getitem(dataset, "__getitems__")


def _beside_getitem(dataset: Any, name: str) -> Any:
    for kind in type(dataset).__mro__:
        if name in vars(kind):
            return getattr(dataset, name)
        if "__getitem__" in vars(kind):
            return None
    return None


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

    def __add__(self, other: Dataset[Any]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


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
                    f"'{type(tensor).__name__}' object has no attribute 'size': argument {place} of "
                    f"TensorDataset is no tensor; {way_to_a_tensor(tensor)}"
                )
        lengths = [len(tensor) for tensor in tensors]
        if len(set(lengths)) != 1:
            raise AssertionError(
                f"Size mismatch between tensors: they have {lengths} rows, and each sample needs one of each"
                if tensors
                else "a TensorDataset needs at least one tensor"
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])

    def _gather(self, indices: list[int]) -> list[Tensor]:
        return [tensor[indices] for tensor in self.tensors]


class Subset(Dataset[Sample]):
    """The samples of ``dataset`` at ``indices``, in that order."""

    def __init__(self, dataset: Dataset[Sample], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Sample:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[Sample]:
        chosen = [self.indices[index] for index in indices]
        at_once = together(self.dataset)
        return at_once(chosen) if at_once else [self.dataset[index] for index in chosen]

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def _gather(self) -> Gather | None:
        gather = gatherer(self.dataset)
        return gather and (lambda indices: gather([self.indices[index] for index in indices]))


class ConcatDataset(Dataset[Any]):
    """Several datasets, one behind the other."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError(
                "ConcatDataset finds samples by index; put IterableDatasets into a ChainDataset"
            )
        self.cumulative_sizes = list(accumulate(map(len, self.datasets)))  # type: ignore[arg-type]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if index < -len(self):
            raise ValueError(
                f"absolute value of index should not exceed dataset length: {index} is out of range for "
                f"{len(self)} samples"
            )
        if index >= len(self):
            raise IndexError(f"index {index} is out of range for {len(self)} samples")
        index %= len(self)
        which = bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][index - before]


class ChainDataset(IterableDataset[Any]):
    """Several iterable datasets, one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            _check_is_stream(dataset)
            yield from dataset

    def __len__(self) -> int:
        for dataset in self.datasets:
            _check_is_stream(dataset)
        return sum(len(dataset) for dataset in self.datasets)


def _check_is_stream(dataset: Any) -> None:
    if not isinstance(dataset, IterableDataset):
        raise AssertionError(
            f"ChainDataset only supports IterableDataset, and {type(dataset).__name__} is none: put datasets "
            "with indices into a ConcatDataset"
        )


class StackDataset(Dataset[Any]):
    """Several datasets side by side: sample ``i`` is a tuple, or a dict by names, of their ``i``-th samples.

    Raises
    ------
    ValueError
        If there are none, some have names and some have not, or they have unequal lengths.

    Examples
    --------
    >>> StackDataset(range(3), "abc")[1]
    (1, 'b')
    >>> StackDataset(number=range(3), letter="abc")[1]
    {'number': 1, 'letter': 'b'}
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either tuple- (via args) or dict- (via kwargs) like input/output, but both types "
                "are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = kwargs or args
        lengths = [len(dataset) for dataset in self._each()]
        if len(set(lengths)) > 1:
            raise ValueError(f"Size mismatch between datasets: they have {lengths} samples")

    def _each(self) -> list[Any]:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: list[int]) -> list[Any]:
        columns = []
        for dataset in self._each():
            at_once = together(dataset)
            samples = at_once(indices) if at_once else [dataset[index] for index in indices]
            if len(samples) != len(indices):
                raise ValueError(
                    f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(samples)}: "
                    f"__getitems__ of {type(dataset).__name__} must give one sample for each index"
                )
            columns.append(samples)
        if isinstance(self.datasets, dict):
            return [dict(zip(self.datasets, samples)) for samples in zip(*columns, strict=True)]
        return list(zip(*columns, strict=True))

    def __len__(self) -> int:
        return len(self._each()[0])


def random_split(
    dataset: Dataset[Sample], lengths: Sequence[int | float], generator: random.Generator | None = None
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
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for place, fraction in enumerate(lengths):
            if not 0 <= fraction <= 1:
                raise ValueError(f"Fraction at index {place} is not between 0 and 1: it is {fraction}")
        counts = [math.floor(total * fraction) for fraction in lengths]
        for place in range(total - sum(counts)):
            counts[place % len(counts)] += 1
        for place, count in enumerate(counts):
            if count == 0:
                warnings.warn(
                    f"Length of split at index {place} is 0. This might result in an empty dataset.",
                    stacklevel=2,
                )
    else:
        counts = list(lengths)  # type: ignore[arg-type]
    if sum(counts) != total:
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset! "
            f"{list(lengths)} adds up to {sum(lengths)}, and there are {total} samples"
        )
    order = source_of("randperm", generator, "cpu").permutation(total).tolist()
    ends = list(accumulate(counts))
    return [Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts, strict=True)]
