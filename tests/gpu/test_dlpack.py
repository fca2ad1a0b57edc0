"""DLPack to and from CuPy and PyTorch: a GPU's memory is shared, not copied, and each side names its stream.

On the stand-in the capsules are real and say that their memory is a GPU's.
What a PyTorch for CUDA does with them is in the tests with the mark ``gpu``;
elsewhere its own Python lines ask, and its last step, in C++, is held back.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit.devices import module_for
from tests.gpu.standin import dlpack
from tests.support import require

KINDS = ["float16", "float32", "float64", "int64", "uint8", "bool", "complex64"]

pytestmark = pytest.mark.usefixtures("gpu")


@pytest.fixture
def x() -> torch.Tensor:
    return torch.arange(6.0, device="cuda").reshape(2, 3)


class Producer:
    """Another library's tensor on a GPU, of which the protocol's two methods are known and nothing else."""

    def __init__(self, array: Any) -> None:
        self._array = array
        self.asked: list[dict[str, Any]] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, **settings: Any) -> Any:
        self.asked.append({"stream": stream, "max_version": max_version, **settings})
        return self._array.__dlpack__(stream=stream, max_version=max_version)


@pytest.mark.parametrize("kind", KINDS)
def test_cupy_takes_a_tensors_memory_and_gives_its_own(kind: str):
    cupy = module_for("cuda")
    x = torch.ones(2, 3, device="cuda").to(getattr(torch, kind)).t()
    array = cupy.from_dlpack(x)
    assert array.data.ptr == x.data_ptr() and array.strides == x.array.strides
    assert array.dtype == x.array.dtype
    x[0, 1] = 0
    assert array.get()[0, 1] == 0
    back = torch.from_dlpack(array)
    assert back.data_ptr() == x.data_ptr() and back.dtype == x.dtype and back.device == x.device
    back[1, 1] = 0
    assert x[1, 1].item() == 0


def test_another_librarys_memory_is_shared_and_it_is_told_the_stream(x: torch.Tensor):
    producer = Producer(x.array)
    made = torch.from_dlpack(producer)
    assert made.is_cuda and made.data_ptr() == x.data_ptr() and made.tolist() == x.tolist()
    (asked,) = producer.asked
    assert asked["stream"] == 1, "CUDA's null stream, by the protocol's number"
    assert asked["max_version"] == (1, 0)
    shared = torch.asarray(Producer(x.array), copy=False)
    assert shared.data_ptr() == x.data_ptr()
    shared[0, 0] = 9
    assert x[0, 0].item() == 9
    own = torch.from_dlpack(Producer(x.array), copy=True)
    assert own.data_ptr() != x.data_ptr() and own.tolist() == x.tolist()


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_bare_capsule_says_itself_where_its_memory_is(x: torch.Tensor, version: Any):
    capsule = x.__dlpack__(max_version=version)
    made = torch.from_dlpack(capsule)
    assert made.is_cuda and made.data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError, match="can be consumed only once"):
        torch.from_dlpack(capsule)
    old = torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x))
    assert old.data_ptr() == x.data_ptr()


def test_each_gpu_shares_its_own_memory():
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU")
    x = torch.ones(3, device="cuda:1")
    assert x.__dlpack_device__() == (2, 1)
    made = torch.from_dlpack(Producer(x))
    assert made.device == x.device and made.data_ptr() == x.data_ptr()
    assert torch.from_dlpack(x.__dlpack__()).device == x.device and torch.cuda.current_device() == 0


def test_what_cannot_be_shared_says_so(x: torch.Tensor):
    with pytest.raises(BufferError, match="require gradient"):
        x.clone().requires_grad_().__dlpack__()
    with pytest.raises(
        ValueError, match="cannot move DLPack tensor from device cuda:0 to cpu without copying"
    ):
        torch.from_dlpack(Producer(x), device="cpu", copy=False)
    assert torch.from_dlpack(Producer(x), device="cpu").tolist() == x.tolist()
    elsewhere = SimpleNamespace(__dlpack__=None, __dlpack_device__=lambda: (8, 0))
    with pytest.raises(BufferError, match=r"memory of the device \(8, 0\) cannot be shared here"):
        torch.from_dlpack(elsewhere)
    with pytest.raises((BufferError, TypeError, RuntimeError)):
        np.from_dlpack(x)


def test_pytorchs_own_lines_take_a_tensor(gpu: str, x: torch.Tensor, monkeypatch: pytest.MonkeyPatch):
    """As PyTorch asks for a tensor on its device: the memory, the device and the stream arrive."""
    if gpu == "CuPy":
        pytest.skip("the test with a PyTorch for CUDA is the next one")
    require("torch")
    import torch as pytorch

    taken: list[Any] = []
    monkeypatch.setattr(pytorch._C, "_from_dlpack", lambda capsule: taken.append(dlpack.memory_in(capsule)))
    for own, told in ((0, 1), (7, 7)):
        stream = SimpleNamespace(cuda_stream=own)
        monkeypatch.setattr(pytorch.cuda, "current_stream", lambda device, stream=stream: stream)
        dlpack.asked.clear()
        pytorch.from_dlpack(x)
        assert dlpack.asked == [{"stream": told, "max_version": (1, 0), "copy": None}]
        host, place = taken.pop()
        assert place == 0 and host.ctypes.data == x.data_ptr() and host.tolist() == x.tolist()
    pytorch.from_dlpack(x, copy=True)
    host, _ = taken.pop()
    assert host.ctypes.data != x.data_ptr() and host.tolist() == x.tolist()


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
def test_a_pytorch_for_cuda_shares_memory_both_ways(gpu: str, kind: str):
    require("torch")
    import torch as pytorch

    if gpu != "CuPy" or not pytorch.cuda.is_available():
        pytest.skip("needs a PyTorch that finds the GPU: pip install torch, of a build for CUDA")
    mine = torch.ones(2, 3, device="cuda").to(getattr(torch, kind))
    theirs = pytorch.from_dlpack(mine)
    assert theirs.is_cuda and theirs.data_ptr() == mine.data_ptr() and str(theirs.dtype) == f"torch.{kind}"
    theirs[0, 1] = 0
    pytorch.cuda.synchronize()
    assert mine[0, 1].item() == 0
    made = pytorch.ones(2, 3, device="cuda").to(getattr(pytorch, kind)).t()
    taken = torch.from_dlpack(made)
    assert taken.is_cuda and taken.data_ptr() == made.data_ptr() and taken.stride() == made.stride()
    taken[1, 0] = 0
    torch.cuda.synchronize()
    assert made[1, 0].item() == 0
    capsule = pytorch.utils.dlpack.to_dlpack(made)
    assert torch.utils.dlpack.from_dlpack(capsule).data_ptr() == made.data_ptr()
