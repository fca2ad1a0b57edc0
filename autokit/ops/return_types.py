"""The named tuples that operations with several results return, as ``torch.return_types.sort``."""

from __future__ import annotations

from collections import namedtuple
from typing import Any


def return_type(name: str, *fields: str) -> Any:
    """A named tuple called ``name`` that prints as PyTorch's does.

    Examples
    --------
    >>> return_type("max", "values", "indices")(1, 2)
    torch.return_types.max(
    values=1,
    indices=2)
    """
    made: Any = namedtuple(name, fields)  # type: ignore[misc]

    def text(self: Any) -> str:
        inside = ",\n".join(f"{field}={value!r}" for field, value in zip(fields, self))
        return f"torch.return_types.{name}(\n{inside})"

    made.__repr__ = text  # type: ignore[method-assign]
    made.__doc__ = f"What ``{name}`` returns: {', '.join(fields)}."
    made.__module__ = __name__
    globals()[name] = made  # where pickle looks for it
    return made
