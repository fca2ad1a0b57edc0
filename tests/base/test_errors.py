"""Errors that teach: dimensions, sizes and shapes as programs write them, and what is no tensor."""

from __future__ import annotations

import numpy as np
import pytest

import autokit as torch
from autokit.base import errors
from autokit.base.errors import dims_of, one_dim, sizes_of


@pytest.mark.parametrize(
    ("dim", "ndim", "expected"),
    [(None, 3, (0, 1, 2)), (-1, 3, (2,)), ([0, -2], 3, (0, 1)), ((), 2, ()), (0, 0, ()), (-1, 0, ())],
)
def test_dimensions_count_from_the_front(dim: object, ndim: int, expected: tuple[int, ...]):
    assert dims_of(dim, ndim) == expected


def test_a_dimension_may_be_a_whole_number_of_any_kind():
    assert one_dim(np.int64(-1), 2) == one_dim(torch.tensor(1), 2) == 1 and one_dim(0, 0) == 0
    for wrong in (1.0, "a", None, True):
        with pytest.raises(TypeError, match="argument 'dim' must be int"):
            one_dim(wrong, 2)


def test_a_dimension_that_is_not_there():
    with pytest.raises(IndexError, match=r"expected to be in range of \[-2, 1\], but got 2"):
        one_dim(2, 2)
    with pytest.raises(IndexError, match=r"\[-1, 0\], but got 1"):
        dims_of(1, 0)
    with pytest.raises(RuntimeError, match="dim 1 appears multiple times"):
        dims_of((0, 1, -1), 2)


def test_sizes_come_one_by_one_or_as_a_sequence():
    assert sizes_of((2, 3), "zeros") == sizes_of(((2, 3),), "zeros") == sizes_of(([2, 3],), "zeros") == (2, 3)
    assert sizes_of((), "zeros") == sizes_of(((),), "zeros") == ()
    with pytest.raises(TypeError, match=r"zeros\(\): argument 'size' must be int, not float"):
        sizes_of((2, 3.0), "zeros")


def test_shapes_that_do_not_broadcast():
    error = errors.broadcast_error([(2, 3), (4, 1, 2)], "x and y")
    assert str(error) == (
        "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 2: "
        "shapes [2, 3] and [4, 1, 2] do not broadcast. Got x and y"
    )


def test_a_tensor_is_described_by_its_name_in_the_program():
    weight = torch.zeros(2, 3)
    assert errors.describe(weight) == "weight (float32, shape [2, 3])"
    assert errors.describe(torch.tensor(1)) == "a tensor (int64, shape [])"


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (np.ones(2), "torch.from_numpy"),
        (None, "a function without a return"),
        (torch.nn.Linear, "linear = Linear(...); linear(x)"),
        ([torch.ones(1)], "torch.stack"),
        ("word", "torch.tensor(...)"),
    ],
)
def test_what_is_no_tensor_hears_the_way_to_one(value: object, hint: str):
    with pytest.raises(TypeError) as caught:
        errors.require_tensor("sum", value)
    assert "sum(): argument 'input' (position 1) must be Tensor, not" in str(caught.value)
    assert hint in str(caught.value)
    errors.require_tensor("sum", torch.ones(1))
