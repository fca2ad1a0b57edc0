"""``torch.compile``: a program that asks for it runs, and computes what it computes without."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
"""PyTorch's modes."""

_told = False


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """``model`` itself: autokit compiles nothing, and says so once.

    Parameters
    ----------
    model : callable, optional
        A function or a module.  Without it, what is returned decorates a function.
    fullgraph, dynamic, backend, mode, options, disable
        Accepted for PyTorch's sake.

    Raises
    ------
    AssertionError
        If ``model`` cannot be called.
    RuntimeError
        If there is no such mode, or ``options`` are given beside one.

    Examples
    --------
    >>> import autokit as torch
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     fast = torch.compile(torch.sin)
    >>> fast is torch.sin
    True
    """
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if mode is not None and mode not in MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}")
    if model is None:
        return lambda model: compile(model, mode=mode, options=options, disable=disable)
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    global _told
    if not _told and not disable:
        _told = True
        warnings.warn(
            "torch.compile returns what it is given: autokit runs every operation as it is written, so the "
            "numbers are the same, and the speed is too",
            UserWarning,
            stacklevel=2,
        )
    return model
