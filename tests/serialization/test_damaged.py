"""Files that were cut off or changed: an error, or a value, and never a hang or a crash."""

from __future__ import annotations

import io
import os
import pickle
import struct
import zipfile
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import autokit as ak
from autokit import nn
from tests.serialization.archives import FEW, SIX, equal, pickle_of, records, saved, with_program, zipped
from tests.support import require

require("torch")

WHOLE = saved({"a": ak.arange(100.0), "b": [1, "text", (2.5,)]}).getvalue()
CONTENTS = records(io.BytesIO(WHOLE))
HARMLESS = (RuntimeError, pickle.UnpicklingError, ValueError, EOFError)


@pytest.mark.parametrize("length", [1, 4, 29, 60, 500, 900, len(WHOLE) - 60, len(WHOLE) - 22, len(WHOLE) - 1])
def test_a_file_that_was_cut_off(length: int):
    with pytest.raises((RuntimeError, pickle.UnpicklingError)):
        ak.load(io.BytesIO(WHOLE[:length]))


STATE = saved(nn.Linear(2, 1).state_dict()).getvalue()


def test_a_small_file_cut_off_at_every_byte_leaves_the_model_as_it_was(tmp_path: Path):
    model = nn.Linear(2, 1)
    before = [each.tolist() for each in model.parameters()]
    path = tmp_path / "state.pt"
    for length in range(len(STATE)):
        path.write_bytes(STATE[:length])
        with pytest.raises((RuntimeError, pickle.UnpicklingError, EOFError)):
            model.load_state_dict(ak.load(path))
    assert [each.tolist() for each in model.parameters()] == before
    path.write_bytes(STATE)
    model.load_state_dict(ak.load(path))
    assert [each.tolist() for each in model.parameters()] != before


@FEW
@given(st.lists(st.integers(0, 8 * len(STATE) - 1), min_size=1, max_size=3))
def test_flipped_bits_give_an_error_or_the_very_state(bits: list[int]):
    data = bytearray(STATE)
    for bit in bits:
        data[bit // 8] ^= 1 << bit % 8
    model = nn.Linear(2, 1)
    before = repr(list(model.parameters()))
    try:
        model.load_state_dict(ak.load(io.BytesIO(data)))
    except HARMLESS:
        assert repr(list(model.parameters())) == before
    else:
        assert equal(model.state_dict(), ak.load(io.BytesIO(STATE)))


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"data/0": None}, RuntimeError, "failed locating file data/0"),
        ({"data.pkl": None}, RuntimeError, r"failed locating file data\.pkl"),
        ({"version": None}, RuntimeError, "version"),
        ({"version": b"99\n"}, RuntimeError, "version b.99"),
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
    with pytest.raises(RuntimeError, match="CRC-32"):
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
