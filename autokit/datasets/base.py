"""The base class of the datasets: it keeps the folder of the files, transforms samples, and prints itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autokit.engine.tensor import Tensor
from autokit.utils.data.dataset import Dataset, rows_of

Transform = Callable[[Any], Any]


class LabelledDataset(Dataset[tuple[Any, Any]]):
    """Pairs of a sample and its target, each with a transform of its own.

    Subclasses define ``__len__`` and ``pair``, the two as they are.
    """

    root: str | None = None

    def __init__(self, transform: Transform | None = None, target_transform: Transform | None = None) -> None:
        self.transform = transform
        self.target_transform = target_transform

    def pair(self, index: int) -> tuple[Any, Any]:
        """Sample and target as they are, without transforms."""
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        sample, target = self.pair(index)
        if self.transform is not None:
            sample = self.transform(sample)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return sample, target

    def extra_repr(self) -> str:
        """More lines for the repr."""
        return ""

    def __repr__(self) -> str:
        lines = [f"Dataset {type(self).__name__}", f"    Number of datapoints: {len(self)}"]
        if self.root is not None:
            lines.append(f"    Root location: {self.root}")
        lines += [f"    {line}" for line in self.extra_repr().splitlines()]
        transforms = {"Transform: ": self.transform, "Target transform: ": self.target_transform}
        if any(transform is not None for transform in transforms.values()):
            lines.append("    StandardTransform")
        for head, transform in transforms.items():
            if transform is not None:
                lines.append(head + repr(transform).replace("\n", "\n" + " " * len(head)))
        return "\n".join(lines)


class PartOfTensors(LabelledDataset):
    """A part, for training or for testing, of samples and targets that are two tensors in memory."""

    data: Tensor
    targets: Tensor
    train: bool | None

    @property
    def _gather(self) -> Callable[[list[int]], list[Tensor]] | None:
        if self.transform is not None or self.target_transform is not None:
            return None
        return lambda indices: rows_of((self.data, self.targets), indices)

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        """Which part it is."""
        part = {True: "train", False: "test", None: "all"}[self.train]
        return f"Split: {part}"
