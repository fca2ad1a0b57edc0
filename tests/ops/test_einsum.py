"""Einstein's summation and tensordot: values and gradients as PyTorch's, for all kinds of equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from tests.oracle import agreeing, compare, numbers, refused

EQUATIONS = [
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iijj->j", (2, 2, 3, 3)),
    ("ijk->kij", (2, 3, 4)),
    (",i", (), (2,)),
    ("i,j->ij", (3,), (2,)),
    ("ij,jk", (2, 3), (3, 2)),
    ("ij,j->i", (2, 3), (3,)),
    ("ii,jj->ij", (2, 2), (3, 3)),
    ("ii,i->i", (3, 3), (3,)),
    ("ij,jk->ik", (2, 0), (0, 3)),
    ("bij,bjk->bik", (2, 3, 2), (2, 2, 3)),
    ("bhqd,bhkd->bhqk", (2, 2, 3, 2), (2, 2, 2, 2)),
    ("...ij,...jk->...ik", (2, 2, 3), (2, 3, 1)),
    ("...ij,...jk->...ik", (2, 1, 2, 3), (3, 3, 1)),
    ("...ij,jk", (2, 2, 3), (3, 2)),
    ("...ii->...i", (2, 3, 3)),
    ("i...,...i", (2, 3), (3, 2)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    ("i,ij,j", (2,), (2, 3), (3,)),
    ("bn,anm,bm->ba", (2, 3), (4, 3, 2), (2, 2)),
]


@pytest.mark.parametrize(("equation", "shapes"), [(each, shapes) for each, *shapes in EQUATIONS])
def test_an_equation(equation: str, shapes: list[tuple[int, ...]]):
    arrays = [numbers(*shape, seed=place) for place, shape in enumerate(shapes)]
    compare(lambda T, *tensors: T.einsum(equation, *tensors), *arrays)


WAYS = [
    lambda T, a, b: T.einsum(a, [0, 1], b, [1, 2]),
    lambda T, a, b: T.einsum(a, [0, 1], b, [1, 2], [2, 0]),
    lambda T, a, b: T.einsum(a, [..., 0], b, [0, 1], [..., 1]),
    lambda T, a, b: T.einsum("ij,jk->ik", [a, b]),
    lambda T, a, b: T.einsum("ij,jk->ik", a, a.t()) @ b.t(),
    lambda T, a, b: T.inner(a, b.t()),
    lambda T, a, b: T.inner(a.sum(), b),
    lambda T, a, b: T.tensordot(a, b, 1),
    lambda T, a, b: T.tensordot(a, b, dims=0),
    lambda T, a, b: T.tensordot(a, b, ([0, 1], [1, 0])),
]

test_other_ways_to_say_it = agreeing([(program, (2, 3), (3, 2)) for program in WAYS])


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_equation_of_two_operands_is_numpys(data: Any):
    sizes = {"i": 2, "j": 3, "k": 1, "l": 2}
    left, right = (data.draw(st.text("ijkl", max_size=3)) for _ in range(2))
    both = sorted({*left, *right})
    result = "".join(data.draw(st.permutations(both))[: data.draw(st.integers(0, len(both)))])
    arrays = [numbers(*[sizes[letter] for letter in term], seed=len(term)) for term in (left, right)]
    a, b = (autokit.tensor(array, requires_grad=True) for array in arrays)
    value = autokit.einsum(f"{left},{right}->{result}", a, b)
    np.testing.assert_allclose(
        value.detach().numpy(), np.einsum(f"{left},{right}->{result}", *arrays), atol=1e-12
    )
    value.sum().backward()
    # The sum is linear in each operand, so the gradient times the operand gives the sum again.
    for tensor, array in ((a, arrays[0]), (b, arrays[1])):
        np.testing.assert_allclose((tensor.grad.numpy() * array).sum(), value.sum().item(), atol=1e-12)


def test_the_result_has_memory_of_its_own():
    a = autokit.ones(2, 3)
    autokit.einsum("ij->ji", a).zero_()
    assert a.sum().item() == 6


WRONG = [
    (lambda T, a: T.einsum("ij,jk", a, a), "subscript j has size 2 for operand 1"),
    (lambda T, a: T.einsum("ij", a[0]), "does not match the number of dimensions (1) for operand 0"),
    (lambda T, a: T.einsum("i->j", a[0]), "output subscript j does not appear"),
    (lambda T, a: T.einsum("i->ii", a[0]), "output subscript i appears more than once"),
    (lambda T, a: T.einsum("...,...", a[0], a[:, 0]), "which does not broadcast"),
    (lambda T, a: T.einsum("ij,ij", a, a.double()), "dtype"),
    (lambda T, a: T.einsum(a, [0, 60]), "0 to 51"),
    (lambda T, a: T.einsum("i", 5), "Tensor, not int"),
    (lambda T, a: T.einsum("ij"), "at least one operand"),
    (lambda T, a: T.tensordot(a, a, 1), "which does not broadcast"),
    (lambda T, a: T.tensordot(a, a, 3), "dims=3"),
    (lambda T, a: T.tensordot(a, a, ([0], [0, 1])), "same length"),
]

test_errors_name_what_is_wrong = refused(WRONG, np.ones((2, 3), np.float32))
