"""The dtype of a result, for every pair of dtypes in every standing, is PyTorch's."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np
import pytest

import autokit
from autokit import ops
from tests.support import require

require("torch")
import torch  # noqa: E402

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
NUMBERS = [True, 3, 2.5, np.float64(2.5), np.float32(2.5), np.int64(3)]
OPERATORS = {
    name: getattr(operator, name)
    for name in (
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "eq",
        "lt",
        "and_",
        "or_",
        "xor",
        "lshift",
        "rshift",
    )
}
OF_ONE = """
exp log sqrt tanh sigmoid sin cos abs neg sign floor relu isnan isfinite logical_not bitwise_not clone sum
mean var max min amax argmax all any logsumexp softmax log_softmax
"""
FUNCTIONS = [
    "maximum",
    "minimum",
    "hypot",
    "logaddexp",
    "nextafter",
    "remainder",
    "true_divide",
    "logical_and",
    "floor_divide",
]


def outcome(make: Any) -> str:
    """The dtype and the value of what ``make`` makes, or the kind of its error."""
    try:
        made = make()
    except (RuntimeError, NotImplementedError, TypeError) as error:
        return "error" if isinstance(error, RuntimeError) else type(error).__name__
    if isinstance(made, bool):
        return repr(made)
    return f"{made.dtype} {made.double().tolist()}"


def made(library: Any, shape: tuple[int, ...], dtype: str) -> Any:
    return library.ones(shape, dtype=getattr(library, dtype))


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("left", DTYPES)
def test_two_tensors(name: str, left: str):
    function = OPERATORS[name]
    for right in DTYPES:
        for shapes in (((2,), (2,)), ((2,), ()), ((), (2,)), ((), ())):
            ours, theirs = (
                outcome(lambda T=T: function(made(T, shapes[0], left), made(T, shapes[1], right)))
                for T in (autokit, torch)
            )
            assert ours == theirs, (left, right, shapes)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_tensor_and_a_number(name: str, dtype: str):
    function = OPERATORS[name]
    for number in NUMBERS:
        for shape in ((2,), ()):
            ours, theirs = (
                outcome(lambda T=T: function(made(T, shape, dtype), number)) for T in (autokit, torch)
            )
            assert ours == theirs, (number, shape)
            if not isinstance(number, np.generic):  # there NumPy's own operator comes first
                ours, theirs = (
                    outcome(lambda T=T: function(number, made(T, shape, dtype))) for T in (autokit, torch)
                )
                assert ours == theirs, (number, shape, "reflected")


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("left", DTYPES)
def test_functions_of_two(name: str, left: str):
    for right in DTYPES:
        for shapes in (((2,), (2,)), ((2,), ())):
            ours, theirs = (
                outcome(lambda T=T: getattr(T, name)(made(T, shapes[0], left), made(T, shapes[1], right)))
                for T in (autokit, torch)
            )
            assert ours == theirs, (left, right, shapes)


@pytest.mark.parametrize("left", DTYPES)
def test_where_cat_and_stack(left: str):
    for right in DTYPES:
        for make in (
            lambda T: T.where(T.tensor([True, False]), made(T, (2,), left), made(T, (2,), right)),
            lambda T: T.where(T.tensor([True, False]), made(T, (2,), left), made(T, (), right)),
            lambda T: T.where(T.tensor([True, False]), made(T, (2,), left), 2.5),
            lambda T: T.cat([made(T, (2,), left), made(T, (1,), right)]),
            lambda T: T.stack([made(T, (2,), left), made(T, (2,), right)]),
        ):
            ours, theirs = (outcome(lambda T=T: make(T)) for T in (autokit, torch))
            assert ours == theirs, right


@pytest.mark.parametrize("name", OF_ONE.split())
@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_one(name: str, dtype: str):
    settings = {"dim": 0} if name in ("logsumexp", "softmax", "log_softmax") else {}
    for shape in ((2,), ()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of one element there is no variance
            ours, theirs = (
                outcome(lambda T=T: getattr(T, name)(made(T, shape, dtype), **settings))
                for T in (autokit, torch)
            )
        if name in ("sqrt", "log", "exp", "tanh", "sigmoid", "sin", "cos") or "float16" in dtype or settings:
            ours, theirs = ours.split()[0], theirs.split()[0]  # values are compared elsewhere
        assert ours == theirs, shape


@pytest.mark.parametrize("left", DTYPES)
def test_in_place(left: str):
    for right in DTYPES:
        for name in ("add_", "mul_", "div_", "sub_", "copy_"):
            ours, theirs = (
                outcome(lambda T=T: getattr(made(T, (2,), left), name)(made(T, (2,), right)))
                for T in (autokit, torch)
            )
            assert ours == theirs, (name, right)


@pytest.mark.parametrize("a", DTYPES)
def test_promote_types(a: str):
    for b in DTYPES:
        ours = autokit.promote_types(getattr(autokit, a), getattr(autokit, b))
        assert repr(ours) == repr(torch.promote_types(getattr(torch, a), getattr(torch, b)))


def test_a_gradient_has_the_dtype_of_its_leaf():
    single = autokit.ones(2, requires_grad=True)
    double = autokit.ones(2, dtype=autokit.float64, requires_grad=True)
    (single * double).sum().backward()
    assert single.grad is not None and double.grad is not None
    assert (single.grad.dtype, double.grad.dtype) == (autokit.float32, autokit.float64)


ODD_NUMBERS = [300, -1, -300, 2.7, -0.5, 1e10, float("nan"), 2**33]


@pytest.mark.parametrize("number", ODD_NUMBERS, ids=repr)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_that_may_not_fit(dtype: str, number: Any):
    for make in (
        lambda T: T.full((2,), number, dtype=getattr(T, dtype)),
        lambda T: T.full_like(made(T, (2,), dtype), number),
        lambda T: made(T, (2,), dtype).fill_(number),
        lambda T: made(T, (2,), dtype) + number,
        lambda T: made(T, (2,), dtype) < number,
        lambda T: T.where(T.tensor([True, False]), made(T, (2,), dtype), number),
        lambda T: T.add(made(T, (2,), dtype), made(T, (2,), dtype), alpha=True),
        lambda T: T.sub(made(T, (2,), dtype), made(T, (2,), dtype), alpha=2.5),
    ):
        assert outcome(lambda: make(autokit)) == outcome(lambda: make(torch))


@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_of_one(dtype: str):
    for function in (operator.neg, operator.invert):
        assert outcome(lambda: function(made(autokit, (2,), dtype))) == outcome(
            lambda: function(made(torch, (2,), dtype))
        )


def test_negative_powers_of_integers():
    for dtype in ("int8", "int64"):
        ours, theirs = (
            T.tensor([2, -1, 1, -1, -3], dtype=getattr(T, dtype)) ** T.tensor([-1, -3, -2, -2, 3])
            for T in (autokit, torch)
        )
        assert ours.tolist() == theirs.tolist()
    for T in (autokit, torch):
        with pytest.raises(RuntimeError, match="negative integer powers"):
            T.tensor([2]) ** -1


def test_a_number_made_of_a_tensor_that_learns_is_warned_of_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(autokit.Tensor, "_warns_of_numbers", True)
    x = autokit.ones(1, requires_grad=True)
    with pytest.warns(UserWarning, match="requires_grad=True to a scalar"):
        float(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        float(x)
        x.item()


def everything_made(T: Any) -> list[Any]:
    """Tensors whose dtype is left to the default."""
    whole, linear = T.tensor([1, 2]), T.nn.Linear(2, 2)
    made = [T.tensor(1.5), T.tensor([1, 2.5]), T.tensor([1.0, True]), T.as_tensor([0.1]), T.scalar_tensor(3)]
    made += [T.zeros(2), T.ones(2), T.empty(2), T.full((2,), 0.1), T.eye(2), T.Tensor([1]), T.Tensor(2)]
    made += [T.arange(0.0, 1, 0.3), T.linspace(0, 1, 4), T.logspace(0, 1, 4), T.rand(2), T.randn(2)]
    made += [whole / 2, whole / whole, whole * 0.1, whole + 1.5, whole.mean(dtype=T.get_default_dtype())]
    made += [whole.exp(), whole.sqrt(), whole.sigmoid(), whole.float_power(2), whole.atan2(whole)]
    made += [whole.reciprocal(), T.where(whole > 1, 0.1, 0.2), T.where(whole > 1, whole, 0.1)]
    made += [linear.weight, linear(T.ones(1, 2)), T.nn.init.xavier_uniform_(T.empty(2, 2))]
    made += [T.normal(0.0, 1.0, (2,)), whole.clamp(0.5, 1.5), T.nn.functional.one_hot(whole) * 0.1]
    return [*made, whole.new_tensor([0.1]), T.ones(2).new_zeros(2)]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_default_dtype_flows_everywhere(dtype: str):
    results = []
    try:
        for T in (autokit, torch):
            T.set_default_dtype(getattr(T, dtype))
            T.manual_seed(0)
            results.append(everything_made(T))
            assert repr(results[-1][0]) == "tensor(1.5000)" or dtype != "float64"
    finally:
        for T in (autokit, torch):
            T.set_default_dtype(T.float32)
    for place, (ours, theirs) in enumerate(zip(*results)):
        assert repr(ours.dtype) == repr(theirs.dtype), place
        assert ours.shape == tuple(theirs.shape), place


@pytest.mark.parametrize("name", sorted(ops.OF_TWO_TENSORS))
def test_what_takes_two_tensors_takes_no_number(name: str):
    for T in (autokit, torch):
        x = T.ones(2, dtype=T.int64)
        with pytest.raises(TypeError, match="must be Tensor, not int"):
            getattr(x, name)(2) if hasattr(torch.Tensor, name) else getattr(T, name.rstrip("_"))(x, 2)
        if hasattr(torch, name):
            with pytest.raises(TypeError, match="must be Tensor, not int"):
                getattr(T, name)(x, 2)
