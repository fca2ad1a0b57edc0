"""Text to learn from, letter by letter: given names, and Shakespeare's sonnets, both in this package."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from importlib import resources
from typing import Any

import numpy as np

from autokit.datasets.base import LabelledDataset
from autokit.engine.tensor import Tensor, new_tensor
from autokit.utils.data import Dataset


def _read(name: str) -> str:
    packed = resources.files("autokit.datasets").joinpath(f"{name}.txt.gz").read_bytes()
    return gzip.decompress(packed).decode()


class Names(Dataset[Any]):
    """Given names in the 26 small letters, for a model that invents names.

    They are some hundred from many places, and those of three to six letters from the lists of English first
    names that the stdlib project put into the public domain (CC0 1.0).

    Parameters
    ----------
    transform : callable, optional
        Applied to each name, a str.

    Attributes
    ----------
    data : list of str
        All names, in the order of the alphabet.

    Examples
    --------
    >>> names = Names()
    >>> len(names), names[0], names[-1]
    (5565, 'aaren', 'zuzana')
    """

    def __init__(self, transform: Callable[[str], Any] | None = None) -> None:
        self.data = _read("names").split()
        self.transform = transform

    def __getitem__(self, index: int) -> Any:
        name = self.data[index]
        return name if self.transform is None else self.transform(name)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"Dataset Names\n    Number of datapoints: {len(self)}"


class Sonnets(LabelledDataset):
    """The 154 sonnets by William Shakespeare, for a model that writes on.

    They were printed in 1609 and belong to everybody; the spelling is a modern edition's.

    A sample is ``length`` characters and, as its target, the same text one character further on; both are
    int64 tensors of numbers, which stand for places in ``characters``.

    Parameters
    ----------
    length : int
        How many characters a sample has.

    Attributes
    ----------
    text : str
        All of it.
    characters : str
        All characters that occur, each once.

    Examples
    --------
    >>> sonnets = Sonnets(length=8)
    >>> before, after = sonnets[0]
    >>> sonnets.decode(before), sonnets.decode(after)
    ('From fai', 'rom fair')
    """

    def __init__(self, length: int = 32) -> None:
        super().__init__()
        self.text = _read("sonnets")
        self.characters = "".join(sorted(set(self.text)))
        if not 0 < length < len(self.text):
            raise ValueError(f"length must be from 1 to {len(self.text) - 1}, but is {length}")
        self.length = length
        self.data = self.encode(self.text)

    def encode(self, text: str) -> Tensor:
        """The numbers of characters.

        Raises
        ------
        ValueError
            If the text has a character that does not occur in the sonnets.
        """
        unknown = sorted(set(text) - set(self.characters))
        if unknown:
            raise ValueError(f"the sonnets have no {', '.join(map(repr, unknown))}: see .characters")
        places = {character: place for place, character in enumerate(self.characters)}
        return new_tensor(np.array([places[each] for each in text], np.int64))

    def decode(self, numbers: Any) -> str:
        """The characters of numbers, a tensor or any sequence."""
        return "".join(self.characters[int(number)] for number in numbers)

    def pair(self, index: int) -> tuple[Tensor, Tensor]:
        """``length`` numbers from ``index`` on, and those from the next on."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range for {len(self)} samples")
        start = index % len(self)
        return self.data[start : start + self.length], self.data[start + 1 : start + 1 + self.length]

    def __len__(self) -> int:
        return len(self.text) - self.length
