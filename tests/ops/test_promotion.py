"""The dtype of a result, for every pair of dtypes in every standing, is PyTorch's."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np
import pytest

import autokit
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
FUNCTIONS = ["maximum", "minimum", "remainder", "true_divide", "logical_and", "floor_divide"]


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


# Where PyTorch refuses: bools count as 0 and 1 here.
BY_CHOICE = [(name, "bool") for name in ("abs", "relu", "floor")]


@pytest.mark.parametrize(("name", "dtype"), BY_CHOICE)
def test_functions_of_one_that_differ_by_choice(name: str, dtype: str):
    ours, theirs = (outcome(lambda T=T: getattr(T, name)(made(T, (2,), dtype))) for T in (autokit, torch))
    assert ours.startswith("torch.") and ours != theirs


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, dtype) for name in OF_ONE.split() for dtype in DTYPES if (name, dtype) not in BY_CHOICE],
)
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
