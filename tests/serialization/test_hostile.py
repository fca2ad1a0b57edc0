"""Files that mean harm: nothing in them runs, and the refusal names what was refused."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autokit as ak
from tests.serialization.archives import SIX, here, records, saved, tensor_program, with_program
from tests.support import require

require("torch")
import torch  # noqa: E402

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


@pytest.mark.parametrize(
    "identity",
    [
        b"X\x07\x00\x00\x00storage\x85",  # too short
        b"(X\x05\x00\x00\x00othercTORCH\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x06t",
        b"(X\x07\x00\x00\x00storagecos\nsystem\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x06t",
        b"(X\x07\x00\x00\x00storage(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000"
        b"X\x03\x00\x00\x00cpuK\x06tQX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x06t",  # one in another
        b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\n]X\x03\x00\x00\x00cpuK\x06t",
        b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x0d\x00\x00\x00../../harm.pyX\x03\x00\x00\x00cpuK\x06t",
        b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuJ\xff\xff\xff\xfft",
    ],
    ids=["short", "kind", "code", "nested", "list", "path", "negative"],
)
def test_identities_of_storages_that_no_file_has(identity: bytes):
    with pytest.raises((pickle.UnpicklingError, RuntimeError)):
        ak.load(with_program(b"\x80\x02" + identity + b"Q.", _0=SIX))


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


def test_tensors_that_autokit_lacks_are_named():
    with pytest.raises(pickle.UnpicklingError, match=r"torch\.ComplexFloatStorage.*no such dtype"):
        here(torch.ones(2) + 1j)
    with pytest.raises(
        pickle.UnpicklingError, match=r"_rebuild_tensor_v3.*a kind that autokit does not read"
    ):
        here(torch.ones(2).to(torch.uint16))
    with pytest.raises(pickle.UnpicklingError, match=r"_rebuild_qtensor.*tensor\.dequantize\(\)"):
        here(torch.quantize_per_tensor(torch.ones(2), 0.5, 0, torch.qint8))
    with pytest.raises(pickle.UnpicklingError, match=r"_rebuild_sparse_tensor.*tensor\.to_dense\(\)"):
        here(torch.eye(2).to_sparse())
    with pytest.raises(pickle.UnpicklingError, match="_rebuild_meta_tensor_no_storage"):
        here(torch.ones(2, device="meta"))
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
