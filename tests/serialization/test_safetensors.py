"""Files of the safetensors format, between autokit and PyTorch."""

from __future__ import annotations

import builtins
import os
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit as ak
from autokit import nn
from tests.serialization.archives import DTYPES
from tests.support import require

require("safetensors")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.safetensors"


def test_a_state_goes_both_ways(path: Path):
    require("torch")
    import safetensors.torch
    import torch

    model, theirs = nn.Linear(3, 2), torch.nn.Linear(3, 2)
    ak.save(model.state_dict(), path)
    theirs.load_state_dict(safetensors.torch.load_file(path))
    assert theirs.weight.tolist() == model.weight.tolist()
    assert torch.load(path)["bias"].tolist() == model.bias.tolist()
    theirs = torch.nn.Linear(3, 2)
    safetensors.torch.save_file(theirs.state_dict(), path)
    model.load_state_dict(ak.load(str(path), map_location="cpu"))
    assert model.weight.tolist() == theirs.weight.tolist()
    loaded = ak.load(path)
    loaded["weight"].add_(1)  # may be changed, and the file is not
    assert ak.load(path)["weight"].tolist() == theirs.weight.tolist()


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_goes_both_ways(path: Path, name: str):
    require("torch")
    import safetensors.torch
    import torch

    both = [
        {
            "a": t.tensor([[0, 1], [2, 100]]).to(getattr(t, name)),
            "0-d": t.tensor(1).to(getattr(t, name)),
            "empty": t.empty(0, 3, dtype=getattr(t, name)),
        }
        for t in (ak, torch)
    ]
    ak.save(both[0], path)
    found = safetensors.torch.load_file(path)
    assert {key: repr(found[key]) for key in both[1]} == {key: repr(value) for key, value in both[1].items()}
    safetensors.torch.save_file(both[1], path)
    found = ak.load(path)
    assert {key: repr(found[key]) for key in both[0]} == {key: repr(value) for key, value in both[0].items()}


def test_bfloat16_is_read_as_float32(path: Path):
    require("torch")
    import safetensors.torch
    import torch

    safetensors.torch.save_file({"a": torch.tensor([1.5, -3e38]).bfloat16(), "b": torch.ones(1)}, path)
    with pytest.warns(UserWarning, match="bfloat16") as warned:
        found = ak.load(path)
    assert len(warned) == 1 and found["a"].dtype is ak.float32
    assert found["a"].tolist() == torch.tensor([1.5, -3e38]).bfloat16().tolist()


BASE = ak.arange(6.0)


@pytest.mark.parametrize(
    ("state", "error", "words"),
    [
        ([ak.ones(1)], ValueError, "Expected a dict"),
        ({"a": 3}, ValueError, "Key `a` is invalid, expected torch.Tensor but received int"),
        ({1: ak.ones(1)}, TypeError, "no string"),
        ({"a": BASE, "b": BASE.view(2, 3)}, RuntimeError, "share memory.*`a` and `b`"),
        ({"a": BASE[:3], "b": BASE[3:], "c": BASE[4:]}, RuntimeError, "share memory.*`b` and `c`"),
    ],
)
def test_what_the_format_cannot_hold_is_refused(path: Path, state: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        ak.save(state, path)
    assert os.listdir(path.parent) == []


def test_a_missing_package_is_named(path: Path, monkeypatch: pytest.MonkeyPatch):
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("safetensors"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    for use in (lambda: ak.save({"a": ak.ones(1)}, path), lambda: ak.load(path)):
        with pytest.raises(RuntimeError, match=r'"\.\[safetensors\]"'):
            use()


def contents(path: Path) -> bytes:
    ak.save({"a": ak.arange(6.0), "b": ak.ones(2, 2)}, path)
    return path.read_bytes()


def test_a_dtype_that_autokit_lacks_is_named(path: Path):
    path.write_bytes(contents(path).replace(b'"F32"', b'"U32"', 1))
    with pytest.raises(RuntimeError, match="U32, and autokit has no such dtype"):
        ak.load(path)


@pytest.mark.parametrize("length", [0, 3, 8, 20, -1])
def test_a_file_that_was_cut_off(path: Path, length: int):
    path.write_bytes(contents(path)[:length])
    with pytest.raises(RuntimeError, match="reading safetensors file"):
        ak.load(path)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_changed_files_give_an_error_or_tensors(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
):
    path = tmp_path_factory.getbasetemp() / "changed.safetensors"
    changed = bytearray(contents(path))
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(changed)
    try:
        loaded = ak.load(path)
    except RuntimeError:
        return
    assert sum(tensor.numel() for tensor in loaded.values()) <= len(changed)


def test_a_pickle_by_this_name_runs_nothing(path: Path):
    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(path.parent / "harm"),)

    for data in (pickle.dumps(Evil()), struct.pack("<Q", 2**62) + b"{}", np.arange(9).tobytes()):
        path.write_bytes(data)
        with pytest.raises(RuntimeError):
            ak.load(path)
    assert os.listdir(path.parent) == ["m.safetensors"]
