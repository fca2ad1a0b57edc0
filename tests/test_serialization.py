"""Files between autokit and PyTorch, and what is done to files that are damaged or mean harm."""

from __future__ import annotations

import io
import os
import pickle
import stat
import struct
import subprocess
import sys
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import autokit as ak
from autokit import nn
from autokit.serialization import archive as archive_module
from autokit.tensor import new_tensor
from tests.support import require

require("torch")
import torch  # noqa: E402

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64", "complex64", "complex128"]
DTYPES += ["float16", "bfloat16"]


def saved(obj: Any, by: Any = ak, **settings: Any) -> io.BytesIO:
    file = io.BytesIO()
    by.save(obj, file, **settings)
    file.seek(0)
    return file


def there(obj: Any) -> Any:
    """What PyTorch reads of what is saved here."""
    return torch.load(saved(obj), weights_only=True)


def here(obj: Any, **settings: Any) -> Any:
    """What is read here of what PyTorch saved."""
    return ak.load(saved(obj, torch), **settings)


def ours(obj: Any) -> Any:
    return ak.load(saved(obj))


def records(file: io.BytesIO) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(contents: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    file.seek(0)
    return file


def with_program(program: bytes, **storages: bytes) -> io.BytesIO:
    """A file of this ``data.pkl`` and these storages, ``_0``, ``_1``, …"""
    data = {f"archive/data/{key[1:]}": value for key, value in storages.items()}
    return zipped({"archive/data.pkl": program, "archive/version": b"3\n", **data})


def equal(a: Any, b: Any) -> bool:
    return repr(a) == repr(b)


# ---------------------------------------------------------------- values, both ways

VALUES: dict[str, Callable[[Any], Any]] = {
    "none, bools": lambda t: [None, True, False],
    "ints": lambda t: [0, 255, 256, 65535, 65536, -1, 2**31, -(2**31) - 1, 2**63, -(2**200)],
    "floats": lambda t: [0.0, -0.0, 1.5, float("inf"), -float("inf"), 1e-320],
    "complex": lambda t: [1j, complex(-0.0, 2.5)],
    "str": lambda t: ["", "a", "é€𝄞", "a" * 300, "\ud800", "line\nline\0"],
    "bytes": lambda t: [b"a", bytes(range(256)), bytearray(b"xyz")],
    "containers": lambda t: {"a": [1, (2, (3,), ()), {"b": {}}], 3: [], (1, "x"): None, 2.5: {4, "five"}},
    "OrderedDict": lambda t: OrderedDict(b=1, a=2),
    "Counter": lambda t: Counter("abca"),
    "Size": lambda t: [t.ones(2, 3).shape, t.ones(()).shape],
    "device": lambda t: [t.device("cpu"), t.device("cuda", 1), t.device("cuda")],
    "dtype": lambda t: [getattr(t, name) for name in DTYPES],
    "layout": lambda t: t.strided,
    "0-d": lambda t: t.tensor(3.5),
    "empty": lambda t: [t.empty(0), t.empty(0, 3), t.empty(2, 0, 4)],
    "transposed": lambda t: t.arange(6.0).view(2, 3).t(),
    "offset and steps": lambda t: t.arange(20.0)[3::4],
    "expanded": lambda t: t.tensor([[1.0], [2.0]]).expand(2, 3),
    "requires_grad": lambda t: t.ones(2, requires_grad=True),
    "of a graph": lambda t: t.ones(2, requires_grad=True) * 2,
    "parameter": lambda t: t.nn.Parameter(t.ones(2)),
    "frozen parameter": lambda t: t.nn.Parameter(t.ones(2), requires_grad=False),
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

    if name == "bfloat16":
        pytest.importorskip("ml_dtypes")
    assert equal(there(make(ak)), make(torch))
    assert equal(here(make(torch)), make(ak))


@pytest.mark.parametrize("make", [VALUES[name] for name in ("transposed", "offset and steps", "expanded")])
def test_strides_and_offsets_are_kept(make: Callable[[Any], Any]):
    for loaded in (here(make(torch)), there(make(ak)), ours(make(ak))):
        assert loaded.stride() == make(torch).stride()
        assert loaded.storage_offset() == make(torch).storage_offset()


def test_a_tensor_is_saved_with_all_of_its_storage_as_in_pytorch():
    for t in (ak, torch):
        contents = records(saved(t.arange(100.0)[:2], t))
        assert len(contents["archive/data/0"]) == 400


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


def test_tied_weights_stay_tied():
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)
            self.b.weight = self.a.weight

    for state in (ours(Tied().state_dict()), there(Tied().state_dict())):
        assert state["a.weight"].data_ptr() == state["b.weight"].data_ptr()


def test_attributes_of_tensors_go_both_ways():
    for t, load in ((torch, here), (ak, there), (ak, ours)):
        tensor, parameter = t.ones(1), t.nn.Parameter(t.ones(1))
        tensor.note, parameter.note = "n", [1]
        buffer = t.nn.Buffer(t.ones(1), persistent=False)
        tensor, parameter, buffer = load([tensor, parameter, buffer])
        assert tensor.note == "n" and parameter.note == [1] and buffer.persistent is False
        assert type(buffer).__name__ in ("Buffer", "Tensor") and isinstance(buffer, type(tensor))


def test_the_names_that_pictures_use_are_no_part_of_a_file():
    tensor = ak.ones(2)
    tensor.name = "weight"
    assert equal(there(tensor), torch.ones(2))


def test_conjugates_that_pytorch_takes_late():
    x = torch.tensor([1 + 2j, 3j])
    assert here([x.conj(), x])[0].tolist() == [1 - 2j, -3j]
    assert here(x.conj().imag).tolist() == [-2, -3]


def test_views_of_one_memory_as_two_dtypes_are_refused_as_in_pytorch():
    for t in (ak, torch):
        x = t.ones(2)
        with pytest.raises(RuntimeError, match="view the same data as different types"):
            t.save([x, x.view(t.int32)], io.BytesIO())
    assert there(ak.tensor([1j, 2]).view(ak.float32)).tolist() == [0, 1, 2, 0]


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


# ---------------------------------------------------------------- models


def network(t: Any) -> Any:
    return t.nn.Sequential(t.nn.Linear(2, 3), t.nn.ReLU(), t.nn.Sequential(t.nn.Linear(3, 1)))


def test_a_models_state_goes_both_ways_with_its_versions():
    a, b = network(ak), network(torch)
    assert a.state_dict()._metadata == b.state_dict()._metadata
    assert there(a.state_dict())._metadata == here(b.state_dict())._metadata == b.state_dict()._metadata
    assert type(here(b.state_dict())) is OrderedDict
    a.load_state_dict(here(b.state_dict()))
    assert a(ak.ones(1, 2)).item() == pytest.approx(b(torch.ones(1, 2)).item())
    c = network(torch)
    c.load_state_dict(there(a.state_dict()))
    assert c[0].weight.tolist() == a[0].weight.tolist()


LAYERS: dict[str, Callable[[Any], Any]] = {
    "normalizations": lambda n: n.Sequential(
        n.BatchNorm1d(3),
        n.InstanceNorm1d(3, affine=True, track_running_stats=True),
        n.GroupNorm(1, 3),
        n.LayerNorm(3),
    ),
    "convolutions": lambda n: n.Sequential(n.Conv1d(1, 2, 3), n.BatchNorm2d(2), n.ConvTranspose2d(2, 2, 3)),
    "embeddings": lambda n: n.ModuleList([n.Embedding(5, 2), n.EmbeddingBag(5, 2), n.Bilinear(2, 2, 1)]),
}


@pytest.mark.parametrize("name", LAYERS)
def test_the_state_of_every_kind_of_layer_goes_both_ways(name: str):
    mine, theirs = LAYERS[name](nn), LAYERS[name](torch.nn)
    read = here(theirs.state_dict())
    assert mine.state_dict()._metadata == read._metadata == theirs.state_dict()._metadata
    mine.load_state_dict(read)
    other = LAYERS[name](torch.nn)
    other.load_state_dict(there(mine.state_dict()))
    assert repr(other.state_dict()) == repr(theirs.state_dict())
    assert mine.load_state_dict(ours(mine.state_dict())).missing_keys == []


def test_versions_under_a_prefix_as_in_pytorch():
    found = [network(t).state_dict(prefix="net.")._metadata for t in (ak, torch)]
    assert found[0] == found[1]


def test_a_checkpoint_goes_both_ways():
    states = []
    for t in (ak, torch):
        model = network(t)
        optimizer = t.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        model(t.ones(1, 2)).sum().backward()
        optimizer.step()
        states.append(
            {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "loss": [0.5]}
        )
    mine, theirs = there(states[0]), here(states[1])
    for t, state in ((torch, mine), (ak, theirs)):
        model = network(t)
        model.load_state_dict(state["model"])
        optimizer = t.optim.SGD(model.parameters(), lr=5.0, momentum=0.1)
        optimizer.load_state_dict(state["optimizer"])
        assert optimizer.param_groups[0]["lr"] == 0.1 and optimizer.param_groups[0]["momentum"] == 0.9
        assert optimizer.state[model[0].weight]["momentum_buffer"].shape == (3, 2)
        assert state["epoch"] == 3 and state["loss"] == [0.5]


def trained(t: Any, steps: int, state: Any = None) -> Any:
    """A checkpoint after so many more steps."""
    model = network(t)
    optimizer = t.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    if state is not None:
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    x = t.linspace(-1, 1, 8).view(4, 2)
    for _ in range(steps):
        optimizer.zero_grad()
        (model(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
        optimizer.step()
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict()}


@pytest.mark.parametrize("way", ["there", "here"])
def test_training_goes_on_in_the_other_where_it_stopped(way: str):
    first, second, move = (ak, torch, there) if way == "there" else (torch, ak, here)
    start = trained(first, 0)
    stopped = move(trained(first, 3, start))
    moved = trained(second, 3, stopped)
    stayed = trained(first, 6, start)
    for name, value in stayed["model"].items():
        np.testing.assert_allclose(moved["model"][name].numpy(), value.numpy(), rtol=1e-5, atol=1e-7)


def test_the_state_of_pytorchs_optimizers_is_read():
    weight = torch.nn.Parameter(torch.ones(3))
    for kind in (torch.optim.Adam, torch.optim.RMSprop, torch.optim.Adagrad, torch.optim.LBFGS):
        optimizer = kind([weight])
        weight.grad = torch.ones(3)
        optimizer.step(lambda: torch.tensor(1.0))
        assert repr(here(optimizer.state_dict())) == repr(optimizer.state_dict())


def test_a_file_that_does_not_fit_leaves_the_model_as_it_was(tmp_path: Path):
    model = network(ak)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    wrong = network(torch).state_dict()
    wrong["2.0.bias"] = torch.ones(5)  # the last one
    torch.save(wrong, tmp_path / "wrong.pt")
    with pytest.raises(RuntimeError, match=r"size mismatch for 2\.0\.bias"):
        model.load_state_dict(ak.load(tmp_path / "wrong.pt"))
    assert all(equal(value, before[name]) for name, value in model.state_dict().items())


def test_programs_that_save_a_generators_state():
    state = ours({"rng": ak.get_rng_state()})
    ak.set_rng_state(state["rng"])


# ---------------------------------------------------------------- files


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


def test_the_program_is_pytorchs_to_the_byte():
    for make in (
        lambda t: {"a": t.ones(2), "b": [t.zeros(1), (1, 2.5)], "c": {"a": "text"}},
        lambda t: network(t).state_dict(),
    ):
        mine, theirs = (pickle_of(saved(make(t), t)) for t in (ak, torch))
        assert names_and_constants(mine) == names_and_constants(theirs)


def pickle_of(file: io.BytesIO) -> bytes:
    return records(file)["archive/data.pkl"]


def names_and_constants(program: bytes) -> list[Any]:
    import pickletools

    steps = [(code.name, argument) for code, argument, _ in pickletools.genops(program)]
    unordered = ("PUT", "GET", "TUPLE", "MARK", "APPEND", "SETITEM")
    return [step for step in steps if not any(word in step[0] for word in unordered)]


def test_the_same_object_makes_the_same_bytes():
    state = network(ak).state_dict()
    assert saved(state).read() == saved(state).read()


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


def test_files_that_can_only_be_written_to():
    class Sink:
        def __init__(self) -> None:
            self.data = b""

        def write(self, data: Any) -> None:
            self.data += bytes(data)

    sink = Sink()
    ak.save(ak.ones(3), sink)
    assert torch.load(io.BytesIO(sink.data)).tolist() == [1, 1, 1]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_every_protocol_is_read(protocol: int):
    def make(t: Any) -> Any:
        return {
            "a": t.ones(2),
            "b": [b"x", {1}, "é", bytearray(b"y"), 1j, t.Size((2,))],
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
    if name == "bfloat16":
        pytest.importorskip("ml_dtypes")
    tensor = ak.tensor([0, 1, 100]).to(getattr(ak, name))
    contents = records(saved(tensor))
    width = tensor.itemsize // (2 if tensor.is_complex() else 1)
    swapped = np.frombuffer(contents["archive/data/0"], f"u{width}").byteswap().tobytes()
    file = zipped({**contents, "archive/byteorder": b"big", "archive/data/0": swapped})
    assert equal(ak.load(file), tensor)
    file.seek(0)
    assert equal(torch.load(file), torch.load(saved(tensor)))


def test_mapped_files_may_be_changed_in_memory(tmp_path: Path):
    path = tmp_path / "a.pt"
    ak.save([ak.ones(3), ak.empty(0), ak.arange(4)[1:]], path)
    ones, empty, rest = ak.load(path, mmap=True)
    ones.add_(1)
    assert ones.tolist() == [2, 2, 2] and empty.shape == (0,) and rest.tolist() == [1, 2, 3]
    assert ak.load(path)[0].tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="must be a file path"):
        ak.load(saved(1), mmap=True)


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
    with pytest.raises(AttributeError, match="expected 'f' to be string"):
        t.save(1, 5)
    with pytest.raises(AttributeError, match="has no attribute 'seek'"):
        t.load(5)
    with pytest.raises(EOFError):
        t.load(io.BytesIO())
    with pytest.raises(RuntimeError, match="explicit pickle_module"):
        t.load(saved(1), pickle_module=pickle, weights_only=True)
    with pytest.warns(UserWarning, match="pickle_load_args"):
        assert t.load(saved(1), encoding="ascii") == 1
    with pytest.raises(TypeError), open(tmp_path / "x.txt", "w") as file:
        t.save(1, file)


def test_wrong_use_of_ours(tmp_path: Path):
    (tmp_path / "x.txt").write_text("hello")
    with pytest.raises(pickle.UnpicklingError, match=r"no file of torch\.save"):
        ak.load(tmp_path / "x.txt")
    with pytest.raises(TypeError, match="rb"), open(tmp_path / "x.txt") as file:
        ak.load(file)
    with pytest.raises(ValueError, match="pickle_protocol"):
        ak.save(1, io.BytesIO(), pickle_protocol=1)
    with pytest.raises(ValueError, match="zip files only"):
        ak.save(1, io.BytesIO(), _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="writes its pickles itself"):
        ak.save(1, io.BytesIO(), pickle_module=np)
    assert ak.load(saved(1), weights_only=False) == 1
    ak.save(1, io.BytesIO(), pickle_module=pickle)


# ---------------------------------------------------------------- devices


def test_map_location():
    state = {"a": ak.ones(2), "b": ak.zeros(1)}
    calls = []

    def place(storage: Any, location: str) -> Any:
        calls.append((location, storage.device, storage.nbytes(), len(storage)))
        return storage.cpu()

    for where in ("cpu", ak.device("cpu"), {"cuda:0": "cpu"}, place, lambda storage, location: None):
        assert equal(ak.load(saved(state), map_location=where), state)
    assert calls == [("cpu", ak.device("cpu"), 8, 8), ("cpu", ak.device("cpu"), 4, 4)]
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


# ---------------------------------------------------------------- what cannot be saved


class Unknown:
    pass


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (nn.Linear(1, 1), r"model\.state_dict\(\)"),
        (ak.optim.SGD([ak.ones(1)], lr=0.1), r"optimizer\.state_dict\(\)"),
        (np.ones(2), "from_numpy"),
        (np.float64(1), r"\.item\(\)"),
        (Unknown(), "Unknown"),
        (lambda: 0, "function"),
        (len, "builtin_function"),
        (frozenset({1}), "plain tuple, list or set"),
        ({(1, (2, frozenset())): 1}, "a key or an element"),
        ({1j}, "a key or an element"),
    ],
)
def test_what_cannot_be_loaded_is_not_saved(value: Any, words: str):
    file = io.BytesIO()
    with pytest.raises(pickle.PicklingError, match=words):
        ak.save({"model": [1, value]}, file)
    assert file.getvalue() == b""


def test_the_refusal_says_where():
    with pytest.raises(pickle.PicklingError, match=r"what is at \['a'\]\[1\]\['b'\]"):
        ak.save({"a": [1, {"b": Unknown()}]}, io.BytesIO())


def test_what_is_nested_without_end_is_not_saved():
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(pickle.PicklingError, match=r"nested too deep: it goes on at \[0\]\[0\]"):
        ak.save(deep, io.BytesIO())


# ---------------------------------------------------------------- a save is atomic


def test_a_failing_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.pt"
    ak.save([1], path)
    with pytest.raises(pickle.PicklingError):
        ak.save([ak.ones(3), Unknown()], path)
    assert ak.load(path) == [1] and os.listdir(tmp_path) == ["a.pt"]

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive_module.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        ak.save([2], path)
    assert ak.load(path) == [1] and os.listdir(tmp_path) == ["a.pt"]


def test_a_killed_save_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "a.pt"
    ak.save([1], path)
    program = (
        "import os, sys, autokit as ak\n"
        "from autokit.serialization import archive\n"
        "archive.os.fsync = lambda descriptor: os._exit(9)\n"
        "ak.save([ak.ones(1000)], sys.argv[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", program, path], cwd=Path(__file__).parent.parent, timeout=60)
    assert done.returncode == 9
    assert len(os.listdir(tmp_path)) == 2  # the one beside was being written
    assert ak.load(path) == [1]


@pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")
def test_permissions_links_and_pipes(tmp_path: Path):
    path, link = tmp_path / "a.pt", tmp_path / "link.pt"
    ak.save([1], path)
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o640)
    link.symlink_to(path)
    ak.save([2], link)
    assert link.is_symlink() and ak.load(path) == [2] and stat.S_IMODE(path.stat().st_mode) == 0o640
    ak.save([3], os.devnull)
    assert not os.path.isfile(os.devnull)
    with pytest.raises(IsADirectoryError):
        ak.save([4], tmp_path)


# ---------------------------------------------------------------- files that mean harm

GLOBALS = [
    ("posix", "system"),
    ("os", "system"),
    ("builtins", "eval"),
    ("__builtin__", "exec"),
    ("builtins", "getattr"),
    ("subprocess", "Popen"),
    ("torch.load", "__globals__"),
    ("torch", "load"),
    ("torch.hub", "load"),
    ("autokit", "load"),
    ("collections", "OrderedDict.__init__"),
    ("collections", "defaultdict"),
    ("numpy", "load"),
    ("torch.nn.modules.linear", "Linear"),
    ("__main__", "Net"),
]


@pytest.mark.parametrize(("module", "name"), GLOBALS, ids=str)
@pytest.mark.parametrize("weights_only", [None, True, False])
def test_a_name_that_is_not_allowed_is_refused_and_named(module: str, name: str, weights_only: Any):
    texts = [b"\x8c" + bytes([len(text)]) + text.encode() for text in (module, name)]
    called = b"\x80\x02c" + f"{module}\n{name}\n".encode() + b"X\x04\x00\x00\x00true\x85R."
    for program in (called, b"\x80\x04" + b"".join(texts) + b"\x93."):
        with pytest.raises(pickle.UnpicklingError, match=f"GLOBAL {module}.{name} was not an allowed"):
            ak.load(with_program(program), weights_only=weights_only)


def test_objects_that_run_code_are_refused(tmp_path: Path):
    class Evil:
        def __reduce__(self) -> Any:
            return os.system, (f"touch {tmp_path}/harm",)

    for protocol in range(2, 6):
        with pytest.raises(pickle.UnpicklingError, match="system"):
            ak.load(with_program(pickle.dumps([Evil()], protocol)))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "program",
    [
        pickle.dumps([1], 0),
        b"\x80\x02(S'a'\nios\nsystem\n.",
        b"\x80\x02\x82\x01.",
        b"\x80\x05\x97.",
        b"\x80\x02ctorch\nSize\n)\x81.",
        b"\x80\x02ccollections\nOrderedDict\n}X\x06\x00\x00\x00updateK\x01sb.",
        b"\x80\x02ccollections\nOrderedDict\n)R}X\x06\x00\x00\x00updateK\x01sb.",
        b"\x80\x02ccollections\nOrderedDict\n)R}X\x09\x00\x00\x00__class__K\x01sb.",
        b"\x80\x02]}X\x01\x00\x00\x00aK\x01sb.",
        b"\x80\x02}}K\x01s.",
        b"\x80\x02}]K\x01s.",
        b"\x80\x02(K\x01K\x02u.",
        b"\x80\x02ctorch\nFloatStorage\n(K\x01tR.",
        b"\x80\x02ctorch\nTensor\n(K\x01tR.",
        b"\x80\x02c__builtin__\nbytearray\nJ\xff\xff\xff\x7f\x85R.",
        b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x04\x00\x00\x00zlib\x86R.",
        b"\x80\x02X\x05\x00\x00\x00oops!Q.",
        b"\x80\x02h\x05.",
        b"\x80\x02.",
        b"\x80\x02K\x01K\x02.",
        b"\x80\x02(K\x01.",
        b"\x80\x020.",
        b"\x80\x02K\x01",
        b"\x80\x02X\xff\xff\xff\xffa.",
        b"\x80\x05\x96\xff\xff\xff\xff\xff\xff\xff\x7fa.",
        b"",
    ],
)
def test_programs_that_no_file_of_tensors_has(program: bytes):
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        ak.load(with_program(program))


def test_a_large_number_in_the_memo_takes_no_memory():
    assert ak.load(with_program(b"\x80\x02K\x07r\xff\xff\xff\x7f0j\xff\xff\xff\x7f.")) == 7


def test_a_short_program_cannot_copy_without_end():
    many = b"]q\x00(" + b"K\x01" * 1000 + b"e0c__builtin__\nset\nq\x010]("
    program = b"\x80\x02" + many + b"h\x01h\x00\x85R" * 1000 + b"e."
    with pytest.raises(pickle.UnpicklingError, match="copies the same elements"):
        ak.load(with_program(program))


def test_deep_nesting_is_read_without_recursion():
    loaded = ak.load(with_program(b"\x80\x02)" + b"\x85" * 100_000 + b"."))
    for _ in range(100_000):
        (loaded,) = loaded
    assert loaded == ()
    with pytest.raises(pickle.UnpicklingError):  # its hash would go through all of it
        ak.load(with_program(b"\x80\x02})" + b"\x85" * 100_000 + b"K\x01s."))
    wide = b"(K\x01" + b"2" * 62 + b"t" + (b"q\x00(h\x00" + b"h\x00" * 61 + b"t") * 3
    with pytest.raises(pickle.UnpicklingError):  # 62 to the power of 4 elements
        ak.load(with_program(b"\x80\x02}" + wide.replace(b"2", b"K\x01") + b"K\x01s."))
    with pytest.raises(pickle.UnpicklingError):  # 2 to the power of 60 elements to hash
        ak.load(with_program(b"\x80\x02}K\x01" + b"q\x00h\x00\x86" * 60 + b"K\x01s."))


def tensor_program(
    count: int = 6,
    offset: int = 0,
    size: tuple[int, ...] = (2, 3),
    stride: tuple[int, ...] = (3, 1),
    **other: Any,
) -> bytes:
    """The program of a float32 tensor."""
    from autokit.serialization.writing import Program

    program = Program((), 2)
    program._code = bytearray(b"\x80\x02")
    program._global("torch._utils", "_rebuild_tensor_v2")
    program._code += b"(("
    program._build("storage")
    program._global("torch", other.get("kind", "FloatStorage"))
    program._build(other.get("key", "0"))
    program._build("cpu")
    program._int(count)
    program._code += b"tQ"
    for value in (offset, size, stride, other.get("requires_grad", False)):
        program._build(value)
    program._empty_ordered_dict()
    return bytes(program._code + b"tR.")


SIX = np.arange(6, dtype=np.float32).tobytes()


def test_the_program_of_a_tensor():
    assert ak.load(with_program(tensor_program(), _0=SIX)).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    "wrong",
    [
        {"offset": 1},
        {"offset": 2**62},
        {"offset": -1},
        {"size": (3, 3)},
        {"size": (2**31, 2**31)},
        {"size": (2**62, 4), "stride": (0, 0)},
        {"size": (-2, 3)},
        {"stride": (-3, 1)},
        {"stride": (4, 1)},
        {"stride": (2**62, 2**62)},
        {"size": (6,)},
        {"size": (1,) * 100, "stride": (1,) * 100},
        {"size": (0, 2**62, 2**62), "stride": (1, 1, 1)},
        {"count": 5},
        {"count": 7},
        {"count": 2**62},
        {"count": -6},
        {"kind": "DoubleStorage"},
        {"key": "1"},
        {"key": "../data/0"},
        {"key": "../../../../etc/passwd"},
        {"kind": "LongStorage", "count": 3, "size": (3,), "stride": (1,), "requires_grad": True},
    ],
    ids=str,
)
def test_tensors_that_do_not_fit_their_memory(wrong: dict[str, Any]):
    with pytest.raises(RuntimeError):
        ak.load(with_program(tensor_program(**wrong), _0=SIX))


@pytest.mark.parametrize(
    "wrong",
    [
        {"offset": 1.5},
        {"offset": 2**70},
        {"size": (2.5, 3)},
        {"size": "ab"},
        {"requires_grad": 3},
        {"offset": True},
    ],
    ids=str,
)
def test_tensors_of_wrong_arguments(wrong: dict[str, Any]):
    with pytest.raises(pickle.UnpicklingError, match="_rebuild_tensor_v2 is called with wrong arguments"):
        ak.load(with_program(tensor_program(**wrong), _0=SIX))


def test_dtypes_that_autokit_lacks_are_named():
    with pytest.raises(pickle.UnpicklingError, match=r"torch\.float8_e4m3fn.*no such dtype"):
        here(torch.ones(2).to(torch.float8_e4m3fn))
    with pytest.raises(pickle.UnpicklingError, match=r"torch\.uint16.*no such dtype"):
        here(torch.ones(2).to(torch.uint16))
    with pytest.raises(pickle.UnpicklingError, match="NumPy"):
        here(np.ones(2))
    with pytest.raises(pickle.UnpicklingError, match="state_dict"):
        here(torch.nn.Linear(1, 1))


@pytest.mark.gpu
def test_tensors_of_a_gpu_go_both_ways():
    base = ak.arange(6.0, device="cuda")
    file = saved([base, base.view(2, 3).t(), base[1:]])
    loaded = ak.load(file)
    assert [tensor.device.type for tensor in loaded] == ["cuda"] * 3
    loaded[0].fill_(7)
    assert loaded[1].tolist() == [[7, 7]] * 3 and loaded[2].tolist() == [7] * 5
    file.seek(0)
    on_cpu = ak.load(file, map_location="cpu")
    assert on_cpu[1].tolist() == [[0, 3], [1, 4], [2, 5]] and on_cpu[1].device.type == "cpu"
    file.seek(0)
    assert torch.load(file, map_location="cpu")[1].tolist() == on_cpu[1].tolist()
    assert len(records(file)) == len(records(saved(ak.ones(1))))  # one storage
    for where in ("cuda", {"cpu": "cuda:0"}, lambda storage, location: storage.cuda(0)):
        assert ak.load(saved(ak.ones(2)), map_location=where).device.type == "cuda"


# ---------------------------------------------------------------- damaged archives

WHOLE = saved({"a": ak.arange(100.0), "b": [1, "text", (2.5,)]}).getvalue()
CONTENTS = records(io.BytesIO(WHOLE))


@pytest.mark.parametrize("length", [1, 4, 29, 60, 500, 900, len(WHOLE) - 60, len(WHOLE) - 22, len(WHOLE) - 1])
def test_a_file_that_was_cut_off(length: int):
    with pytest.raises((RuntimeError, pickle.UnpicklingError)):
        ak.load(io.BytesIO(WHOLE[:length]))


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"data/0": None}, RuntimeError, "failed locating file data/0"),
        ({"data.pkl": None}, RuntimeError, r"failed locating file data\.pkl"),
        ({"version": None}, RuntimeError, "version"),
        ({"version": b"99\n"}, RuntimeError, "version 99, but the maximum supported version"),
        ({"version": b"new"}, RuntimeError, "version"),
        ({"byteorder": b"what"}, ValueError, "Unknown endianness type: what"),
        ({"data/0": b"1234"}, RuntimeError, r"record size \(4 bytes\) does not match expected size"),
    ],
)
def test_records_that_are_missing_or_wrong(changes: Any, error: type[Exception], words: str):
    contents = {**CONTENTS, **{f"archive/{name}": data for name, data in changes.items()}}
    with pytest.raises(error, match=words):
        ak.load(zipped({name: data for name, data in contents.items() if data is not None}))


def test_a_changed_byte_is_found_by_the_checksum():
    place = WHOLE.index(CONTENTS["archive/data/0"]) + 200
    changed = WHOLE[:place] + bytes([WHOLE[place] ^ 1]) + WHOLE[place + 1 :]
    with pytest.raises(RuntimeError, match="checksum"):
        ak.load(io.BytesIO(changed))


def test_bombs_are_not_unpacked():
    zeros = {**CONTENTS, "archive/data/0": bytes(400)}
    with pytest.raises(RuntimeError, match="compressed"):
        ak.load(zipped(zeros, zipfile.ZIP_DEFLATED))
    # an entry that claims more than the file, and many entries for the same bytes
    file = zipped({f"archive/{number}": bytes(1000 * (not number)) for number in range(20)})
    data = bytearray(file.getvalue())
    entries = [place for place in range(len(data)) if data[place : place + 4] == b"PK\x01\x02"]
    large, many = data.copy(), data.copy()
    large[entries[0] + 20 : entries[0] + 28] = struct.pack("<II", 2**31, 2**31)
    for entry in entries:
        many[entry + 20 : entry + 28] = struct.pack("<II", 1000, 1000)
        many[entry + 42 : entry + 46] = bytes(4)
    for hostile in (large, many):
        with pytest.raises(RuntimeError, match="invalid header or archive is corrupted"):
            ak.load(io.BytesIO(hostile))


def test_names_that_lead_out_of_the_archive_touch_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    file = zipped({**CONTENTS, "archive/../../harm": b"x", "/tmp/harm": b"x", "..\\harm": b"x"})
    assert ak.load(file)["b"] == [1, "text", (2.5,)]
    assert os.listdir(tmp_path) == []


HARMLESS = (RuntimeError, pickle.UnpicklingError, ValueError, EOFError)
FEW = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@FEW
@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_changed_files_give_an_error_or_a_value(changes: list[tuple[int, int]]):
    data = bytearray(WHOLE)
    for place, byte in changes:
        data[place] = byte
    try:
        loaded = ak.load(io.BytesIO(data))
    except HARMLESS:
        return
    assert equal(loaded, ak.load(io.BytesIO(WHOLE)))  # only what is not read was changed


PROGRAM = pickle_of(
    saved({"a": ak.arange(6.0).view(2, 3), "b": OrderedDict(c={1}), "d": nn.Parameter(ak.ones(1))})
)
KNOWN = [bytes([code]) for code in b"012(t\x85\x86RbQ]})easuN\x88\x8f\x90\x91\x93\x94."]
KNOWN += [b"h\x00", b"q\x00", b"K\x01", b"X\x07\x00\x00\x00storage", b"X\x01\x00\x00\x000", b"cos\nsystem\n"]
KNOWN += [
    f"c{name}\n".encode()
    for name in (
        "torch\nFloatStorage",
        "torch\nSize",
        "torch\ndevice",
        "torch._utils\n_rebuild_tensor_v2",
        "collections\nOrderedDict",
        "collections\nCounter",
        "__builtin__\nset",
    )
]


@FEW
@given(
    st.integers(0, len(PROGRAM)),
    st.integers(0, 30),
    st.lists(st.sampled_from(KNOWN) | st.binary(max_size=3), max_size=8),
)
def test_changed_programs_give_an_error_or_a_value(start: int, removed: int, added: list[bytes]):
    program = PROGRAM[:start] + b"".join(added) + PROGRAM[start + removed :]
    with suppress(*HARMLESS):
        ak.load(with_program(program, _0=SIX, _1=SIX[:4]))


@FEW
@given(st.lists(st.sampled_from(KNOWN), max_size=40))
def test_programs_at_random_give_an_error_or_a_value(steps: list[bytes]):
    with suppress(*HARMLESS):
        ak.load(with_program(b"\x80\x02" + b"".join(steps) + b".", _0=SIX))


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
