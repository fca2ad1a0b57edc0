"""Several GPUs by index: what is computed from tensors of one is computed there, whichever is current."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit import current_gpu, nn, optim
from tests.gpu import standin

pytestmark = pytest.mark.usefixtures("two_gpus")


@pytest.fixture(autouse=True)
def two_gpus(gpu: str) -> Iterator[None]:
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    assert torch.cuda.current_device() == 0
    yield
    assert torch.cuda.current_device() == 0, "another GPU stayed the current one"


def second(*shape: int, requires_grad: bool = False) -> torch.Tensor:
    return torch.arange(float(np.prod(shape)), device="cuda:1").reshape(shape).requires_grad_(requires_grad)


def test_tensors_are_made_where_they_are_wanted():
    assert str(torch.ones(2, device="cuda").device) == "cuda:0"
    assert str(torch.ones(2, device="cuda:1").device) == "cuda:1" == str(torch.ones(2, device=1).device)
    with torch.cuda.device(1):
        assert str(torch.ones(2, device="cuda").device) == "cuda:1" == str(torch.ones(2).cuda().device)
        assert torch.cuda.current_device() == 1
        assert str((torch.ones(2, device="cuda:0") + 1).device) == "cuda:0"
    with torch.device("cuda:1"):
        assert str(torch.zeros(2).device) == "cuda:1"
    with torch.cuda.device_of(second(2)), torch.cuda.device_of(torch.ones(2)):
        assert torch.cuda.current_device() == 1
    assert str(torch.empty_like(second(2)).device) == "cuda:1" == str(second(2).new_zeros(3).device)
    torch.cuda.set_device(1)
    assert torch.cuda.current_device() == 1
    torch.cuda.set_device("cuda:0")


def test_cuda_without_a_number_is_the_current_gpu_whatever_the_tensor():
    x = second(2)
    assert str(x.to("cuda").device) == "cuda:0" == str(x.cuda().device)
    assert str(torch.zeros_like(x, device="cuda").device) == "cuda:0"
    assert str(x.to("cuda:1").device) == "cuda:1" and x.to("cuda:1") is x and x.get_device() == 1
    here = torch.ones(2)
    assert here.cpu() is here and here.to("cpu") is here


def test_the_printed_form_names_the_second():
    assert repr(second(2)) == "tensor([0., 1.], device='cuda:1')"


def test_copies_between_gpus_carry_gradients():
    x = second(3, requires_grad=True)
    y = (x.to("cuda:0") * 2).to("cuda:1") + x
    y.sum().backward()
    assert str(y.device) == str(x.grad.device) == "cuda:1" and x.grad.tolist() == [3, 3, 3]
    assert second(2, 3)[:, ::2].to("cuda:0").tolist() == [[0, 2], [3, 5]]
    here, there = torch.zeros(3, device="cuda:0"), second(3)
    assert here.copy_(there).tolist() == [0, 1, 2] and str(here.device) == "cuda:0"


@pytest.mark.parametrize(
    "meet",
    [
        lambda a, b: a + b,
        lambda a, b: b * a,
        lambda a, b: torch.where(b > 0, a, a),
        lambda a, b: a @ b,
        lambda a, b: torch.cat([a, b]),
        lambda a, b: a.add_(b),
        lambda a, b: nn.functional.mse_loss(a, b),
        lambda a, b: nn.functional.linear(a, b),
        lambda a, b: a * b.sum(),
    ],
)
def test_two_gpus_do_not_meet(meet: Callable[..., Any]):
    a, b = torch.ones(2, 2, device="cuda:0"), second(2, 2)
    with pytest.raises(RuntimeError, match=r"two devices, cuda:. and cuda:.! .* on cuda:.* on cuda:"):
        meet(a, b)


def test_a_number_of_the_cpu_comes_along():
    assert (second(2) * torch.tensor(2.0)).tolist() == [0, 2] and (second(2) + 1).tolist() == [1, 2]


def test_graphs_on_two_gpus_at_once():
    """A model whose layers are on different GPUs, whose activations go from one to the other."""
    torch.manual_seed(0)
    first, last = nn.Linear(3, 4).to("cuda:0"), nn.Linear(4, 2).to("cuda:1")
    alone = nn.Sequential(copy.deepcopy(first), nn.ReLU(), copy.deepcopy(last)).cpu()
    x = torch.rand(5, 3)
    for each in (last(first(x.to("cuda:0")).relu().to("cuda:1")), alone(x)):
        each.pow(2).mean().backward()
    for ours, theirs in zip((*first.parameters(), *last.parameters()), alone.parameters()):
        assert ours.grad.device == ours.device
        np.testing.assert_allclose(ours.grad.cpu().numpy(), theirs.grad.numpy(), rtol=1e-5)
    both = [*first.parameters(), *last.parameters()]
    norm = nn.utils.clip_grad_norm_(both, 0.1)
    expected = nn.utils.clip_grad_norm_(alone.parameters(), 0.1)
    assert norm.item() == pytest.approx(expected.item(), rel=1e-5)
    for optimizer in (optim.SGD(both, lr=0.1), optim.SGD(alone.parameters(), lr=0.1)):
        optimizer.step()
    for ours, theirs in zip(both, alone.parameters()):
        np.testing.assert_allclose(ours.detach().cpu().numpy(), theirs.detach().numpy(), rtol=1e-5)


def test_hooks_and_create_graph():
    x = second(3, requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(g * 2))
    y = x**3
    y.retain_grad()
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (first.sum() + y.sum()).backward()
    assert str(x.grad.device) == str(y.grad.device) == str(seen[0].device) == "cuda:1"
    assert x.grad.tolist() == [0 + 0, 6 + 3, 12 + 12]


OPTIMIZERS = (
    ("SGD", {"momentum": 0.9, "maximize": True}),
    ("Adam", {"amsgrad": True}),
    ("AdamW", {"maximize": True}),
    *((name, {}) for name in ("RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "Rprop", "ASGD")),
    ("Adafactor", {}),
    ("LBFGS", {"max_iter": 2}),
    ("Muon", {}),
)


@pytest.mark.parametrize(("name", "settings"), OPTIMIZERS)
def test_a_step_on_the_second_gpu_gives_the_cpus_numbers(name: str, settings: dict[str, Any]):
    found = []
    for where in ("cpu", "cuda:1"):
        torch.manual_seed(0)
        bias = name != "Muon"
        model = nn.Sequential(nn.Linear(4, 6, bias=bias), nn.Tanh(), nn.Linear(6, 3, bias=bias)).to(where)
        optimizer = getattr(optim, name)(model.parameters(), lr=0.01, **settings)
        x, y = torch.rand(5, 4).to(where), torch.tensor([0, 1, 2, 1, 0]).to(where)

        def closure() -> Any:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            return loss

        for _ in range(3):
            optimizer.step(closure)
        saved = io.BytesIO()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, saved)
        saved.seek(0)
        optimizer.load_state_dict(torch.load(saved)["optimizer"])
        optimizer.step(closure)
        assert all(str(each.device) == where for each in model.parameters())
        found.append([each.detach().cpu().numpy() for each in model.parameters()])
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(theirs, ours, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    "layer",
    [
        lambda where: nn.LSTM(4, 3, num_layers=2, bidirectional=True, device=where),
        lambda where: nn.GRU(4, 3, device=where),
        lambda where: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, device=where),
        lambda where: nn.BatchNorm1d(3, device=where),
        lambda where: nn.LazyLinear(2, device=where),
        lambda where: nn.Sequential(nn.Dropout(0.5), nn.GroupNorm(1, 3, device=where)),
        lambda where: nn.Sequential(
            nn.Unflatten(1, (1, 3)), nn.Conv2d(1, 2, 2, device=where), nn.MaxPool2d(2)
        ),
    ],
)
def test_layers_made_on_the_second_gpu_give_the_cpus_numbers(layer: Callable[[str], Any]):
    outputs = []
    for where in ("cpu", "cuda:1"):
        torch.manual_seed(1)
        model = layer(where)
        x = torch.rand(5, 3, 4).to(where).requires_grad_()
        standin.copies.clear()
        made = model(x)
        made = made[0] if isinstance(made, tuple) else made
        # Not of the squares: after a norm their sum is fixed, and its gradients are rounding errors.
        (made * made.detach().cos()).sum().backward()
        model.eval()(x)
        assert not standin.copies
        assert str(made.device) == str(x.grad.device) == torch.device(where).type + ":1" * (where != "cpu")
        outputs.append([made.detach().cpu().numpy(), x.grad.cpu().numpy()])
        assert (
            str(copy.deepcopy(model).state_dict().popitem()[1].device) == where
            if model.state_dict()
            else True
        )
    for ours, theirs in zip(*outputs):
        np.testing.assert_allclose(theirs, ours, rtol=1e-4, atol=1e-6)


def test_mixed_precision_on_the_second_gpu():
    model = nn.Linear(3, 2).to("cuda:1")
    scaler, optimizer = torch.amp.GradScaler("cuda", init_scale=8.0), optim.SGD(model.parameters(), lr=0.1)
    with torch.autocast("cuda", dtype=torch.float16):
        loss = nn.functional.mse_loss(model(second(4, 3)).float(), torch.ones(4, 2, device="cuda:1"))
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert str(model.weight.device) == "cuda:1" and model.weight.grad.isfinite().all()


def test_generators_and_drawing():
    generator = torch.Generator(device="cuda:1").manual_seed(3)
    drawn = torch.rand(3, generator=generator, device="cuda:1")
    assert str(generator.device) == "cuda:1" == str(drawn.device)
    assert torch.equal(drawn.cpu(), torch.rand(3, generator=torch.Generator().manual_seed(3)))
    x = second(4).normal_()
    assert str(x.device) == str(torch.randn_like(x).device) == str(torch.bernoulli(x * 0).device) == "cuda:1"
    assert str(torch.multinomial(x.exp(), 2).device) == "cuda:1"
    assert str(nn.init.xavier_uniform_(torch.empty(2, 3, device="cuda:1")).device) == "cuda:1"


def test_copies_pickles_and_files_keep_the_gpu():
    x = second(3)
    saved = io.BytesIO()
    torch.save(x, saved)
    saved.seek(0)
    made = [copy.deepcopy(x), pickle.loads(pickle.dumps(x)), torch.load(saved), torch.tensor(x), x.clone()]
    made += [torch.as_tensor(x.array), torch.tensor(x.array), x.detach(), x.contiguous(), x[[0, 2]], x[x > 0]]
    assert all(str(each.device) == "cuda:1" for each in made)
    saved.seek(0)
    assert str(torch.load(saved, map_location="cuda:0").device) == "cuda:0"
    assert x.__dlpack_device__() == (2, 1)


def test_memory_and_properties_are_those_of_each_gpu(gpu: str):
    cuda = torch.cuda
    if gpu == "stand-in":
        assert cuda.mem_get_info(1) == (1000, 1 << 30)
    before = [cuda.memory_allocated(0), cuda.memory_allocated(1)]
    x = second(1024)
    assert [cuda.memory_allocated(0), cuda.memory_allocated(1)] == [before[0], before[1] + x.nbytes]
    assert cuda.memory_reserved("cuda:1") >= cuda.memory_allocated(1)
    for number in (0, 1):
        assert cuda.get_device_properties(number).total_memory > 0 and cuda.get_device_name(number)
        cuda.synchronize(number)
    cuda.empty_cache()
    for ask in (cuda.get_device_name, cuda.memory_allocated, cuda.synchronize, cuda.set_device, cuda.device):
        with pytest.raises(RuntimeError, match=r"invalid device ordinal.*no cuda:99"):
            ask(99)


def test_streams_and_events_belong_to_a_gpu():
    stream = torch.cuda.Stream(device="cuda:1")
    assert stream.device_id == 1 and torch.cuda.current_device() == 0
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    assert start.query()
    with pytest.raises(ValueError, match="recorded before"):
        start.elapsed_time(end)
    with torch.cuda.stream(stream):
        assert torch.cuda.current_device() == 1 and torch.cuda.current_stream() == stream
        start.record()
        assert str((second(3) + torch.ones(3, device="cuda")).device) == "cuda:1"
    end.record(stream)
    end.synchronize()
    assert start.elapsed_time(end) >= 0 and torch.cuda.current_stream(1) == torch.cuda.default_stream(1)


def test_batches_go_to_the_second_gpu():
    data = torch.utils.data.TensorDataset(torch.arange(6.0).reshape(3, 2), torch.arange(3))
    loader = torch.utils.data.DataLoader(data, batch_size=2, pin_memory=True)
    for x, y in loader:
        x, y = x.to("cuda:1", non_blocking=True), y.to("cuda:1", non_blocking=True)
        assert str((x.sum(1) + y).device) == "cuda:1"


def test_vmap_jvp_checkpoint_and_checks_on_the_second_gpu():
    x = second(2, 3, requires_grad=True)
    assert torch.equal(torch.func.vmap(lambda row: row.exp().sum())(x), x.exp().sum(1))
    _, moved = torch.func.jvp(lambda a: a * a, (x.detach(),), (torch.ones_like(x),))
    assert torch.equal(moved, 2 * x.detach())
    jacobian = torch.func.jacrev(lambda a: a.sum(1) ** 2)(x.detach())
    assert str(jacobian.device) == "cuda:1" and jacobian.shape == (2, 2, 3)
    torch.utils.checkpoint.checkpoint(lambda a: (a.sin() * a).sum(), x, use_reentrant=False).backward()
    assert str(x.grad.device) == "cuda:1"
    assert torch.autograd.gradcheck(lambda a: (a * a).sum(), x.detach().double().requires_grad_())


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 2, x.sum()

    @staticmethod
    def backward(ctx: Any, g: Any, of_sum: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 2 + of_sum * torch.ones_like(x)


def test_own_functions_on_the_second_gpu():
    x = second(3, requires_grad=True)
    Double.apply(x)[0].sum().backward()
    assert x.grad.tolist() == [2, 2, 2] and str(x.grad.device) == "cuda:1"


def test_a_new_thread_goes_on_where_this_one_computes():
    def look() -> tuple[str, int, Any]:
        made = torch.ones(2, device="cuda") + 1
        return str(made.device), torch.cuda.current_device(), torch.cuda.current_stream()

    from autokit.new_thread import in_a_new_thread

    with torch.cuda.device(1), torch.cuda.stream(torch.cuda.Stream()):
        here = look()
        assert in_a_new_thread(look) == here
    assert here[:2] == ("cuda:1", 1)
    with current_gpu.OnGPU(1):  # another one computes than the program chose
        assert in_a_new_thread(look)[:2] == look()[:2] == ("cuda:0", 1)
