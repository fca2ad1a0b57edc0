"""The faster paths on arrays give what the plain rules give, on every kind of array."""

from __future__ import annotations

import importlib
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit.ops import approximations, arithmetic, blocks, exponential, native, operators, rounding
from autokit.ops.operation import OPERATIONS
from autokit.ops.rules import Operation
from tests.support import require

FAMILIES = (
    *("operators", "elementwise", "choices", "arithmetic", "exponential", "trigonometry", "rounding"),
    *("special", "bent_activation", "smooth_activation", "exponential_linear"),
)
SETTINGS = {
    "leaky_relu": [{"negative_slope": 0.1}, {"negative_slope": -0.5}, {"negative_slope": 2.0}],
    "elu": [{}, {"alpha": 0.5, "scale": 1.25, "input_scale": 2.0}],
    "gelu": [{"approximate": "none"}, {"approximate": "tanh"}],
    "rrelu": [{"slope": 0.25}],
    "threshold": [{"threshold": 0.5, "value": -2.0}],
    "celu": [{}, {"alpha": 0.7}, {"alpha": -1.5}],
    "softplus": [{}, {"beta": 2.0, "threshold": 5.0}],
    "hardtanh": [{}, {"min_val": 0.0, "max_val": 6.0}],
    "logit": [{}, {"eps": 0.2}, {"eps": -1.0}],
    "clamp_numbers": [{"min": -0.5, "max": 1.0}, {"min": 0.0, "max": None}, {"min": None, "max": 0.0}],
}
TOLERANCE = {"float64": 1e-12, "float32": 2e-6, "float16": 5e-3}


WITH_TESTS_OF_THEIR_OWN = {
    "remainder",  # whose path on arrays is right where the plain rule rounds
    "glu",  # whose result has another shape
}


def has_a_faster_path(operation: Operation) -> bool:
    return operation.forward is not operation.plain or any(
        fast.vjp is not plain.vjp for fast, plain in zip(operation.rules, operation.plain_rules)
    )


FASTER = [
    operation
    for operation in OPERATIONS.values()
    if operation.plain.__module__.rpartition(".")[2] in FAMILIES
    and has_a_faster_path(operation)
    and operation.name not in WITH_TESTS_OF_THEIR_OWN
]


def awkward(rng: np.random.RandomState, shape: tuple[int, ...], dtype: str, layout: str) -> np.ndarray:
    """Random numbers with zeros, ties, infinities and NaN between them."""
    if layout == "strided":
        return (
            awkward(rng, (*shape[:-1], 2 * shape[-1]), dtype, "plain")[..., ::2]
            if shape
            else awkward(rng, shape, dtype, "plain")
        )
    if layout == "repeated":
        return np.broadcast_to(awkward(rng, (), dtype, "plain"), shape)
    values = np.where(rng.uniform(size=shape) < 0.7, rng.normal(size=shape) * 3, rng.randint(-3, 4, shape))
    special = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0, 30.0, -30.0], shape)
    return np.where(rng.uniform(size=shape) < 0.2, special, values).astype(dtype)


@pytest.mark.parametrize("loops", ["numpy", "compiled"])
@pytest.mark.parametrize("operation", FASTER, ids=lambda operation: operation.name)
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.sampled_from([(), (0,), (1,), (5,), (3, 7), (2, 3, 4)]),
    dtype=st.sampled_from(["float64", "float32", "float16"]),
    layouts=st.lists(st.sampled_from(["plain", "plain", "strided", "repeated"]), min_size=4, max_size=4),
)
def test_the_faster_paths_agree_with_the_plain_rules(
    operation: Operation, loops: str, seed: int, shape: tuple[int, ...], dtype: str, layouts: list[str]
):
    if loops == "compiled":
        require("numba")
    rng = np.random.RandomState(seed)
    operands = [awkward(rng, shape, dtype, layout) for _, layout in zip(operation.operands, layouts)]
    if operation.name == "choose":
        operands[0] = np.asarray(operands[0] > 0)
    gradient = awkward(rng, shape, dtype, layouts[-1])
    with (
        patch.multiple(blocks, BLOCK=4, FEW=1),
        patch.object(native, "LARGE", 1),
        autokit.backends.numba.flags(enabled=loops == "compiled"),
        np.errstate(all="ignore"),
    ):
        for chosen in SETTINGS.get(operation.name, [{}]):
            check(operation, operands, gradient, {**operation.defaults, **chosen}, dtype)


def check(operation: Operation, operands: list[Any], gradient: Any, chosen: dict[str, Any], dtype: str):
    before = [operand.copy() for operand in (*operands, gradient)]
    out = operation.plain(*operands, **chosen)
    assert_agree(operation.forward(*operands, **chosen), out, dtype)
    # What rounding leaves of a slope near 0 is as many times as large as the gradient.
    largest = max(1.0, np.abs(gradient[np.isfinite(gradient)]).max(initial=0))
    values = {**dict(enumerate(operands)), **chosen, "out": out, "shape": out.shape}
    if operation.name == "floor_divide":  # whose derivative is refused
        return
    for fast, plain in zip(operation.rules, operation.plain_rules):
        needs = [values[need] for need in plain.fetch]
        made, expected = fast.vjp(gradient, *needs), plain.vjp(gradient, *needs)
        # Infinity times what rounding leaves of a slope is infinity, or at 0 no number.
        slope = np.abs(plain.vjp(np.ones_like(gradient), *needs))
        unclear = np.isinf(gradient) & (slope <= TOLERANCE[dtype])
        assert made.shape == expected.shape
        assert_agree(np.where(unclear, expected, made), expected, dtype, largest)
    for operand, copy in zip((*operands, gradient), before):
        np.testing.assert_array_equal(operand, copy)


IN_PIECES = {
    "fmod": (arithmetic.fmod.operation.forward, 2, ()),
    "remainder": (operators.remainder.operation.forward, 2, ()),
    "floor_divide": (operators.floor_divide.operation.forward, 2, ()),
    "logaddexp": (exponential._log_of_sum, 2, ()),
    "nan_to_num": (rounding._finite, 1, (3.0, -2.0, 0.5)),
    **{
        name: (getattr(approximations, name), 1, ())
        for name in ("erfc", "erfcx", "erfinv", "log_ndtr", "lgamma", "digamma", "i0", "i0e", "i1", "i1e")
    },
}


@pytest.mark.parametrize("name", IN_PIECES)
@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from(["float64", "float32", "float16"]),
    layouts=st.lists(st.sampled_from(["plain", "plain", "repeated"]), min_size=2, max_size=2),
    scale=st.sampled_from([1e-30, 1e-3, 1, 1e9, 1e30]),
    compiled=st.booleans(),
)
def test_functions_in_pieces_agree_with_their_plain_lines(
    name: str, seed: int, dtype: str, layouts: list[str], scale: float, compiled: bool
):
    function, count, numbers = IN_PIECES[name]
    rng = np.random.RandomState(seed)
    with np.errstate(all="ignore"):
        operands = [awkward(rng, (40,), dtype, layout) for layout in layouts[:count]]
        operands[0] = operands[0] * np.asarray(scale, dtype)
        with (
            patch.multiple(blocks, BLOCK=16, FEW=1),
            patch.object(native, "LARGE", 1),
            autokit.backends.numba.flags(enabled=compiled),
        ):
            made = function(*operands, *numbers)
        plain = function.__wrapped__(*operands, *numbers)
    if name not in ("fmod", "remainder", "floor_divide", "nan_to_num"):
        assert_agree(made, plain, dtype)
    else:
        np.testing.assert_array_equal(made, plain)
        np.testing.assert_array_equal(np.signbit(made[made == 0]), np.signbit(plain[made == 0]))


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_glu_goes_over_halves_as_its_rule_says(loops: str, dim: int):
    require("torch")
    torch = importlib.import_module("torch")
    x = np.random.RandomState(0).standard_normal((6, 70, 14)).astype(np.float32)
    g = np.random.RandomState(1).standard_normal((6, 70, 14)).astype(np.float32).take(range(3), dim)
    made = {}
    for library in (autokit, torch):
        a = library.from_numpy(x.copy()).requires_grad_()
        out = library.nn.functional.glu(a, dim)
        seed = library.from_numpy(np.resize(g, out.shape))
        made[library] = [out.detach().numpy(), library.autograd.grad(out, a, seed)[0].numpy()]
    for mine, other in zip(made[autokit], made[torch]):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)


def assert_agree(fast: Any, plain: Any, dtype: str, size: float = 1.0) -> None:
    assert fast.shape == plain.shape
    assert fast.dtype == dtype
    np.testing.assert_allclose(fast, plain, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * size)


ROWS = [OPERATIONS[name] for name in ("softmax", "log_softmax")]


@pytest.mark.parametrize("operation", ROWS, ids=lambda operation: operation.name)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shift", [0.0, 55.0, 200.0, -30.0, -200.0])
def test_rules_by_rows_agree_with_the_plain_ones_wherever_the_numbers_lie(
    operation: Operation, dtype: str, shift: float, loops: str
):
    rng = np.random.RandomState(0)
    width = 100
    a = (rng.normal(size=(2 * blocks.BLOCK // width, width)) * 5 + shift).astype(dtype)
    a[3, 4], a[5, 6], a[7, :50] = -np.inf, 300, -np.inf
    g = rng.normal(size=a.shape).astype(dtype)
    out = operation.plain(a.astype(np.float64), dim=1)
    # Of the difference of two numbers of size 40, float32 keeps two millionths.
    relative, absolute = {"float32": (5e-6, 1e-6), "float64": (1e-12, 1e-14)}[dtype]
    absolute = absolute if operation.name == "log_softmax" else 1e-30
    np.testing.assert_allclose(operation.forward(a, dim=1), out, rtol=relative, atol=absolute)
    out = out.astype(dtype)
    fast, plain = operation.rules[0].vjp(g, out, 1), operation.plain_rules[0].vjp(g, out, 1)
    np.testing.assert_allclose(fast, plain, rtol=1e-4, atol=TOLERANCE[dtype] * 10)


@pytest.mark.parametrize("operation", ROWS, ids=lambda operation: operation.name)
def test_rules_by_rows_keep_what_is_no_number(operation: Operation, loops: str):
    a = np.zeros((2 * blocks.BLOCK // 64, 64), np.float32)
    a[0, 1], a[1, 2], a[2] = np.nan, np.inf, -np.inf
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(operation.forward(a, dim=1), operation.plain(a, dim=1))


@pytest.mark.parametrize("operation", ROWS, ids=lambda operation: operation.name)
@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.tuples(st.integers(0, 40), st.integers(1, 40)),
    layouts=st.tuples(*[st.sampled_from(["plain", "strided", "repeated", "transposed"])] * 2),
)
def test_a_small_matrix_gives_what_its_rows_give_between_other_dimensions(
    operation: Operation, seed: int, shape: tuple[int, int], layouts: tuple[str, str]
):
    rng = np.random.RandomState(seed)
    a, g = (
        awkward(rng, shape[::-1], "float64", "plain").T
        if layout == "transposed"
        else awkward(rng, shape, "float64", layout)
        for layout in layouts
    )
    gradient = operation.rules[0].vjp
    with np.errstate(all="ignore"):
        out = operation.forward(a, dim=1)
        np.testing.assert_allclose(out, operation.forward(a[None], dim=2)[0], rtol=1e-12, atol=1e-12)
        expected = gradient(g[None], out[None], 2)[0]
        np.testing.assert_allclose(gradient(g, out, 1), expected, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("exponent", [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 1.7, -3.3])
def test_a_power_by_one_number_is_numpys(exponent: float):
    a = np.abs(awkward(np.random.RandomState(0), (2 * blocks.BLOCK + 3,), "float32", "plain"))
    power = OPERATIONS["pow"]
    with np.errstate(all="ignore"):
        expected = np.power(a.astype(np.float64), exponent).astype(np.float32)
        np.testing.assert_allclose(power.forward(a, np.float32(exponent).reshape(())), expected, rtol=1e-6)


@pytest.mark.parametrize("centre", [0.0, 55.0, 300.0, -300.0])
def test_the_loss_of_a_sure_answer_keeps_its_digits_among_many_logits(centre: float, loops: str):
    rng = np.random.RandomState(0)
    logits = rng.normal(size=(2 * blocks.BLOCK // 100, 100)) + centre
    target = rng.randint(0, 100, len(logits))
    logits[np.arange(len(logits)), target] += np.linspace(0, 14, len(logits))
    logits = logits.astype(np.float32).astype(np.float64)
    x = autokit.from_numpy(logits.astype(np.float32)).requires_grad_()
    losses = autokit.nn.functional.cross_entropy(x, autokit.from_numpy(target), reduction="none")
    losses.sum().backward()
    rest = logits - logits.max(axis=1, keepdims=True)
    probabilities = np.exp(rest) / np.exp(rest).sum(axis=1, keepdims=True)
    expected = -np.log(probabilities[np.arange(len(logits)), target])
    np.testing.assert_allclose(losses.detach().numpy(), expected, rtol=3e-6, atol=1e-6)
    probabilities[np.arange(len(logits)), target] -= 1
    np.testing.assert_allclose(x.grad.numpy(), probabilities, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("shape", [(7000,), (70, 100), (3, 40, 50)])
@pytest.mark.parametrize("repeated", [(), (0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)])
def test_a_copy_of_numbers_that_repeat_is_a_plain_one(
    shape: tuple[int, ...], repeated: tuple[int, ...], loops: str
):
    own = [1 if place in repeated else size for place, size in enumerate(shape)]
    a = np.broadcast_to(np.random.RandomState(0).normal(size=own).astype(np.float32), shape)
    made = blocks.copied(a)
    np.testing.assert_array_equal(made, a)
    assert made.base is None and made.flags.writeable and made.flags.c_contiguous


@pytest.mark.parametrize("length", [1, 64, blocks.LONG_ENOUGH, 1000, 5000, blocks.BUFFER, 100_000])
def test_what_numpy_copies_beside_long_rows_is_no_longer_than_one_and_as_before_afterwards(length: int):
    before = np.getbufsize()
    with pytest.raises(ZeroDivisionError), blocks.as_they_lie(length):
        long = blocks.LONG_ENOUGH <= length < blocks.BUFFER
        assert np.getbufsize() <= length if long else np.getbufsize() == before
        raise ZeroDivisionError
    assert np.getbufsize() == before
