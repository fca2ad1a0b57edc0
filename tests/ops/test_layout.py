"""Results lie in memory as PyTorch's, whatever their operands do: so ``view`` reads them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autokit
from tests.ops.case import flat
from tests.ops.cases import CASES, fourier
from tests.support import require

require("torch")
import torch  # noqa: E402

TAKEN_AS = {
    "permuted": lambda x: x.permute(0, 2, 3, 1),
    "transposed": lambda x: x.transpose(2, 3),
    "turned": lambda x: x.permute(3, 2, 1, 0),
    "in channels": lambda x: x.contiguous(memory_format=_module(x).channels_last),
    "in rows": lambda x: x,
}


def _module(x: Any) -> Any:
    return torch if isinstance(x, torch.Tensor) else autokit


RESULTS = {
    "softmax": lambda T, x: x.softmax(-1),
    "softmax, not of the last": lambda T, x: x.softmax(1),
    "log_softmax": lambda T, x: x.log_softmax(-1),
    "logsumexp": lambda T, x: x.logsumexp(0),
    "masked_fill": lambda T, x: x.masked_fill(x > 0, 0.0),
    "cumsum": lambda T, x: x.cumsum(1),
    "cumprod": lambda T, x: x.cumprod(1),
    "logcumsumexp": lambda T, x: x.logcumsumexp(1),
    "cat": lambda T, x: T.cat([x, x], 1),
    "sum": lambda T, x: x.sum(0),
    "mean": lambda T, x: x.mean(0),
    "std": lambda T, x: x.std(0),
    "var": lambda T, x: x.var(0),
    "norm": lambda T, x: x.norm(dim=0),
    "prod": lambda T, x: x.prod(0),
    "amax": lambda T, x: x.amax(0),
    "any": lambda T, x: (x > 0).any(0),
    "median": lambda T, x: x.median(0)[0],
    "pad": lambda T, x: T.nn.functional.pad(x, (1, 1)),
    "roll": lambda T, x: x.roll(1, 1),
    "renorm": lambda T, x: x.renorm(2, 1, 1.0),
    "tril": lambda T, x: x.tril(),
    "triu": lambda T, x: x.triu(),
    "layer_norm": lambda T, x: T.nn.functional.layer_norm(x, x.shape[-1:]),
    "batch_norm": lambda T, x: T.nn.functional.batch_norm(x, None, None, training=True),
    "group_norm": lambda T, x: T.nn.functional.group_norm(x, x.shape[1]),
    "group_norm of several channels": lambda T, x: T.nn.functional.group_norm(x, 1),
    "conv2d": lambda T, x: T.nn.functional.conv2d(x, T.ones(2, x.shape[1], 1, 1), T.ones(2)),
    "conv2d without bias": lambda T, x: T.nn.functional.conv2d(x, T.ones(2, x.shape[1], 2, 2)),
    "conv_transpose2d": lambda T, x: T.nn.functional.conv_transpose2d(x, T.ones(x.shape[1], 2, 2, 2)),
    "one_hot": lambda T, x: T.nn.functional.one_hot((x > 0).long(), 2),
}


@pytest.mark.parametrize("taken_as", TAKEN_AS)
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_lies_as_pytorchs(name: str, taken_as: str):
    mine, yours = (
        RESULTS[name](T, TAKEN_AS[taken_as](T.arange(1.0, 121.0).reshape(2, 3, 4, 5).cos()))
        for T in (autokit, torch)
    )
    assert mine.stride() == yours.stride()


READS = {
    "places": lambda T, x: x[:, T.tensor([0, 1])],
    "a list": lambda T, x: x[..., [2, 0]],
    "a mask": lambda T, x: x[:, T.tensor([True, False, True])],
    "pairs": lambda T, x: x[:, T.tensor([0, 1]), T.tensor([3, 2])],
    "a number beside places": lambda T, x: x[0, :, T.tensor([0, 1])],
}


@pytest.mark.parametrize("name", READS)
def test_what_is_read_at_places_can_be_viewed(name: str):
    mine, yours = (READS[name](T, T.arange(24.0).reshape(2, 3, 4)) for T in (autokit, torch))
    assert mine.stride() == yours.stride()
    assert mine.view(-1).tolist() == yours.view(-1).tolist()


def test_dropout_drops_the_same_of_attention_over_permuted_scores():
    def dropped(T: Any) -> Any:
        T.manual_seed(0)
        scores = T.einsum("ibhd,jbhd->ijbh", T.randn(5, 2, 2, 4), T.randn(5, 2, 2, 4))
        return T.nn.functional.dropout(scores.masked_fill(scores > 1, -1e9).softmax(1), 0.5)

    assert (dropped(autokit) == 0).tolist() == (dropped(torch) == 0).tolist()


def test_results_in_rows_are_mapped_over():
    def both(x: Any) -> Any:
        return x.t().softmax(-1) + x.t().cumsum(0) + x.t()[:, [1, 0]].sum(0)

    batch = autokit.arange(12.0).reshape(2, 2, 3).cos()[:, :, :2]
    assert autokit.allclose(autokit.vmap(both)(batch), autokit.stack([both(each) for each in batch]))


# ---------------------------------------------------------------- all operations

ARRANGED = {
    "rows": lambda L, a: L.tensor(a),
    "turned": lambda L, a: L.tensor(np.ascontiguousarray(a.T)).permute(*range(a.ndim)[::-1]),
    "swapped": lambda L, a: L.tensor(np.ascontiguousarray(a.swapaxes(-1, -2))).transpose(-1, -2),
    "channels": lambda L, a: L.tensor(a).contiguous(
        memory_format=L.channels_last if a.ndim == 4 else L.channels_last_3d
    ),
}

TRANSFORMS = {*fourier.ONE.split(), *fourier.SEVERAL.split()}
BY_STEPS = "made here by several recorded products"
MIXED = "of operands that lie differently PyTorch follows the first, and NumPy none"
OTHERWISE = {
    "addr": MIXED,
    "local_response_norm": MIXED,
    "getitem": "of indices of several dimensions PyTorch's gather begins with the longest steps",
    "einsum": "PyTorch takes diagonals and sums of one operand as views, and orders long products otherwise",
    "kron": "PyTorch reads its own product by a view, which fails for some layouts",
    "take_along_dim": "without dim PyTorch reads the indices by a view, which fails for some layouts",
    "pad": "of negative widths alone PyTorch copies a view as it lies",
    "max_pool3d": "PyTorch refuses channels last without a batch",
    "linalg.householder_product": BY_STEPS,
    "orgqr": BY_STEPS,
    **{f"fft.{name}": "PyTorch's library for transforms chooses" for name in TRANSFORMS},
    "linalg.solve": "of a vector for each matrix PyTorch makes columns of the batch",
    "linalg.lstsq": "PyTorch's are a part of a longer array",
    "linalg.ldl_solve": "PyTorch fills columns",
    "linalg.lu_solve": "of X A = B PyTorch fills columns",
    "linalg.solve_triangular": "of X A = B PyTorch fills columns",
}
"""Operations with a result that lies otherwise than PyTorch's, and why."""


def _steps(tensor: Any) -> Any:
    return None if not tensor.numel() else [s for s, n in zip(tensor.stride(), tensor.shape) if n > 1]


def _layouts(library: Any, case: Any, arranged: str) -> Any:
    """How the results lie; sizes of 1 have no step of their own."""
    tensors = []
    for array in case.arrays:
        array = array.astype(np.float32) if array.dtype.kind == "f" else array
        least = {"rows": 0, "channels": 4}.get(arranged, 2)
        known = array.ndim >= least and (arranged != "channels" or array.ndim < 6)
        tensors.append(ARRANGED[arranged if known else "rows"](library, array))
    library.manual_seed(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = flat(case.call(library, *tensors))
    except RuntimeError:
        return "refused"
    return [_steps(each) for each in results if isinstance(each, library.Tensor) and not each.is_sparse]


@pytest.mark.parametrize("name", sorted({case.name for case in CASES}))
def test_all_results_lie_as_pytorchs_or_there_is_a_reason(name: str):
    differing = []
    for case in CASES:
        if case.name != name or any(1 in array.shape for array in case.arrays):
            continue
        for arranged in ARRANGED:
            mine, yours = (_layouts(T, case, arranged) for T in (autokit, torch))
            if mine != yours:
                differing.append((arranged, [array.shape for array in case.arrays], mine, yours))
    assert bool(differing) == (name in OTHERWISE), differing
