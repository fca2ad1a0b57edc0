"""A line of a program, run by autokit and by PyTorch on the same small tensors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

TOLERANCE = {"float16": 1e-3, "float32": 2e-6}


def outcome(library: Any, line: str) -> Any:
    """What ``line`` gives, in terms of the library and of one tensor of each kind."""
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


def assert_same_outcome(ours: Any, theirs: Any) -> None:
    """The dtypes, shapes and elements of two results are equal."""
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for mine, other in zip(ours, theirs):
            assert_same_outcome(mine, other)
        return
    name = repr(theirs.dtype).removeprefix("torch.")
    assert ours.dtype.name == name
    tolerance = TOLERANCE.get(name, 1e-12)
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=tolerance, atol=tolerance)


def gradient_of(library: Any, call: Any, values: list[float], seed: float) -> np.ndarray:
    """The gradient of ``call`` at ``values``, where ``seed`` arrives at each element of the result."""
    x = library.tensor(values, requires_grad=True)
    result = call(library, x)
    result.backward(library.full(tuple(result.shape), seed))
    return x.grad.numpy()
