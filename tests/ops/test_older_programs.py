"""What programs for an older PyTorch meet in today's: a name that raises, a condition of bytes."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import pytest

import autokit
from tests.support import require

REMOVED = {
    "eig": (lambda T, a: (T.eig(a), a.eig()), "torch.linalg.eig"),
    "lstsq": (lambda T, a: (T.lstsq(a, a), a.lstsq(a)), "torch.linalg.lstsq"),
    "matrix_rank": (lambda T, a: T.matrix_rank(a), "torch.linalg.matrix_rank"),
    "solve": (lambda T, a: (T.solve(a, a), a.solve(a)), "torch.linalg.solve"),
    "symeig": (lambda T, a: (T.symeig(a, eigenvectors=True), a.symeig()), "torch.linalg.eigh"),
}


@pytest.mark.parametrize("name", REMOVED)
@pytest.mark.parametrize("library", ["autokit", "torch"])
def test_a_removed_function_says_what_to_write(name: str, library: str):
    require(library)
    T = importlib.import_module(library)
    call, newer = REMOVED[name]
    with pytest.raises(RuntimeError, match="is now removed") as caught:
        call(T, T.eye(2))
    assert newer in str(caught.value)


def test_a_condition_of_bytes_chooses_as_bools_do():
    x = autokit.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with pytest.warns(UserWarning, match="uint8 condition"):
        y = autokit.where(autokit.tensor([1, 0, 2], dtype=autokit.uint8), x, x * 10)
    y.sum().backward()
    assert y.tolist() == [1.0, 20.0, 3.0] and x.grad.tolist() == [1.0, 10.0, 1.0]
    with pytest.raises(RuntimeError, match="boolean"):
        autokit.where(autokit.tensor([1, 0, 2]), x, x)


NODES = {
    "batches": lambda T, a, b: a @ b,
    "batches of batches": lambda T, a, b: a[None] @ b[None],
    "bmm": lambda T, a, b: T.bmm(a, b),
    "einsum": lambda T, a, b: T.einsum("bij,bjk->bik", a, b),
    "linear": lambda T, a, b: T.nn.Linear(4, 2)(a),
    "linear of turned": lambda T, a, b: T.nn.Linear(4, 2)(a.transpose(0, 1)),
    "linear of a slice": lambda T, a, b: T.nn.Linear(4, 2)(a[:, 1:]),
}


@pytest.mark.parametrize("name", NODES)
def test_products_show_pytorchs_backward_nodes(name: str):
    require("torch")
    import torch

    def node(T: Any) -> str:
        a, b = T.ones(2, 3, 4, requires_grad=True), T.ones(2, 4, 5, requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return str(type(NODES[name](T, a, b).grad_fn).__name__)

    assert node(autokit) == node(torch)
