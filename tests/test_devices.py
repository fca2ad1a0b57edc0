"""Devices: their names, and what a machine without a GPU says."""

from __future__ import annotations

import numpy as np
import pytest

import autokit as torch
from autokit import devices


def test_names_and_equality():
    assert str(torch.device("cpu")) == "cpu" and repr(torch.device("cpu")) == "device(type='cpu')"
    second = torch.device("cuda", 1)
    assert second == torch.device("cuda:1") and hash(second) == hash(torch.device("cuda:1"))
    assert (second.type, second.index, str(second)) == ("cuda", 1, "cuda:1")
    assert repr(second) == "device(type='cuda', index=1)"
    assert torch.device(second) == second != torch.device("cuda")
    assert torch.device("cpu") != 3


@pytest.mark.parametrize("wrong", ["gpu", "cuda:x", "cpu:", ""])
def test_an_unknown_device_is_refused(wrong: str):
    with pytest.raises(RuntimeError, match="Invalid device string"):
        torch.device(wrong)


def test_a_device_equals_no_text():
    # As in PyTorch: `x.device == "cpu"` is a mistake that no branch may hide.
    cpu = torch.device("cpu")
    assert cpu != "cpu" and cpu not in ("cpu", "cuda") and {"cpu": 1}.get(cpu) is None
    assert cpu == torch.device("cpu") and str(cpu) == "cpu" and cpu.type == "cpu"


def test_a_tensor_is_on_the_cpu():
    x = torch.ones(2, device="cpu")
    assert x.device == torch.device("cpu") and not x.is_cuda and x.cpu() is x and x.to("cpu") is x
    assert devices.module_of(x.numpy()) is np and devices.module_for(None) is np
    assert devices.to_numpy(x.array) is x.array


def test_a_gpu_that_is_missing_is_named():
    try:
        import cupy

        cupy.cuda.runtime.getDeviceCount()
    except Exception:
        with pytest.raises(RuntimeError, match="No CUDA GPU is available"):
            torch.ones(2, device="cuda")
        with pytest.raises(RuntimeError, match="No CUDA GPU is available"):
            torch.ones(2).cuda()
    else:
        pytest.skip("there is a GPU here")
