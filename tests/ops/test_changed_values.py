"""What is changed in place before the way back: no gradient is ever wrong by it, and PyTorch refuses no less.

Each tensor that goes into an operation, or comes out of it, is changed, and then a gradient is asked for.
Either it is what it would have been, or an error says what was changed.

Where PyTorch refuses and autokit does not, the gradient is right all the same: autokit keeps copies of
indices and masks, and of a pooling, a padding or a norm less than PyTorch does.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

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


def _gradients(library: Any, case: Case, place: int | None) -> Any:
    """The gradients by all leaves, once the tensor at ``place`` was changed; None where there is none.

    Results count from 0, operands from −1 down.
    """
    library.manual_seed(3)
    arrays = [array.astype("float64") if array.dtype.kind == "f" else array for array in case.arrays]
    leaves = [library.tensor(array, requires_grad=array.dtype.kind == "f") for array in arrays]
    operands = [leaf * 1 if leaf.requires_grad else leaf for leaf in leaves]
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
    return [None if one is None else one.numpy() for one in found]


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.name)
def test_a_change_before_the_way_back_is_refused_or_does_not_matter(case: Case) -> None:
    expected = _gradients(autokit, case, None)
    if not expected:
        return
    leaves = [autokit.tensor(array) for array in case.arrays]
    for place in range(-len(case.arrays), len(flat(call(autokit, case, leaves)))):
        try:
            found = _gradients(autokit, case, place)
        except RuntimeError as error:
            assert re.search("modified by an inplace operation|has been modified inplace", str(error))
            if case.name in WRONG_THERE:
                there, changed = _gradients(torch, case, None), _gradients(torch, case, place)
                assert not all(np.allclose(one, other) for one, other in zip(there, changed))
                continue
            with pytest.raises(RuntimeError, match="modified"):
                _gradients(torch, case, place)
            continue
        for one, other in zip(found or (), expected):
            np.testing.assert_equal(one, other)


DECOMPOSITIONS = {
    "svd": lambda x: autokit.linalg.svd(x, full_matrices=False),
    "eigh": autokit.linalg.eigh,
    "qr": autokit.linalg.qr,
    "eig": autokit.linalg.eig,
}


@pytest.mark.parametrize("name", DECOMPOSITIONS)
def test_the_results_of_a_decomposition_may_each_be_changed(name: str) -> None:
    """What the way back of one of them needs of the others is nobody else's memory."""

    def gradients(changed: int | None) -> list[Any]:
        random = np.random.RandomState(1)
        x = autokit.tensor(random.uniform(1, 2, (3, 3)) + np.diag([1.0, 3, 6]), requires_grad=True)
        results = list(DECOMPOSITIONS[name](x))
        found = []
        for place, result in enumerate(results):
            weights = autokit.tensor(random.uniform(0.5, 1, tuple(result.shape)))
            end = (abs(result) ** 2 * weights).sum() if result.is_complex() else (result * weights).sum()
            others = [other for other in results if other is not results[place]]
            if changed is not None:
                with autokit.no_grad():
                    others[changed % len(others)].mul_(3)
            found.append(autokit.autograd.grad(end, x, retain_graph=True)[0].numpy())
            if changed is not None:
                break
        return found

    expected = gradients(None)[0]
    for changed in range(2):
        np.testing.assert_array_equal(gradients(changed)[0], expected)


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


def test_weights_of_a_loss_may_be_changed() -> None:
    """They were its settings' own memory, so that the gradient was that of other weights."""
    functional = autokit.nn.functional
    for loss in (functional.binary_cross_entropy, functional.binary_cross_entropy_with_logits):
        found = []
        for change in (False, True):
            x = autokit.tensor([0.2, 0.7], requires_grad=True)
            weight = autokit.tensor([1.0, 2.0])
            end = loss(x, autokit.tensor([1.0, 0.0]), weight)
            if change:
                weight.zero_()
            end.backward()
            found.append(x.grad.tolist())
        assert found[0] == found[1]
