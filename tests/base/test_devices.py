"""Devices: their names, and what a machine without a GPU says."""

from __future__ import annotations

import numpy as np
import pytest

from autokit.base import devices
from autokit.base.devices import device
from tests.support import gpu_works


def test_names_and_equality():
    assert str(device("cpu")) == "cpu" and repr(device("cpu")) == "device(type='cpu')"
    second = device("cuda", 1)
    assert second == device("cuda:1") == device(1) and hash(second) == hash(device("cuda:1"))
    assert (second.type, second.index, str(second)) == ("cuda", 1, "cuda:1")
    assert repr(second) == "device(type='cuda', index=1)"
    assert device(second) == second != device("cuda")


@pytest.mark.parametrize("wrong", ["gpu", "cuda:x", "cpu:", "", "meta", "mps"])
def test_an_unknown_device_is_refused(wrong: str):
    with pytest.raises(RuntimeError, match="Invalid device string"):
        device(wrong)


def test_a_device_equals_no_text():
    # As in PyTorch: `x.device == "cpu"` is a mistake that no branch may hide.
    cpu = device("cpu")
    assert cpu != "cpu" and cpu not in ("cpu", "cuda") and {"cpu": 1}.get(cpu) is None


def test_arrays_of_numpy_are_on_the_cpu():
    a = np.ones(2)
    assert devices.device_of(a) == devices.device_of(a[0]) == device("cpu") and not devices.on_a_gpu(a)
    assert devices.module_of(a) is devices.module_of(a[0]) is devices.module_for(None) is np
    assert devices.to_numpy(a) is devices.put_on(a, "cpu") is devices.beside(a, a) is a
    assert devices.address_of(a) == a.ctypes.data


def test_the_default_device_is_chosen_for_a_block_or_for_good():
    assert devices.get_default_device() == device("cpu")
    with device("cuda"):
        assert devices.get_default_device() == device("cuda")
        with device("cpu") as inner:
            assert devices.get_default_device() is inner
    assert devices.get_default_device() == device("cpu")
    devices.set_default_device("cuda:0")
    assert devices.get_default_device() == device("cuda", 0)
    devices.set_default_device(None)
    assert devices.get_default_device() == device("cpu")


@pytest.mark.skipif(gpu_works(), reason="there is a GPU here")
def test_a_gpu_that_is_missing_is_named():
    for kind in (RuntimeError, AssertionError):
        with pytest.raises(kind, match="no CUDA GPU is available"):
            devices.put_on(np.ones(2), "cuda")
