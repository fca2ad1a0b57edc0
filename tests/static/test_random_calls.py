"""Random calls of every family of functions are traced, and run on other numbers as the eager ones do."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autokit
from autokit.static.errors import StaticError
from autokit.static.step import compile as make_static
from tests.fuzz.rows import ROWS
from tests.support import require

require("torch")
from tests.fuzz.calls import OF_GRADIENTS, Drawing, flat, names_of, unlike, weighted  # noqa: E402

REFUSED = (
    "unique",
    "bincount",
    "nonzero",
    "masked_select",
    "x[..., 0] > 0",
    "T.full(",
    "one_hot",
)
"""Words of calls whose shapes depend on numbers, and of one that wants a Python number."""


def program(call, twice):
    """A function that computes the results of a call, their gradients, and perhaps the gradients of these."""
    code = compile(call.expression, "<call>", "eval")

    def run(**given):
        outputs = flat(eval(code, {**names_of(autokit, call), **given}))
        leaves, found = [each for each in given.values() if each.requires_grad], list(outputs)
        for _ in range(1 + twice):
            learning = [each for each in outputs if getattr(each, "requires_grad", False)]
            if not learning:
                break
            total = sum([weighted(autokit, each) for each in learning])
            outputs = autokit.autograd.grad(total, leaves, create_graph=twice, allow_unused=True)
            found += outputs
        return found

    return run


def tensors(operands):
    return {
        name: autokit.tensor(each).requires_grad_(each.dtype.kind == "f") for name, each in operands.items()
    }


def others(operands):
    """The same numbers in another order; matrices that stay positive definite."""
    numbers = np.random.RandomState(1)
    return {
        name: each * 1.25
        if each.dtype == np.float64
        else numbers.permutation(each.ravel()).reshape(each.shape)
        for name, each in operands.items()
    }


@pytest.mark.parametrize("row", ROWS.strip().split("\n"))
def test_a_random_call_runs_on_other_numbers(row):
    for seed in range(3):
        call = Drawing(row, seed).call
        examples = [call.operands, others(call.operands)]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                run = program(call, seed % 2 == 1)
                wanted = [run(**tensors(each)) for each in examples]
            except Exception:
                continue  # another test's matter
            static = make_static(run, passes=[], keep_grads=True)
            try:
                found = [static(**tensors(each)) for each in examples]
            except StaticError:
                assert any(words in call.expression for words in REFUSED), call
                continue
        for one, other in zip(flat(found), flat(wanted), strict=True):
            assert type(one) is type(other), call
            if hasattr(other, "detach"):
                arrays = one.numpy(force=True), other.numpy(force=True)
                assert not unlike(*arrays, {name: each / 10 for name, each in OF_GRADIENTS.items()}), call
