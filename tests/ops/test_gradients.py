"""Every rule against central differences, to second order, on random shapes; needs no other library.

The gradient is linear in the weights of the results, and its own gradient is
checked in the same way, by the operands and by the weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit as torch
from autokit.ops.operation import OPERATIONS, derivative, operation

STEP = 1e-5
ALLOWED = 2e-6


def numerical(
    function: Callable[..., np.ndarray], at: list[np.ndarray], weights: np.ndarray
) -> list[np.ndarray]:
    """The gradient of ``sum(weights * function(*at))`` by central differences."""
    gradients = []
    for array in at:
        gradient = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            before = array[place]
            ends = []
            for value in (before + STEP, before - STEP):
                array[place] = value
                ends.append((weights * function(*at)).sum())
            array[place] = before
            gradient[place] = (ends[0] - ends[1]) / (2 * STEP)
        gradients.append(gradient)
    return gradients


def check(function: Callable[..., Any], at: list[np.ndarray], seed: int, order: int = 2) -> None:
    """Compare the derivatives of ``function`` with central differences, up to ``order``."""

    def values(*arrays: np.ndarray) -> np.ndarray:
        with torch.enable_grad():
            return (
                function(*(torch.tensor(array, requires_grad=True) for array in arrays))
                .detach()
                .numpy()
                .copy()
            )

    weights = np.random.RandomState(seed).uniform(0.5, 1.5, values(*at).shape)

    def slopes(*arrays_and_weights: Any) -> list[Any]:
        *operands, weight = (torch.as_tensor(each) for each in arrays_and_weights)
        operands = [each if each.requires_grad else each.requires_grad_() for each in operands]
        result = function(*operands)
        if not result.requires_grad:  # as where the derivative is 0 everywhere
            return [torch.zeros_like(each) for each in operands]
        made = torch.autograd.grad(result, operands, weight, create_graph=True, allow_unused=True)
        return [torch.zeros_like(each) if g is None else g for each, g in zip(operands, made)]

    found = [slope.detach().numpy() for slope in slopes(*[array.copy() for array in at], weights)]
    for mine, expected, array in zip(found, numerical(values, [a.copy() for a in at], weights), at):
        assert mine.shape == array.shape
        np.testing.assert_allclose(mine, expected, rtol=ALLOWED, atol=ALLOWED)
    if order > 1:
        for place in range(len(at)):
            check(
                lambda *inputs: slopes(*inputs)[place] * 1,
                [*(array.copy() for array in at), weights.copy()],
                seed + 1,
                order - 1,
            )


# ---------------------------------------------------------------- what is drawn


sizes = st.integers(0, 3)
shapes = st.lists(sizes, max_size=3).map(tuple)
seeds = st.integers(0, 2**20)


@st.composite
def broadcastable(draw: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    full = draw(st.lists(st.integers(0, 3), max_size=3))
    made = []
    for _ in range(2):
        kept = [draw(st.sampled_from([size, size, 1])) for size in full]
        made.append(tuple(kept[draw(st.integers(0, len(kept))) :]))
    return made[0], made[1]


def away_from_kinks(
    shape: tuple[int, ...], seed: int, positive: bool = False, shift: float = 0
) -> np.ndarray:
    """Distinct numbers, none near another, near 0 or near a whole number."""
    count = int(np.prod(shape))
    whole = np.random.RandomState(seed).permutation(count + 6)[:count] - (0 if positive else count // 2 + 3)
    return ((whole + 0.3) * 0.2 + (0.5 if positive else 0) + shift).reshape(shape)


UNARY = {
    "exp": lambda x: x.exp(),
    "sin": torch.sin,
    "cos": torch.cos,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "abs": torch.abs,
    "neg": torch.neg,
    "sign": torch.sign,
    "floor": lambda x: (x * 1.7 + 0.1).floor(),
    "clone": torch.clone,
    "pow": lambda x: x**3,
    "rsub": lambda x: 1 - x,
    "clamp": lambda x: x.clamp(-0.51, 0.77),
    "where": lambda x: torch.where(x > 0, x * x, -x),
    "flatten": lambda x: x.flatten(),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "squeeze": lambda x: x.squeeze(),
    "permute": lambda x: x.permute(tuple(reversed(range(x.ndim)))),
    "expand": lambda x: x.expand(2, *x.shape),
    "stack": lambda x: torch.stack([x, x * 2], -1),
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean() if x.numel() else x.sum(),
    "cast": lambda x: (x.double() * 1).to(torch.float64),
    "select": lambda x: x[..., None][..., :1],
    "reversed": lambda x: x[..., [-1, 0, 0]] if x.ndim and x.shape[-1] else x * 1,
    "mask": lambda x: x[x > 0],
}
POSITIVE = {
    "log": torch.log,
    "sqrt": torch.sqrt,
    "rdiv": lambda x: 2 / x,
    "half": lambda x: x**0.5,
    "rpow": lambda x: 2**x,
}
BINARY = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "where": lambda a, b: torch.where(a.detach() > b.detach(), a * 2, b),
}
DIVISIONS = {
    "div": torch.div,
    "pow": torch.pow,
    "remainder": torch.remainder,
}
REDUCTIONS = {
    name: lambda x, dim, keepdim, name=name: getattr(x, name)(dim, keepdim=keepdim)
    for name in ("sum", "mean", "amax", "amin", "var", "std", "logsumexp")
}
ALONG = {
    "max": lambda x, dim: x.max(dim).values,
    "min": lambda x, dim: x.min(dim, True)[0],
    "softmax": torch.softmax,
    "log_softmax": torch.log_softmax,
    "cat": lambda x, dim: torch.cat([x, x * x], dim),
    "gather": lambda x, dim: x.gather(dim, torch.zeros_like(x, dtype=torch.int64)),
    "transpose": lambda x, dim: x.transpose(dim, 0),
}


@pytest.mark.parametrize("name", UNARY)
@settings(max_examples=12)
@given(shapes, seeds)
def test_of_one(name: str, shape: tuple[int, ...], seed: int):
    check(UNARY[name], [away_from_kinks(shape, seed)], seed)


@pytest.mark.parametrize("name", POSITIVE)
@settings(max_examples=12)
@given(shapes, seeds)
def test_of_one_positive(name: str, shape: tuple[int, ...], seed: int):
    check(POSITIVE[name], [away_from_kinks(shape, seed, positive=True)], seed)


@pytest.mark.parametrize("name", BINARY)
@settings(max_examples=12)
@given(broadcastable(), seeds)
def test_of_two(name: str, shapes: Any, seed: int):
    first, second = shapes
    check(BINARY[name], [away_from_kinks(first, seed), away_from_kinks(second, seed + 1, shift=0.05)], seed)


@pytest.mark.parametrize("name", DIVISIONS)
@settings(max_examples=12)
@given(broadcastable(), seeds)
def test_of_two_positive(name: str, shapes: Any, seed: int):
    first, second = shapes
    at = [
        away_from_kinks(first, seed, True),
        away_from_kinks(second, seed + 1, True, 0.03117),
    ]
    check(DIVISIONS[name], at, seed)


@pytest.mark.parametrize("name", REDUCTIONS)
@settings(max_examples=12)
@given(st.lists(st.integers(2, 3), min_size=1, max_size=3), st.data(), seeds)
def test_reductions(name: str, shape: list[int], data: Any, seed: int):
    dims = data.draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True))
    dims = [dim - len(shape) if data.draw(st.booleans()) else dim for dim in dims]
    keepdim = data.draw(st.booleans())
    check(lambda x: REDUCTIONS[name](x, dims, keepdim), [away_from_kinks(tuple(shape), seed)], seed)


@pytest.mark.parametrize("name", ALONG)
@settings(max_examples=12)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.data(), seeds)
def test_along_a_dimension(name: str, shape: list[int], data: Any, seed: int):
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    check(lambda x: ALONG[name](x, dim), [away_from_kinks(tuple(shape), seed)], seed)


matrix_shapes = st.tuples(
    sizes, sizes, sizes, st.sampled_from(["mm", "mv", "vm", "dot", "bmm", "left", "right"])
)


@settings(max_examples=40)
@given(matrix_shapes, seeds)
def test_products(shape: Any, seed: int):
    n, m, p, kind = shape
    first, second = {
        "mm": ((n, m), (m, p)),
        "mv": ((n, m), (m,)),
        "vm": ((m,), (m, p)),
        "dot": ((m,), (m,)),
        "bmm": ((2, n, m), (2, m, p)),
        "left": ((2, 1, n, m), (m, p)),
        "right": ((n, m), (2, m, p)),
    }[kind]
    check(torch.matmul, [away_from_kinks(first, seed), away_from_kinks(second, seed + 1)], seed)


@settings(max_examples=20)
@given(st.integers(0, 2), st.integers(0, 2), seeds)
def test_setitem(row: int, column: int, seed: int):
    for index in ((row, column), row, (slice(None), column), ([row, column],), ..., ([0, row + 1],)):
        if index == ([row, column],) and row == column:
            continue  # which of two values stays is not said

        def write(x: Any, value: Any, index: Any = index) -> Any:
            y = x * 1
            y[index] = value
            return y * y

        check(write, [away_from_kinks((4, 3), seed), away_from_kinks((), seed + 1)], seed)


def test_the_oracle_finds_a_planted_error():
    @operation("tanh", "tanh {a}", a=derivative("1 − {out}", lambda g, out: g * (1 - out)), name="planted")
    def planted(a, /):
        return np.tanh(a)

    del OPERATIONS["planted"]
    with pytest.raises(AssertionError):
        check(planted, [np.array([0.5, 1.0])], 0)
