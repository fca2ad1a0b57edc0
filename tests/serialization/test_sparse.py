"""Sparse tensors in files: between autokit and PyTorch, and in files that somebody has changed."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import autokit as ak
from autokit.serialization import writing
from tests.serialization.archives import here, saved, there
from tests.support import require

require("torch")
import torch  # noqa: E402

PLACES, NUMBERS = [[1, 0, 1], [2, 1, 2]], [1.0, 2.0, 3.0]

SPARSE: dict[str, Callable[[Any], Any]] = {
    "places that are named twice": lambda t: t.sparse_coo_tensor(PLACES, NUMBERS, (2, 3)),
    "in order": lambda t: t.eye(3).to_sparse(),
    "of rows": lambda t: t.sparse_coo_tensor([[2, 0]], [[1.0, 2.0], [3.0, 4.0]], (4, 2)),
    "of integers": lambda t: t.sparse_coo_tensor([[0]], [7], (2,)),
    "all zeros": lambda t: t.zeros(2, 2).to_sparse(),
    "a number": lambda t: t.tensor(3.0).to_sparse(),
    "a parameter": lambda t: t.nn.Parameter(t.eye(2).to_sparse()),
}


def told(tensor: Any) -> tuple[Any, ...]:
    return (
        tensor._indices().tolist(),
        tensor._values().tolist(),
        str(tensor.dtype),
        tuple(tensor.shape),
        tensor.is_coalesced(),
        tensor.requires_grad,
        type(tensor).__name__,
    )


@pytest.mark.parametrize("name", SPARSE)
def test_a_sparse_tensor_goes_both_ways(name: str):
    own, theirs = SPARSE[name](ak), SPARSE[name](torch)
    assert told(here(theirs)) == told(own) == told(theirs)
    assert told(there(own)) == told(theirs)
    again = ak.load(saved({"a": own, "b": [own]}, ak))
    assert again["b"][0] is again["a"]
    assert told(again["a"]) == told(own)


def changed(**fields: Any) -> io.BytesIO:
    """A file of a sparse tensor in which some of what it holds is something else."""
    tensor = ak.eye(3).to_sparse()
    for name, value in fields.items():
        setattr(tensor.array, name, value)
    return saved(tensor, ak)


def test_places_outside_and_false_claims_are_found(monkeypatch: pytest.MonkeyPatch):
    inside = ak.eye(3).to_sparse().array.indices
    with pytest.raises(pickle.UnpicklingError, match=r"size is 3 but found index 7"):
        ak.load(changed(indices=inside + 5))
    with pytest.raises(pickle.UnpicklingError, match="negative index"):
        ak.load(changed(indices=inside - 1))
    with pytest.raises(pickle.UnpicklingError, match="same nnz"):
        ak.load(changed(indices=inside[:, :2]))
    with pytest.raises(pickle.UnpicklingError, match="len"):
        ak.load(changed(shape=(3, 3, 3)))
    turned = ak.load(changed(indices=inside[:, ::-1].copy(), coalesced=True))
    assert not turned.is_coalesced()
    assert turned.to_dense().equal(ak.eye(3))
    monkeypatch.setattr(writing, "sparse_coo", ak.strided)
    with pytest.raises(pickle.UnpicklingError, match=r"this one is torch\.strided"):
        ak.load(changed())
