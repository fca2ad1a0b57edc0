"""What is changed in place before the way back: refused as in PyTorch, or no gradient is wrong by it.

Each tensor that goes into an operation, or comes out of it, is changed, and then a gradient is asked for.
Either it is what it would have been, or an error says what was changed.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any
from weakref import ref

import numpy as np
import pytest

import autokit
from tests.ops.case import Case, call, flat
from tests.ops.cases import CASES
from tests.support import require

require("torch")
import torch  # noqa: E402

WRONG_THERE = ("kron",)
"""Refused here alone: PyTorch looks at the changed elements without a word, and gives a wrong gradient."""

COMPUTED = {
    "einsum": "of three operands and more the order decides which are copied; a diagonal is copied here",
    **dict.fromkeys(("mul", "div", "vdot"), "a real factor of complex numbers is converted first, in a copy"),
    **dict.fromkeys(
        ("ldexp_", "copysign_", "float_power", "pow_"), "the result overwrites, and is not asked for"
    ),
    "sgn_": "PyTorch has a gradient of zeros that is no array",
    "resize": "PyTorch saves both for nothing but their shapes",
    **dict.fromkeys(
        ("addcdiv", "addcdiv_", "bilinear", "lerp", "augmented"), "beside a constant less is needed"
    ),
}
"""Refused in PyTorch alone, though the gradient is right: what is not guarded here, and why."""

_seen: Counter[str] = Counter()


def _first_of_their_kind(case: Case) -> bool:
    _seen[case.name] += 1
    return _seen[case.name] <= 4


CHOSEN = [case for case in CASES if _first_of_their_kind(case)]


def _changed(library: Any, tensor: Any) -> None:
    with library.no_grad():
        if tensor.dtype is library.bool:
            tensor.logical_not_()
        elif tensor.dtype.is_floating_point or tensor.dtype.is_complex:
            tensor.add_(1)
        else:
            tensor.bitwise_xor_(1)


def _gradients(library: Any, case: Case, place: int | None, constant: int | None = None) -> Any:
    """The gradients by all leaves, once the tensor at ``place`` was changed; None where there is none.

    Results count from 0, operands from −1 down.  The operand number ``constant`` does not learn.
    """
    library.manual_seed(3)
    arrays = [array.astype("float64") if array.dtype.kind == "f" else array for array in case.arrays]
    leaves = [
        library.tensor(array, requires_grad=array.dtype.kind == "f" and number != constant)
        for number, array in enumerate(arrays)
    ]
    operands = [leaf * 1 if leaf.dtype.is_floating_point else leaf for leaf in leaves]
    results = flat(call(library, case, operands))
    ends = [one for one in results if isinstance(one, library.Tensor) and one.requires_grad]
    if place is not None:
        chosen = results[place] if place >= 0 else operands[-1 - place]
        if not isinstance(chosen, library.Tensor) or not chosen.numel():
            return None
        try:
            _changed(library, chosen)
        except RuntimeError:  # a part of several, or repeated elements
            return None
    random = np.random.RandomState(0)
    seeds = [library.tensor(random.uniform(-1, 1, tuple(end.shape))).to(end.dtype) for end in ends]
    learning = [leaf for leaf in leaves if leaf.requires_grad]
    found = library.autograd.grad(ends, learning, seeds, allow_unused=True) if ends and learning else ()
    return [None if one is None else _numbers(one) for one in found]


def _numbers(gradient: Any) -> Any:
    return gradient.numpy(force=True) if isinstance(gradient, torch.Tensor) else gradient.numpy()


def _outcome(library: Any, case: Case, place: int, constant: int | None) -> Any:
    """The gradients after a change, or "refused"."""
    try:
        return _gradients(library, case, place, constant)
    except RuntimeError as error:
        assert re.search("modified by an inplace operation|has been modified inplace", str(error))
        return "refused"


def _agree(some: Any, others: Any) -> bool:
    return all(
        one is other if one is None or other is None else np.array_equal(one, other, equal_nan=True)
        for one, other in zip(some, others)
    )


def _constants(case: Case) -> list[int | None]:
    """Which operands not to let learn, one after the other, and none of them."""
    floats = [number for number, array in enumerate(case.arrays) if array.dtype.kind == "f"]
    return [None, *(floats if len(floats) > 1 else ())]


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.name)
def test_a_change_before_the_way_back_is_refused_as_in_pytorch_or_does_not_matter(case: Case) -> None:
    count = len(flat(call(autokit, case, [autokit.tensor(array) for array in case.arrays])))
    for constant in _constants(case):
        expected = _gradients(autokit, case, None, constant)
        for place in range(-len(case.arrays), count) if expected else ():
            ours, theirs = (_outcome(library, case, place, constant) for library in (autokit, torch))
            if ours == "refused" != theirs:
                assert case.name in WRONG_THERE
                assert not _agree(theirs, _gradients(torch, case, None, constant))
            elif ours != "refused":
                assert theirs != "refused" or case.name in COMPUTED
                assert ours is None or _agree(ours, expected)


DECOMPOSITIONS = {
    "svd": lambda T, x: T.linalg.svd(x, full_matrices=False),
    "eigh": lambda T, x: T.linalg.eigh(x),
    "qr": lambda T, x: T.linalg.qr(x),
    "eig": lambda T, x: T.linalg.eig(x),
    "lu": lambda T, x: T.linalg.lu(x),
}


@pytest.mark.parametrize("changed", range(3))
@pytest.mark.parametrize("name", DECOMPOSITIONS)
def test_each_result_of_a_decomposition_is_needed_for_the_way_back_of_the_others(
    name: str, changed: int
) -> None:
    for T in (autokit, torch):
        x = T.tensor([[3.0, 1.0], [0.5, 1.0]], requires_grad=True)
        results = list(DECOMPOSITIONS[name](T, x * 1))
        if changed >= len(results):
            return
        end = next(
            result for number, result in enumerate(results) if number != changed and result.requires_grad
        )
        loss = abs(end).sum()
        results[changed].detach().mul_(3)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


@pytest.mark.parametrize("join", ["cat", "stack", "hstack", "vstack", "block_diag"])
def test_what_was_joined_may_be_changed_and_let_go(join: str) -> None:
    """Large ones too: the way back needs no more of them than their shapes."""
    for library in (autokit, torch):
        leaf = library.ones(50, 50, requires_grad=True)
        large, constant = leaf * 2, library.ones(50, 50)
        parts = [large, constant]
        made = library.block_diag(*parts) if join == "block_diag" else getattr(library, join)(parts)
        large.mul_(3)
        constant.zero_()
        if library is autokit:
            assert not made.grad_fn.saved
        made.sum().backward()
        assert leaf.grad.numpy().tolist() == np.full((50, 50), 2).tolist()


LEARNERS = {
    "x[index]": lambda T, x, i, m: x[i],
    "x[:, index]": lambda T, x, i, m: x[:, i],
    "x[mask]": lambda T, x, i, m: x[m],
    "x[index] = 1": lambda T, x, i, m: x.__setitem__((i, i), 1.0) or x,
    "x[mask] = 1": lambda T, x, i, m: x.__setitem__(m, 1.0) or x,
    "embedding": lambda T, x, i, m: T.nn.functional.embedding(i, x),
    "embedding_bag": lambda T, x, i, m: T.nn.functional.embedding_bag(i.reshape(1, -1), x),
    "cross_entropy": lambda T, x, i, m: T.nn.functional.cross_entropy(x[:2], i),
    "weighted": lambda T, x, i, m: T.nn.functional.cross_entropy(x[:2], i * 1, (i + 1.0).repeat(2)[:3]),
    "where": lambda T, x, i, m: T.where(m, x, 0.0),
    "dropped": lambda T, x, i, m: x * m,
    "scaled": lambda T, x, i, m: x[:2, :2] * i,
    "weights of binary cross-entropy": lambda T, x, i, m: T.nn.functional.binary_cross_entropy_with_logits(
        x[0], m[0].to(x.dtype), m[1].to(x.dtype)
    ),
}


@pytest.mark.parametrize("call_", LEARNERS)
def test_a_changed_index_or_mask_is_refused(call_: str) -> None:
    """Both were copied, so that the gradient was right; and no error told of the change."""
    for change in ("index", "mask", "nothing"):
        found = []
        for T in (autokit, torch):
            x = T.arange(9.0).reshape(3, 3).requires_grad_()
            index, mask = T.tensor([0, 2]), T.tensor([[True, False, True]] * 3)
            result = LEARNERS[call_](T, x * 1, index, mask)
            if change == "index":
                index.fill_(1)
            elif change == "mask":
                mask.logical_not_()
            try:
                found.append(T.autograd.grad(result.sum(), x)[0].tolist())
            except RuntimeError as error:
                assert "modified by an inplace operation" in str(error)
                found.append("refused")
        if "refused" in found:
            assert found == ["refused", "refused"]
        else:
            np.testing.assert_allclose(*found, rtol=1e-5)


def test_what_is_guarded_is_told_of_and_not_held() -> None:
    x = autokit.ones(3, requires_grad=True)
    index = autokit.tensor([0, 2])
    freed = ref(index.array.base if index.array.base is not None else index)
    part = x[index]
    index += 0
    with pytest.raises(RuntimeError, match=r"\[torch.int64 \[2\]\] is at version 1.*index \+= 0"):
        part.sum().backward()
    part = x[index]
    del index
    assert freed() is None
    part.sum().backward()
    assert x.grad.tolist() == [1, 0, 1]
