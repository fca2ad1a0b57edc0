"""The files themselves: how they are laid out, where they may be, older and newer ones, devices."""

from __future__ import annotations

import io
import os
import pickle
import struct
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autokit as ak
from tests.serialization.archives import DTYPES, equal, records, saved, zipped
from tests.support import require

require("torch")
import torch  # noqa: E402


@pytest.mark.parametrize("kind", [str, Path, os.fsencode])
def test_paths(tmp_path: Path, kind: Any):
    path = kind(tmp_path / "my.model.pt") if kind is not os.fsencode else tmp_path / "é ü.pth"
    ak.save({"a": 1}, path)
    assert torch.load(path) == ak.load(path) == {"a": 1}
    torch.save({"a": 2}, path)
    assert ak.load(path) == {"a": 2}


def test_the_archive_is_named_and_laid_out_as_pytorchs(tmp_path: Path):
    listed = []
    for t in (ak, torch):
        t.save([t.ones(2), t.ones(3)], tmp_path / "my.model.pt")
        with zipfile.ZipFile(tmp_path / "my.model.pt") as archive:
            listed.append([name for name in archive.namelist() if not name.endswith("serialization_id")])
            assert archive.testzip() is None
            contents = {name: archive.read(name) for name in archive.namelist()}
            assert contents["my.model/version"] == b"3\n" and contents["my.model/byteorder"] == b"little"
            assert contents["my.model/.format_version"] == b"1"
            assert contents["my.model/.storage_alignment"] == b"64"
            for info in archive.infolist():
                with open(tmp_path / "my.model.pt", "rb") as file:
                    file.seek(info.header_offset + 26)
                    names, extra = struct.unpack("<HH", file.read(4))
                if "/data/" in info.filename:
                    assert (info.header_offset + 30 + names + extra) % 64 == 0
    assert listed[0] == listed[1]


def test_open_files_and_several_in_one(tmp_path: Path):
    with open(tmp_path / "a.pt", "wb") as file:
        ak.save([1], file)
    with open(tmp_path / "a.pt", "rb") as file:
        assert ak.load(file) == [1]
    many = io.BytesIO()
    ak.save([1], many)
    second = many.tell()
    ak.save([2], many)
    many.seek(second)
    assert ak.load(many) == [2]
    many.seek(second)
    assert torch.load(many) == [2]
    many.seek(0)
    with pytest.raises(RuntimeError, match="several were written into one file"):
        ak.load(many)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_every_protocol_is_read(protocol: int):
    def make(t: Any) -> Any:
        return {
            "a": t.ones(2),
            "b": [b"x", {1}, "é", 2**40, t.Size((2,))],
            "c": OrderedDict(a=1),
        }

    theirs = saved(make(torch), torch, pickle_protocol=protocol)
    assert equal(ak.load(theirs), make(ak))
    assert equal(torch.load(saved(make(ak), pickle_protocol=protocol)), make(torch))


def test_older_files_without_the_newer_records():
    contents = records(saved({"a": torch.arange(3)}, torch))
    old = {name: contents[f"archive/{name}"] for name in ("data.pkl", "data/0", "version")}
    assert ak.load(zipped({f"older/{name}": data for name, data in old.items()}))["a"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", DTYPES)
def test_the_other_byte_order(name: str):
    tensor = ak.tensor([0, 1, 100]).to(getattr(ak, name))
    contents = records(saved(tensor))
    swapped = np.frombuffer(contents["archive/data/0"], f"u{tensor.itemsize}").byteswap().tobytes()
    file = zipped({**contents, "archive/byteorder": b"big", "archive/data/0": swapped})
    assert equal(ak.load(file), tensor)
    file.seek(0)
    assert equal(torch.load(file), torch.load(saved(tensor)))


def test_a_legacy_file_is_named_as_such():
    file = saved(torch.ones(2), torch, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match=r"before 1\.6"):
        ak.load(file)


def test_a_torchscript_program_is_named_as_such():
    with pytest.raises(RuntimeError, match="TorchScript"):
        ak.load(zipped({"a/data.pkl": b"", "a/constants.pkl": b"", "a/version": b"3"}))


@pytest.mark.parametrize("t", [ak, torch], ids=["ak", "torch"])
def test_wrong_use(t: Any, tmp_path: Path):
    with pytest.raises(RuntimeError, match="Parent directory"):
        t.save(1, tmp_path / "none" / "x.pt")
    with pytest.raises(FileNotFoundError):
        t.load(tmp_path / "none.pt")
    with pytest.raises(AttributeError):
        t.save(1, 5)
    with pytest.raises(AttributeError):
        t.load(5)
    with pytest.raises(EOFError):
        t.load(io.BytesIO())
    with pytest.raises(TypeError), open(tmp_path / "x.txt", "w") as file:
        t.save(1, file)


def test_wrong_use_of_ours(tmp_path: Path):
    (tmp_path / "x.txt").write_text("hello")
    with pytest.raises(pickle.UnpicklingError, match=r"no file of torch\.save"):
        ak.load(tmp_path / "x.txt")
    with pytest.raises(TypeError, match="rb"), open(tmp_path / "x.txt") as file:
        ak.load(file)
    assert ak.load(saved(1), mmap=True, encoding="latin1", pickle_module=pickle) == 1
    assert ak.load(saved(1), weights_only=False) == 1
    ak.save(1, io.BytesIO(), pickle_module=pickle)


# ---------------------------------------------------------------- devices


def test_map_location():
    state = {"a": ak.ones(2), "b": ak.zeros(1)}
    calls = []

    def place(storage: Any, location: str) -> Any:
        calls.append((location, storage.device, storage.nbytes()))
        return storage.cpu()

    for where in ("cpu", ak.device("cpu"), {"cuda:0": "cpu"}, place, lambda storage, location: None):
        assert equal(ak.load(saved(state), map_location=where), state)
    assert calls == [("cpu", ak.device("cpu"), 8), ("cpu", ak.device("cpu"), 4)]
    with pytest.raises(TypeError, match="map_location must return"):
        ak.load(saved(state), map_location=lambda storage, location: 3)
    with pytest.raises(RuntimeError, match="don't know how to restore data location"):
        ak.load(saved(state), map_location="mps")


def from_gpu() -> io.BytesIO:
    contents = records(saved(ak.ones(2)))
    program = contents["archive/data.pkl"].replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0")
    return zipped({**contents, "archive/data.pkl": program})


def test_a_file_from_a_gpu():
    for where in ("cpu", {"cuda:0": "cpu"}, lambda storage, location: storage):
        assert equal(ak.load(from_gpu(), map_location=where), ak.ones(2))
    if not torch.cuda.is_available():
        for t in (ak, torch):
            with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
                t.load(from_gpu())
