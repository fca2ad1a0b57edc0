"""What a family of operations is called from outside: each family ends with one :class:`Names`.

Functions that are put together from several rules get here what a rule has by
itself: NumPy's keywords, a hint for a mistyped one, and ``out=``.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from autokit import dtypes
from autokit.batches.batch import NotBatched
from autokit.dtypes import COMPLEX
from autokit.meta_array import META
from autokit.ops import complex_numbers
from autokit.ops.overlaps import refuse_overlap
from autokit.ops.unusual import asks_for_care, in_place_of, refuse_beside_meta, with_care
from autokit.ops.warn import warn
from autokit.tensor import Tensor
from autokit.thread_state import UNUSUAL, moves, thread

OPERANDS = ("input", "other")
"""PyTorch's keywords for a first and a second tensor."""

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
    properties : str
        What is read of a tensor without a call, ``x.T``.
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
    properties: str = ""
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

    @in_place_of(function)
    def apply(*arguments: Any, **settings: Any) -> Any:
        nonlocal known
        if UNUSUAL:
            if COMPLEX:
                operands = [value for name, value in settings.items() if name != "out"]
                complex_numbers.refuse_function(function.__name__, (*arguments, *operands))
            if META in UNUSUAL:
                refuse_beside_meta(function.__name__, (*arguments, *settings.values()))
            if asks_for_care(*arguments, *settings.values()):
                return with_care(function.__name__, apply, arguments, settings)
        if not settings:
            try:
                return function(*arguments)
            except NotBatched as error:
                return _by_samples(function, arguments, {}, error)
            except Exception as error:
                raise clearer(error, function, arguments, settings) from error.__cause__
        if known is None:
            known = inspect.signature(function).parameters
        out = settings.pop("out", None)
        if isinstance(out, Tensor) and "requires_grad" in known and settings.get("dtype") is None:
            settings["dtype"] = out.dtype  # what is made of numbers is computed as it will be held
        for name in tuple(settings):
            if name in known or any(each.kind is each.VAR_KEYWORD for each in known.values()):
                continue
            if SPELLINGS.get(name) in known and SPELLINGS[name] not in settings:
                settings[SPELLINGS[name]] = settings.pop(name)
            else:
                raise unknown_keyword(function.__name__, name, list(known))
        try:
            result = function(*arguments, **settings)
        except NotBatched as error:
            result = _by_samples(function, arguments, settings, error)
        except Exception as error:
            raise clearer(error, function, arguments, settings) from error.__cause__
        return (
            result
            if out is None
            else write_out(function.__name__, result, out, (*arguments, *settings.values()))
        )

    return apply


def by_samples_else(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, which a ``vmap`` runs on one sample after the other where it cannot on all."""

    @in_place_of(function)
    def apply(*arguments: Any, **settings: Any) -> Any:
        try:
            return function(*arguments, **settings)
        except NotBatched as error:
            return _by_samples(function, arguments, settings, error)

    return apply


def _by_samples(
    function: Callable[..., Any], arguments: tuple[Any, ...], settings: dict[str, Any], error: NotBatched
) -> Any:
    """What ``function`` gives in a ``vmap`` that it has no rule for."""
    from autokit.ops.samples import by_samples, newest_among

    level = newest_among([*arguments, *settings.values()])
    if level is None:
        raise error
    return by_samples(function, function.__name__, arguments, settings, level)


def clearer(
    error: Exception,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    settings: dict[str, Any],
    form: str = "",
) -> Exception:
    """``error``, or what explains it: an argument that ``function`` does not take, or how many it takes."""
    if not isinstance(error, TypeError | AttributeError):
        return error  # not of a type
    if isinstance(error, TypeError) and ("): argument" in str(error) or "combination" in str(error)):
        return error  # it says so already
    return wrong_argument(function, arguments, settings, form) or wrong_count(
        error, function, arguments, settings, form
    )


def wrong_count(
    error: Exception,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    settings: dict[str, Any],
    form: str = "",
) -> Exception:
    """``error``; where too few or too many arguments were given, with the way to call ``function``."""
    signature = inspect.signature(function)
    try:
        signature.bind(*arguments, **settings)
    except TypeError:
        plain = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
        call = signature.replace(parameters=plain, return_annotation=signature.empty)
        return TypeError(f"{error}; call it as {form or function.__name__}{call}")
    return error


def wrong_argument(
    function: Callable[..., Any], arguments: tuple[Any, ...], settings: dict[str, Any], form: str = ""
) -> TypeError | None:
    """The error for a keyword or the type of an argument that ``function`` does not take, if there is one.

    It is looked for only after a call failed, so that a call that succeeds costs nothing.
    """
    called = form or function.__name__
    known = inspect.signature(function).parameters
    if not any(each.kind is each.VAR_KEYWORD for each in known.values()):
        for name in settings:
            if name not in known:
                return unknown_keyword(called, name, list(known))
    try:
        bound = inspect.signature(function).bind(*arguments, **settings).arguments
    except TypeError:
        return None  # too few or too many: Python's own error says it
    for place, (name, value) in enumerate(bound.items(), 1):
        if known[name].kind is inspect.Parameter.VAR_POSITIONAL:
            continue
        words = str(known[name].annotation).replace("Sequence[Tensor]", "tensors").split(" | ")
        if any(word not in _MAY_BE or _MAY_BE[word](value) for word in words):
            continue
        wanted = {"tensors": "tuple of Tensors", "Size": "tuple of ints"}.get(words[0], words[0])
        hint = "; make one with torch.tensor(...)" if wanted == "Tensor" else ""
        where = f"'{name}' (position {place})" if place <= len(arguments) else f"'{name}'"
        return TypeError(f"{called}(): argument {where} must be {wanted}, not {type(value).__name__}{hint}")
    return None


def _is_int(value: Any) -> bool:
    whole = isinstance(value, Tensor) and not value.shape and value.array.dtype.kind in "iu"
    return whole or (hasattr(value, "__index__") and not isinstance(value, bool | Tensor))


def _is_number(value: Any) -> bool:
    return isinstance(value, Tensor) or (hasattr(value, "__float__") or hasattr(value, "__index__"))


_MAY_BE: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda value: isinstance(value, Tensor),
    "tensors": lambda value: isinstance(value, tuple | list | Tensor),
    "int": _is_int,
    "float": _is_number,
    "bool": lambda value: isinstance(value, bool | np.bool_),
    "str": lambda value: isinstance(value, str),
    "None": lambda value: value is None,
    "Size": lambda value: isinstance(value, tuple | list | Tensor) or _is_int(value),
}
"""What a parameter that is annotated with a word takes."""


def found_by_pickle(module: str, functions: Mapping[str, Any]) -> None:
    """Let each function say that it stands in ``module``, so that pickle finds it there again.

    One that stands where it says already keeps that.
    """
    for name, function in functions.items():
        if isinstance(function, FunctionType):
            said = sys.modules.get(function.__module__)
            if getattr(said, function.__qualname__, None) is not function:
                function.__module__, function.__qualname__ = module, name


def unknown_keyword(function: str, name: str, known: list[str]) -> TypeError:
    """The error for a keyword that ``function`` does not know."""
    import difflib

    near = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean '{near[0]}'?" if near else f"; it knows {', '.join(known) or 'none'}"
    return TypeError(f"{function}() got an unexpected keyword argument '{name}'{hint}")


def write_out(function: str, result: Any, out: Any, operands: tuple[Any, ...] = ()) -> Any:
    """Write ``result``, made from ``operands``, into the tensor ``out``, or several into several.

    Raises
    ------
    RuntimeError
        If a gradient would be lost, the elements would lose their kind, or ``out`` overlaps an operand.
    """
    if isinstance(result, tuple) and isinstance(out, tuple | list):
        if len(out) != len(result):
            raise TypeError(f"{function}(): expected tuple of {len(result)} elements but got {len(out)}")
        for one, into in zip(result, out) if function not in ("geqrf", "lstsq", "eig") else ():
            _require_exact(one, into)
        written = [write_out(function, *pair, operands) for pair in zip(result, out)]
        return type(result)(*written) if hasattr(result, "_fields") else tuple(written)
    if isinstance(result, tuple):
        raise TypeError(
            f"{function}(): argument 'out' must be a tuple of {len(result)} Tensors, not {type(out).__name__}"
        )
    if not isinstance(out, Tensor):
        raise TypeError(f"{function}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if (result._requires_grad or out._requires_grad) and thread.state.grad_enabled:
        raise RuntimeError(
            f"{function}(): functions with out=... arguments don't support automatic differentiation, but "
            "one of the arguments requires grad. Call it without out=, or inside `with torch.no_grad():`"
        )
    if function in _EXACT and not _is_cast(function, out, operands):
        _require_exact(result, out)
    if dtypes.category(result.array.dtype) > dtypes.category(out.array.dtype):
        if function in _JOINS:
            raise TypeError(
                f"torch.cat(): input types can't be cast to the desired output type {out.dtype.name}: "
                f"{function} gives {result.dtype.name}"
            )
        raise RuntimeError(
            f"result type {result.dtype.name} can't be cast to the desired output type {out.dtype.name}"
        )
    if META in UNUSUAL:
        refuse_beside_meta(function, (out, result), "out")
    if not thread.state.inference and (moves(out) or moves(result)):
        raise NotImplementedError(
            f"Trying to use forward AD with {function}_out that does not support it because it is an out= "
            "function"
        )
    refuse_overlap(function, out, operands)
    if out.array.shape == result.array.shape:
        return out.copy_(result)
    if out.array.size and function not in _FILLS:
        warn(
            f"An output with one or more elements was resized since it had shape {list(out.shape)}, which "
            f"does not match the required output shape {list(result.shape)}.",
        )
    out.array = result.array.astype(out.array.dtype)
    return out


_JOINS = frozenset(
    ["cat", "concat", "concatenate", "stack", "hstack", "vstack", "row_stack", "dstack", "column_stack"]
)
"""Functions that end in ``cat``, whose error PyTorch raises as a TypeError."""

_FILLS = frozenset(
    ["empty", "eye", "full", "linspace", "ones", "rand", "randint", "randn", "randperm", "zeros"]
)
"""Functions of a size, for which PyTorch resizes ``out`` and says nothing of it."""

_OWN_DTYPE = (
    "abs addbmm addmm addmv all amax amin any argmax argmin baddbmm bitwise_not bmm bucketize ceil "
    "chain_matmul clamp clamp_max clamp_min conj_physical cross det diag dot eigvalsh float_power floor "
    "frac gather hardshrink heaviside histc index_add index_copy index_select inner inv inverse isin "
    "isposinf isneginf log_softmax logcumsumexp masked_select matmul matrix_norm matrix_power mm msort "
    "multi_dot multinomial mv nan_to_num nanquantile narrow_copy neg nonzero norm quantile renorm round "
    "scatter scatter_add scatter_reduce searchsorted sgn sign signbit softmax solve svdvals take "
    "take_along_dim tensordot tril triu trunc vdot vecdot vector_norm where"
)
_EXACT = frozenset(_OWN_DTYPE.split())
"""Functions that write to an ``out`` of the result's own dtype alone, as all do that have several results."""


def _is_cast(function: str, out: Tensor, operands: tuple[Any, ...]) -> bool:
    """Whether a function of these writes to ``out`` what is cast, for once: of such operands, or to bytes."""
    if function in ("all", "any"):
        return out.array.dtype == "uint8"
    if function == "abs":
        return any(map(complex_numbers.is_complex, (out, *operands)))
    if function == "matrix_power":
        powers = [abs(each) for each in operands if each.__class__ is int]
        return any(power != 2 and not power & (power - 1) for power in powers)  # copied, and not multiplied
    return function.startswith("clamp") and any(isinstance(bound, Tensor) for bound in operands[1:])


def _require_exact(result: Any, out: Any) -> None:
    if isinstance(out, Tensor) and out.array.dtype != result.array.dtype:
        raise RuntimeError(
            f"Expected out tensor to have dtype {result.dtype.name}, but got {out.dtype.name} instead"
        )
