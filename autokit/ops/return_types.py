"""Named tuples: what an operation with several results returns, such as the values and indices of a sort."""

from __future__ import annotations

from collections import namedtuple
from typing import Any


def return_type(name: str, *fields: str) -> Any:
    """A named tuple for the results of the function ``name``, which prints as PyTorch's does.

    Examples
    --------
    >>> return_type("max", "values", "indices")(1, 2)
    torch.return_types.max(
    values=1,
    indices=2)
    """

    def show(self: Any) -> str:
        inside = ",\n".join([f"{field}={value!r}" for field, value in zip(fields, self)])
        return f"torch.return_types.{name}(\n{inside})"

    text = f"What ``{name}`` returns: {', '.join(fields)}."
    members = {"__slots__": (), "__doc__": text, "__module__": __name__, "__repr__": show}
    kind = type(name, (namedtuple(name, fields),), members)
    globals()[name] = kind  # pickle looks for the class here
    return kind
