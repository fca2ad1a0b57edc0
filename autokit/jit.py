"""``torch.jit``: a program that scripts or traces runs, and computes what it computes without.

What is to be compiled is returned as it is.  Files of compiled programs can
neither be written nor read: a model is kept as its ``state_dict()``.
"""

from __future__ import annotations

import warnings
from typing import Any, Final, NoReturn, TypeVar

from autokit.missing import names_of

__all__ = [
    "Final",
    "annotate",
    "export",
    "freeze",
    "ignore",
    "is_scripting",
    "is_tracing",
    "load",
    "optimize_for_inference",
    "save",
    "script",
    "script_if_tracing",
    "trace",
    "unused",
]

T = TypeVar("T")

_told = False


def _as_it_is(name: str, given: T) -> T:
    global _told
    if not _told:
        _told = True
        warnings.warn(
            f"torch.jit.{name} returns what it is given: autokit runs every operation as it is written, so "
            "the numbers are the same, and the speed is too",
            UserWarning,
            stacklevel=3,
        )
    return given


def script(obj: T, **settings: Any) -> T:
    """``obj`` itself, a function, class or module: autokit compiles nothing, and says so once.

    Examples
    --------
    >>> import autokit as torch
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     @torch.jit.script
    ...     def double(x):
    ...         return 2 * x
    >>> double(torch.ones(2))
    tensor([2., 2.])
    """
    if not callable(obj):
        raise TypeError(f"torch.jit.script() takes a function, a class or a module, not {type(obj).__name__}")
    return _as_it_is("script", obj)


def trace(func: T, example_inputs: Any = None, **settings: Any) -> T:
    """``func`` itself, a function or module, which is not run: autokit compiles nothing, and says so once."""
    if not callable(func):
        raise TypeError(f"torch.jit.trace() takes a function or a module, not {type(func).__name__}")
    return _as_it_is("trace", func)


def freeze(mod: T, *settings: Any, **more: Any) -> T:
    """``mod`` itself."""
    return mod


def optimize_for_inference(mod: T, *settings: Any, **more: Any) -> T:
    """``mod`` itself."""
    return mod


def script_if_tracing(fn: T) -> T:
    """``fn`` itself."""
    return fn


def export(fn: T) -> T:
    """``fn`` itself, which a compiler would compile too."""
    return fn


def ignore(drop: Any = False, **settings: Any) -> Any:
    """The function itself, which a compiler would leave to Python."""
    return drop if callable(drop) else lambda fn: fn


def unused(fn: T) -> T:
    """``fn`` itself, which a compiler would leave out."""
    return fn


def annotate(the_type: Any, the_value: T) -> T:
    """``the_value``: the type is a compiler's."""
    return the_value


def is_scripting() -> bool:
    """Whether a compiled program runs: it never does."""
    return False


def is_tracing() -> bool:
    """Whether a function is traced: none ever is."""
    return False


def save(m: Any, f: Any, _extra_files: Any = None) -> NoReturn:
    """Raise: there is no compiled program to write."""
    raise NotImplementedError(
        "torch.jit.save() writes compiled programs, and autokit compiles none: keep the model's numbers with "
        "torch.save(model.state_dict(), path)"
    )


def load(f: Any, map_location: Any = None, _extra_files: Any = None) -> NoReturn:
    """Raise: autokit runs no compiled programs."""
    raise NotImplementedError(
        "torch.jit.load() runs compiled programs, and autokit runs none: make the model from its own code, "
        "and load its numbers with model.load_state_dict(torch.load(path))"
    )


__getattr__ = names_of("torch.jit")
