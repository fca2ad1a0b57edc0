"""Every operation beside PyTorch: values, dtypes, shapes, names of nodes, first and second derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit
from autokit import ops
from autokit.autograd.node import Node
from autokit.ops.operation import OPERATIONS
from tests.ops.beside import assert_same
from tests.ops.case import Case, call, flat
from tests.ops.cases import CASES, NEED_A_GPU, OF_SPARSE_TENSORS
from tests.support import require

require("torch")
import torch  # noqa: E402

IDS = [f"{case.name}-{number}" for number, case in enumerate(CASES)]
every_case = pytest.mark.parametrize("case", CASES, ids=IDS)
both_precisions = pytest.mark.parametrize("precision", ["float64", "float32"])


def tensors_of(library: Any, case: Case, precision: str, requires_grad: bool = True) -> list[Any]:
    made = []
    for array in case.arrays:
        array = array.astype(precision) if array.dtype.kind == "f" else array
        made.append(library.tensor(array, requires_grad=requires_grad and array.dtype.kind == "f"))
    return made


def weights_like(tensor: Any, seed: int) -> np.ndarray:
    return np.random.RandomState(seed).uniform(-1, 1, tuple(tensor.shape))


def gradients(library: Any, results: list[Any], leaves: list[Any], seed: int) -> tuple[list[Any], list[Any]]:
    """The gradients by the leaves of a weighted sum of all results, with their own graph; and the weights."""
    places = [n for n, r in enumerate(results) if isinstance(r, library.Tensor) and r.requires_grad]
    if not places or not leaves:
        return [None] * len(leaves), []
    ends = [results[place] for place in places]
    seeds = [library.tensor(weights_like(results[n], seed + n)).to(results[n].dtype) for n in places]
    seeds = [each.requires_grad_() for each in seeds]
    return list(library.autograd.grad(ends, leaves, seeds, create_graph=True, allow_unused=True)), seeds


def run(library: Any, case: Case, precision: str) -> tuple[list[Any], list[Any], list[Any]]:
    """The results, and the first and second derivatives, these by the weights too."""
    tensors = tensors_of(library, case, precision)
    leaves = [tensor for tensor in tensors if tensor.requires_grad]
    results = flat(call(library, case, tensors))
    first, seeds = gradients(library, results, leaves, 1)
    second, _ = gradients(library, first, leaves + seeds, 100)
    return results, first, second


@both_precisions
@every_case
def test_the_results_are_pytorchs(case: Case, precision: str):
    ours = flat(call(autokit, case, tensors_of(autokit, case, precision, requires_grad=False)))
    theirs = flat(call(torch, case, tensors_of(torch, case, precision, requires_grad=False)))
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs):
        assert_same(mine, other)


@every_case
def test_the_derivatives_are_pytorchs(case: Case):
    ours, theirs = run(autokit, case, "float64"), run(torch, case, "float64")
    for mine, other in zip(ours[0], theirs[0]):
        if isinstance(other, torch.Tensor):
            assert_same(mine, other)
            assert mine.requires_grad == other.requires_grad
    for order in (1, 2):
        for mine, other in zip(ours[order], theirs[order]):
            if other is None or mine is None:  # PyTorch gives either None or zeros where nothing depends
                given = mine if other is None else other
                assert given is None or not given.detach().numpy(force=True).any()
            else:
                assert_same(mine, other)


@every_case
def test_backward_leaves_the_same_gradients(case: Case):
    grads = []
    for library in (autokit, torch):
        tensors = tensors_of(library, case, "float32")
        ends = [
            r for r in flat(call(library, case, tensors)) if isinstance(r, library.Tensor) and r.requires_grad
        ]
        for place, end in enumerate(ends):
            end.backward(library.tensor(weights_like(end, place)).to(end.dtype), retain_graph=True)
        grads.append([tensor.grad for tensor in tensors])
    for mine, other in zip(*grads):
        assert (mine is None) == (other is None)
        if other is not None:
            assert_same(mine, other)


@pytest.mark.parametrize("case", [case for case in CASES if case.named_alike], ids=lambda case: case.name)
def test_the_nodes_have_pytorchs_names(case: Case):
    ours = flat(call(autokit, case, tensors_of(autokit, case, "float64")))
    theirs = flat(call(torch, case, tensors_of(torch, case, "float64")))
    for mine, other in zip(ours, theirs):
        if isinstance(other, torch.Tensor) and other.grad_fn is not None:
            assert type(mine.grad_fn).__name__ == type(other.grad_fn).__name__


# ---------------------------------------------------------------- nothing is left out


def operations_behind(tensors: list[Any]) -> set[str]:
    seen: set[Node] = set()
    stack = [t.grad_fn for t in tensors if isinstance(t, autokit.Tensor) and t.grad_fn is not None]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += [target for target in node.targets if isinstance(target, Node)]
    return {node.operation.name for node in seen}


def test_every_operation_has_a_case():
    tried = {case.name for case in CASES}
    for case in CASES:
        for results in run(autokit, case, "float64"):
            tried |= operations_behind(results)
    by_networks = {"attention", "linear", "affine", "mse_loss", "nll_loss", "recurrence", "sequences"}
    by_vmap = {"into_samples", "from_samples", "sum_of_samples", "shared"}
    untried = set(OPERATIONS) - tried - NEED_A_GPU - OF_SPARSE_TENSORS - by_networks - by_vmap
    untried = {name for name in untried if not name.startswith("binary_cross_entropy")}
    untried -= {"unrecorded_view", "expanded_base", "set_", "alias"}  # calls of other forms make them
    assert not untried


def test_every_public_function_has_a_case():
    from autokit.ops.gpu import attention  # noqa: F401 - an operation that few programs need

    public = {*ops.FUNCTIONS, *ops.METHODS}
    without = public - {case.name for case in CASES}
    elsewhere = NEED_A_GPU | OF_SPARSE_TENSORS
    removed = set(ops.removed.NAMES.both.split()) | {"matrix_rank"}  # see test_older_programs
    assert without == elsewhere & public | removed
    assert elsewhere <= public | OPERATIONS.keys()  # else a name is of something that is no more
