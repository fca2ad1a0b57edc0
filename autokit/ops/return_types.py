"""The named tuples that operations with several results return, as ``torch.return_types.sort``."""

from __future__ import annotations

from operator import itemgetter
from typing import Any


class Results(tuple):
    """Several results under names, which prints as PyTorch's does."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __new__(cls, *results: Any) -> Results:
        return tuple.__new__(cls, results)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self))

    def __repr__(self) -> str:
        inside = ",\n".join(f"{field}={value!r}" for field, value in zip(self._fields, self))
        return f"torch.return_types.{type(self).__name__}(\n{inside})"


def return_type(name: str, *fields: str) -> Any:
    """A named tuple called ``name``.

    Examples
    --------
    >>> return_type("max", "values", "indices")(1, 2)
    torch.return_types.max(
    values=1,
    indices=2)
    """
    places = {field: property(itemgetter(place)) for place, field in enumerate(fields)}
    text = f"What ``{name}`` returns: {', '.join(fields)}."
    made = type(
        name,
        (Results,),
        {"__slots__": (), "_fields": fields, "__doc__": text, "__module__": __name__, **places},
    )
    globals()[name] = made  # where pickle looks for it
    return made
