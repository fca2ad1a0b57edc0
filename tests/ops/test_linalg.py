"""Products of matrices: PyTorch's errors, and no copy that is not needed."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import autokit
from autokit.ops.linalg import batched_mm, folded_mm
from tests.libraries import on_each


def o(T: Any, *shape: int) -> Any:
    return T.ones(*shape)


def d(T: Any, *shape: int) -> Any:
    return T.ones(*shape).double()


def b(T: Any, *shape: int) -> Any:
    return T.ones(*shape).bool()


WRONG = [
    (
        lambda T: T.mm(o(T, 2, 2), d(T, 2, 2)),
        RuntimeError,
        "expected m1 and m2 to have the same dtype, but got: float != double",
    ),
    (lambda T: T.mm(b(T, 2, 2), b(T, 2, 2)), NotImplementedError, "not implemented for 'Bool'"),
    (lambda T: b(T, 2, 2) @ b(T, 2, 2), NotImplementedError, "not implemented for 'Bool'"),
    (
        lambda T: o(T, 2, 2, 3) @ o(T, 2, 2, 3),
        RuntimeError,
        "Expected size for first two dimensions of batch2 tensor to be: [2, 3] but got: [2, 2].",
    ),
    (
        lambda T: o(T, 2, 2, 3) @ o(T, 3, 3, 2),
        RuntimeError,
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
    ),
    (lambda T: o(T, 2, 2, 3) @ o(T, 2), RuntimeError, "input (4), mat (4x3), vec (2)"),
    (lambda T: o(T, 3) @ o(T, 2, 2), RuntimeError, "cannot be multiplied (1x3 and 2x2)"),
    (lambda T: d(T, 3, 2, 2) @ o(T, 2, 2), RuntimeError, "but got: double != float"),
    (lambda T: T.outer(o(T, 2, 2), o(T, 2)), RuntimeError, "outer: Expected 1-D argument self, but got 2-D"),
    (
        lambda T: T.inner(o(T, 2, 3), o(T, 2, 2)),
        RuntimeError,
        "inner() the last dimension must match on both input tensors but got shapes [2, 3] and [2, 2]",
    ),
    (
        lambda T: T.vdot(o(T, 2), o(T, 3)),
        RuntimeError,
        "inconsistent tensor size, expected tensor [2] and src [3]",
    ),
    (
        lambda T: T.addmm(o(T, 2, 2), o(T, 2, 3), o(T, 2, 3)),
        RuntimeError,
        "cannot be multiplied (2x3 and 2x3)",
    ),
    (
        lambda T: T.addmm(o(T, 3, 3), o(T, 2, 2), o(T, 2, 2)),
        RuntimeError,
        "The expanded size of the tensor (2) must match the existing size (3) at non-singleton dimension 1.  "
        "Target sizes: [2, 2].  Tensor sizes: [3, 3]",
    ),
    (
        lambda T: T.addmm(o(T, 2, 2), o(T, 2), o(T, 2, 2)),
        RuntimeError,
        "mat1 must be a matrix, got 1-D tensor",
    ),
    (
        lambda T: T.addmm(o(T, 2, 2), o(T, 2, 2), d(T, 2, 2)),
        RuntimeError,
        "self and mat2 must have the same dtype, but got Float and Double",
    ),
    (
        lambda T: T.addmm(b(T, 2, 2), b(T, 2, 2), b(T, 2, 2)),
        NotImplementedError,
        "not implemented for 'Bool'",
    ),
    (
        lambda T: T.addmm(2, o(T, 2, 2), o(T, 2, 2)),
        TypeError,
        "argument 'input' (position 1) must be Tensor, not int",
    ),
    (lambda T: o(T, 2, 2).addmm_(o(T, 2, 3), o(T, 3, 3)), RuntimeError, ""),
    (
        lambda T: T.addmv(o(T, 2), o(T, 2, 3), o(T, 2)),
        RuntimeError,
        "size mismatch, got input (2), mat (2x3), vec (2)",
    ),
    (
        lambda T: T.addmv(o(T, 2, 2), o(T, 2, 2), o(T, 2)),
        RuntimeError,
        "vector + matrix @ vector expected, got 2, 2, 1",
    ),
    (
        lambda T: T.addr(o(T, 2, 2), o(T, 2, 2), o(T, 2)),
        RuntimeError,
        "addr: Expected 1-D argument vec1, but got 2-D",
    ),
    (
        lambda T: T.addr(o(T, 2, 2).int(), o(T, 2).int(), o(T, 2).int(), beta=0.5),
        RuntimeError,
        "argument beta must not be a floating point number",
    ),
    (
        lambda T: T.addbmm(o(T, 2, 2), o(T, 3, 2, 2), o(T, 2, 2, 2)),
        RuntimeError,
        "batch1 and batch2 must have same number of batches, got 3 and 2",
    ),
    (
        lambda T: T.baddbmm(o(T, 2, 2, 2), o(T, 2, 2), o(T, 2, 2, 2)),
        RuntimeError,
        "batch1 must be a 3D tensor",
    ),
    (
        lambda T: T.baddbmm(o(T, 2, 3, 3), o(T, 2, 2, 2), o(T, 2, 2, 2)),
        RuntimeError,
        "The expanded size of the tensor (2) must match the existing size (3) at non-singleton dimension 2",
    ),
    (lambda T: T.baddbmm(o(T, 1, 1, 2, 2, 2), o(T, 2, 2, 2), o(T, 2, 2, 2)), RuntimeError, ""),
    (lambda T: T.chain_matmul(), RuntimeError, "chain_matmul(): Expected one or more matrices"),
    (lambda T: T.chain_matmul(o(T, 2, 2), o(T, 3, 2)), RuntimeError, ""),
    (
        lambda T: T.matrix_power(o(T, 2, 3), 2),
        RuntimeError,
        "linalg.matrix_power: A must be batches of square matrices, but they are 2 by 3 matrices",
    ),
    (
        lambda T: T.matrix_power(o(T, 2), 2),
        RuntimeError,
        "linalg.matrix_power: The input tensor A must have at least 2 dimensions.",
    ),
    (
        lambda T: T.matrix_power(o(T, 2, 2), 0.5),
        TypeError,
        "argument 'n' (position 2) must be int, not float",
    ),
    (lambda T: T.cross(o(T, 2, 2), o(T, 2, 2)), RuntimeError, "no dimension of size 3 in input"),
    (
        lambda T: T.cross(o(T, 2, 2), o(T, 2, 2), dim=1),
        RuntimeError,
        "linalg.cross: inputs dimension 1 must have length 3. Got 2 and 2",
    ),
    (
        lambda T: T.cross(o(T, 2, 3), o(T, 3)),
        RuntimeError,
        "linalg.cross: inputs must have the same number of dimensions.",
    ),
    (lambda T: T.trace(o(T, 2)), RuntimeError, "trace: expected a matrix, but got tensor with dim 1"),
    (lambda T: T.trace(b(T, 2, 2)), NotImplementedError, "\"trace\" not implemented for 'Bool'"),
    (
        lambda T: T.tensordot(o(T, 2, 3), o(T, 2, 3), 1),
        RuntimeError,
        "contracted dimensions need to match, but first has size 3 in dim -1 and second has size 2 in dim 0",
    ),
    (
        lambda T: T.tensordot(o(T, 2, 3), o(T, 2, 3), -1),
        RuntimeError,
        "tensordot expects dims >= 0, but got dims=-1",
    ),
    (
        lambda T: T.tensordot(o(T, 2, 3), o(T, 2, 3), 3),
        RuntimeError,
        "tensordot expects dims < ndim_a or ndim_b, but got dims=3",
    ),
    (
        lambda T: T.tensordot(o(T, 2, 3), o(T, 2, 3), ([0], [0, 1])),
        RuntimeError,
        "both dimension lists should have same length",
    ),
    (lambda T: T.tensordot(o(T, 2, 3), d(T, 3, 3), 1), RuntimeError, "both inputs should have same dtype"),
    (
        lambda T: T.tensordot(o(T, 2, 3), o(T, 2, 3), ([2], [0])),
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    (
        lambda T: T.tensordot(o(T, 2, 2), o(T, 2, 2), ([0, 0], [0, 1])),
        RuntimeError,
        "dim 0 appears multiple times in the list of dims",
    ),
    *(
        (lambda T, e=equation, s=shapes: T.einsum(e, *(o(T, *each) for each in s)), RuntimeError, message)
        for message, equation, *shapes in (
            (
                "subscript j has size 2 for operand 1 which does not broadcast with previously seen size 3",
                "ij,jk",
                (2, 3),
                (2, 3),
            ),
            (
                "the number of subscripts in the equation (2) does not match the number of dimensions (1) "
                "for operand 0 and no ellipsis was given",
                "ij",
                (2,),
            ),
            ("output subscript j does not appear in the equation for any input operand", "i->j", (2,)),
            ("output subscript i appears more than once in the output", "i->ii", (2,)),
            ("subscript i is repeated for operand 0 but the sizes don't match, 3 != 2", "ii", (2, 3)),
            ("fewer operands were provided than specified in the equation", "i,j", (2,)),
            ("more operands were provided than specified in the equation", "i", (2,), (2,)),
            (
                "invalid subscript given at index 1 in the equation string, subscripts must be in [a-zA-Z]",
                "i1",
                (2, 2),
            ),
            ("invalid subscript given at index 3", "i->1", (2,)),
            ("found '.' for operand 0 that is not part of any ellipsis", "i..", (2, 2)),
            ("found '.' for operand 0 for which an ellipsis was already found", "...i...", (2, 2)),
        )
    ),
    (
        lambda T: T.einsum("...,...", o(T, 2), o(T, 3)),
        RuntimeError,
        "dimension 0 covered by ellipsis in operand 1",
    ),
    (
        lambda T: T.einsum("ij,ij", o(T, 2, 2), d(T, 2, 2)),
        RuntimeError,
        "expected scalar type Float but found Double",
    ),
    (
        lambda T: T.einsum(o(T, 2), [60]),
        ValueError,
        "subscript in subscript list is not within the valid range [0, 52)",
    ),
    (lambda T: T.einsum(o(T, 2), [0], [1]), RuntimeError, "output subscript B does not appear"),
    (lambda T: T.einsum(""), ValueError, "must specify the equation string and at least one operand"),
    (lambda T: T.einsum("i", 5), TypeError, "expected Tensor as element 0 in argument 1, but got int"),
    (lambda T: T.einsum("ij,jk", b(T, 2, 3), b(T, 3, 2)), NotImplementedError, "not implemented for 'Bool'"),
]


@on_each
@pytest.mark.parametrize(("wrong", "kind", "message"), WRONG)
def test_the_type_and_the_words(T: Any, wrong: Callable[..., Any], kind: type[Exception], message: str):
    with pytest.raises(kind, match=re.escape(message)):
        wrong(T)


def test_the_folded_product_is_the_batched_one():
    random = np.random.RandomState(0)
    a, m = autokit.tensor(random.normal(size=(3, 4, 5))), autokit.tensor(random.normal(size=(5, 2)))
    assert autokit.allclose(folded_mm(a, m), batched_mm(a, m), rtol=1e-14)
    a, m = a.requires_grad_(), m.requires_grad_()
    seed = autokit.tensor(random.normal(size=(3, 4, 2)))
    for mine, plain in zip(
        autokit.autograd.grad(folded_mm(a, m), (a, m), seed),
        autokit.autograd.grad(batched_mm(a, m), (a, m), seed),
    ):
        assert autokit.allclose(mine, plain, rtol=1e-12)


def test_einsum_contracts_the_pair_that_leaves_least_first():
    a = autokit.ones(2, 60, requires_grad=True)
    b = autokit.ones(60, 70)
    c = autokit.ones(70, 1)
    assert autokit.einsum("ij,jk,kl->il", a, b, c).tolist() == [[4200.0], [4200.0]]
    names = "abcdefgh"
    many = [autokit.ones(9, 9) for _ in names[1:]]
    equation = ",".join(map("".join, pairwise(names)))
    assert autokit.einsum(f"{equation}->ah", *many)[0, 0].item() == 9.0**6


def test_a_chain_is_multiplied_in_the_cheapest_order():
    tall, wide, tiny = autokit.ones(100, 2), autokit.ones(2, 100), autokit.ones(100, 1)
    tall.requires_grad_()
    product = autokit.chain_matmul(tall, wide, tiny)
    assert product.shape == (100, 1)
    # The last product is of the tall one and the product of the others, not of a 100×100 matrix.
    assert [operand.shape for operand in product.grad_fn.operands] == [(100, 2), (2, 1)]


def test_einsum_that_only_moves_dimensions_is_a_view():
    a = autokit.ones(2, 3)
    assert np.shares_memory(autokit.einsum("ij->ji", a).numpy(), a.numpy())
