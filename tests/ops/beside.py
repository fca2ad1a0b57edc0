"""autokit beside PyTorch: what lines of programs give, gradients, and what is said of wrong use."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit
from tests.libraries import pytorch

TOLERANCE = {"float16": 1e-3, "float32": 2e-6}
TOLERANCE_OF_RESULTS = {
    **dict.fromkeys(("float64", "complex128"), 1e-10),
    **dict.fromkeys(("float32", "complex64"), 3e-5),
    "float16": 1e-2,
}
"""Of whole operations, which add up more than a line of a program does."""

AWKWARD = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 3.0, -3.0, 6.0, 0.5]
"""Zeros, infinities, NaN, and where functions are bent."""


def assert_same_outcome(line: str) -> None:
    """The dtypes, shapes and elements of what ``line`` gives are PyTorch's."""
    _assert_same(_outcome(autokit, line), _outcome(pytorch(), line))


def assert_same_error(line: str) -> None:
    """``line`` is wrong, and raises an error of PyTorch's type."""
    with pytest.raises((TypeError, ValueError, RuntimeError, IndexError)) as theirs:
        _outcome(pytorch(), line)
    with pytest.raises(theirs.type) as ours:
        _outcome(autokit, line)
    assert ours.type is theirs.type


def refusals(wrong: Callable[[Any], Any]) -> tuple[str, str]:
    """What autokit and PyTorch say of ``wrong(library)``: autokit's error must be one of PyTorch's type."""
    with pytest.raises(Exception) as theirs:
        wrong(pytorch())
    with pytest.raises(type(theirs.value)) as ours:
        wrong(autokit)
    return str(ours.value), str(theirs.value)


def assert_same_gradients(call: Any, seed: float) -> None:
    """The gradients of ``call`` at ``AWKWARD`` numbers are PyTorch's, where ``seed`` comes back to each."""
    ours, theirs = (_gradients(library, call, seed) for library in (autokit, pytorch()))
    np.testing.assert_allclose(ours, theirs, rtol=3e-6, atol=3e-6)


def assert_same(ours: Any, theirs: Any) -> None:
    """Two results are equal: their kinds, dtypes, shapes and elements."""
    if not isinstance(theirs, pytorch().Tensor):
        assert type(ours) is type(theirs) and ours == theirs
        return
    assert isinstance(ours, autokit.Tensor)
    assert repr(ours.dtype) == repr(theirs.dtype)
    assert tuple(ours.shape) == tuple(theirs.shape)
    tolerance = TOLERANCE_OF_RESULTS.get(ours.dtype.name, 0)
    if ours.dtype.name == "bfloat16":  # PyTorch makes no array of it
        tolerance, ours, theirs = 2e-2, ours.float(), theirs.float()
    np.testing.assert_allclose(
        ours.detach().numpy(), theirs.detach().numpy(force=True), rtol=tolerance, atol=tolerance
    )


def _outcome(library: Any, line: str) -> Any:
    """What ``line`` gives, in terms of the library and of one small tensor of each kind."""
    names = {
        "T": library,
        "F": library.nn.functional,
        "x": library.tensor([0.5, -1.5, 2.25, 0.0]),
        "i": library.tensor([1, -2, 3, 4]),
        "b": library.tensor([True, False, True, False]),
        "h": library.tensor([0.5, 1.5, 2.25, 0.25]).half(),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(line, names)


def _assert_same(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for mine, other in zip(ours, theirs):
            _assert_same(mine, other)
        return
    name = repr(theirs.dtype).removeprefix("torch.")
    assert ours.dtype.name == name
    tolerance = TOLERANCE.get(name, 1e-12)
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=tolerance, atol=tolerance)


def _gradients(library: Any, call: Any, seed: float) -> np.ndarray:
    x = library.tensor(AWKWARD, requires_grad=True)
    result = call(library, x)
    result.backward(library.full(tuple(result.shape), seed))
    return x.grad.numpy()
