"""Derivatives are judged by central differences: true ones pass, planted wrong ones are found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autokit as ak
from autokit.classroom import check_gradient, judge

coefficients = st.lists(st.integers(-5, 5), min_size=2, max_size=5)


@given(coefficients, st.floats(-3, 3))
def test_the_derivative_of_a_polynomial_passes_and_a_wrong_one_does_not(terms: list[int], x: float):
    polynomial = np.polynomial.Polynomial(terms)
    derivative = polynomial.deriv()
    assert judge(check_gradient, polynomial, x, derivative=derivative).right
    wrong = judge(check_gradient, polynomial, x, derivative=lambda x: derivative(x) + 1 + abs(derivative(x)))
    assert not wrong.right


@given(st.floats(-2, 2), st.floats(-2, 2))
def test_the_backward_pass_of_a_tensor_program_passes(a: float, b: float):
    assert judge(check_gradient, lambda a, b: (a * b).tanh() + a.exp(), a, b).right
    assert judge(check_gradient, lambda a, b: a * b + a, ak.tensor([a, b]), ak.tensor([b, 1.0])).right


def test_arrays_and_several_inputs_are_judged_element_by_element():
    weights, x = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]]), np.array([1.0, -2.0, 0.5])

    def right(w: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.outer(np.ones(2), x), w.sum(0)

    assert judge(check_gradient, lambda w, x: w @ x, weights, x, derivative=right).right
    wrong = judge(
        check_gradient, lambda w, x: w @ x, weights, x, derivative=lambda w, x: (right(w, x)[0], w.sum(0) * 2)
    )
    assert "in the gradient with respect to x, 3 of 3 values differ; the first" in wrong.text
    shape = judge(check_gradient, lambda w, x: w @ x, weights, x, derivative=lambda w, x: (x, w.sum(0)))
    assert "in the gradient with respect to w, the shape is (3,), expected (2, 3)" in shape.text


def test_a_program_that_loses_its_gradient_is_found():
    assert not judge(check_gradient, lambda x: x * x.detach(), 3.0).right
    assert judge(check_gradient, lambda x, y: x * 2, 3.0, 4.0).right


def test_a_missing_answer_is_not_a_wrong_one(capsys: pytest.CaptureFixture[str]):
    def stub(x: float) -> float:
        raise NotImplementedError

    for derivative in (..., lambda x: ..., lambda x: None, stub):
        check_gradient(lambda x: x * x, 2.0, derivative=derivative)
    check_gradient(lambda x: ..., 2.0)
    check_gradient(..., 2.0)
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["Not answered yet: put your answer where dots or YOUR CODE HERE stand."] * 6


def test_the_wrong_number_of_derivatives_is_named():
    verdict = judge(
        check_gradient, lambda a, b: a * b, 1.0, 2.0, derivative=lambda a, b: b, hint="one for each"
    )
    assert "2 results are expected, yours gives 1" in verdict.text and verdict.text.endswith(
        "Hint: one for each"
    )


def test_noise_is_no_error_and_an_overflow_hides_none():
    assert judge(check_gradient, lambda x: x**3, 0.0, derivative=lambda x: 3 * x**2).right
    assert judge(check_gradient, lambda x: x**2 + 1e6, 0.0, derivative=lambda x: 2 * x).right
    assert not judge(check_gradient, lambda x: x**3, 0.0, derivative=lambda x: 1e-3).right
    with np.errstate(over="ignore", invalid="ignore"):
        overflow = judge(
            check_gradient, np.exp, np.array([0.0, 1e3]), derivative=lambda x: np.array([5.0, np.inf])
        )
        assert not overflow.right
        assert not judge(check_gradient, np.exp, np.array([1e3]), derivative=lambda x: x).right


def test_what_cannot_be_differentiated_is_refused():
    with pytest.raises(TypeError, match="'b' holds no real numbers"):
        judge(check_gradient, lambda a, b: a, 1.0, "b", derivative=lambda a, b: (1, 0))
    with pytest.raises(TypeError, match="give the inputs"):
        judge(check_gradient, lambda: 1.0)
    failed = judge(check_gradient, lambda a: a, 1.0, derivative=lambda a: a / 0)
    assert "derivative=lambda a: a / 0)`, raises ZeroDivisionError: " in failed.text
