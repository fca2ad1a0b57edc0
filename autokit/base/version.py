"""The version of autokit, which the package and its build read from here.

``torch.__version__`` gives the version of PyTorch whose programs run here, and after a plus sign autokit's.
Programs test it by ``assert int(torch.__version__.split(".")[0]) >= 2``, or by
``torch.__version__ >= "2.8"``, which compares numbers and not letters.
"""

from __future__ import annotations

import re
from typing import Any

__version__ = "0.1.0"

PYTORCH = "2.13.0"
"""The version of PyTorch with which autokit agrees; ``torch.__version__`` begins with it."""

cuda: str | None = None
"""The version of CUDA that the package was built with: none, as CuPy brings CUDA."""


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
"""The value of ``torch.__version__``."""
