"""Batches of products on a GPU: operands lie as they will, and none is copied that cuBLAS can take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autokit as torch
from autokit.devices import module_for
from autokit.nn import functional as F
from autokit.ops.gpu.products import product
from tests.gpu import standin

pytestmark = pytest.mark.usefixtures("gpu")

TOLERANCE = {"float16": 2e-3, "float32": 1e-6, "float64": 1e-12}


def laid(values: np.ndarray, order: tuple[int, ...], gaps: tuple[int, ...]) -> tuple[Any, np.ndarray]:
    """``values`` on the GPU with its dimensions in memory in this order, and room between its elements."""
    base = np.zeros([size * gap for size, gap in zip(np.transpose(values, order).shape, gaps)], values.dtype)
    inside = tuple(slice(None, None, gap) for gap in gaps)
    back = tuple(np.argsort(order))
    base[inside] = np.transpose(values, order)
    there = module_for("cuda").asarray(base)
    return there[inside].transpose(back), base[inside].transpose(back)


@given(st.data())
def test_it_is_numpys_product_however_the_operands_lie(data: st.DataObject):
    kind = data.draw(st.sampled_from([*TOLERANCE]))
    lead = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
    rows, inner, columns = (data.draw(st.integers(1, 4)) for _ in range(3))
    random, made = np.random.RandomState(0), []
    for shape in ((*lead, rows, inner), (*lead, inner, columns)):
        order = data.draw(st.permutations(range(len(shape))))
        gaps = data.draw(st.lists(st.integers(1, 2), min_size=len(shape), max_size=len(shape)))
        made.append(laid(random.uniform(-1, 1, shape).astype(kind), tuple(order), tuple(gaps)))
    (a, here_a), (b, here_b) = made
    standin.copies.clear()
    found = product(a, b)
    assert not standin.copies and found.dtype == kind and found.flags.c_contiguous
    expected = here_a.astype(float) @ here_b.astype(float)
    np.testing.assert_allclose(found.get(), expected, rtol=TOLERANCE[kind], atol=TOLERANCE[kind])


@pytest.mark.parametrize(
    ("shape", "other"),
    [
        ((2, 3, 4), (4, 5)),
        ((2, 1, 3, 4), (4, 2)),
        ((0, 3, 4), (4, 5)),
        ((2, 3, 0), (2, 0, 4)),
        ((3, 2), (2, 3)),
    ],
)
def test_other_shapes_multiply_as_numpy_does(shape: tuple[int, ...], other: tuple[int, ...]):
    a, b = np.ones(shape, np.float32), np.full(other, 2, np.float32)
    there = module_for("cuda")
    np.testing.assert_array_equal(product(there.asarray(a), there.asarray(b)).get(), a @ b)
    np.testing.assert_array_equal(product(a, b), a @ b)


@pytest.mark.parametrize(
    ("way", "other", "copies"),
    [
        (lambda a, b: a @ b, (2, 3, 5, 4), 0),
        # A leaf's gradient lies as the leaf does, in memory of its own.
        (lambda a, b: a @ b.transpose(-2, -1), (2, 3, 4, 5), 1),
        (F.linear, (4, 5), 2),
        (torch.matmul, (5, 4), 1),
    ],
)
def test_operands_turned_round_are_not_copied(gpu: str, way: Any, other: tuple[int, ...], copies: int):
    """Neither forward nor on the way back; and a batch by one matrix is one product of all its rows."""
    found = []
    for where in ("cpu", "cuda"):
        torch.manual_seed(0)
        a, b = (torch.rand(*shape, device=where, requires_grad=True) for shape in ((2, 3, 4, 5), other))
        standin.launches.clear()
        made = way(a, b)
        made.backward(torch.ones_like(made))
        if where == "cuda" and gpu == "stand-in":
            assert standin.launches.count("matmul") == 3 and standin.launches.count("copy") == copies
            assert not {"astype", "reshape", "ascontiguousarray"} & set(standin.launches)
        found.append([each.detach().cpu().numpy() for each in (made, a.grad, b.grad)])
    for here, there in zip(*found):
        np.testing.assert_allclose(there, here, rtol=1e-5)
