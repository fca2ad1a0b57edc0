"""The arithmetic of Python's operators beside PyTorch: values, dtypes, gradients, and errors that teach."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from tests.oracle import compare, compare_errors, numbers, refused

A, B = numbers(2, 3, seed=1), numbers(2, 3, seed=2)
POSITIVE = numbers(2, 3, seed=3, low=0.2, high=3.0)
FLOAT32 = A.astype(np.float32)
WHOLE = np.array([[-5, 3, 7], [2, -1, 4]])
BYTES = np.array([1, 2, 250], np.uint8)
TRUTHS = np.array([True, False, True])

OPERATORS: dict[str, Any] = {
    "+": operator.add,
    "−": operator.sub,
    "×": operator.mul,
    "÷": operator.truediv,
    "mod": operator.mod,
}


@pytest.mark.parametrize("sign", OPERATORS)
def test_operators_of_two_tensors_and_of_numbers(sign: str):
    operate = OPERATORS[sign]
    second = sign != "mod"  # PyTorch lacks second derivatives there, and that of a number's remainder
    compare(lambda torch, a, b: operate(a, b), A, B, second=second)
    compare(lambda torch, a, b: operate(a, b), A, B[:, :1], second=second)
    compare(lambda torch, a, b: operate(a, b), A[0], B, second=second)
    compare(lambda torch, a: (operate(a, 2), operate(a, 1.5), operate(3.0, a)), A, gradients=second)
    compare(lambda torch, a: (operate(a, 2), operate(a, 1.5), operate(3, a)), FLOAT32, gradients=second)
    compare(lambda torch, a: (operate(a, 2), operate(a, 1.5), operate(3, a)), WHOLE)


def test_the_quotient_rounded_down_has_no_gradient():
    compare(lambda torch, a, b: (a // b, a // 2.0, 7 // a), A, B, gradients=False)
    compare(lambda torch, a: (a // 2, torch.floor_divide(a, -3)), WHOLE)
    x = autokit.tensor([3.5, -1.0], requires_grad=True)
    assert not (x // 2).requires_grad


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(list(OPERATORS)), st.lists(st.integers(0, 3), max_size=3), st.data())
def test_gradients_have_the_shape_of_broadcast_operands(sign: str, sizes: list[int], data: Any):
    one, other = (
        tuple([data.draw(st.sampled_from([size, 1])) for size in sizes])[
            data.draw(st.integers(0, len(sizes))) :
        ]
        for _ in range(2)
    )
    a, b = numbers(*one), numbers(*other, seed=1, low=0.5, high=1.5)
    compare(lambda torch, a, b: OPERATORS[sign](a, b), a, b, second=sign != "mod")


@pytest.mark.parametrize(
    "others", [(WHOLE, A), (BYTES, BYTES), (TRUTHS, BYTES), (FLOAT32, A), (BYTES, WHOLE[0])]
)
def test_two_dtypes_meet_as_in_pytorch(others: Any):
    compare(lambda torch, a, b: (a + b, a * b, a / b, torch.add(a, b, alpha=2)), *others)


def test_functions_take_their_options():
    compare(lambda torch, a, b: torch.add(a, b, alpha=3) - torch.sub(a, b, alpha=0.5), A, B)
    compare(lambda torch, a: (torch.sub(a, 1, alpha=3), a.add(1, alpha=2), torch.add(2, a)), A)
    for mode in ("floor", "trunc"):
        compare(lambda torch, a, b: torch.div(a, b, rounding_mode=mode), A, B)
        compare(lambda torch, a: torch.div(a, 2, rounding_mode=mode), WHOLE)
    compare(lambda torch, a, b: (torch.fmod(a, b), torch.fmod(a, 0.7)), A, B)
    compare(lambda torch, a: (torch.fmod(a, 3), torch.remainder(a, 3), torch.remainder(a, -3)), WHOLE)
    compare(lambda torch, a, b, c: torch.addcmul(a, b, c, value=2) + torch.addcmul(a, b, c), A, B, POSITIVE)
    compare(lambda torch, a, b, c: torch.addcdiv(a, b, c, value=0.5) + torch.addcdiv(a, b, c), A, B, POSITIVE)
    compare(lambda torch, a, b, c: torch.lerp(a, b, c) + torch.lerp(a, b, 0.3), A, B, POSITIVE)
    compare(lambda torch, a: (torch.square(a), torch.neg(a), -a, +a, torch.multiply(a, 2)), A)


# ---------------------------------------------------------------- powers


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 0.5, -0.5, -1, -2, 1.7, 4.0])
def test_powers_of_a_number(exponent: float):
    compare(lambda torch, a: a**exponent, POSITIVE)
    compare(lambda torch, a: torch.pow(a, exponent), POSITIVE.astype(np.float32))
    if exponent == int(exponent):
        compare(lambda torch, a: a**exponent, A)


def test_powers_of_tensors_and_powers_that_are_learned():
    compare(lambda torch, a, b: a**b, POSITIVE, B)
    compare(lambda torch, a: 2**a, A)
    compare(lambda torch, a: torch.pow(2.5, a), A)
    compare(lambda torch, a: (a**2, a**0, a**0.5, 2 ** (a * a)), WHOLE)


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 0.5, -1.0])
def test_the_slope_of_a_power_at_zero(exponent: float):
    zero = np.array([0.0, 0.0, -2.0])
    compare(lambda torch, a: a**exponent, zero, second=False)
    compare(lambda torch, a, b: a**b, zero, np.full(3, exponent), second=False)


# ---------------------------------------------------------------- in place, and errors


@pytest.mark.parametrize(
    "change",
    [
        lambda y, b: y.add_(b),
        lambda y, b: y.sub_(b, alpha=2),
        lambda y, b: y.mul_(b).div_(2),
        lambda y, b: operator.iadd(y, b),
        lambda y, b: operator.itruediv(y, b),
        lambda y, b: y.lerp_(b, 0.25),
        lambda y, b: y.addcmul_(b, b, value=0.1),
    ],
)
def test_changes_in_place_have_gradients(change: Any):
    compare(lambda torch, a, b: change(a * 1, b), A, POSITIVE)


def test_integers_divided_by_zero_are_refused():
    for program in (lambda torch, a: a // 0, lambda torch, a: a % 0, lambda torch, a: torch.fmod(a, a * 0)):
        assert "an integer is divided by 0" in compare_errors(program, WHOLE)
    compare(lambda torch, a: (a / 0, a // 0, a % 0), A, gradients=False)


WRONG = [
    (lambda torch, a: a**-1, "negative integer powers"),
    (lambda torch, a: torch.div(a, 2, rounding_mode="up"), "rounding_mode"),
    (lambda torch, a: a.add_(1.5), "can't be cast"),
    (lambda torch, a: a + torch.ones(4), "must match the size"),
    (lambda torch, a: a * None, "must be Tensor"),
    (lambda torch, a: (a > 0) - (a > 1), "bool"),
]

test_errors_say_what_was_given_and_what_to_do = refused(WRONG, WHOLE)
