"""Tensors on a GPU: PyTorch's words for where they are, what may meet, what must be copied by hand."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit import nn, optim
from autokit.devices import module_for
from tests.gpu import standin
from tests.gpu.standin.hardware import memory

pytestmark = pytest.mark.usefixtures("gpu")


@pytest.fixture
def x() -> torch.Tensor:
    return torch.ones(2, 3, device="cuda")


def test_the_printed_form_names_the_device(x: torch.Tensor):
    assert repr(x) == "tensor([[1., 1., 1.],\n        [1., 1., 1.]], device='cuda:0')"
    assert x.is_cuda and x.device == torch.device("cuda:0") and x.get_device() == 0


@pytest.mark.parametrize("where", ["cuda", "cuda:0", 0, torch.device("cuda"), torch.device("cuda", 0)])
def test_there_and_back(where: Any):
    x = torch.arange(3.0)
    there = x.to(where, non_blocking=True)
    assert there.is_cuda and torch.equal(there.cpu(), x) and there.to(where) is there
    assert torch.zeros(2, device=where).is_cuda and x.cuda().is_cuda and there.to(x).device.type == "cpu"


@pytest.mark.parametrize(
    "send", [lambda model: model.to("cuda"), lambda model: model.cuda(), lambda model: model.cuda(0)]
)
def test_a_model_goes_there_with_all_that_it_holds(send: Any):
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    before = [*model.parameters()]
    assert send(model) is model
    held = [*model.parameters(), *model.buffers()]
    assert len(held) == 7 and all(str(each.device) == "cuda:0" for each in held)
    assert all(one is other for one, other in zip(model.parameters(), before)), "an optimizer has them"
    assert model(torch.ones(4, 3, device="cuda")).is_cuda
    assert not any(each.is_cuda for each in model.cpu().parameters())


def test_a_gpu_that_is_not_there():
    with pytest.raises(RuntimeError, match=r"invalid device ordinal.*no cuda:7"):
        torch.ones(2, device="cuda:7")
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        nn.Linear(2, 2, device="cuda:7")


def test_numpy_is_refused_with_the_way_out(x: torch.Tensor):
    for ask in (x.numpy, lambda: np.asarray(x), lambda: np.sort(x)):
        with pytest.raises(TypeError, match=r"can't convert cuda:0 .*Tensor.cpu\(\)"):
            ask()
    assert x.numpy(force=True).sum() == 6


@pytest.mark.parametrize(
    "meet",
    [
        lambda a, b: a + b,
        lambda a, b: b * a,
        lambda a, b: torch.where(b > 0, a, a),
        lambda a, b: a @ b.T,
        lambda a, b: torch.cat([a, b]),
        lambda a, b: nn.functional.mse_loss(a, b),
        lambda a, b: nn.functional.linear(a, b),
    ],
)
def test_two_devices_do_not_meet(x: torch.Tensor, meet: Any):
    b = torch.ones(2, 3)
    with pytest.raises(RuntimeError, match=r"two devices, cuda:0 and cpu!.*\(2×3.* on cuda:0.*on cpu"):
        meet(x, b)


@pytest.mark.parametrize("bias", [False, True])
def test_the_weight_of_a_layer_on_another_device_is_told_by_its_name(x: torch.Tensor, bias: bool):
    layer = nn.Linear(3, 2, bias=bias)
    weight, terms = layer.weight, layer.bias
    with pytest.raises(RuntimeError, match=r"got x \(2×3, .* on cuda:0 and weight \(2×3, .* on cpu"):
        nn.functional.linear(x, weight, terms)
    del weight
    with pytest.raises(RuntimeError, match=r"x \(2×3, .* and weight \(2×3, .*\[in Linear"):
        layer(x)


def test_a_cpu_tensor_without_dimensions_comes_along(x: torch.Tensor):
    half = torch.tensor(0.5, requires_grad=True)
    y = x * half
    y.sum().backward()
    assert y.is_cuda and not half.grad.is_cuda and half.grad.item() == 6


def test_gradients_cross_devices():
    x = torch.ones(3, requires_grad=True)
    y = (x.cuda() * 2).cpu() * torch.tensor([1.0, 2.0, 3.0])
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0] and not x.grad.is_cuda


def test_indices_may_be_on_the_cpu(x: torch.Tensor):
    assert x[torch.tensor([0, 1])].is_cuda and x[[0, 1]].is_cuda and x[x > 0].is_cuda
    with pytest.raises(RuntimeError, match=r"indices should be either on cpu .*\.cpu\(\)"):
        torch.ones(3)[torch.tensor([0], device="cuda")]


def test_values_from_the_cpu_are_written_where_whole_parts_are(x: torch.Tensor):
    here = torch.tensor([1.0, 2.0, 3.0])
    x[0] = here
    x[:, 1] = torch.tensor(7.0)
    assert x.cpu().tolist() == [[1, 7, 3], [1, 7, 1]] and x.copy_(here).is_cuda
    assert here.copy_(x[1] * 2).tolist() == [2, 4, 6] and not here.is_cuda
    with pytest.raises(RuntimeError, match="two devices, cuda:0 and cpu"):
        x[torch.tensor([1, 0], device="cuda")] = torch.ones(2, 3)


def test_copies_pickles_and_files_keep_the_device(x: torch.Tensor, tmp_path: Path):
    assert copy.deepcopy(x).is_cuda and pickle.loads(pickle.dumps(x)).is_cuda
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).to("cuda")
    torch.save(model.state_dict(), tmp_path / "model.pt")
    assert all(value.is_cuda for value in torch.load(tmp_path / "model.pt").values())
    here = torch.load(tmp_path / "model.pt", map_location="cpu")
    assert not any(value.is_cuda for value in here.values())
    nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).load_state_dict(here)


def test_what_torch_cuda_tells():
    cuda = torch.cuda
    assert cuda.is_available() and cuda.current_device() == 0
    assert cuda.device_count() == module_for("cuda").cuda.runtime.getDeviceCount() >= 1
    assert cuda.get_device_properties(0).total_memory > 0 and isinstance(cuda.get_device_name(), str)
    assert cuda.memory_allocated() >= 0 and cuda.memory_reserved() >= 0
    cuda.synchronize()
    cuda.empty_cache()
    with cuda.device(0):
        assert torch.ones(2, device="cuda").is_cuda
    assert not torch.ones(2).pin_memory().is_cuda


def test_events_measure_milliseconds(x: torch.Tensor):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    (x @ x.T).sum()
    end.record()
    end.synchronize()
    assert start.elapsed_time(end) >= 0 and end.query()
    with pytest.raises(ValueError, match="enable_timing=True"):
        torch.cuda.Event().elapsed_time(end)
    with torch.cuda.stream(torch.cuda.Stream()):
        assert (x + 1).is_cuda
    torch.cuda.current_stream().synchronize()


def test_one_seed_gives_the_same_numbers_everywhere():
    drawn = []
    for where in ("cpu", "cuda"):
        torch.manual_seed(3)
        drawn.append([torch.randn(20, device=where).cpu(), torch.randperm(5, device=where).cpu()])
        generator = torch.Generator(device=where).manual_seed(4)
        drawn[-1].append(torch.rand(3, generator=generator, device=where).cpu())
    assert all(map(torch.equal, *drawn))


def test_a_full_gpu_says_what_the_graph_holds_and_goes_on(gpu: str):
    a = torch.ones(1000, device="cuda", requires_grad=True)
    all_of_it = torch.cuda.get_device_properties(0).total_memory
    size = 5000 if gpu == "stand-in" else all_of_it // a.nbytes + 1
    with pytest.raises(torch.cuda.OutOfMemoryError, match=r"CUDA out of memory\..* holds .* MiB"):
        (a * 2).expand(size, 1000) * torch.ones(size, 1, device="cuda")
    assert (a * 2).sum().item() == 2000


def test_a_gpu_that_is_full_on_the_way_says_so_and_goes_on(gpu: str):
    if gpu == "CuPy":
        pytest.skip("a real GPU's limit cannot be set to a number of bytes")
    weight = torch.ones(64, 64, device="cuda", requires_grad=True)
    x = torch.ones(1, 64, device="cuda")
    optimizer = optim.Adam([weight], lr=0.1)
    told = r"CUDA out of memory\. Out of memory allocating 16,384"
    full = pytest.raises(torch.cuda.OutOfMemoryError, match=told)
    loss = (x @ weight).sum()
    with memory(8000), full:
        loss.backward()
    (x @ weight).sum().backward()
    with memory(8000), full:
        optimizer.step()
    with memory(8000), full:
        torch.ones(64, 64).to("cuda")
    with memory(8000), pytest.raises(torch.cuda.OutOfMemoryError, match=r"holds .* MiB"):
        weight * 2
    before = weight.detach().cpu()
    optimizer.step()
    assert not torch.equal(weight.detach().cpu(), before)


def test_float16_under_autocast(gpu: str):
    model = nn.Linear(3, 2).to("cuda")
    scaler = torch.amp.GradScaler("cuda")
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    with torch.autocast("cuda", dtype=torch.float16):
        loss = nn.functional.mse_loss(model(torch.ones(4, 3, device="cuda")).float(), torch.ones(4, 2).cuda())
    with torch.autocast("cuda"):  # whose own precision is that of tensor cores
        made = model(torch.ones(4, 3, device="cuda"))
        assert made.dtype == torch.float16 and made.softmax(1).dtype == torch.float32
    scaler.scale(loss).backward()
    standin.sizes.clear()
    standin.copies.clear()
    scaler.step(optimizer)
    if gpu == "stand-in":
        assert standin.sizes == [1] and not standin.copies, "one number a step, whatever the parameters"
    scaler.update()
    assert model.weight.dtype == torch.float32 and model.weight.grad is not None


@pytest.mark.parametrize(
    ("product", "shapes"),
    [
        (lambda a, b: a @ b, [(3, 3), (3, 3)]),
        (nn.functional.linear, [(2, 3), (4, 3), (4,)]),
        (torch.bmm, [(2, 3, 3), (2, 3, 3)]),
        (nn.functional.conv1d, [(2, 3, 5), (4, 3, 2)]),
    ],
)
def test_products_of_float16_are_left_to_tensor_cores(product: Any, shapes: Any):
    torch.manual_seed(0)
    operands = [torch.rand(each, dtype=torch.float16, device="cuda", requires_grad=True) for each in shapes]
    standin.launches.clear()
    made = product(*operands)
    made.backward(torch.ones_like(made))
    assert "astype" not in standin.launches, "it was computed in float32"
    here = [each.detach().cpu().float().requires_grad_() for each in operands]
    wide = product(*here)
    wide.backward(torch.ones_like(wide))
    pairs = [(made, wide), *((a.grad, b.grad) for a, b in zip(operands, here))]
    for half, single in pairs:
        assert half.dtype == torch.float16
        np.testing.assert_allclose(half.detach().cpu().numpy(), single.detach().numpy(), rtol=4e-3)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("inv", [[1.0, 2.0], [2.0, 4.0]]),
        ("cholesky", [[1.0, 0.0], [0.0, -1.0]]),
        ("solve", [[1.0, 2.0], [2.0, 4.0]]),
    ],
)
def test_matrices_that_fail_raise_as_on_the_cpu(name: str, wrong: Any):
    for where in ("cpu", "cuda"):
        given = [torch.tensor(wrong, device=where)]
        given += [torch.eye(2, device=where)] if name == "solve" else []
        with pytest.raises(torch.linalg.LinAlgError, match=r"singular|not positive-definite"):
            getattr(torch.linalg, name)(*given)


# ---------------------------------------------------------------- training


def test_a_parameter_without_dimensions_and_a_rate_of_numpys():
    for name in ("SGD", "Adam"):
        found = []
        for where in ("cpu", "cuda"):
            x = torch.tensor(3.0, device=where, requires_grad=True)
            optimizer = getattr(optim, name)([x], lr=np.float64(0.5))
            (x * x).backward()
            optimizer.step()
            found.append(x.item())
        assert found[0] == pytest.approx(found[1])


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(18, 4)
    )


OPTIMIZERS = (
    ("SGD", {}),
    ("SGD", {"momentum": 0.9, "weight_decay": 0.1}),
    ("SGD", {"momentum": 0.9, "nesterov": True, "maximize": True}),
    ("SGD", {"momentum": 0.5, "dampening": 0.5}),
    ("Adam", {}),
    ("Adam", {"amsgrad": True, "weight_decay": 0.1}),
    ("Adam", {"maximize": True}),
    ("AdamW", {}),
    ("RMSprop", {}),
    ("RMSprop", {"momentum": 0.5, "centered": True}),
    ("Adagrad", {"lr_decay": 0.1}),
    ("Adadelta", {"weight_decay": 0.1}),
    ("Adamax", {}),
    ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"betas": (0.5, 0.6)}),
    ("RAdam", {}),
    ("Rprop", {}),
    ("ASGD", {"t0": 1}),
    ("Adafactor", {}),
)


@pytest.mark.parametrize(("name", "settings"), OPTIMIZERS)
def test_a_step_stays_on_the_gpu_and_gives_the_cpus_numbers(gpu: str, name: str, settings: dict[str, Any]):
    losses = []
    for where in ("cpu", "cuda"):
        model = network().to(where)
        optimizer = getattr(optim, name)(model.parameters(), lr=0.01, **settings)
        images = torch.arange(128.0).reshape(2, 1, 8, 8).to(where) / 128
        labels = torch.tensor([1, 3]).to(where)
        standin.copies.clear()
        found = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            found.append(loss.detach())
        assert not standin.copies, "a training step copies to the CPU"
        assert all(parameter.is_cuda == (where == "cuda") for parameter in model.parameters())
        losses.append([each.item() for each in found])
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-4)


@pytest.mark.parametrize("name", ["SGD", "Adam", "Adafactor", "LBFGS"])
@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_a_step_in_half_precision_gives_the_cpus_numbers(name: str, kind: str):
    found = []
    for where in ("cpu", "cuda"):
        x = torch.linspace(-1, 1, 12).reshape(3, 4).to(getattr(torch, kind)).to(where).requires_grad_()
        optimizer = getattr(optim, name)([x], lr=0.1)

        def closure(x: Any = x, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = x.float().square().sum()
            loss.backward()
            return loss

        for _ in range(2):
            optimizer.step(closure)
        assert x.is_cuda == (where == "cuda") and x.dtype == getattr(torch, kind)
        found.append(x.detach().cpu().float().numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize(
    "layer",
    [
        lambda: nn.LSTM(4, 3, num_layers=2, bidirectional=True),
        lambda: nn.GRU(4, 3),
        lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0),
        lambda: nn.LayerNorm(4),
        lambda: nn.GroupNorm(1, 3),
        lambda: nn.Dropout(0.5),
        lambda: nn.MultiheadAttention(4, 2),
    ],
)
def test_layers_give_the_cpus_numbers(layer: Any):
    torch.manual_seed(1)
    model = layer()
    x = torch.rand(5, 3, 4)
    outputs = []
    for where in ("cpu", "cuda"):
        torch.manual_seed(2)
        moved = copy.deepcopy(model).to(where)
        given = x.detach().to(where).requires_grad_()
        standin.copies.clear()
        made = moved(given, given, given) if isinstance(moved, nn.MultiheadAttention) else moved(given)
        made = made[0] if isinstance(made, tuple) else made
        made.sum().backward()
        assert not standin.copies
        outputs.append(made.detach().cpu().numpy())
    np.testing.assert_allclose(outputs[1], outputs[0], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("lengths", [[4, 4, 4], [4, 2, 1]])
def test_recurrent_layers_take_packed_sequences(kind: str, lengths: list[int]):
    found = []
    for where in ("cpu", "cuda"):
        torch.manual_seed(0)
        layer = getattr(nn, kind)(3, 5, bidirectional=True).to(where)
        x = torch.rand(4, 3, 3).to(where).requires_grad_()
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths)
        out, last = layer(packed)
        (out.data.sum() + (last[0] if kind == "LSTM" else last).pow(2).sum()).backward()
        found.append(
            [x.grad.cpu(), out.data.detach().cpu(), *[each.grad.cpu() for each in layer.parameters()]]
        )
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(theirs.numpy(), ours.numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("mask", ["causal", "given", "padding"])
def test_attention_asks_nothing_of_the_gpu(mask: str):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    x = torch.rand(2, 5, 4)
    outputs = []
    for where in ("cpu", "cuda"):
        moved = copy.deepcopy(layer).to(where)
        square = nn.Transformer.generate_square_subsequent_mask(5).to(where)
        settings = {
            "causal": {"src_mask": square, "is_causal": True},
            "given": {"src_mask": square},
            "padding": {"src_key_padding_mask": torch.tensor([[False] * 4 + [True]] * 2, device=where)},
        }[mask]
        given = x.to(where)
        standin.copies.clear()
        made = moved(given, **settings)
        made.sum().backward()
        assert not standin.copies
        outputs.append(made.detach().cpu().numpy())
    np.testing.assert_allclose(outputs[1], outputs[0], rtol=1e-4, atol=1e-6)


@pytest.mark.gpu
def test_on_a_gpu_this_folder_runs_twice(gpu: str):
    """Elsewhere this one test is skipped, and says what is missing."""
    assert torch.cuda.get_device_name() != "a stand-in" or gpu == "stand-in"


def test_a_number_is_copied_to_the_gpu_once(gpu: str):
    x = torch.arange(4.0, device="cuda")
    for number in (2.0, 0.0, -float("inf")):
        for again in (False, True):
            standin.launches.clear()
            made = torch.where(x > 1, number, x), x + number, torch.maximum(x, torch.where(x < 1, x, number))
            if again and gpu == "stand-in":
                assert "copy to the GPU" not in standin.launches
            here = torch.where(x.cpu() > 1, number, x.cpu()), x.cpu() + number
            assert [str(each.cpu()) for each in made[:2]] == [str(each) for each in here]


def test_the_states_of_gpus_generators_are_saved_and_set_as_in_pytorch():
    states = torch.cuda.get_rng_state_all()
    assert len(states) == torch.cuda.device_count()
    first = torch.rand(3, device="cuda").tolist()
    assert torch.rand(3, device="cuda").tolist() != first
    torch.cuda.set_rng_state_all(states)
    assert torch.rand(3, device="cuda").tolist() == first
    torch.manual_seed(7)
    assert torch.cuda.initial_seed() == 7


def test_a_gpu_that_is_seeded_by_itself_has_a_stream_of_its_own():
    torch.manual_seed(1)
    shared = torch.rand(3, device="cuda").tolist()
    torch.manual_seed(1)
    torch.cuda.manual_seed(5)
    assert torch.cuda.initial_seed() == 5
    drawn = torch.rand(3, device="cuda").tolist()
    assert torch.rand(3).tolist() == shared  # the CPU's stream has not moved
    x = torch.ones(50, device="cuda")
    draws = [
        lambda: torch.randn(4, device="cuda"),
        lambda: torch.randint(9, (4,), device="cuda"),
        lambda: torch.randperm(6, device="cuda"),
        lambda: torch.rand_like(x),
        lambda: torch.normal(x, 1.0),
        lambda: torch.bernoulli(x / 2),
        lambda: torch.multinomial(x, 3),
        lambda: torch.poisson(x),
        lambda: x.clone().uniform_(),
        lambda: x.clone().normal_(),
        lambda: torch.nn.functional.dropout(x),
        lambda: torch.nn.functional.rrelu(-x, training=True),
        lambda: torch.nn.init.orthogonal_(torch.empty(3, 3, device="cuda")),
    ]
    for draw in draws:
        torch.cuda.manual_seed_all(5)
        before, state = torch.get_rng_state(), torch.cuda.get_rng_state()
        once = draw()
        assert torch.equal(torch.get_rng_state(), before)
        with torch.random.fork_rng():
            draw()
            torch.cuda.manual_seed(9)
        again = draw()
        assert not torch.equal(again, once)
        torch.cuda.set_rng_state(state)
        assert torch.equal(draw(), once)
        assert torch.equal(draw(), again)
    torch.cuda.manual_seed(5)
    assert torch.rand(3, device="cuda").tolist() == drawn
    torch.manual_seed(1)
    assert torch.rand(3, device="cuda").tolist() == shared


def test_the_same_draws_for_each_sample_come_from_the_gpus_stream_too():
    torch.cuda.manual_seed(3)
    x = torch.zeros(4, device="cuda")
    same = torch.vmap(lambda each: each + torch.rand((), device="cuda"), randomness="same")(x)
    assert len(set(same.tolist())) == 1
    torch.manual_seed(0)


@pytest.mark.parametrize("name", ["eye_", "sparse_", "orthogonal_", "xavier_uniform_", "trunc_normal_"])
def test_first_values_are_the_cpus(name: str):
    found = []
    for where in ("cuda", "cpu"):
        torch.manual_seed(2)
        empty = torch.empty(4, 3, device=where)
        found.append(getattr(nn.init, name)(empty, *[0.5] * (name == "sparse_")))
    assert found[0].is_cuda
    np.testing.assert_allclose(found[0].cpu(), found[1], rtol=1e-6)


def test_samples_lose_elements_of_their_own(x: torch.Tensor):
    torch.manual_seed(0)
    made = torch.vmap(lambda row: nn.functional.dropout(row), randomness="different")(x.repeat(8, 9))
    assert made.is_cuda and {*made.flatten().tolist()} == {0, 2}
    assert len({tuple(row) for row in made.tolist()}) > 1


def test_second_derivatives_are_checked(x: torch.Tensor):
    assert torch.autograd.gradgradcheck(torch.sin, x.double().requires_grad_())
