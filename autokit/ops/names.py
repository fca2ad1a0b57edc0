"""What a family of operations is called from outside: each family ends with one :class:`Names`.

Functions that are put together from several rules get here what a rule has by
itself: NumPy's keywords, a hint for a mistyped one, and ``out=``.
"""

from __future__ import annotations

import difflib
import inspect
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

from autokit import dtypes
from autokit.tensor import Tensor

SPELLINGS = {"axis": "dim", "keepdims": "keepdim"}
"""NumPy's keyword for PyTorch's."""


class Names(NamedTuple):
    """The public names of a family; the words of a string are names in its file.

    Attributes
    ----------
    both : str
        What is a function, ``torch.exp(x)``, and a method, ``x.exp()``.
    functions, methods : str
        What is a function alone, and what is a method alone.
    functional : str
        What is a function of ``torch.nn.functional``.
    in_place : str
        What also has a form with a trailing underscore, ``x.exp_()``, which overwrites the tensor.
    in_place_functions : str
        In-place forms that are functions too, ``torch.exp_(x)``, where PyTorch has them.
    aliases : dict
        Second names, and the names that they stand for, in all their forms.
    other_methods : dict
        Methods whose function is called otherwise in the file.
    other_functional : dict
        Functions of ``torch.nn.functional`` that are called otherwise in the file.
    numpy : dict
        NumPy's functions, and what they do with tensors.
    """

    both: str = ""
    functions: str = ""
    methods: str = ""
    functional: str = ""
    in_place: str = ""
    in_place_functions: str = ""
    aliases: dict[str, str] = {}  # noqa: RUF012 - never changed
    other_methods: dict[str, Callable[..., Any]] = {}  # noqa: RUF012
    other_functional: dict[str, Callable[..., Any]] = {}  # noqa: RUF012
    numpy: dict[Callable[..., Any], Callable[..., Any]] = {}  # noqa: RUF012


def public(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as a program may call it: with NumPy's keywords too, and with ``out=``."""
    code = function.__code__
    if "out" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        return function
    known: Any = None

    @wraps(function)
    def apply(*arguments: Any, **settings: Any) -> Any:
        nonlocal known
        if not settings:
            return function(*arguments)
        if known is None:
            known = inspect.signature(function).parameters
        out = settings.pop("out", None)
        for name in tuple(settings):
            if name in known or any(each.kind is each.VAR_KEYWORD for each in known.values()):
                continue
            if SPELLINGS.get(name) in known:
                settings[SPELLINGS[name]] = settings.pop(name)
            else:
                raise unknown_keyword(function.__name__, name, list(known))
        result = function(*arguments, **settings)
        return result if out is None else write_out(function.__name__, result, out)

    return apply


def unknown_keyword(function: str, name: str, known: list[str]) -> TypeError:
    """The error for a keyword that ``function`` does not know."""
    near = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean '{near[0]}'?" if near else f"; it knows {', '.join(known) or 'none'}"
    return TypeError(f"{function}() got an unexpected keyword argument '{name}'{hint}")


def write_out(function: str, result: Any, out: Any) -> Any:
    """Write ``result`` into the tensor ``out``, or several into several, and return that.

    Raises
    ------
    RuntimeError
        If a gradient would be lost, or the elements would lose their kind.
    """
    if isinstance(result, tuple) and isinstance(out, tuple | list):
        written = [write_out(function, *pair) for pair in zip(result, out)]
        return type(result)(*written) if hasattr(result, "_fields") else tuple(written)
    if not isinstance(out, Tensor):
        raise TypeError(f"{function}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if result._requires_grad or out._requires_grad:
        raise RuntimeError(
            f"{function}(): functions with out=... arguments don't support automatic differentiation, but "
            "one of the arguments requires grad. Call it without out=, or inside `with torch.no_grad():`"
        )
    if dtypes.category(result.array.dtype) > dtypes.category(out.array.dtype):
        raise RuntimeError(
            f"result type {result.dtype.name} can't be cast to the desired output type {out.dtype.name}"
        )
    if out.array.shape == result.array.shape:
        return out.copy_(result)
    if out.array.size:
        warnings.warn(
            f"An output with one or more elements was resized since it had shape {list(out.shape)}, which "
            f"does not match the required output shape {list(result.shape)}.",
            UserWarning,
            stacklevel=3,
        )
    out.array = result.array.astype(out.array.dtype)
    return out
