"""Kernels made of several calls: CuPy can trace each, they compute what the calls compute, and they are few.

Tracing needs CuPy but no GPU; that the kernels run on one is for the tests with the mark ``gpu``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit import nn, optim
from autokit.ops.gpu.kernels import FUSED, traced
from tests.benchmarks.training import lenet, transformer
from tests.gpu import standin

MATRIX, COLUMN, ROW = (4, 3), (4, 1), (1, 3)
TARGETS = np.array([2, 0, 1, 1])
MASK = np.arange(12).reshape(4, 3) % 2 == 0
CALLS: dict[str, tuple[Any, ...]] = {
    "soft_extremes._slope_of_logsumexp": (MATRIX, MATRIX, COLUMN, {}),
    "elementwise._of_relu": (MATRIX, MATRIX, {}),
    "smooth_activation._gelu": (MATRIX, {"approximate": "none"}),
    "smooth_activation._gelu_slope": (MATRIX, MATRIX, {"approximate": "tanh"}),
    "smooth_activation._silu": (MATRIX, {}),
    "normalize._normalized": (MATRIX, ROW, ROW, COLUMN, COLUMN, {"dtype": np.float32}),
    "normalize.take_in": (ROW, ROW, ROW, ROW, 0.9, 0.1, 0.11, 1e-5, {}),
    "bounds._farthest": (TARGETS, 0, {}),
    "bounds._any_zero": (TARGETS, {}),
    "ufuncs._left_over": (MATRIX, ROW, {}),
    "ufuncs.down_by_rest": (MATRIX, ROW, {}),
    "ctc._arrive": (*(MATRIX,) * 4, MASK, MATRIX, -np.inf, {}),
    "ctc._return": (*(MATRIX,) * 4, MASK, MATRIX, TARGETS[:, None], 1, MASK, -np.inf, {}),
    "recurrent_steps._plain": (MATRIX, MATRIX, {}),
    "recurrent_steps._lstm": (*(MATRIX,) * 9, {}),
    "recurrent_steps._gru": (*(MATRIX,) * 7, {}),
    "recurrent_steps.open_lstm": (*(MATRIX,) * 4, {}),
    "recurrent_steps.open_gru": (*(MATRIX,) * 4, {}),
    "recurrent_steps.cells_into": (*(MATRIX,) * 5, {}),
    "recurrent_steps.lstm_shares": (*(MATRIX,) * 6, {}),
    "recurrent_steps.gru_shares": (*(MATRIX,) * 5, {}),
    "recurrent_steps.plain_back": (*(MATRIX,) * 4, {}),
    "recurrent_steps.lstm_back_on_a_gpu": (*(MATRIX,) * 13, {}),
    "recurrent_steps.gru_back_on_a_gpu": (*(MATRIX,) * 11, {}),
    "loss._negatives": ((4,), (4,), (4,), {}),
    "loss._slope_at_targets": (*((1, 1), TARGETS[:, None], np.arange(3)[None], COLUMN, COLUMN, (1, 1), {}),),
    "adafactor._by_rows_and_columns": (MATRIX, COLUMN, ROW, (1, 1), {"maximize": True, "least": 1e-7}),
    "adafactor._by_squares": (MATRIX, MATRIX, 0.5, {"maximize": False, "least": 1e-7}),
    "adafactor._take_step": (MATRIX, MATRIX, (1, 1), (1, 1), 0.9, 1e-3, 0.01, 1.0, {}),
    "lbfgs._less": ((4,), (), 0.5, (4,), {}),
    "lbfgs._more": ((4,), (), (), 0.5, (4,), {}),
    "muon._combined": (MATRIX, MATRIX, 3.0, -4.0, {}),
    "muon._take_step": (MATRIX, MATRIX, 0.9, 0.1, {}),
    "arithmetic._between": (MATRIX, MATRIX, (), {}),
    "pooling._last_nan": (MATRIX, np.arange(3), {"axis": 1}),
}
"""For each kernel what it is called with: shapes, integers, numbers, and last what is fixed."""


def operands(name: str, dtype: str) -> tuple[list[Any], dict[str, Any]]:
    random = np.random.RandomState(0)
    *given, fixed = CALLS[name]
    made = [
        np.array(random.uniform(0.1, 1, each), dtype) if isinstance(each, tuple) else each for each in given
    ]
    return made, fixed


def test_the_table_names_every_kernel():
    assert set(FUSED) == set(CALLS)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", CALLS)
def test_a_kernel_gives_what_its_lines_give(name: str, dtype: str):
    """Placeholders that refuse what CuPy refuses stand for the operands."""
    here, fixed = operands(name, dtype)
    there, _ = operands(name, dtype)
    expected = FUSED[name](*here, **fixed)
    with standin.installed() as cupy:
        arrays = [cupy.asarray(each) if isinstance(each, np.ndarray) else each for each in there]
        kernel = cupy.fuse(kernel_name="kernel")(traced(FUSED[name], cupy, fixed))
        standin.launches.clear()
        found = kernel(*arrays)
        assert standin.launches == ["kernel"]
    changed = [each.host for each in arrays if isinstance(each, standin.ndarray)]
    for ours, theirs in zip(changed, [each for each in here if isinstance(each, np.ndarray)]):
        np.testing.assert_array_equal(ours, theirs)
    if expected is None:
        assert found is None
        return
    for ours, theirs in zip(*(each if isinstance(each, tuple) else (each,) for each in (found, expected))):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours.host, theirs)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", CALLS)
def test_cupy_makes_one_kernel_of_it(name: str, dtype: str):
    """CuPy's own tracing, which needs no GPU: operands whose memory nobody looks at."""
    cupy = pytest.importorskip("cupy", reason="needs CuPy, a GPU not: pip install cupy-cuda12x")
    from cupy._core import _fusion_thread_local, fusion

    memory = cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(1 << 12, 1 << 12, None, 0), 0)
    given, fixed = operands(name, dtype)
    arrays = [
        cupy.ndarray(each.shape, each.dtype, memory) if isinstance(each, np.ndarray) else each
        for each in given
    ]
    expected = FUSED[name](*given, **fixed)
    state = _fusion_thread_local.thread_local
    state.history, state.is_old_fusing = fusion._FusionHistory(), True
    try:
        kernel, _ = state.history.get_fusion(traced(FUSED[name], cupy, fixed), arrays, "kernel")
    finally:
        state.history, state.is_old_fusing = None, False
    results = expected if isinstance(expected, tuple) else () if expected is None else (expected,)
    assert [each.dtype for each in kernel.out_params] == [each.dtype for each in results]


# ---------------------------------------------------------------- how many


def launches_of(work: Callable[[], Any]) -> int:
    """Of a step after the first one, in which memory is set up."""
    with standin.installed():
        step = work()
        step()
        standin.launches.clear()
        standin.copies.clear()
        standin.sizes.clear()
        step()
        return len(standin.launches)


def small_step(optimizer: str) -> Any:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).to("cuda")
    updates = getattr(optim, optimizer)(model.parameters(), lr=0.01)
    x, y = torch.randn(32, 64).cuda(), torch.randint(10, (32,)).cuda()

    def step() -> None:
        updates.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        updates.step()

    return step


def muon_step() -> Any:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 32, bias=False), nn.Linear(32, 10, bias=False)).to("cuda")
    optimizer = optim.Muon(model.parameters(), lr=0.01)
    for param in model.parameters():
        param.grad = torch.randn_like(param)
    return optimizer.step


def lbfgs_step() -> Any:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).to("cuda")
    optimizer = optim.LBFGS(model.parameters(), max_iter=5, history_size=4)
    x, y = torch.randn(32, 64).cuda(), torch.randint(10, (32,)).cuda()

    def closure() -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        return loss

    return lambda: optimizer.step(closure)


def block_step() -> Any:
    torch.manual_seed(0)
    model = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation="gelu").to("cuda")
    updates = optim.Adam(model.parameters(), lr=0.01)
    x = torch.randn(5, 3, 8).cuda()

    def step() -> None:
        updates.zero_grad()
        model(x).mean().backward()
        updates.step()

    return step


def scaled_step(make: Callable[[Any], Any], dtype: Any) -> Any:
    """By mixed precision: the network in ``dtype``, the loss scaled."""
    torch.manual_seed(0)
    model = make(nn).to("cuda")
    updates, scaler = optim.Adam(model.parameters(), lr=0.01), torch.amp.GradScaler("cuda", init_scale=8.0)
    x, y = torch.randn(32, 64).cuda(), torch.randint(10, (32,)).cuda()

    def step() -> None:
        updates.zero_grad()
        with torch.autocast("cuda", dtype=dtype):
            loss = nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(updates)
        scaler.update()

    return step


def deep(nn: Any) -> Any:
    layers = [nn.Linear(64, 64) for _ in range(8)]
    return nn.Sequential(*layers, nn.Linear(64, 10))


def text_step() -> Any:
    torch.manual_seed(0)
    with torch.device("cuda"):
        return transformer(16)(torch, nn)


def lenet_step() -> Any:
    torch.manual_seed(0)
    with torch.device("cuda"):
        return lenet(2)(torch, nn)


def both_ways(function: Callable[[Any], Any], *shape: int) -> Any:
    torch.manual_seed(0)
    x = torch.rand(*shape).cuda().requires_grad_()

    def step() -> None:
        x.grad = None
        function(x).sum().backward()

    return step


def loss_step(scores: tuple[int, ...], targets: tuple[int, ...]) -> Any:
    torch.manual_seed(0)
    x, y = torch.rand(*scores).cuda().requires_grad_(), torch.randint(3, targets).cuda()

    def step() -> None:
        x.grad = None
        nn.functional.cross_entropy(x, y).backward()

    return step


def normalization_step(name: str) -> Any:
    """Both ways, from a gradient that is there."""
    torch.manual_seed(0)
    settings = {"LayerNorm": (5,), "RMSNorm": (5,), "BatchNorm2d": (4,), "GroupNorm": (2, 4)}[name]
    layer = getattr(nn, name)(*settings).to("cuda")
    x, g = torch.rand(2, 4, 3, 5).cuda().requires_grad_(), torch.rand(2, 4, 3, 5).cuda()

    def step() -> None:
        x.grad = None
        layer.zero_grad()
        layer(x).backward(g)

    return step


def recurrent_step(kind: str) -> Any:
    torch.manual_seed(0)
    layer = getattr(nn, kind)(8, 8).to("cuda")
    return both_ways(lambda x: layer(x)[0], 16, 4, 8)


def ctc_step() -> Any:
    torch.manual_seed(0)
    scores, targets = torch.randn(12, 4, 6).cuda().requires_grad_(), torch.randint(1, 6, (4, 5)).cuda()
    lengths = torch.full((4,), 12), torch.full((4,), 5)

    def step() -> None:
        scores.grad = None
        nn.functional.ctc_loss(scores.log_softmax(2), targets, *lengths).backward()

    return step


STEPS = {
    "LeNet by SGD": (lenet_step, 83),
    "a 64-32-10 network by SGD": (lambda: small_step("SGD"), 19),
    "a 64-32-10 network by Adam": (lambda: small_step("Adam"), 19),
    "a transformer's block by Adam": (block_step, 65),
    "a transformer of 4 layers by AdamW": (text_step, 239),
    "two matrices by Muon": (muon_step, 140),
    "a 64-32-10 network by Adafactor": (lambda: small_step("Adafactor"), 44),
    "5 iterations of LBFGS on it, with 4 remembered": (lbfgs_step, 272),
    "cross_entropy": (lambda: loss_step((6, 3), (6,)), 7),
    "cross_entropy of images": (lambda: loss_step((2, 3, 4, 4), (2, 4, 4)), 8),
    **{
        f"{name}, of its own": (lambda name=name: normalization_step(name), most)
        for name, most in (("LayerNorm", 4), ("RMSNorm", 4), ("BatchNorm2d", 7), ("GroupNorm", 7))
    },
    **{
        name: (lambda name=name: both_ways(lambda x: getattr(x, name)(1), 4, 5), 4)
        for name in ("softmax", "log_softmax", "logsumexp")
    },
    "a plain recurrent layer, 16 times": (lambda: recurrent_step("RNN"), 106),
    "an LSTM, 16 times": (lambda: recurrent_step("LSTM"), 151),
    "a GRU, 16 times": (lambda: recurrent_step("GRU"), 141),
    "adaptive_max_pool2d": (
        lambda: both_ways(lambda x: nn.functional.adaptive_max_pool2d(x, 3), 2, 3, 8, 8),
        15,
    ),
    "interpolate": (
        lambda: both_ways(lambda x: nn.functional.interpolate(x, scale_factor=2, mode="bicubic"), 2, 3, 8, 8),
        22,
    ),
}
"""With the most launches that each may take; ``tests/benchmarks/README.md`` says from how many."""


@pytest.mark.parametrize("title", STEPS)
def test_a_training_step_launches_few_kernels(title: str):
    work, most = STEPS[title]
    assert launches_of(work) <= most
    if work is not lbfgs_step:  # which looks at the loss and the slope, to go on or stop
        assert not standin.copies and not standin.sizes, "the program waited for the GPU"


def test_ctc_takes_one_launch_a_time_each_way():
    """Its targets go through the CPU once, which puts blanks between them."""
    assert launches_of(ctc_step) <= 123 and standin.launches.count("arrive") == 22
    assert len(standin.copies) == 1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_mixed_precision_asks_one_number_a_step(dtype: str):
    """Whether a gradient was infinite; and unscaling takes one launch, however many parameters there are."""
    kind = getattr(torch, dtype)
    few = launches_of(lambda: scaled_step(lambda nn: nn.Linear(64, 10), kind))
    assert standin.sizes == [1]
    assert not standin.copies
    launches_of(lambda: scaled_step(deep, kind))
    assert standin.sizes == [1] and not standin.copies
    assert standin.launches.count("multiplied") == 1 and few < 40


if __name__ == "__main__":  # python -m tests.gpu.test_kernels
    for title, (work, _) in STEPS.items():
        print(f"{title}: {launches_of(work)} launches")
