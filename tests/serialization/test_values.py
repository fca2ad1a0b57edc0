"""Values between autokit and PyTorch: every dtype and container, shared memory, attributes."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autokit as ak
from autokit import nn
from autokit.engine.tensor import new_tensor
from tests.serialization.archives import DTYPES, FEW, equal, here, ours, saved, there
from tests.support import require

require("torch")
import torch  # noqa: E402

VALUES: dict[str, Callable[[Any], Any]] = {
    "ints": lambda t: [0, 255, 256, 65535, 65536, -1, 2**31, -(2**31) - 1, 2**63, -(2**200)],
    "floats": lambda t: [0.0, -0.0, 1.5, float("inf"), -float("inf"), 1e-320],
    "str": lambda t: ["", "a", "é€𝄞", "a" * 300, "\ud800", "line\nline\0"],
    "bytes": lambda t: [b"a", bytes(range(256))],
    "containers": lambda t: {"a": [1, (2, (3,), ()), {"b": {}}], 3: [], (1, "x"): None, 2.5: {4, "five"}},
    "Size": lambda t: [t.ones(2, 3).shape, t.ones(()).shape],
    "device": lambda t: [t.device("cpu"), t.device("cuda", 1), t.device("cuda")],
    "dtype": lambda t: [getattr(t, name) for name in DTYPES],
    "empty": lambda t: [t.empty(0), t.empty(0, 3), t.empty(2, 0, 4)],
    "transposed": lambda t: t.arange(6.0).view(2, 3).t(),
    "offset and steps": lambda t: t.arange(20.0)[3::4],
    "expanded": lambda t: t.tensor([[1.0], [2.0]]).expand(2, 3),
    "requires_grad": lambda t: t.ones(2, requires_grad=True),
    "of a graph": lambda t: t.ones(2, requires_grad=True) * 2,
    "parameters": lambda t: [t.nn.Parameter(t.ones(2), requires_grad=one) for one in (True, False)],
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_goes_both_ways(name: str):
    make = VALUES[name]
    value, theirs = make(ak), make(torch)
    assert equal(there(value), torch.load(saved(theirs, torch), weights_only=True))
    loaded = here(theirs)
    again = ours(value)
    assert equal(loaded, again)
    if not isinstance(value, ak.Tensor):
        assert equal(loaded, value) or name == "containers" and loaded == value
    else:
        assert isinstance(loaded, type(value)) and loaded.tolist() == value.tolist()
        assert loaded.requires_grad == value.requires_grad == theirs.requires_grad and loaded.is_leaf


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_goes_both_ways(name: str):
    def make(t: Any) -> Any:
        return t.tensor([0, 1, 100]).to(getattr(t, name))

    assert equal(there(make(ak)), make(torch))
    assert equal(here(make(torch)), make(ak))


@pytest.mark.parametrize("make", [VALUES[name] for name in ("transposed", "offset and steps", "expanded")])
def test_strides_and_offsets_are_kept(make: Callable[[Any], Any]):
    for loaded in (here(make(torch)), there(make(ak)), ours(make(ak))):
        assert loaded.stride() == make(torch).stride()


@pytest.mark.parametrize(
    ("load", "by"), [(torch.load, ak), (ak.load, torch), (ak.load, ak)], ids=["there", "here", "ours"]
)
def test_views_of_one_storage_stay_shared(load: Any, by: Any):
    base = by.arange(6.0)
    first, square, same, same_list, other_list = load(saved([base, base.view(2, 3).t(), base, [7], [7]], by))
    assert same is first and same_list is not other_list
    first[5] = 100.0
    assert square[2, 1] == 100.0
    square.fill_(1)
    assert first.tolist() == [1] * 6
    assert first._version == square._version == 2


def test_what_was_one_object_stays_one_and_may_hold_itself():
    row: list[Any] = [1]
    row.append(row)
    loaded = ours(row)
    assert loaded[1] is loaded
    pair: tuple[Any, ...] = ([],)
    pair[0].append(pair)
    loaded = ours(pair)
    assert type(loaded) is tuple and loaded[0][0] is loaded
    name = "weight" * 3
    a, b = ours([{name: 1}, {name: 2}])
    assert next(iter(a)) is next(iter(b))


def test_tensors_with_attributes_are_read_without_them():
    tensor, parameter = torch.ones(1), torch.nn.Parameter(torch.ones(1))
    tensor.note, parameter.note = "n", [1]
    tensor, parameter, buffer = here([tensor, parameter, torch.nn.Buffer(torch.zeros(1))])
    assert tensor.tolist() == parameter.tolist() == [1] and buffer.tolist() == [0]
    assert isinstance(parameter, nn.Parameter) and not hasattr(tensor, "note")


def test_bfloat16_is_read_as_float32_with_one_warning():
    x = torch.tensor([[1.5, -0.1], [float("inf"), 3e38]]).bfloat16()
    with pytest.warns(UserWarning, match="bfloat16, in which autokit does not compute") as warned:
        loaded, column = here([x, x[:, 1]])
    assert len(warned) == 1 and loaded.dtype is ak.float32
    assert loaded.tolist() == x.tolist() and column.tolist() == x[:, 1].tolist()
    column.fill_(0)
    assert loaded[1].tolist() == [float("inf"), 0]


def test_the_names_that_pictures_use_are_no_part_of_a_file():
    tensor = ak.ones(2)
    tensor.name = "weight"
    assert equal(there(tensor), torch.ones(2))


def test_views_of_one_memory_as_two_dtypes_are_refused_as_in_pytorch():
    mine, theirs = ak.ones(2), torch.ones(2)
    pairs = [(ak, [mine, new_tensor(mine.array.view(np.int32))]), (torch, [theirs, theirs.view(torch.int32)])]
    for t, both in pairs:
        with pytest.raises(RuntimeError, match="view the same data as different types"):
            t.save(both, io.BytesIO())


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0)[::-2],
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.frombuffer(bytes(range(17)), np.uint8)[1:9].view(np.int32),
        np.zeros(3, [("a", "i4"), ("b", "i2")])["a"],
    ],
    ids=["backwards", "column-major", "unaligned", "a field"],
)
def test_memory_that_pytorch_cannot_address(array: np.ndarray):
    tensor = new_tensor(array)
    assert there(tensor).tolist() == ours(tensor).tolist() == array.tolist()


NESTED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.integers(-(2**63), 2**63 - 1), inner, max_size=4)
        | st.sets(st.text() | st.integers(-99, 99), max_size=4)
    ),
    max_leaves=20,
)


@FEW
@given(NESTED)
def test_nested_values_go_both_ways(value: Any):
    assert ours(value) == value
    assert here(value) == value
    assert there(value) == value
