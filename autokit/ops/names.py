"""What a family of operations is called from outside: each family ends with one :class:`Names`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Names(NamedTuple):
    """The public names of a family; the words of a string are names in its file.

    Attributes
    ----------
    both : str
        What is a function, ``torch.exp(x)``, and a method, ``x.exp()``.
    functions, methods : str
        What is a function alone, and what is a method alone.
    in_place : str
        What also has a form with a trailing underscore, ``x.exp_()``, which overwrites the tensor.
    aliases : dict
        Second names, and the names that they stand for, in all their forms.
    other_methods : dict
        Methods whose function is called otherwise in the file.
    numpy : dict
        NumPy's functions, and what they do with tensors.
    """

    both: str = ""
    functions: str = ""
    methods: str = ""
    in_place: str = ""
    aliases: dict[str, str] = {}  # noqa: RUF012 - never changed
    other_methods: dict[str, Callable[..., Any]] = {}  # noqa: RUF012
    numpy: dict[Callable[..., Any], Callable[..., Any]] = {}  # noqa: RUF012
