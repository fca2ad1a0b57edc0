"""A program beside PyTorch: what it returns, or the error that it ends in, is the same with both."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit
from tests.libraries import pytorch

Program = Callable[[Any], Any]


def assert_same(program: Program, tolerance: float = 1e-6) -> Any:
    """Run ``program(T)`` with both libraries, compare what it returns, and return autokit's."""
    ours, theirs = seen(program, autokit), seen(program, pytorch())
    if isinstance(ours, type) and not isinstance(theirs, type):
        program(autokit)  # raises the error itself
    assert_alike(ours, theirs, tolerance)
    return ours


def assert_refused(program: Program, match: str) -> None:
    """Both libraries refuse ``program(T)`` by an error of the same type; autokit's says ``match``."""
    said = compare_errors(program)
    assert re.search(match, said), said


def compare_errors(program: Callable[..., Any], *inputs: Any) -> str:
    """Assert that both libraries raise the same type in ``program(T, *tensors)``; return what ours says."""
    raised = []
    for T in (autokit, pytorch()):
        with pytest.raises(Exception) as caught:
            program(T, *[T.tensor(each) for each in inputs])
        raised.append(caught)
    assert issubclass(raised[0].type, builtin(raised[1].type)), (raised[0].value, raised[1].value)
    return str(raised[0].value)


def seen(program: Program, T: Any) -> Any:
    """What ``program`` returns, in one form for both libraries; the type of the error that it ends in."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(program(T))
        except Exception as error:
            return builtin(type(error))


def builtin(kind: type) -> type:
    return next(each for each in kind.__mro__ if each.__module__ == "builtins")


def plain(value: Any) -> Any:
    """A value of either library: tensors as their dtype, whether they require grad, and their numbers."""
    if hasattr(value, "detach"):
        return str(value.dtype), value.requires_grad, value.detach().numpy(force=True).copy()
    return [plain(each) for each in value] if isinstance(value, tuple | list) else value


def assert_alike(ours: Any, theirs: Any, tolerance: float = 1e-6) -> None:
    """Compare what :func:`seen` gave with both libraries."""
    assert type(ours) is type(theirs), f"{ours!r:.500} beside {theirs!r:.500}"
    if isinstance(ours, np.ndarray):
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
        assert ours.shape == theirs.shape
    elif isinstance(ours, tuple | list):
        assert len(ours) == len(theirs), (ours, theirs)
        for mine, other in zip(ours, theirs):
            assert_alike(mine, other, tolerance)
    else:
        assert ours == theirs or (ours != ours and theirs != theirs)
