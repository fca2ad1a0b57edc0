"""Which operations autocasting casts: every case's result has the dtype that it has in PyTorch.

PyTorch's lists for GPUs are read without one: its fake tensors, which have a device and a dtype but no
elements, go through the same dispatcher.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

import autokit
from autokit.ops.autocast import WAYS, Region
from autokit.thread_state import thread
from tests.ops.case import Case, flat
from tests.ops.cases import CASES
from tests.support import require

require("torch")
require("ml_dtypes")
import torch  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

KINDS = list({(case.name, *(array.ndim for array in case.arrays)): case for case in CASES}.values())
"""Of cases of one name and alike shapes one."""

OTHERWISE = {
    "div": "1 / x of PyTorch is x.reciprocal() on a GPU",
    "einsum": "on the CPU PyTorch multiplies elementwise where what operands share has size 1",
    "linalg.pinv": "PyTorch multiplies its factors in half precision",
    "l1_loss": "with a weight PyTorch takes other steps",
    "mse_loss": "with a weight PyTorch takes other steps",
}
"""Functions whose results may stay in another precision than PyTorch's."""


@contextmanager
def ours(device: str, half: str) -> Iterator[None]:
    """Autocasting as on ``device``, with tensors that are on the CPU."""
    region = Region(getattr(autokit, half).numpy, WAYS[device], {})
    thread.state.autocast = {"cpu": region}
    try:
        yield
    finally:
        thread.state.autocast = None


@contextmanager
def theirs(device: str, half: str) -> Iterator[None]:
    """The same in PyTorch."""
    if device == "cpu":
        with torch.autocast("cpu", dtype=getattr(torch, half)):
            yield
        return
    before = torch.get_autocast_dtype("cuda")
    torch.set_autocast_enabled("cuda", True)
    torch.set_autocast_dtype("cuda", getattr(torch, half))
    try:
        yield
    finally:
        torch.set_autocast_enabled("cuda", False)
        torch.set_autocast_dtype("cuda", before)


@contextmanager
def silently() -> Iterator[None]:
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    logger.setLevel(before)


def tensors_of(library: Any, case: Case, dtypes: tuple[str, ...], device: str) -> list[Any]:
    """The case's tensors, those of floating point in ``dtypes`` by turns."""
    made, turn = [], 0
    for array in case.arrays:
        if device == "cuda" and library is torch:
            tensor = torch.empty(array.shape, dtype=getattr(torch, str(array.dtype)), device="cuda")
        else:
            tensor = library.tensor(array)
        if array.dtype.kind == "f":
            tensor = tensor.to(getattr(library, dtypes[turn % len(dtypes)]))
            turn += 1
        made.append(tensor)
    return made


def dtypes_of(case: Case, library: Any, dtypes: tuple[str, ...], device: str) -> list[str]:
    results = flat(case.call(library, *tensors_of(library, case, dtypes, device)))
    return [repr(each.dtype) if isinstance(each, library.Tensor) else "" for each in results]


def differing(device: str, half: str, dtypes: tuple[str, ...], cases: list[Case]) -> tuple[list[Any], int]:
    """The cases whose results have other dtypes than in PyTorch, and how many could be compared."""
    wrong, compared = [], 0
    fake = FakeTensorMode() if device == "cuda" else nullcontext()
    for case in cases:
        if case.name in OTHERWISE or not any(array.dtype.kind == "f" for array in case.arrays):
            continue
        if device == "cuda" and case.name in ("apply_", "map_", "map2_"):
            continue  # fake tensors have no elements to call a function with
        try:
            with silently(), fake, theirs(device, half):
                expected = dtypes_of(case, torch, dtypes, device)
        except Exception:
            continue
        try:
            with silently(), ours(device, half):
                found = dtypes_of(case, autokit, dtypes, device)
        except (RuntimeError, NotImplementedError):
            with pytest.raises((RuntimeError, NotImplementedError)), silently():
                dtypes_of(case, autokit, dtypes, device)  # refused without autocasting too
            continue
        compared += 1
        if found != expected:
            wrong.append((case.name, [array.shape for array in case.arrays], found, expected))
    return wrong, compared


@pytest.mark.parametrize("dtype", ["float32", "half"])
@pytest.mark.parametrize(("device", "half"), [("cpu", "bfloat16"), ("cuda", "float16")])
def test_results_have_pytorchs_dtypes(device: str, half: str, dtype: str):
    wrong, compared = differing(device, half, (half if dtype == "half" else dtype,), KINDS)
    assert not wrong
    assert compared > 700


@pytest.mark.parametrize(("device", "half"), [("cpu", "bfloat16"), ("cuda", "float16")])
def test_listed_operations_on_operands_of_several_dtypes(device: str, half: str):
    listed = [case for case in KINDS if case.name.removeprefix("linalg.") in WAYS[device]]
    wrong, compared = differing(device, half, ("float32", half), listed)
    assert not wrong
    assert compared > 100
