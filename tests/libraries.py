"""The libraries that a test runs on: autokit, and PyTorch where it is installed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import pytest

import autokit
from tests.support import require

LIBRARIES: list[Any] = [autokit]
if importlib.util.find_spec("torch"):
    import torch

    LIBRARIES.append(torch)

on_each = pytest.mark.parametrize("T", LIBRARIES, ids=lambda library: library.__name__)
"""Run a test once with each library as ``T``: what it expects is PyTorch's, and ours."""


def function(T: Any, forward: Callable[..., Any], backward: Any = None, **more: Any) -> Any:
    """A subclass of ``T.autograd.Function`` with these static methods."""
    methods = {"forward": forward, **({"backward": backward} if backward else {}), **more}
    return type("F", (T.autograd.Function,), {name: staticmethod(each) for name, each in methods.items()})


def pytorch() -> Any:
    """PyTorch; skips or fails the test as :func:`tests.support.require` does where there is none.

    For what tests share: a file that asks for PyTorch at its top cannot be imported without it.
    """
    require("torch")
    return importlib.import_module("torch")
