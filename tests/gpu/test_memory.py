"""How much of a GPU's memory is taken, and was at the most."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit import cuda
from tests.gpu.standin import hardware

pytestmark = pytest.mark.usefixtures("gpu")

MIB = 1 << 20


@pytest.fixture(autouse=True)
def begun_again(gpu: str) -> None:
    torch.ones(1, device="cuda")
    cuda.empty_cache()
    cuda.reset_peak_memory_stats()


def test_the_peak_is_the_most_that_was_taken_at_once():
    before = cuda.memory_allocated()
    x = torch.zeros(MIB // 4, device="cuda")
    for _ in range(3):
        y = x + x
        del y
    assert cuda.memory_allocated() == before + MIB
    assert cuda.max_memory_allocated() == before + 2 * MIB
    del x
    assert cuda.memory_allocated() == before and cuda.max_memory_allocated() == before + 2 * MIB
    cuda.reset_peak_memory_stats()
    assert cuda.max_memory_allocated() == before
    torch.zeros(MIB // 8, device="cuda")
    assert cuda.max_memory_allocated() == before + MIB // 2


def test_a_training_step_takes_more_than_it_leaves():
    model = torch.nn.Sequential(*(torch.nn.Linear(64, 64) for _ in range(4))).to("cuda")
    optimizer, x = torch.optim.Adam(model.parameters()), torch.ones(128, 64, device="cuda")
    for _ in range(2):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    kept, most = cuda.memory_allocated(), cuda.max_memory_allocated()
    held = sum(each.nbytes for each in model.parameters())
    assert kept >= 4 * held, "parameters, gradients, and Adam's two averages"
    assert most >= kept + 3 * x.nbytes


def test_what_was_freed_is_kept_until_it_is_given_back():
    x = torch.zeros(MIB, device="cuda")
    most = cuda.memory_reserved()
    assert most >= 4 * MIB
    del x
    assert cuda.memory_reserved() == most
    cuda.empty_cache()
    assert cuda.memory_reserved() <= most - 4 * MIB and cuda.max_memory_reserved() == most
    cuda.reset_peak_memory_stats()
    assert cuda.max_memory_reserved() == cuda.memory_reserved()


def test_each_gpu_has_a_peak_of_its_own():
    if cuda.device_count() < 2:
        pytest.skip("there is one GPU")
    before = [cuda.max_memory_allocated(0), cuda.max_memory_allocated(1)]
    torch.zeros(MIB, device="cuda:1")
    assert cuda.max_memory_allocated(0) == before[0]
    assert cuda.max_memory_allocated("cuda:1") >= cuda.memory_allocated(1) + 4 * MIB
    cuda.reset_peak_memory_stats(1)
    assert cuda.max_memory_allocated(1) == cuda.memory_allocated(1)


def test_the_stats_and_their_table_say_the_same():
    x = torch.zeros(3 * MIB // 4, device="cuda")
    del x
    stats = cuda.memory_stats()
    for name, now, most in (
        ("allocated", cuda.memory_allocated(), cuda.max_memory_allocated()),
        ("active", cuda.memory_allocated(), cuda.max_memory_allocated()),
        ("reserved", cuda.memory_reserved(), cuda.max_memory_reserved()),
    ):
        assert stats[f"{name}_bytes.all.current"] == now and stats[f"{name}_bytes.all.peak"] == most
    table = cuda.memory_summary()
    assert f"{cuda.max_memory_allocated() / MIB:,.1f} MiB" in table and "cuda:0" in table
    assert len({len(line) for line in table.splitlines()}) == 1
    assert torch.accelerator.max_memory_allocated() == cuda.max_memory_allocated()
    with pytest.warns(FutureWarning, match="reset_peak_memory_stats"):
        cuda.reset_max_memory_allocated()
    assert cuda.max_memory_allocated() == cuda.memory_allocated()


def test_a_program_keeps_an_allocator_of_its_own(gpu: str):
    """As long as it has one, the peaks that are told are those of the moments in which it asks."""
    if gpu == "CuPy":
        pytest.skip("on a GPU an allocator of a program's own is that program's")
    asked: list[int] = []

    def own(size: int) -> Any:
        asked.append(size)
        return hardware.POOL.malloc(size)

    noting = hardware.get_allocator()
    assert noting != hardware.POOL.malloc
    hardware.set_allocator(own)
    try:
        x = torch.zeros(MIB, device="cuda")
        assert asked == [4 * MIB] and cuda.max_memory_allocated() == cuda.memory_allocated()
        del x
    finally:
        hardware.set_allocator(noting)


def test_memory_that_is_not_there_leaves_the_peak_as_it_was(gpu: str):
    if gpu == "CuPy":
        pytest.skip("a real GPU's limit cannot be set to a number of bytes")
    before = cuda.max_memory_allocated()
    with hardware.memory(1000), pytest.raises(torch.cuda.OutOfMemoryError):
        torch.as_tensor(np.zeros(MIB, np.float32)).to("cuda")
    assert cuda.max_memory_allocated() == before
