"""Compiled loops in place of NumPy's calls on large arrays, where Numba is installed.

NumPy computes an operation call by call, and each call goes through the whole
array again.  A loop that does all of an operation's steps for one element
before it goes on to the next goes through it once.  Python is too slow for
such a loop; Numba compiles it.

A rule stays what its plain lines say.  Beside it a loop may stand in a file of
loops, such as ``native_loops.py``, and :func:`compiled` makes it ready for
the dtypes it is called with, the first time that it is.  Where
Numba is not installed, is switched off or cannot compile, it gives None, and
the rule goes on with NumPy.

Importing Numba takes a third of a second, compiling a loop some tenths of one;
what was compiled is kept on disk for the next process.

References
----------
S. K. Lam, A. Pitrou and S. Seibert, "Numba: a LLVM-based Python JIT compiler",
LLVM-HPC 2015.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np

LARGE = 32_768
"""Elements from which a compiled loop is worth loading."""

OPTIONS: dict[str, Any] = {
    "nogil": True,  # other threads run meanwhile
    "error_model": "numpy",  # a division by 0 gives infinity or NaN
    "fastmath": {"contract"},  # a · b + c may be rounded once; nothing else may be changed
}
"""How each loop is compiled."""


class Numba:
    """The switch of the compiled loops, as ``torch.backends.numba``.

    Attributes
    ----------
    enabled : bool
        Whether large arrays may go through compiled loops; True at first.

    Examples
    --------
    >>> import autokit as torch
    >>> with torch.backends.numba.flags(enabled=False):
    ...     torch.backends.numba.enabled
    False
    """

    def __init__(self) -> None:
        self.enabled = True
        self._version: str | None = None
        self._asked = False

    def version(self) -> str | None:
        """The version of Numba that is installed, can be loaded and may compile; None without one."""
        if not self._asked:  # set at the end, as another thread may ask meanwhile
            try:
                numba = import_module("numba")
                # With NUMBA_DISABLE_JIT in the environment loops would run as they stand, in Python.
                self._version = None if numba.config.DISABLE_JIT else numba.__version__
            except ModuleNotFoundError as error:
                if error.name != "numba":
                    _note("Numba cannot be loaded", error)
            except Exception as error:  # as it is where Numba does not know this version of NumPy
                _note("Numba cannot be loaded", error)
            self._asked = True
        return self._version

    def is_available(self) -> bool:
        """Whether Numba is installed, can be loaded and may compile."""
        return self.version() is not None

    @contextmanager
    def flags(self, enabled: bool = True) -> Iterator[None]:
        """Set ``enabled`` inside of a ``with`` block."""
        before, self.enabled = self.enabled, enabled
        try:
            yield
        finally:
            self.enabled = before


def is_large(array: Any) -> bool:
    """Whether a compiled loop is worth it for ``array``: large, and of float32."""
    return array.size >= LARGE and array.dtype == np.float32


NUMBA = Numba()
_ready: dict[Any, Any] = {}


def compiled(name: str, *arguments: Any) -> Callable[..., None] | None:
    """The loop ``name`` for such ``arguments``; None where it cannot be had.

    Parameters
    ----------
    name : str
        The file of loops and the function in it: ``"native_loops.relu"``.
    *arguments : array or number
        What it will be called with.  Arrays lie in one piece, the last
        dimension first; numbers are NumPy's or Python's.

    Returns
    -------
    callable or None
        It takes such arguments, and writes into those whose name begins with ``into``.
    """
    return _ready_for(name, arguments, ())


def shared(name: str, arguments: Sequence[Any], split: Sequence[int], step: int) -> bool:
    """Whether the loop ``name`` was there, and went over the arguments, some at a time on each thread.

    Parameters
    ----------
    name : str
        As :func:`compiled` takes it.
    arguments : sequence of array or number
        What the loop takes.
    split : sequence of int
        Which of them the loop gets a piece of at a time, ``step`` places of the first dimension, which is
        as long in each; it gets all others whole.
    step : int
        How long a piece is.
    """
    loop = _ready_for(name, arguments, tuple(split))
    if loop is None:
        return False
    from autokit.ops.team import share

    share(loop, -(-len(arguments[split[0]]) // step), step, arguments)
    return True


def _ready_for(name: str, arguments: Sequence[Any], split: tuple[int, ...]) -> Any:
    if not NUMBA.enabled:
        return None
    key = name, split, *map(_kind, arguments)
    if None in key:
        return None
    if key not in _ready:
        _ready[key] = _compile(name, arguments, split) if NUMBA.is_available() else None
    return _ready[key]


def _kind(argument: Any) -> Any:
    """What a loop is compiled for; None for what it cannot take.

    That is a file mapped into memory, numbers that begin at an odd byte, and what is no array of NumPy's.
    """
    if argument.__class__ is np.ndarray:
        fits = argument.flags.c_contiguous and argument.flags.aligned
        return (argument.dtype, argument.ndim) if fits else None
    return argument.__class__ if isinstance(argument, np.generic | int | float) else None


def _compile(name: str, arguments: Sequence[Any], split: tuple[int, ...]) -> Any:
    file, _, function = name.rpartition(".")
    try:
        loop = getattr(import_module(f"autokit.ops.{file}"), function)
        if split:
            from autokit.ops.shared_loops import Shared

            return Shared(loop, arguments, split)
        from numba import njit

        return kept(njit, _types(loop, arguments), loop)
    except Exception as error:  # a compiler fails in any way, and NumPy can do without
        _note(f"Numba could not compile {name}, and NumPy computes it", error)
        return None


def kept(compiler: Callable[..., Any], types: Any, function: Callable[..., Any]) -> Any:
    """``function``, compiled by one of Numba's decorators, and kept on disk where that can be."""
    try:
        return compiler(types, cache=True, **OPTIONS)(function)
    except (OSError, RuntimeError) as error:
        made = compiler(types, **OPTIONS)(function)
        _note("Numba's compiled loops cannot be kept for the next process; NUMBA_CACHE_DIR may name a "
              "folder for them", error)  # fmt: skip
        return made


def _types(loop: Callable[..., None], arguments: Sequence[Any]) -> tuple[Any, ...]:
    """Numba's types of the arguments: an array that is only read may be one that refuses to be written."""
    from numba import from_dtype, typeof
    from numba.core.types import Array

    return tuple(
        Array(from_dtype(each.dtype), each.ndim, "C", readonly=not name.startswith("into"))
        if isinstance(each, np.ndarray)
        else typeof(each)
        for name, each in zip(signature(loop).parameters, arguments)
    )


def _note(what: str, error: Exception) -> None:
    reason = str(error).strip().partition("\n")[0]
    warnings.warn(f"{what} ({type(error).__name__}: {reason})", UserWarning, stacklevel=2)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of numbers for loops to call; without Numba it stays as it is."""
    if not NUMBA.is_available():
        return function
    from numba import njit

    return njit(forceinline=True, **OPTIONS)(function)


def polynomial(*coefficients: float) -> Callable[..., Any]:
    """A function of x for loops to call, by Horner's rule; the coefficient of the highest power first.

    Its steps are written out, as a loop inside of a loop would keep the compiler from taking many x at once.
    """
    steps = repr(coefficients[0])
    for coefficient in coefficients[1:]:
        steps = f"({steps}) * x + {coefficient!r}"
    return inlined(eval(f"lambda x: {steps}"))


def summing(function: Callable[..., Any]) -> Callable[..., Any]:
    """As :func:`inlined`, for a function that adds up: the terms may be added in any order, many at once."""
    if not NUMBA.is_available():
        return function
    from numba import njit

    return njit(forceinline=True, **{**OPTIONS, "fastmath": {"contract", "reassoc", "nsz"}})(function)
