"""Each fast path gives what the plain form beside it gives; there is none that this file does not test."""

from __future__ import annotations

import numpy as np
import pytest

import autokit.nn  # noqa: F401  brings all operations
from autokit.engine.operation import OPERATIONS, Operation


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.RandomState(seed).normal(0, 1, shape).astype(np.float32)


SEVERAL = [(numbers(3, 4),), (numbers(4, 3).T,), (numbers(0, 2),), (numbers(),), (numbers(2, 1, 3) * 50,)]
LAYERS = [(numbers(*lead, 4), numbers(3, 4), numbers(3)) for lead in ((5,), (2, 5), (0,), (2, 1, 3), (5000,))]
SCORES = [
    (scale * numbers(rows, 4), np.random.RandomState(0).randint(0, 4, rows))
    for rows, scale in ((1, 1), (6, 1), (6, 200), (5000, 1))
]
CASES: dict[str, list[tuple[np.ndarray, ...]]] = {
    "tanh": SEVERAL,
    "erf": SEVERAL,
    "relu": SEVERAL,
    **{name: [(a, a[..., :1]) for (a,) in SEVERAL if a.ndim] for name in ("add", "mul")},
    "linear": LAYERS,
    "softmax": [(each, -1) for (each,) in SEVERAL if each.size and each.ndim],  # type: ignore[misc]
    "log_softmax": [(scores, 1) for scores, _ in SCORES] + [(each, -1) for (each,) in SEVERAL[:2]],  # type: ignore[misc]
    "nll_loss": SCORES,
}
"""By operation, what it is called with."""


def with_fast_paths() -> list[Operation]:
    rules = OPERATIONS.values()
    return [
        each
        for each in rules
        if each.forward is not each.plain or any(rule.fast for rule in each.derivatives.values())
    ]


def test_every_fast_path_is_tested_here():
    assert {each.name for each in with_fast_paths()} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_fast_path_is_the_plain_form(name: str):
    rule = OPERATIONS[name]
    for operands in CASES[name]:
        settings = {**rule.defaults, **dict(zip(rule.defaults, operands[len(rule.operands) :]))}
        arrays = operands[: len(rule.operands)]
        out = rule.plain(*arrays, **settings)
        close = {"rtol": 2e-6, "atol": 1e-6}
        np.testing.assert_allclose(rule.forward(*arrays, **settings), out, **close, equal_nan=True)
        g = np.asarray(numbers(*np.shape(out), seed=1))
        for operand, one in rule.derivatives.items():
            if one.fast is None:
                continue
            known = {**settings, **dict(zip(rule.operands, arrays)), "out": np.asarray(out)}
            known["shape"] = dict(zip(rule.operands, map(np.shape, arrays)))[operand]
            asks = one.fast.__code__.co_varnames[1 : one.fast.__code__.co_argcount]
            found = one.fast(g, **{each: known[each] for each in asks})
            asks = one.vjp.__code__.co_varnames[1 : one.vjp.__code__.co_argcount]
            plain = np.asarray(one.vjp(g, **{each: known[each] for each in asks}))
            extra = tuple(range(plain.ndim - np.ndim(known[operand])))  # the engine sums these
            np.testing.assert_allclose(found, plain.sum(extra), rtol=1e-4, atol=1e-5)
