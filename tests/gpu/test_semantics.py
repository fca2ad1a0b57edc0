"""Tensors on a GPU: moves, what may meet, models that are trained there, and what a picture shows of them."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit import nn, optim
from tests.gpu import standin
from tests.gpu.standin.hardware import memory

pytestmark = pytest.mark.usefixtures("gpu")


@pytest.fixture
def x() -> torch.Tensor:
    return torch.ones(2, 3, device="cuda")


def test_the_printed_form_names_the_device(x: torch.Tensor):
    assert repr(x) == "tensor([[1., 1., 1.],\n        [1., 1., 1.]], device='cuda:0')"
    assert x.is_cuda and x.device == torch.device("cuda:0")
    assert repr(torch.zeros(3000, device="cuda")) == "tensor([0., 0., 0.,  ..., 0., 0., 0.], device='cuda:0')"


@pytest.mark.parametrize("where", ["cuda", "cuda:0", 0, torch.device("cuda"), torch.device("cuda", 0)])
def test_there_and_back(where: Any):
    x = torch.arange(3.0)
    there = x.to(where, non_blocking=True)
    assert there.is_cuda and torch.equal(there.cpu(), x) and there.to(where) is there
    assert torch.zeros(2, device=where).is_cuda and x.cuda().is_cuda and there.to(x).device.type == "cpu"


def test_a_gpu_that_is_not_there():
    with pytest.raises(RuntimeError, match=r"invalid device ordinal.*no cuda:7"):
        torch.ones(2, device="cuda:7")


def test_numpy_is_refused_with_the_way_out(x: torch.Tensor):
    for ask in (x.numpy, lambda: np.asarray(x)):
        with pytest.raises(TypeError, match=r"can't convert cuda:0 .*Tensor.cpu\(\)"):
            ask()
    assert x.numpy(force=True).sum() == 6 and x.tolist() == [[1.0] * 3] * 2 and x[0, 0].item() == 1


@pytest.mark.parametrize(
    "meet",
    [
        lambda a, b: a + b,
        lambda a, b: torch.where(b > 0, a, a),
        lambda a, b: a @ b.T,
        lambda a, b: torch.cat([a, b]),
        lambda a, b: nn.functional.mse_loss(a, b),
        lambda a, b: nn.functional.linear(a, b),
    ],
)
def test_two_devices_do_not_meet(x: torch.Tensor, meet: Any):
    with pytest.raises(RuntimeError, match=r"(?s)same device.*(cuda:0.*cpu|cpu.*cuda:0)"):
        meet(x, torch.ones(2, 3))


def test_a_cpu_tensor_without_dimensions_comes_along(x: torch.Tensor):
    y = x * torch.tensor(0.5)
    assert y.is_cuda and y.sum().item() == 3


def test_gradients_cross_devices():
    x = torch.ones(3, requires_grad=True)
    y = (x.cuda() * 2).cpu() * torch.tensor([1.0, 2.0, 3.0])
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0] and not x.grad.is_cuda


def test_indices_may_be_on_the_cpu(x: torch.Tensor):
    assert x[torch.tensor([0, 1])].is_cuda and x[[0, 1]].is_cuda and x[x > 0].is_cuda
    with pytest.raises(IndexError, match="5"):
        x[torch.tensor([0, 5], device="cuda")]


def test_a_class_that_is_not_there_is_refused(x: torch.Tensor):
    with pytest.raises(IndexError, match="3"):
        nn.functional.cross_entropy(x, torch.tensor([0, 3], device="cuda"))


def test_one_seed_gives_the_same_numbers_until_the_gpu_has_its_stream():
    torch.manual_seed(3)
    here = torch.rand(4)
    torch.manual_seed(3)
    assert torch.equal(torch.rand(4, device="cuda").cpu(), here)
    torch.cuda.manual_seed(3)
    assert torch.equal(torch.rand(4, device="cuda").cpu(), here) and not torch.equal(torch.rand(4), here)
    torch.manual_seed(0)


def test_what_torch_cuda_tells():
    cuda = torch.cuda
    assert cuda.is_available() and cuda.current_device() == 0 and cuda.device_count() == 1
    assert cuda.get_device_properties(0).total_memory > 0 and isinstance(cuda.get_device_name(), str)
    x = torch.ones(1000, device="cuda")
    assert cuda.max_memory_allocated() >= cuda.memory_allocated() >= x.nbytes
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    start.record()
    end.record()
    cuda.synchronize()
    cuda.empty_cache()
    assert start.elapsed_time(end) >= 0 and end.query()


def test_copies_pickles_and_files_keep_the_device(x: torch.Tensor, tmp_path: Path):
    assert copy.deepcopy(x).is_cuda and pickle.loads(pickle.dumps(x)).is_cuda
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).to("cuda")
    torch.save(model.state_dict(), tmp_path / "model.pt")
    assert all(value.is_cuda for value in torch.load(tmp_path / "model.pt").values())
    here = torch.load(tmp_path / "model.pt", map_location="cpu")
    assert not any(value.is_cuda for value in here.values())


class Net(nn.Module):
    """A small network of most of the layers that courses use."""

    def __init__(self) -> None:
        super().__init__()
        self.pictures = nn.Sequential(
            nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.2)
        )
        self.words, self.recurrent = nn.Embedding(5, 4), nn.LSTM(4, 3, batch_first=True)
        self.attention, self.norm = nn.MultiheadAttention(3, 1, batch_first=True), nn.LayerNorm(3)
        self.out = nn.Linear(2 * 3 * 3 + 3, 2)

    def forward(self, pictures: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        read, _ = self.recurrent(self.words(words))
        seen, _ = self.attention(read, read, read)
        return self.out(torch.cat([self.pictures(pictures), self.norm(read + seen)[:, -1]], 1))


OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "Adam": lambda p: optim.Adam(p, lr=0.01),
    "AdamW": lambda p: optim.AdamW(p, lr=0.01),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_network_is_trained_there_as_on_the_cpu(name: str):
    ends = []
    for device in ("cpu", "cuda"):
        torch.manual_seed(0)
        net = Net().to(device)
        optimizer = OPTIMIZERS[name](net.parameters())
        pictures = torch.rand(6, 1, 8, 8).to(device)
        words, labels = torch.randint(5, (6, 4)).to(device), torch.randint(2, (6,)).to(device)
        standin.copies.clear()
        for _ in range(3):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(pictures, words), labels)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
        assert not standin.copies, "a tensor was copied to the CPU"
        ends.append([loss.item(), *(value.cpu() for value in net.state_dict().values())])
    assert ends[0][0] == pytest.approx(ends[1][0], rel=1e-4)
    for ours, theirs in zip(ends[0][1:], ends[1][1:]):
        np.testing.assert_allclose(theirs.numpy(), ours.numpy(), rtol=2e-3, atol=1e-4)


def test_float16_under_autocast():
    model = nn.Linear(3, 2).to("cuda")
    scaler = torch.amp.GradScaler("cuda")
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    with torch.autocast("cuda", dtype=torch.float16):
        made = model(torch.ones(4, 3, device="cuda"))
        assert made.dtype == torch.float16 and made.softmax(1).dtype == torch.float32
        loss = nn.functional.mse_loss(made.float(), torch.ones(4, 2, device="cuda"))
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert model.weight.dtype == torch.float32 and model.weight.grad is not None


def test_a_full_gpu_says_so_and_the_program_goes_on(gpu: str):
    if gpu == "CuPy":
        pytest.skip("a real GPU's limit cannot be set to a number of bytes")
    weight = torch.ones(64, 64, device="cuda", requires_grad=True)
    with memory(8000):
        with pytest.raises(torch.cuda.OutOfMemoryError, match="weight"):
            weight * 2
        with pytest.raises(torch.cuda.OutOfMemoryError, match="CUDA out of memory"):
            torch.ones(64, 64).to("cuda")
    assert (weight * 2).sum().item() == 2 * 64 * 64


def test_a_story_and_a_picture_are_those_of_the_cpu():
    told = []
    for device in ("cpu", "cuda"):
        a = torch.tensor([1.0, 2.0], device=device, requires_grad=True)
        w = torch.ones(2, 2, device=device, requires_grad=True)
        large = torch.ones(60, 60, device=device, requires_grad=True)
        loss = ((a @ w).relu() * a).max(0).values + a.exp().sum() / (large * large).sum()
        story = torch.record(loss)
        loss.backward()
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(2, 40), torch.nn.ReLU(), torch.nn.Linear(40, 1)).to(device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        with torch.monitor(net, optimizer) as watch:
            outcome = net(torch.ones(4, 2, device=device)).sum()
            outcome.backward()
            optimizer.step()
            watch.step(outcome)
        layers = torch.explore(net, torch.ones(4, 2, device=device)).exploration.layers
        sentences = [step.sentence for step in story]
        told.append((sentences, str(torch.graph(loss)), torch.draw.svg(story), watch._table(), layers))
    assert told[0] == told[1]
