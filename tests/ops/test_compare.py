"""Comparisons, logic and bits beside PyTorch."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import autokit
from tests.oracle import compare, refused

A = np.array([[1.0, 2.0, np.nan], [np.inf, -np.inf, 0.0]])
B = np.array([1.0, 3.0, np.nan])
WHOLE = np.array([-4, 0, 5])
TRUTHS = np.array([True, False, True])


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons(name: str):
    compare(lambda torch, a, b: (getattr(torch, name)(a, b), getattr(a, name)(1.0)), A, B)
    compare(lambda torch, a, b: (getattr(operator, name)(a, b), getattr(operator, name)(2, a)), A, WHOLE)
    compare(lambda torch, a: getattr(a * 1.0, name + "_")(1), WHOLE)


def test_what_is_no_number_compares_as_python_says():
    x = autokit.ones(2)
    assert (x == None) is False  # noqa: E711
    assert (x != "a") is True
    with pytest.raises(TypeError):
        _ = x < None
    assert 1 in x
    assert 3.0 not in x


@pytest.mark.parametrize("name", ["and", "or", "xor"])
def test_logic_and_bits_of_two(name: str):
    for one, other in ((A, B), (WHOLE, TRUTHS), (TRUTHS, TRUTHS)):
        compare(lambda torch, a, b: getattr(torch, f"logical_{name}")(a, b), one, other)
    sign = getattr(operator, f"{name}_" if name != "xor" else "xor")
    for one, other in ((WHOLE, TRUTHS), (TRUTHS, TRUTHS), (WHOLE, WHOLE[::-1].copy())):
        compare(lambda torch, a, b: (getattr(torch, f"bitwise_{name}")(a, b), sign(a, b)), one, other)
    compare(lambda torch, a: sign(a, 1), WHOLE)


def test_bits_of_one():
    compare(lambda torch, a, b: (~a, ~b, torch.logical_not(a), torch.bitwise_not(b)), WHOLE, TRUTHS)
    compare(lambda torch, a: (a << 2, a >> 1, torch.bitwise_left_shift(a, a * a)), WHOLE)


@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite"])
def test_what_kind_of_number_it_is(name: str):
    compare(lambda torch, a, b: (getattr(torch, name)(a), getattr(b, name)()), A, WHOLE)


def test_nearness_and_equality():
    near = B + np.array([1e-9, 0.02, 0.0])
    compare(lambda torch, a, b: (torch.isclose(a, b), torch.isclose(a, b, 0.1, equal_nan=True)), B, near)
    compare(lambda torch, a, b: (torch.allclose(a, b), torch.equal(a, a), a.equal(b)), B[:2], near[:2])
    compare(lambda torch, a, b: torch.equal(a, b), A, B)
    compare(lambda torch, a: (torch.is_tensor(a), torch.is_tensor(1), torch.numel(a)), A)
    compare(lambda torch, a, b: (torch.isin(a, b), torch.isin(a, b, invert=True)), WHOLE, WHOLE[:2])


WRONG = [
    (lambda torch, a: (a > 0) & a, "in parentheses"),
    (lambda torch, a: a > 0 | a, "in parentheses"),
    (lambda torch, a: ~a, "compare first"),
    (lambda torch, a: torch.isclose(a, a.float()), "did not match"),
    (lambda torch, a: torch.equal(a, 1.0), "must be Tensor"),
    (lambda torch, a: a << 1.0, "not implemented"),
]

test_errors_say_what_to_do = refused(WRONG, A)
