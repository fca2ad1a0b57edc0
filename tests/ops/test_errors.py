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
    (
        lambda T: T.ones(2) + T.ones(3),
        RuntimeError,
        r"size of tensor a \(2\) must match the size of tensor b \(3\)",
    ),
    (lambda T: T.ones(2, 3) @ T.ones(2, 3), RuntimeError, r"cannot be multiplied \(2x3 and 2x3\)"),
    (lambda T: T.mm(T.ones(3, 2), T.ones(3, 2)), RuntimeError, r"cannot be multiplied \(3x2 and 3x2\)"),
    (lambda T: T.mm(T.ones(2), T.ones(2, 2)), RuntimeError, "must be a matrix|2 and 2 dimensions"),
    (lambda T: T.ones(2, 3) @ T.ones(2), RuntimeError, "size mismatch|cannot be multiplied"),
    (lambda T: T.dot(T.ones(2), T.ones(3)), RuntimeError, "same number of elements|cannot be multiplied"),
    (lambda T: T.bmm(T.ones(2, 2, 2), T.ones(3, 2, 2)), RuntimeError, "batch2|same number of matrices"),
    (lambda T: T.ones(2, 2) @ T.ones(()), RuntimeError, "at least 1D"),
    (lambda T: T.ones(2, 2).int() @ T.ones(2, 2), RuntimeError, "same dtype"),
    (lambda T: T.mm([1], [2]), TypeError, "must be Tensor, not list"),
    (lambda T: T.exp([1.0]), TypeError, "must be Tensor, not list"),
    (lambda T: T.exp(1.0), TypeError, "must be Tensor, not float"),
    (lambda T: T.ones(2) + None, TypeError, "NoneType"),
    (lambda T: T.ones(2) + "a", TypeError, "str"),
    (lambda T: T.ones(2) < "a", TypeError, "str"),
    (lambda T: T.tensor("a"), TypeError, "invalid data type 'str'"),
    (lambda T: T.tensor([[1.0], ["a"]]), TypeError, "invalid data type 'str'"),
    (lambda T: T.tensor(None), RuntimeError, "Could not infer dtype of NoneType"),
    (lambda T: T.zeros(-1), RuntimeError, "negative"),
    (lambda T: T.zeros(1.5), TypeError, "int"),
    (lambda T: T.eye(-1), RuntimeError, ""),
    (lambda T: T.ones(2, 3).reshape(4), RuntimeError, r"shape '\[4\]' is invalid for input of size 6"),
    (
        lambda T: T.ones(2, 3).reshape(-1, -1),
        RuntimeError,
        "only one dimension can be inferred|one of them may be -1",
    ),
    (lambda T: T.ones(2, 3).t().view(6), RuntimeError, r"Use \.reshape\(...\) instead"),
    (lambda T: T.ones(2, 3).sum(2), IndexError, r"expected to be in range of \[-2, 1\], but got 2"),
    (lambda T: T.ones(2, 3).mean(-3), IndexError, r"expected to be in range of \[-2, 1\], but got -3"),
    (lambda T: T.ones(2, 3).max(2), IndexError, "out of range"),
    (lambda T: T.ones(2, 3).argmax(2), IndexError, "out of range"),
    (lambda T: T.ones(2, 3).softmax(2), IndexError, "out of range"),
    (lambda T: T.ones(2, 3).unsqueeze(4), IndexError, "out of range"),
    (lambda T: T.ones(2, 3).transpose(0, 2), IndexError, "out of range"),
    (lambda T: T.ones(2, 3).size(2), IndexError, "out of range"),
    (lambda T: T.ones(2, 3).permute(0, 1, 2), RuntimeError, "number of dimensions|must name each"),
    (lambda T: T.ones(2, 3).permute(0, 0), RuntimeError, ""),
    (lambda T: T.ones(2, 3, 4).t(), RuntimeError, r"<= 2 dimensions, but self is 3D"),
    (lambda T: T.ones(2, 3).expand(2, 4), RuntimeError, ""),
    (lambda T: T.ones(2, 3).flatten(1, 0), RuntimeError, "start_dim cannot come after end_dim"),
    (
        lambda T: T.cat([T.ones(2, 3), T.ones(3, 2)]),
        RuntimeError,
        "Sizes of tensors must match except in dimension 0",
    ),
    (lambda T: T.cat([]), ValueError, "non-empty list of tensors"),
    (lambda T: T.cat(T.ones(2)), TypeError, "tuple of Tensors, not Tensor"),
    (lambda T: T.cat([T.ones(2), 1]), TypeError, "expected Tensor as element 1"),
    (
        lambda T: T.stack([T.ones(2), T.ones(3)]),
        RuntimeError,
        r"equal size, but got \[2\] at entry 0 and \[3\]",
    ),
    (lambda T: T.stack([]), RuntimeError, "non-empty TensorList|non-empty list"),
    (lambda T: T.ones(0).max(), RuntimeError, "reduction dim to be specified"),
    (lambda T: T.ones(0).amax(), RuntimeError, "reduction dim to be specified"),
    (lambda T: T.ones(0).argmax(), IndexError, "reduction dim to be specified"),
    (lambda T: T.ones(2, 0).max(1), IndexError, "non-zero size"),
    (lambda T: T.ones(2).item(), RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar"),
    (lambda T: float(T.ones(2)), ValueError, "only one element tensors"),
    (
        lambda T: bool(T.ones(2)),
        RuntimeError,
        "Boolean value of Tensor with more than one value is ambiguous",
    ),
    (lambda T: bool(T.ones(0)), RuntimeError, "no values is ambiguous"),
    (lambda T: len(T.tensor(1)), TypeError, r"len\(\) of a 0-d tensor"),
    (lambda T: list(T.tensor(1)), TypeError, "iteration over a 0-d tensor"),
    (
        lambda T: T.ones(2, requires_grad=True).numpy(),
        RuntimeError,
        r"Use tensor\.detach\(\)\.numpy\(\) instead",
    ),
    (
        lambda T: np.asarray(T.ones(2, requires_grad=True)),
        RuntimeError,
        r"Use tensor\.detach\(\)\.numpy\(\) instead",
    ),
    (lambda T: T.ones(2).sum(foo=1), TypeError, ""),
    (lambda T: T.clamp(T.ones(2)), RuntimeError, "At least one of 'min' or 'max' must not be None"),
    (lambda T: T.where(T.ones(2), 1, 2), RuntimeError, "expected condition to be a boolean tensor"),
    (
        lambda T: T.gather(T.ones(2), 0, T.tensor([3])),
        RuntimeError,
        "out of bounds",
    ),
    (
        lambda T: T.gather(T.ones(2, 2), 0, T.tensor([0])),
        RuntimeError,
        "same number of dimensions|dimensions",
    ),
    (lambda T: T.arange(0, 5, 0), RuntimeError, "step must be nonzero"),
    (lambda T: T.arange(5, 0), RuntimeError, "inconsistent with step sign"),
    (lambda T: T.randint(5, 5, (2,)), RuntimeError, "random_ expects 'from' to be less than 'to'"),
    (lambda T: T.from_numpy([1]), TypeError, "expected np.ndarray"),
    (lambda T: T.device("tpu"), RuntimeError, ""),
    (lambda T: T.set_default_dtype(T.int32), TypeError, "only floating-point types are supported"),
    (lambda T: T.ones(2).foo, AttributeError, "foo"),
    (lambda T: T.allclose(T.ones(2), 1), TypeError, "must be Tensor, not int"),
    (lambda T: T.div(T.ones(2), 2, rounding_mode="x"), RuntimeError, "rounding_mode"),
    (lambda T: T.ones(2).fill_([1, 2]), TypeError, "list"),
    (lambda T: T.ones(2).fill_(T.ones(2)), RuntimeError, "0-dimension value tensor"),
    (lambda T: T.ones(2).__setitem__(0, T.ones(3)), RuntimeError, "shape mismatch|number of sizes"),
    (lambda T: T.ones(2).copy_(T.ones(3)), RuntimeError, "shape mismatch|must match"),
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
    with pytest.raises(TypeError, match=r"did you mean 'keepdim'"):
        weights.sum(0, keepdin=True)
    with pytest.raises(TypeError, match=r"before backward\(\), gives None"):
        autokit.exp(None)
    with pytest.raises(RuntimeError, match=r"\.float\(\)"):
        autokit.tensor([1, 2]).mean()


def test_comparison_with_nothing_is_pythons_own():
    x = autokit.ones(2)
    assert (x == None) is False and (x != None) is True and (x == "a") is False  # noqa: E711


def test_three_shapes_that_do_not_broadcast_are_explained_as_two_are():
    condition = autokit.tensor([True, False])
    with pytest.raises(
        RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(3\)"
    ):
        autokit.where(condition, 1.0, autokit.ones(3))
