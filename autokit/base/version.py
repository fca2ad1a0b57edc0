"""The version, in the one place that the package and its build both read.

``torch.__version__`` names the PyTorch whose programs run here, and after a plus sign autokit's version.
Programs ask for it: ``assert int(torch.__version__.split(".")[0]) >= 2``, or
``torch.__version__ >= "2.8"``, which compares numbers and not letters.
"""

from __future__ import annotations

import re
from typing import Any

__version__ = "0.1.0"

PYTORCH = "2.13.0"
"""The PyTorch whose answers are given; ``torch.__version__`` begins with it."""

cuda: str | None = None
"""The CUDA that PyTorch is built with: autokit is built with none, and uses what CuPy brings."""


class TorchVersion(str):
    """A version that compares by its numbers, with strings or with tuples such as ``(2, 1)``.

    >>> TorchVersion("2.13.0") > "2.8", TorchVersion("2.13.0+autokit") < (2, 13, 1)
    (True, True)
    """

    __slots__ = ()

    def __lt__(self, other: Any) -> bool:
        return _numbers(self) < _numbers(other)

    def __le__(self, other: Any) -> bool:
        return _numbers(self) <= _numbers(other)

    def __gt__(self, other: Any) -> bool:
        return _numbers(self) > _numbers(other)

    def __ge__(self, other: Any) -> bool:
        return _numbers(self) >= _numbers(other)


def _numbers(version: Any) -> list[int]:
    """The numbers of a release, without zeros at its end."""
    parts = version if isinstance(version, tuple) else re.findall(r"\d+", version.partition("+")[0])
    numbers = [int(part) for part in parts]
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers


TORCH = TorchVersion(f"{PYTORCH}+autokit.{__version__}")
"""What ``torch.__version__`` is."""
