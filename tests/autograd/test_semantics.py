"""Where it is easy to be wrong: gradients at a tie, a kink, a zero or an infinity, and dtypes, are PyTorch's.

The expected numbers stand here, so that the table is held without PyTorch too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit
from autokit import inf, nan
from tests.libraries import on_each


def gradient(T: Any, function: Callable[[Any], Any], *at: Any) -> list[Any]:
    """The gradients of the sum of ``function(*at)``."""
    leaves = [T.tensor(value, dtype=T.float64, requires_grad=True) for value in at]
    function(*leaves).sum().backward()
    return [None if leaf.grad is None else leaf.grad.tolist() for leaf in leaves]


def one(name: str, function: Callable[..., Any], at: Any, expected: Any) -> Any:
    return pytest.param(lambda T, x: function(T, x), at, expected, id=name)


SLOPES = [
    one("max() with ties", lambda T, x: x.max(), [1, 3, 3, 2.0], [0, 0.5, 0.5, 0]),
    one("min() with ties", lambda T, x: x.min(), [1, 1, 2.0], [0.5, 0.5, 0]),
    one("amax with ties", lambda T, x: T.amax(x, 0), [3, 3, 3.0], [1 / 3, 1 / 3, 1 / 3]),
    one("amin with ties", lambda T, x: x.amin(dim=0), [3, 3.0], [0.5, 0.5]),
    one("max(dim) with ties", lambda T, x: x.max(0).values, [3, 3, 2.0], [1, 0, 0]),
    one("min(dim) with ties", lambda T, x: x.min(dim=0)[0], [3, 2, 2.0], [0, 1, 0]),
    one("median with ties", lambda T, x: x.median(), [1, 2, 2, 3.0], [0, 0.5, 0.5, 0]),
    one("sort with ties", lambda T, x: x.sort(stable=True)[0][0], [2, 2, 3.0], [1, 0, 0]),
    one("max_pool with ties", lambda T, x: T.max_pool1d(x[None], 2), [2, 2, 1, 3.0], [1, 0, 0, 1]),
    one("fmax at a tie", lambda T, x: T.fmax(x, x.detach()), [1.0], [1]),
    one("fmax at a tie, the other", lambda T, x: T.fmax(x.detach(), x), [1.0], [0]),
    one("maximum at a tie", lambda T, x: T.maximum(x, T.zeros(1, dtype=x.dtype)), [0.0], [0.5]),
    one("minimum at a tie", lambda T, x: T.minimum(x, T.zeros(1, dtype=x.dtype)), [0.0], [0.5]),
    one("relu at 0", lambda T, x: x.relu(), [0.0, -1, 2], [0, 0, 1]),
    one("relu6 at its bounds", lambda T, x: T.nn.functional.relu6(x), [0.0, 6, 3], [0, 0, 1]),
    one("hardtanh at its bounds", lambda T, x: T.nn.functional.hardtanh(x), [-1.0, 1, 0], [0, 0, 1]),
    one("leaky_relu at 0", lambda T, x: T.nn.functional.leaky_relu(x, 0.25), [0.0], [0.25]),
    one("elu at 0", lambda T, x: T.nn.functional.elu(x), [0.0], [1]),
    one("L1 loss at 0", lambda T, x: T.nn.functional.l1_loss(x, x.detach()), [3.0, 0], [0, 0]),
    one("clamp(min=0) at 0", lambda T, x: x.clamp(min=0), [0.0, -1], [1, 0]),
    one("where(x > 0) at 0", lambda T, x: T.where(x > 0, x, 0.0), [0.0], [0]),
    one("clamp at its bounds", lambda T, x: x.clamp(-1, 1), [-1, 1, 2, 0.0], [1, 1, 0, 1]),
    one("abs at 0", lambda T, x: x.abs(), [0.0, -2], [0, -1]),
    one("sign", lambda T, x: x.sign(), [0.0, -2], [0, 0]),
    one("sqrt at 0", lambda T, x: x.sqrt(), [0.0], [inf]),
    one("log at 0", lambda T, x: x.log(), [0.0], [inf]),
    one("sqrt of −1", lambda T, x: x.sqrt(), [-1.0], [nan]),
    one("sqrt of a sum of squares at 0", lambda T, x: (x**2).sum().sqrt(), [0.0, 0], [nan, nan]),
    *(one(f"{p}-norm at 0", lambda T, x, p=p: x.norm(p), [0.0, 0], [0, 0]) for p in (1, 2, 3)),
    one("prod with a 0", lambda T, x: x.prod(), [0.0, 2, 3], [6, 0, 0]),
    one("prod with two zeros", lambda T, x: x.prod(), [0.0, 0, 3], [0, 0, 0]),
    one("x**0 at 0", lambda T, x: x**0, [0.0], [0]),
    one("x**1 at 0", lambda T, x: x**1, [0.0], [1]),
    one("x**0.5 at 0", lambda T, x: x**0.5, [0.0], [inf]),
    one("x**−1 at 0", lambda T, x: x**-1, [0.0], [-inf]),
    one("0**x at 0", lambda T, x: 0**x, [0.0], [0]),
    one("0**x at 2", lambda T, x: 0**x, [2.0], [0]),
    one("0**x at −1", lambda T, x: T.zeros(1, dtype=x.dtype) ** x, [-1.0], [-inf]),
    one("(−2)**x at 3", lambda T, x: T.full((1,), -2.0, dtype=x.dtype) ** x, [3.0], [nan]),
    one("var of one element", lambda T, x: x.var(), [1.0], [nan]),
    one("std of one element", lambda T, x: x.std(), [1.0], [nan]),
    one("var of one element, correction 0", lambda T, x: x.var(correction=0), [1.0], [0]),
    one("std of constants", lambda T, x: x.std(), [2.0, 2, 2], [0, 0, 0]),
    one("logsumexp of thousands", lambda T, x: T.logsumexp(x, 0), [5000.0, 5000], [0.5, 0.5]),
    one("log_softmax of thousands", lambda T, x: T.log_softmax(x, 0)[0], [5000.0, 5000], [0.5, -0.5]),
    one("logsumexp of −inf", lambda T, x: T.logsumexp(x, 0), [-inf, -inf], [nan, nan]),
    one("log_softmax of −inf", lambda T, x: T.log_softmax(x, 0), [-inf, -inf], [nan, nan]),
    one(
        "where with a sqrt below 0",
        lambda T, x: T.where(x > 0, x.sqrt(), 0.0),
        [0.0, -1, 4],
        [nan, nan, 0.25],
    ),
    one("repeated indices", lambda T, x: x[[0, 0, 1]], [1.0, 2, 3], [2, 1, 0]),
    one("x·x", lambda T, x: x * x, [3.0], [6]),
    one("a diamond", lambda T, x: (x * 2) * (x * 3), [3.0], [36]),
    one("sigmoid far out", lambda T, x: x.sigmoid(), [-1000.0, 1000], [0, 0]),
    one("tanh far out", lambda T, x: x.tanh(), [-1000.0, 1000], [0, 0]),
    one("mean of nothing", lambda T, x: x.mean(), [], []),
]


@on_each
@pytest.mark.parametrize(("function", "at", "expected"), SLOPES)
def test_slopes(T: Any, function: Any, at: list[float], expected: list[float]):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (found,) = gradient(T, lambda x: function(T, x), at)
    np.testing.assert_allclose(found, expected)


@on_each
def test_a_tie_of_two_tensors_is_shared(T: Any):
    assert gradient(T, T.maximum, [1.0], [1.0]) == [[0.5], [0.5]]
    assert gradient(T, T.minimum, [1.0], [1.0]) == [[0.5], [0.5]]


@on_each
@pytest.mark.parametrize(("base", "slope"), [(0.0, 0.0), (2.0, np.log(2.0))])
def test_the_exponent_at_0(T: Any, base: float, slope: float):
    np.testing.assert_allclose(gradient(T, lambda a, b: a**b, [base], [0.0])[1], [slope])


@on_each
@pytest.mark.parametrize(
    "shapes", [((3, 1), (1, 4)), ((1,), (2, 0)), ((), (3,)), ((2, 1, 3), (3,)), ((0,), (1,))]
)
def test_a_broadcast_operand_gets_a_gradient_of_its_own_shape(T: Any, shapes: Any):
    for function in (T.add, T.sub, T.mul, T.div, T.maximum, T.pow):
        a, b = (T.ones(shape, requires_grad=True) for shape in shapes)
        function(a, b).sum().backward()
        assert (tuple(a.grad.shape), tuple(b.grad.shape)) == shapes


@on_each
def test_an_assignment_to_repeated_places_adds_once(T: Any):
    y = T.zeros(2)
    y[[0, 0]] += 1
    assert y.tolist() == [1.0, 0.0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # pytest.warns shows all, also NumPy's
@on_each
def test_one_element_has_no_variance_and_a_warning_says_so(T: Any):
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert np.isnan(T.ones(1).var().item())


# ---------------------------------------------------------------- types


@on_each
def test_numbers_do_not_widen_a_tensor(T: Any):
    x = T.ones(2)
    for other in (2.0, np.float64(2.0), T.tensor(2.0, dtype=T.float64)):
        assert (x * other).dtype == T.float32
        assert (x + other).dtype == T.float32


@on_each
def test_integers_become_floats_where_they_must(T: Any):
    x = T.tensor([1, 2])
    assert [(x + 2.0).dtype, (x / x).dtype, x.exp().dtype] == [T.float32] * 3


@on_each
def test_results_without_dimensions_are_tensors(T: Any):
    x = T.ones(3)
    for made in (x.sum(), x[0], x.max(), x @ x, T.tensor(1.0) * 2, T.tensor(1.0).exp(), x.argmax(), x.all()):
        assert isinstance(made, T.Tensor) and tuple(made.shape) == ()


@on_each
@pytest.mark.parametrize(
    "wrong",
    [
        lambda T: T.tensor([1, 2]).mean(),
        lambda T: T.tensor([True]) - T.tensor([False]),
        lambda T: T.tensor([2]) ** -1,
        lambda T: -T.tensor([True]),
        lambda T: T.tensor([1, 2]) // T.tensor([1, 0]),
        lambda T: T.tensor([1]) % 0,
        lambda T: T.tensor([1]).var(),
    ],
)
def test_what_a_dtype_cannot_do_is_a_runtime_error(T: Any, wrong: Any):
    with pytest.raises(RuntimeError):
        wrong(T)


@on_each
@pytest.mark.parametrize(
    "make", [lambda T: T.tensor([1], requires_grad=True), lambda T: T.ones(2, dtype=T.int64).requires_grad_()]
)
def test_integers_require_no_grad(T: Any, make: Any):
    with pytest.raises(RuntimeError, match="floating point"):
        make(T)


@on_each
def test_a_cast_to_integers_ends_the_graph(T: Any):
    x = T.ones(2, requires_grad=True)
    assert not x.long().requires_grad and x.double().requires_grad


@on_each
def test_a_number_formats_as_one(T: Any):
    assert f"{T.tensor(300.0)}" == "300.0"
    assert f"{T.tensor(2.5, requires_grad=True):.3f}" == "2.500"
    assert f"{T.tensor(3):>4}" == "   3"


@on_each
def test_tensor_of_a_float_is_refused(T: Any):
    with pytest.raises(TypeError):
        T.Tensor(6.7)


def test_the_refusal_names_what_to_write():
    with pytest.raises(TypeError, match=r"tensor\(6\.7\)"):
        autokit.Tensor(6.7)
