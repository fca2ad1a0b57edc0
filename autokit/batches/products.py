"""Products of matrices for each sample, and what NumPy does with the last two dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.batches.batch import RULES, UFUNC_RULES, Batch, Level, NotBatched, aligned, ndim_of, wrapped
from autokit.batches.rules import rule, whole

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""As ``string.ascii_letters``, without the module, which takes long to load."""

# ---------------------------------------------------------------- products


def matmul(level: Level, ufunc: Any, a: Any, b: Any, **settings: Any) -> Any:
    """``a @ b`` for each sample: one product of large matrices where one of them is the same for all."""
    mine, other = ndim_of(a), ndim_of(b)
    if not mine or not other:
        raise ValueError("matmul: Input operand does not have enough dimensions")
    if np.shape(a)[-1] != np.shape(b)[-2 if other > 1 else 0]:
        raise ValueError("matmul: Input operand 1 has a mismatch in its core dimension 0")
    left, right = whole(a, level), whole(b, level)
    if settings:
        raise NotBatched("vmap has no batching rule for matmul with settings")
    if right.shape[0] == 1 and other == 2:  # (samples, …, n) @ (n, m)
        return Batch(_wide(left, right[0]), level)
    if left.shape[0] == 1 and mine == 2 and other == 1:  # (m, n) @ (samples, n)
        return Batch(np.matmul(right, np.swapaxes(left[0], 0, 1)), level)
    if mine == 1:
        left = left[:, None, :]
    if other == 1:
        right = right[:, :, None]
    ndim = max(left.ndim, right.ndim) - 1
    product = np.matmul(aligned(Batch(left, level), level, ndim), aligned(Batch(right, level), level, ndim))
    if mine == 1:
        product = product[..., 0, :]
    if other == 1:
        product = product[..., 0]
    return Batch(product, level)


def _wide(left: Any, right: Any) -> Any:
    """``left @ right`` where all matrices on the left are multiplied with the same one."""
    if left.ndim == 2:
        return np.matmul(left, right)
    shape = left.shape
    return np.matmul(left.reshape((int(np.prod(shape[:-1])), shape[-1])), right).reshape(
        (*shape[:-1], right.shape[1])
    )


UFUNC_RULES[np.matmul, "__call__"] = matmul


@rule(np.dot)
def _dot(level: Level, a: Any, b: Any, out: Any = None) -> Any:
    mine, other = ndim_of(a), ndim_of(b)
    if out is not None or (mine > 2 and other > 1) or other > 2:
        raise NotBatched("vmap has no batching rule for dot of these shapes")
    return a * b if not mine or not other else np.matmul(a, b)


@rule(np.outer)
def _outer(level: Level, a: Any, b: Any, out: Any = None) -> Any:
    return np.ravel(a)[:, None] * np.ravel(b)[None, :]


@rule(np.cross)
def _cross(
    level: Level, a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise NotBatched("vmap has no batching rule for the cross product of other than 3 elements")
    ndim = max(a.ndim, b.ndim)
    arrays = [aligned(Batch(whole(each, level), level), level, ndim) for each in (a, b)]
    return RULES[np.moveaxis](level, Batch(np.cross(*arrays), level), -1, axisc)


@rule(np.einsum)
def _einsum(level: Level, subscripts: Any, *operands: Any, **settings: Any) -> Any:
    if not isinstance(subscripts, str) or settings.get("out") is not None:
        raise NotBatched("vmap has no batching rule for einsum without letters")
    inputs, arrow, result = subscripts.replace(" ", "").partition("->")
    if not arrow:
        letters = inputs.replace(",", "").replace("...", "")
        result = "..." * ("..." in inputs)
        result += "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    sample = next(letter for letter in LETTERS if letter not in subscripts)
    parts, arrays = inputs.split(","), []
    for place, operand in enumerate(operands):
        if operand.__class__ is Batch and operand.level is level:
            parts[place] = sample + parts[place]
            operand = operand.full
        arrays.append(operand)
    return Batch(np.einsum(f"{','.join(parts)}->{sample}{result}", *arrays, **settings), level)


@rule(np.tensordot)
def _tensordot(level: Level, a: Any, b: Any, axes: Any = 2) -> Any:
    mine, other = ndim_of(a), ndim_of(b)
    if isinstance(axes, int):
        axes = (list(range(mine - axes, mine)), list(range(axes)))
    of_a, of_b = [[each] if isinstance(each, int) else list(each) for each in axes]
    left, right = list(LETTERS[:mine]), list(LETTERS[mine : mine + other])
    for here, there in zip(of_a, of_b):
        right[there] = left[here]
    summed = {left[here] for here in of_a}
    kept = [letter for letter in left + right if letter not in summed]
    return np.einsum(f"{''.join(left)},{''.join(right)}->{''.join(kept)}", a, b)


# ---------------------------------------------------------------- matrices in the last two dimensions


def _of_matrices(function: Any) -> None:
    @rule(function)
    def apply(level: Level, a: Any, *arguments: Any, **settings: Any) -> Any:
        array = whole(a, level)
        if array.ndim < 3:
            raise np.linalg.LinAlgError(
                f"{ndim_of(a)}-dimensional array given. Array must be two-dimensional"
            )
        return wrapped(function(array, *arguments, **settings), level)


_each: Any
for _each in (np.triu, np.tril, np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.cholesky):
    _of_matrices(_each)
for _each in (np.linalg.qr, np.linalg.svd, np.linalg.eigh, np.linalg.eig, np.linalg.eigvals):
    _of_matrices(_each)
_of_matrices(np.linalg.eigvalsh)


@rule(np.linalg.solve)
def _solve(level: Level, a: Any, b: Any) -> Any:
    if ndim_of(b) == 1:
        return np.linalg.solve(a, b[:, None])[..., 0]
    ndim = max(ndim_of(a), ndim_of(b))
    return Batch(
        np.linalg.solve(*[aligned(Batch(whole(x, level), level), level, ndim) for x in (a, b)]), level
    )
