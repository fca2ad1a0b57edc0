"""``torch.__version__``: the PyTorch whose programs run here, and after a plus sign autokit's own version.

Programs ask for it: ``assert int(torch.__version__.split(".")[0]) >= 2``, or
``torch.__version__ >= "2.8"``, which compares numbers and not letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from autokit import version


class TorchVersion(str):
    """A version that compares as one, with strings, with tuples such as ``(2, 1)``, or with another version.

    >>> TorchVersion("2.13.0") > "2.8", TorchVersion("2.13.0") < (2, 13, 1)
    (True, True)
    """

    __slots__ = ()

    def __lt__(self, other: Any) -> bool:
        return _key(self) < _key(other)

    def __le__(self, other: Any) -> bool:
        return _key(self) <= _key(other)

    def __gt__(self, other: Any) -> bool:
        return _key(self) > _key(other)

    def __ge__(self, other: Any) -> bool:
        return _key(self) >= _key(other)

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, str) else _key(self) == _key(other)

    __hash__ = str.__hash__


def _key(value: Any) -> tuple[tuple[int, ...], bool, bool]:
    """The numbers of a release, without zeros at its end; whether it is final; whether it is local."""
    if isinstance(value, Iterable) and not isinstance(value, str):
        value = ".".join(str(part) for part in value)
    found = re.match(r"v?(\d+(?:\.\d+)*)([^+]*)(\+)?", str(value))
    if not found:
        raise ValueError(f"{value!r} is no version, such as '2.13.0'")
    numbers = [int(part) for part in found[1].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers), not re.match(r"\.?(a|b|rc|dev)", found[2]), bool(found[3])


__version__ = TorchVersion(f"{version.PYTORCH}+autokit.{version.__version__}")
