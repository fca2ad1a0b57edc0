"""The types of arguments, looked at as PyTorch does: before a function runs, and with its ways to be called.

``signatures.txt`` beside this file holds those ways, one a line, as PyTorch's
own stubs for Python tell them.  They are read when a call first needs them.
Types that were found good once are remembered for each function, so that
calling it again with values of the same types costs one look into a set.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from autokit.dtypes import dtype as Dtype
from autokit.ops.errors import way_to_a_tensor
from autokit.ops.memory_words import MEMORY_WORDS, without_memory_words
from autokit.ops.names import OPERANDS, SPELLINGS, in_place_of, unknown_keyword, wrong_count
from autokit.ops.warn import warn
from autokit.tensor import Tensor

FILE = os.path.join(os.path.dirname(__file__), "signatures.txt")

ELSEWHERE = {"out", "layout", "device", "pin_memory", "requires_grad", "memory_format", "generator", "names"}
"""Keywords of many functions that each looks at itself."""


class Parameter(NamedTuple):
    """One parameter: what it takes, in words, and whether it must be given, by keyword or as all the rest.

    What is looked at elsewhere has no name.
    """

    name: str
    kinds: tuple[str, ...]
    required: bool
    by_keyword: bool
    rest: bool


def _is_int(value: Any) -> bool:
    if isinstance(value, Tensor):
        return _is_number(value) and value.array.dtype.kind in "iu"
    return not isinstance(value, bool | np.bool_) and hasattr(value, "__index__")


def _is_size(value: Any) -> bool:
    return value is None or _is_int(value)


def _is_number(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.__class__ is not Tensor or not (value._requires_grad or value.array.ndim)
    return isinstance(value, int | float | complex | np.generic)


def _is_float(value: Any) -> bool:
    return _is_number(value) and not isinstance(value, complex)


def _are_tensors(value: Any) -> bool:
    return isinstance(value, tuple | list) and all(isinstance(each, Tensor) for each in value)


def _are_sizes(value: Any) -> bool:
    if isinstance(value, Tensor):  # PyTorch goes through it as through a list
        return value.array.ndim == 1 and value.array.dtype.kind in "iu"
    return isinstance(value, tuple | list) and all(map(_is_size, value))


FITS: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda value: isinstance(value, Tensor),
    "tensors": _are_tensors,
    "number": _is_number,
    "float": _is_float,
    "int": _is_int,
    "bool": lambda value: isinstance(value, bool | np.bool_),
    "ints": lambda value: isinstance(value, tuple | list) and all(map(_is_int, value)),
    "sizes": _are_sizes,
    "floats": lambda value: isinstance(value, tuple | list) and all(map(_is_float, value)),
    "dtype": lambda value: isinstance(value, Dtype) or value in (bool, int, float, complex),
    "str": lambda value: isinstance(value, str),
    "list": lambda value: isinstance(value, list),
    "None": lambda value: value is None,
    "any": lambda value: True,
}
"""Whether a value may stand where a word in ``signatures.txt`` stands."""

OF_EACH = {"ints": _is_int, "sizes": _is_size, "floats": _is_float}
"""What each element of a list must be."""

WORDS = {
    "tensors": "tuple of Tensors",
    "number": "Number",
    "ints": "tuple of ints",
    "sizes": "tuple of ints",
    "floats": "tuple of floats",
    "dtype": "torch.dtype",
}
"""How an error calls what it wanted, where not by the word itself."""


@cache
def _lines() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    with open(FILE, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for line in lines:
        name, parenthesis, form = line.removesuffix(")").partition("(")
        if parenthesis and name[0] != "#":
            found.setdefault(name, []).append(form)
    return found


@cache
def forms(name: str) -> list[list[Parameter]]:
    """The ways in which PyTorch takes a call of ``name``; none where it does not look at types first."""
    lines = _lines()
    return [_parsed(form) for form in lines.get(name) or (lines.get(name[1:], []) if name[0] == "." else [])]


def _parsed(form: str) -> list[Parameter]:
    found, by_keyword = [], False
    for part in form.split(", ") if form else []:
        if part == "*":
            by_keyword = True
            continue
        if part[0] == "+":
            found += [Parameter("", ("any",), False, True, False)] * int(part)
            continue
        name, _, kinds = part.partition(": ")
        rest = name[0] == "*"
        plain = name.strip("*?")
        found.append(
            Parameter(plain, tuple(kinds.split("|")), name[-1] != "?" and not rest, by_keyword, rest)
        )
        by_keyword = by_keyword or rest
    return found


def misfit(form: list[Parameter], name: str, arguments: tuple[Any, ...], settings: dict[str, Any]) -> str:
    """What of a call of ``name`` does not fit ``form``, as PyTorch says it; nothing where all fits."""
    names = {parameter.name for parameter in form}
    twice = next((each for each in settings if each not in names and SPELLINGS.get(each) in settings), None)
    if twice is not None:
        return f"{name}() got an unexpected keyword argument '{twice}': {SPELLINGS[twice]} is given already"
    given = {each if each in names else SPELLINGS.get(each, each): value for each, value in settings.items()}
    positional = _most(form)
    if len(arguments) > positional and not any(parameter.rest for parameter in form):
        return f"{name}() takes {positional} positional arguments but {len(arguments)} were given"
    for place, parameter in enumerate(form):
        if parameter.rest:
            values: Any = enumerate(arguments[place:], place)
        elif place < len(arguments) and not parameter.by_keyword:
            if parameter.name in given:
                return f"{name}() got multiple values for argument '{parameter.name}'"
            values = ((place, arguments[place]),)
        elif parameter.name in given:
            values = ((None, given.pop(parameter.name)),)
        elif parameter.required:
            return f'{name}() missing 1 required positional arguments: "{parameter.name}"'
        else:
            continue
        for at, value in values:
            if not _fits(parameter, value):
                return _wrong_kind(name, parameter, at, value)
    unknown = next((each for each in given if each not in ELSEWHERE), None)
    return "" if unknown is None else f"{name}() got an unexpected keyword argument '{unknown}'"


def _wrong_kind(name: str, parameter: Parameter, place: int | None, value: Any) -> str:
    if parameter.kinds[0] == "tensors" and isinstance(value, tuple | list):
        at, other = next((n, each) for n, each in enumerate(value) if not isinstance(each, Tensor))
        return f"expected Tensor as element {at} in argument {place or 0}, but got {type(other).__name__}"
    kinds = [kind for kind in parameter.kinds if kind != "None"] or ["None"]
    some = [WORDS.get(kind, kind) for kind in kinds]
    wanted = " or ".join(some) if kinds[0] == "int" else some[0]
    where = f"'{parameter.name}'" + (f" (position {place + 1})" if place is not None else "")
    if kinds[-1] in OF_EACH and isinstance(value, tuple | list):
        at, other = next((n, each) for n, each in enumerate(value) if not OF_EACH[kinds[-1]](each))
        got = f"but found element of type {type(other).__name__} at pos {at}"
    else:
        got = f"not {_kind_of(value)}{_hint(wanted, value)}"
    return f"{name}(): argument {where} must be {wanted}, {got}"


def _hint(wanted: str, value: Any) -> str:
    """What to write instead of ``value``."""
    if wanted == "Tensor":
        return f"; {way_to_a_tensor(value)}"
    if wanted == "bool":
        return "; write True or False"
    return f"; write ({value},)" if wanted == "tuple of ints" and isinstance(value, int) else ""


def _fits(parameter: Parameter, value: Any) -> bool:
    if isinstance(value, Tensor) and {"int", "ints"}.issubset(
        parameter.kinds
    ):  # a tensor of one element does
        return value.array.size == 1 and value.array.dtype.kind in "biu"
    return any(FITS[kind](value) for kind in parameter.kinds)


def fitting_form(name: str, arguments: tuple[Any, ...], settings: dict[str, Any]) -> list[Parameter] | None:
    """The way to call ``name`` that a call takes; None where PyTorch does not look at types.

    Raises
    ------
    TypeError
        If no way to call ``name`` fits.
    """
    ways = forms(name)
    fitting = [form for form in ways if not misfit(form, name, arguments, settings)]
    if ways and not fitting:
        raise _error(name, ways, arguments, settings)
    # A tensor stands for a number only where no way takes it as a tensor.
    as_tensors = [form for form in fitting if not has_tensors_for_numbers(form, arguments, settings)]
    return next(iter(as_tensors or fitting), None)


def has_tensors_for_numbers(
    form: list[Parameter], arguments: tuple[Any, ...], settings: dict[str, Any]
) -> bool:
    """Whether a tensor stands where ``form`` takes numbers alone."""
    return any(
        _takes_numbers(parameter) and (isinstance(value, Tensor) or _holds_tensors(value))
        for parameter, value in _pairs(form, arguments, settings)
    )


def plain_numbers(
    form: list[Parameter], arguments: tuple[Any, ...], settings: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with numbers for the tensors that stand for one."""

    def plain(parameter: Parameter | None, value: Any) -> Any:
        if not _takes_numbers(parameter):
            return value
        if _holds_tensors(value):
            return [plain(parameter, each) for each in value]
        if value.__class__ is not Tensor:
            return value
        if value.array.ndim and "sizes" in parameter.kinds:
            return value.array.tolist()
        number = value.array.item()
        if isinstance(number, complex) and "number" not in parameter.kinds:
            return _real(number)
        return int(number) if "ints" in parameter.kinds else number

    given = [plain(*pair) for pair in _pairs(form, arguments, settings)]
    count = len(given) - len(settings)
    return tuple(given[:count]), dict(zip(settings, given[count:]))


def _pairs(
    form: list[Parameter], arguments: tuple[Any, ...], settings: dict[str, Any]
) -> list[tuple[Parameter | None, Any]]:
    """What is given, each with the parameter that it is for; arguments first."""
    named = {parameter.name: parameter for parameter in form}
    rest = form[-1:] * len(arguments)
    return [
        *zip([*form[: len(arguments)], *rest], arguments),
        *[(named.get(each), value) for each, value in settings.items()],
    ]


def _takes_numbers(parameter: Parameter | None) -> TypeGuard[Parameter]:
    return parameter is not None and _OF_TENSORS.isdisjoint(parameter.kinds)


def _holds_tensors(value: Any) -> bool:
    return isinstance(value, tuple | list) and Tensor in map(type, value)


_OF_TENSORS = {"Tensor", "tensors", "any"}


def _real(number: complex) -> float:
    if number.imag:
        raise RuntimeError(
            f"value cannot be converted to type double without overflow: {number} has an imaginary part"
        )
    return number.real


def in_our_words(
    form: list[Parameter], function: Callable[..., Any], settings: dict[str, Any]
) -> dict[str, Any]:
    """The settings with our names of parameters where PyTorch has others for the same places."""
    if not settings:
        return settings
    function = getattr(function, "out_of_place", function)
    rule = getattr(function, "operation", None)
    if rule:  # what a rule calls its operands is no keyword
        operands = (*OPERANDS, *rule.operands[2:])[: len(rule.operands)]
        ours = {**dict.fromkeys(operands), **rule.defaults}
    else:
        ours = dict(inspect.signature(function).parameters)
    if any(each.kind is each.VAR_KEYWORD for each in ours.values() if isinstance(each, inspect.Parameter)):
        return settings
    places = {
        theirs.name: mine
        for theirs, mine in zip(form, ours)
        if theirs.name not in ours and not _has(form, mine) and not theirs.by_keyword
    }
    for numpys, name in SPELLINGS.items():
        if numpys in settings and numpys not in ours and name in ours:
            places[numpys] = name
    return {places.get(name, name): value for name, value in settings.items()}


def _has(form: list[Parameter], name: str) -> bool:
    return any(parameter.name == name for parameter in form)


def _error(
    name: str, ways: list[list[Parameter]], arguments: tuple[Any, ...], settings: dict[str, Any]
) -> TypeError:
    """What does not fit the only way that takes so many arguments, or all ways, where several do."""
    called = name.rpartition(".")[2]
    known = dict.fromkeys(parameter.name for form in ways for parameter in form if parameter.name)
    for each in settings:
        if each not in known and each not in ELSEWHERE and SPELLINGS.get(each) not in known:
            return unknown_keyword(called, each, list(known))
    count = len(arguments) + len(settings)
    for form in ways:
        rest = next((parameter for parameter in form if parameter.rest), None)
        if rest is not None and arguments and all(_fits(rest, each) for each in arguments):
            return TypeError(misfit(form, called, arguments, settings))  # the sizes are right, one by one
    ways = [form for form in ways if not any(each.rest for each in form) or count > len(form)] or ways
    wrong = [misfit(form, called, arguments, settings) for form in ways if _takes(form, count)]
    if len(wrong) == 1 or len(ways) == 1:
        return TypeError(wrong[0] if wrong else misfit(ways[0], called, arguments, settings))
    got = ", ".join([*map(_kind_of, arguments), *(f"{each}={_kind_of(settings[each])}" for each in settings)])
    return TypeError(
        f"{called}() received an invalid combination of arguments - got ({got}), but expected one of: "
        + " or ".join(f"({_shown(form)})" for form in ways)
        + (f". {wrong[0]}" if wrong and len(set(wrong)) == 1 else "")
    )


def _most(form: list[Parameter]) -> int:
    """How many arguments may be given by their places."""
    return sum(not parameter.by_keyword for parameter in form)


def _takes(form: list[Parameter], count: int) -> bool:
    """Whether so many arguments may be right."""
    return sum(parameter.required for parameter in form) <= count <= len(form)


def _kind_of(value: Any) -> str:
    if isinstance(value, tuple | list) and value:
        return f"{type(value).__name__} of {type(value[0]).__name__}"
    return type(value).__name__


def _kinds_shown(parameter: Parameter) -> str:
    kinds = [WORDS.get(kind, kind) for kind in parameter.kinds if kind != "any"]
    return f"{' or '.join(kinds)} " if kinds else ""


def _shown(form: list[Parameter]) -> str:
    return ", ".join(
        f"{'*' * each.rest}{_kinds_shown(each)}{each.name}{' = ...' * (not each.required and not each.rest)}"
        for each in form
        if each.name
    )


def _types(values: Any) -> tuple[Any, ...]:
    """The types of ``values``, and which there are among the elements of lists."""
    kinds = [type(value) for value in values]
    return tuple(
        [
            (kind, frozenset(map(type, value))) if kind is tuple or kind is list else kind
            for kind, value in zip(kinds, values)
        ]
    )


def looked_at(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, which refuses arguments of types that PyTorch does not take for ``name``."""
    good: set[Any] = set()

    def looking(
        key: tuple[Any, ...], arguments: tuple[Any, ...], settings: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if not MEMORY_WORDS.isdisjoint(settings):
            arguments, plain = without_memory_words(name, arguments, settings)
            if plain is not settings:
                return looking((tuple, *map(type, arguments)), arguments, plain)
        if tuple in key or list in key:  # what they hold matters too
            key = _types(arguments), tuple(settings), _types(settings.values())
            if key in good:
                return arguments, settings
        try:
            form = fitting_form(name, arguments, settings)
        except TypeError as error:
            raise wrong_count(error, function, arguments, settings) from None
        if form is not None:
            factors = _older_factors(form)
            if factors:
                return _in_todays_order(name, form, factors, arguments, settings)
            rest = _rest_of(function)
            if form[-1:] and form[-1].rest and len(arguments) > len(form) and not rest:
                return (*arguments[: len(form) - 1], arguments[len(form) - 1 :]), settings
            if rest in settings:
                return _with_rest_by_place(rest, arguments, settings)
            changed = has_tensors_for_numbers(form, arguments, settings)
            if changed:
                arguments, settings = plain_numbers(form, arguments, settings)
            renamed = in_our_words(form, function, settings)
            if changed or renamed != settings:  # another tensor of that type may stand for no number
                return arguments, renamed
        if len(good) < _MANY:
            good.add(key)
        return arguments, settings

    @in_place_of(function)
    def apply(*arguments: Any, **settings: Any) -> Any:
        key = tuple(map(type, arguments))
        if settings:
            key = (*key, *settings, *map(type, settings.values()))  # type: ignore[arg-type]
        if key not in good:
            arguments, settings = looking(key, arguments, settings)
        return function(*arguments, **settings)

    return apply


def looked_at_after(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """As :func:`looked_at`, but after an error alone: for a short function that fails at each wrong type."""

    @in_place_of(function)
    def apply(*arguments: Any, **settings: Any) -> Any:
        try:
            return function(*arguments, **settings)
        except (TypeError, AttributeError) as error:
            try:
                fitting_form(name, arguments, settings)
            except TypeError as clearer:
                raise wrong_count(clearer, function, arguments, settings) from None
            raise error from error.__cause__

    return apply


@cache
def _rest_of(function: Callable[..., Any]) -> str:
    """What a function calls the arguments of which it takes any number; empty where it takes none."""
    function = getattr(function, "out_of_place", function)
    if hasattr(function, "operation"):
        return ""
    parameters = inspect.signature(function).parameters.values()
    return next((each.name for each in parameters if each.kind is each.VAR_POSITIONAL), "")


def _with_rest_by_place(
    rest: str, arguments: tuple[Any, ...], settings: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The same call with what a function takes as many of as there are by place, and the tensor before it."""
    first = [settings[each] for each in ("input", "self") if each in settings]
    others = {each: value for each, value in settings.items() if each not in (rest, "input", "self")}
    return (*arguments, *first, settings[rest]), others


def _older_factors(form: list[Parameter]) -> list[str]:
    """The factors that stand before tensors in older programs, as in ``add(input, alpha, other)``."""
    tensors = [place for place, parameter in enumerate(form) if parameter.kinds == ("Tensor",)]
    before = form[: tensors[-1] if tensors else 0]
    return [each.name for each in before if each.name in _FACTORS and each.kinds == ("number",)]


_FACTORS = ("alpha", "beta", "value")


def _in_todays_order(
    name: str,
    form: list[Parameter],
    factors: list[str],
    arguments: tuple[Any, ...],
    settings: dict[str, Any],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The same call with the factors by their keywords, and a warning as PyTorch gives it."""
    called = name.rpartition(".")[2]
    tensors = ", ".join(f"Tensor {each.name}" for each in form if each.name not in factors)
    older = ", ".join(
        f"Number {each.name}" if each.name in factors else f"Tensor {each.name}" for each in form
    )
    todays = ", ".join(f"Number {each} = 1" for each in factors)
    warn(
        f"This overload of {called} is deprecated:\n\t{called}({older})\nConsider using one of the following "
        f"signatures instead:\n\t{called}({tensors}, *, {todays})"
    )
    arguments, settings = plain_numbers(form, arguments, settings)
    given = {**dict(zip([each.name for each in form], arguments)), **settings}
    operands = [each.name for each in form if each.name in given and each.name not in factors]
    return tuple([given.pop(each) for each in operands]), given


_MANY = 1000
"""How many patterns of types are remembered for each function."""
