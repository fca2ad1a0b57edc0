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
    ("ij,jk->ik", (2, 0), (0, 3)),
    ("bhqd,bhkd->bhqk", (2, 2, 3, 2), (2, 2, 2, 2)),
    ("...ij,...jk->...ik", (2, 2, 3), (2, 3, 1)),
    ("...ij,...jk->...ik", (2, 1, 2, 3), (3, 3, 1)),
    ("...ij,jk", (2, 2, 3), (3, 2)),
    ("...ii->...i", (2, 3, 3)),
    ("i...,...i", (2, 3), (3, 2)),
    ("bn,anm,bm->ba", (2, 3), (4, 3, 2), (2, 2)),
]


@pytest.mark.parametrize(("equation", "shapes"), [(each, shapes) for each, *shapes in EQUATIONS])
def test_an_equation(equation: str, shapes: list[tuple[int, ...]]):
    arrays = [numbers(*shape, seed=place) for place, shape in enumerate(shapes)]
    compare(lambda T, *tensors: T.einsum(equation, *tensors), *arrays)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_any_equation_of_up_to_three_operands(data: Any):
    sizes = {"i": 2, "j": 3, "k": 1, "l": 2}
    terms = data.draw(st.lists(st.text("ijkl", max_size=3), min_size=1, max_size=3))
    letters = sorted({*"".join(terms)})
    result = "".join(data.draw(st.permutations(letters))[: data.draw(st.integers(0, len(letters)))])
    equation = ",".join(terms) + data.draw(st.sampled_from(["", f"->{result}"]))
    arrays = [numbers(*[sizes[x] for x in term], seed=place) for place, term in enumerate(terms)]
    compare(lambda T, *tensors: T.einsum(equation, *tensors), *arrays)


WAYS = [
    lambda T, a, b: T.einsum("ij,jk->ik", [a, b]),
    lambda T, a, b: T.einsum("ij,jk->ik", a, a.t()) @ b.t(),
    lambda T, a, b: T.inner(a, b.t()),
    lambda T, a, b: T.inner(a.sum(), b),
    lambda T, a, b: T.tensordot(a, b, 1),
    lambda T, a, b: T.tensordot(a, b, dims=0),
    lambda T, a, b: T.tensordot(a, b, ([0, 1], [1, 0])),
]

test_other_ways_to_say_it = agreeing([(program, (2, 3), (3, 2)) for program in WAYS])


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
    (lambda T, a: T.einsum("i", 5), "Tensor, not int"),
    (lambda T, a: T.einsum("ij"), "at least one operand"),
    (lambda T, a: T.tensordot(a, a, 1), "which does not broadcast"),
    (lambda T, a: T.tensordot(a, a, 3), "dims=3"),
    (lambda T, a: T.tensordot(a, a, ([0], [0, 1])), "same length"),
]

test_errors_name_what_is_wrong = refused(WRONG, np.ones((2, 3), np.float32))
