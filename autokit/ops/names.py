"""The public names of a family of operations: each file of operations ends with one :class:`Names`.

It says by which of the forms ``torch.exp(x)``, ``x.exp()``, ``x.exp_()``, ``torch.nn.functional.relu`` and
``np.exp(x)`` a program can call each function; ``autokit.ops`` reads it and binds the functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, NamedTuple

from autokit.engine.inplace import in_place
from autokit.engine.operands import KEYWORDS

Function = Callable[..., Any]


class Names(NamedTuple):
    """The public names of a family; the words of a string are names in its file.

    Attributes
    ----------
    both : str
        The functions that are also methods: ``torch.exp(x)`` and ``x.exp()``.
    functions, methods : str
        Those that are functions only, and those that are methods only.
    functional : str
        Functions of ``torch.nn.functional``.
    properties : str
        Properties of tensors, read without a call: ``x.T``.
    in_place : str
        Those that also have an in-place form, ``x.exp_()``, which overwrites the tensor.
    in_place_functions : str
        In-place forms that are functions too, ``torch.exp_(x)``.
    aliases : dict
        Second names, and the names that they stand for, in all their forms.
    other_methods : dict
        Methods whose function is called otherwise in the file.
    other_functional : dict
        Functions of ``torch.nn.functional`` that are called otherwise in the file.
    numpy : dict
        For some of NumPy's functions, the function of tensors that it calls.
    """

    both: str = ""
    functions: str = ""
    methods: str = ""
    functional: str = ""
    properties: str = ""
    in_place: str = ""
    in_place_functions: str = ""
    aliases: dict[str, str] = {}  # noqa: RUF012 - never changed
    other_methods: dict[str, Function] = {}  # noqa: RUF012
    other_functional: dict[str, Function] = {}  # noqa: RUF012
    numpy: dict[Function, Function] = {}  # noqa: RUF012


def parameters_of(function: Function) -> tuple[str, ...]:
    """The names of the parameters of ``function``; of a rule its operands and its settings."""
    rule = getattr(function, "operation", None)
    if rule is not None:
        return (*rule.operands, *rule.defaults)
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def public(function: Function) -> Function:
    """``function`` as a program may call it: ``axis`` and ``keepdims`` stand for ``dim`` and ``keepdim``.

    A function without these parameters is returned as it is; so is an operation, which translates them.
    """
    parameters = parameters_of(function)
    if hasattr(function, "operation") or not {*parameters} & {*KEYWORDS.values()}:
        return function

    @wraps(function)
    def apply(*arguments: Any, **settings: Any) -> Any:
        for name in [name for name in settings if name not in parameters]:
            spelling = KEYWORDS.get(name, "")
            if spelling not in parameters or spelling in settings:
                raise unknown_keyword(function.__name__, name, parameters)
            settings[spelling] = settings.pop(name)
        return function(*arguments, **settings)

    return apply


def unknown_keyword(function: str, name: str, parameters: Iterable[str]) -> TypeError:
    """The error for a keyword that the function called ``function`` does not have.

    >>> unknown_keyword("sum", "keepdin", ["input", "dim", "keepdim"])
    TypeError("sum() got an unexpected keyword argument 'keepdin'; did you mean 'keepdim'?")
    """
    from difflib import get_close_matches

    near = get_close_matches(name, parameters, 1)
    hint = f"did you mean '{near[0]}'?" if near else f"it has {', '.join(parameters)}"
    return TypeError(f"{function}() got an unexpected keyword argument '{name}'; {hint}")


def binary_operator(name: str, function: Function) -> dict[str, Function]:
    """The special methods of one of Python's operators: ``x + y``, ``2 + x`` and ``x += y``."""
    function = getattr(function, "operator", function)  # which lets other types answer themselves

    def reflected(self: Any, other: Any) -> Any:
        return function(other, self)

    return {f"__{name}__": function, f"__r{name}__": reflected, f"__i{name}__": in_place(function)}
