"""The dtypes themselves; what two of them become is in tests/ops/test_promotion.py."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import autokit as torch
from autokit import dtypes


@pytest.fixture
def default_dtype():
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("name", dtypes.BY_NAME)
def test_every_name_is_exported_and_prints_as_pytorchs(name: str):
    kind = getattr(torch, name)
    assert kind is dtypes.BY_NAME[name]
    assert repr(kind) == f"torch.{kind.name}"
    assert kind.itemsize == kind.numpy.itemsize and kind.numpy.name == kind.name
    assert pickle.loads(pickle.dumps(kind)) is kind


def test_second_names():
    assert (torch.float, torch.double, torch.half) == (torch.float32, torch.float64, torch.float16)
    assert (torch.long, torch.int, torch.short) == (torch.int64, torch.int32, torch.int16)


def test_what_a_dtype_says_of_itself():
    assert torch.float32.is_floating_point and not torch.int64.is_floating_point
    assert torch.int8.is_signed and not torch.uint8.is_signed and not torch.bool.is_signed
    assert torch.complex64.is_complex and not torch.complex64.is_floating_point


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (torch.int8, torch.int8),
        ("float32", torch.float32),
        ("torch.long", torch.int64),
        (np.float16, torch.float16),
        (np.dtype("int16"), torch.int16),
        (float, torch.float64),
        (int, torch.int64),
        (bool, torch.bool),
    ],
)
def test_as_dtype(value: object, expected: torch.dtype):
    assert dtypes.as_dtype(value) is expected


@pytest.mark.parametrize(
    "value", ["float99", np.dtype("U3"), object, np.float128 if hasattr(np, "float128") else "x"]
)
def test_what_is_no_dtype_is_refused_with_those_that_are(value: object):
    with pytest.raises(TypeError, match=r"There are: .*float32"):
        dtypes.as_dtype(value)


def test_numpys_dtypes_of_either_byte_order_are_known():
    assert torch.from_numpy(np.zeros(2, "=f8")).dtype == torch.float64


@pytest.mark.usefixtures("default_dtype")
def test_the_default_dtype():
    assert torch.get_default_dtype() == torch.float32
    torch.set_default_dtype(torch.float64)
    assert torch.tensor(1.5).dtype == torch.ones(1).dtype == (torch.tensor([1]) / 2).dtype == torch.float64
    assert torch.rand(2).dtype == torch.tensor([1]).exp().dtype == torch.float64
    assert (torch.tensor([1]) * 2.5).dtype == torch.float64
    for wrong in (torch.int64, "float32"):
        with pytest.raises(TypeError, match="floating-point"):
            torch.set_default_dtype(wrong)  # type: ignore[arg-type]
