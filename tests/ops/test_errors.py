"""Bad input gets PyTorch's type of error, its sense, and what helps: shapes, names, what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit
from tests.libraries import on_each

WRONG = [
    (lambda T: T.ones(2) + T.ones(3), RuntimeError, r"size of tensor a \(2\) must match the size"),
    (lambda T: T.ones(2, 2).int() @ T.ones(2, 2), RuntimeError, "same dtype"),
    (lambda T: T.exp([1.0]), TypeError, "must be Tensor, not list"),
    (lambda T: T.exp(1.0), TypeError, "must be Tensor, not float"),
    (lambda T: T.ones(2) + None, TypeError, "NoneType"),
    (lambda T: T.ones(2) + "a", TypeError, "str"),
    (lambda T: T.ones(2) < "a", TypeError, "str"),
    (lambda T: T.tensor("a"), TypeError, "invalid data type 'str'"),
    (lambda T: T.ones(2, 3).sum(2), IndexError, r"expected to be in range of \[-2, 1\], but got 2"),
    (lambda T: T.ones(2, 3).max(2), IndexError, "out of range"),
    (lambda T: T.ones(2, 3).softmax(2), IndexError, "out of range"),
    (lambda T: T.ones(2, 3).size(2), IndexError, "out of range"),
    (lambda T: T.ones(2, 3).flatten(1, 0), RuntimeError, "start_dim cannot come after end_dim"),
    (lambda T: T.cat([]), ValueError, "non-empty list of tensors"),
    (lambda T: T.cat(T.ones(2)), TypeError, "tuple of Tensors, not Tensor"),
    (lambda T: T.ones(0).max(), RuntimeError, "reduction dim to be specified"),
    (lambda T: T.ones(2).item(), RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar"),
    (lambda T: float(T.ones(2)), ValueError, "only one element tensors"),
    (lambda T: bool(T.ones(2)), RuntimeError, "more than one value is ambiguous"),
    (lambda T: bool(T.ones(0)), RuntimeError, "no values is ambiguous"),
    (lambda T: len(T.tensor(1)), TypeError, r"len\(\) of a 0-d tensor"),
    (lambda T: list(T.tensor(1)), TypeError, "iteration over a 0-d tensor"),
    (lambda T: T.ones(2, requires_grad=True).numpy(), RuntimeError, r"Use tensor\.detach\(\)\.numpy\(\)"),
    (lambda T: np.asarray(T.ones(2, requires_grad=True)), RuntimeError, r"Use tensor\.detach\(\)"),
    (lambda T: T.ones(2).sum(foo=1), TypeError, ""),
    (lambda T: T.device("tpu"), RuntimeError, ""),
    (lambda T: T.set_default_dtype(T.int32), TypeError, "only floating-point types are supported"),
    (lambda T: T.ones(2).foo, AttributeError, "foo"),
    (lambda T: T.allclose(T.ones(2), 1), TypeError, "must be Tensor, not int"),
    (
        lambda T: (T.ones(2, requires_grad=True) // 2).sum().backward(),
        RuntimeError,
        "floor_divide is not implemented|does not require grad",
    ),
]


@on_each
@pytest.mark.parametrize(("wrong", "kind", "message"), WRONG)
def test_the_type_and_the_sense(T: Any, wrong: Callable[..., Any], kind: type[Exception], message: str):
    with pytest.raises(kind) as caught:
        wrong(T)
    assert re.search(message, str(caught.value), re.IGNORECASE | re.DOTALL), str(caught.value)


def test_errors_name_the_tensors_and_say_what_to_do():
    weights, hidden = autokit.ones(3, 2), autokit.ones(4, 3)
    with pytest.raises(RuntimeError, match=r"weights \(float32, shape \[3, 2\]\).*hidden \(float32"):
        weights @ hidden
    with pytest.raises(RuntimeError, match=r"weights \(float32, shape \[3, 2\]\).*hidden"):
        weights + hidden
    with pytest.raises(RuntimeError, match=r"\[3, 2\]"):
        weights.double() * hidden
    with pytest.raises(TypeError, match=r"did you mean 'keepdim'"):
        weights.sum(0, keepdin=True)
    with pytest.raises(TypeError, match=r"before backward\(\), gives None"):
        autokit.exp(None)
    with pytest.raises(RuntimeError, match=r"\.float\(\)"):
        autokit.tensor([1, 2]).mean()


def test_three_shapes_that_do_not_broadcast_are_explained_as_two_are():
    condition = autokit.tensor([True, False])
    with pytest.raises(
        RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(3\)"
    ):
        autokit.where(condition, 1.0, autokit.ones(3))
