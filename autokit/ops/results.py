"""Several results under names, printed as PyTorch prints them."""

from __future__ import annotations

from collections import namedtuple
from typing import Any


def result_type(kind: str, fields: str) -> Any:
    """A named tuple that prints as ``torch.return_types.kind(...)``, one result to a line."""
    base: Any = namedtuple(kind, fields)  # type: ignore[misc]

    class Result(base):
        __slots__ = ()

        def __repr__(self) -> str:
            lines = ",\n".join([f"{name}={getattr(self, name)!r}" for name in fields.split()])
            return f"torch.return_types.{kind}(\n{lines})"

    Result.__name__ = Result.__qualname__ = kind
    return Result
