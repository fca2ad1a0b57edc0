"""The faster paths on arrays give what the plain rules give, on every kind of array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit  # noqa: F401 - fills the table of operations
from autokit.ops import blocks
from autokit.ops.operation import OPERATIONS, Operation

FAMILIES = ("elementwise", "arithmetic", "exponential", "trigonometry", "rounding", "special", "activation")
SETTINGS = {
    "leaky_relu": [{"negative_slope": 0.1}, {"negative_slope": -0.5}, {"negative_slope": 2.0}],
    "elu": [{}, {"alpha": 0.5, "scale": 1.25, "input_scale": 2.0}],
    "gelu": [{"approximate": "none"}, {"approximate": "tanh"}],
    "softplus": [{}, {"beta": 2.0, "threshold": 5.0}],
    "hardtanh": [{}, {"min_val": 0.0, "max_val": 6.0}],
    "clamp_numbers": [{"min": -0.5, "max": 1.0}, {"min": 0.0, "max": None}, {"min": None, "max": 0.0}],
}
TOLERANCE = {"float64": 1e-12, "float32": 2e-6, "float16": 5e-3}


def has_a_faster_path(operation: Operation) -> bool:
    return operation.forward is not operation.plain or any(
        fast.vjp is not plain.vjp for fast, plain in zip(operation.rules, operation.plain_rules)
    )


FASTER = [
    operation
    for operation in OPERATIONS.values()
    if operation.plain.__module__.rpartition(".")[2] in FAMILIES and has_a_faster_path(operation)
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


@pytest.mark.parametrize("operation", FASTER, ids=lambda operation: operation.name)
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.sampled_from([(), (0,), (1,), (5,), (3, 7), (2, 3, 4)]),
    dtype=st.sampled_from(["float64", "float32", "float16"]),
    layouts=st.lists(st.sampled_from(["plain", "plain", "strided", "repeated"]), min_size=4, max_size=4),
)
def test_the_faster_paths_agree_with_the_plain_rules(
    operation: Operation, seed: int, shape: tuple[int, ...], dtype: str, layouts: list[str]
):
    rng = np.random.RandomState(seed)
    operands = [awkward(rng, shape, dtype, layout) for _, layout in zip(operation.operands, layouts)]
    if operation.name == "choose":
        operands[0] = np.asarray(operands[0] > 0)
    gradient = awkward(rng, shape, dtype, layouts[-1])
    kept, blocks.BLOCK = blocks.BLOCK, 4
    try:
        with np.errstate(all="ignore"):
            for chosen in SETTINGS.get(operation.name, [{}]):
                check(operation, operands, gradient, {**operation.defaults, **chosen}, dtype)
    finally:
        blocks.BLOCK = kept


def check(operation: Operation, operands: list[Any], gradient: Any, chosen: dict[str, Any], dtype: str):
    before = [operand.copy() for operand in (*operands, gradient)]
    out = operation.plain(*operands, **chosen)
    assert_agree(operation.forward(*operands, **chosen), out, dtype)
    values = {**dict(enumerate(operands)), **chosen, "out": out, "shape": out.shape}
    for fast, plain in zip(operation.rules, operation.plain_rules):
        needs = [values[need] for need in plain.fetch]
        assert_agree(fast.vjp(gradient, *needs), plain.vjp(gradient, *needs), dtype)
    for operand, copy in zip((*operands, gradient), before):
        np.testing.assert_array_equal(operand, copy)


def assert_agree(fast: Any, plain: Any, dtype: str) -> None:
    assert fast.shape == plain.shape
    assert fast.dtype == dtype
    np.testing.assert_allclose(fast, plain, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
