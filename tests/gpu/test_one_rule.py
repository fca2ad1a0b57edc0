"""No formula is written twice: a CPU computes by the lines that kernels are made of; branches are known."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import autokit as torch
from autokit import nn, optim
from autokit.ops import attention, recurrent_steps, soft_extremes
from autokit.ops.gpu.kernels import FUSED
from autokit.ops.gpu.many import MANY
from autokit.ops.gpu.rows import ROWS

F = nn.functional

# ---------------------------------------------------------------- the lines of kernels


NOT_ON_A_CPU = {
    "bounds._any_zero": "there NumPy is asked at once: tests/gpu/test_lacking.py",
    "bounds._farthest": "as this",
    "ufuncs.down_by_rest": "NumPy has a quotient of its own that is right: tests/gpu/test_lacking.py",
    "ufuncs._left_over": "as this",
}
"""Kernels whose lines do not run in the programs below, as NumPy has a function or a way to ask for it."""

MADE_OF = {
    "attention._shares": (attention._masked, soft_extremes.largest, soft_extremes.shares_below),
    "recurrent_steps._plain": (recurrent_steps.plain_state,),
    "recurrent_steps._lstm": (recurrent_steps.opened, recurrent_steps.lstm_state),
    "recurrent_steps._gru": (recurrent_steps.opened, recurrent_steps.gru_state),
    "recurrent_steps.lstm_back_on_a_gpu": (recurrent_steps.lstm_back,),
    "recurrent_steps.gru_back_on_a_gpu": (recurrent_steps.gru_back,),
}
"""Kernels of several functions, which the CPU calls one by one."""


def activations(x: torch.Tensor) -> None:
    for function in (
        *(F.gelu, F.silu, F.relu),
        lambda a: F.gelu(a, approximate="tanh"),
        lambda a: F.relu(a.sum()),
        *(lambda a: a.softmax(1), lambda a: a.log_softmax(0), lambda a: a.logsumexp(1)),
        lambda a: a.lerp(a * 2, 0.3),
    ):
        function(x).sum().backward()


def layers(x: torch.Tensor) -> None:
    for layer in (nn.LayerNorm(50), nn.BatchNorm1d(50), nn.GroupNorm(5, 50)):
        layer(x).sum().backward()
    F.adaptive_max_pool1d(x[None], 7).sum().backward()
    q = torch.randn(2, 8, 80, 4, requires_grad=True)
    attend = F.scaled_dot_product_attention
    (by_query,) = torch.autograd.grad(attend(q, q, q, is_causal=True).sum(), q, create_graph=True)
    by_query.pow(2).sum().backward()
    for name in ("RNN", "LSTM", "GRU"):
        steps = torch.randn(5, 2, 3, requires_grad=True)
        made = getattr(nn, name)(3, 4)(steps)[0].sum()
        for _with_the_gates_that_were_kept_and_then_without in range(2):
            made.backward(retain_graph=True)


def losses(x: torch.Tensor) -> None:
    y = torch.randint(50, (40,))
    F.cross_entropy(x, y, ignore_index=3).backward()
    F.cross_entropy(x, y, torch.rand(50), reduction="none").sum().backward()
    (by_x,) = torch.autograd.grad(F.nll_loss(x**2, y), x, create_graph=True)
    by_x.sum().backward()
    scores, targets = torch.randn(12, 4, 6, requires_grad=True), torch.randint(1, 6, (4, 5))
    lengths = torch.full((4,), 12), torch.full((4,), 5)
    F.ctc_loss(scores.log_softmax(2), targets, *lengths).backward()


METHODS = "Adadelta Adafactor Adagrad Adam Adamax ASGD LBFGS Muon NAdam RAdam RMSprop Rprop SGD"


def training() -> None:
    inputs = torch.ones(2, 3)
    for name in METHODS.split():
        layer = nn.Linear(3, 4, bias=name != "Muon")
        settings = {"SGD": {"momentum": 0.9}, "LBFGS": {"line_search_fn": "strong_wolfe"}}.get(name, {})
        method = getattr(optim, name)(layer.parameters(), **settings)

        def closure(layer: Any = layer, method: Any = method) -> Any:
            method.zero_grad()
            loss = layer(inputs).pow(2).sum()
            loss.backward()
            return loss

        method.step(closure)
        method.step(closure)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale(layer(inputs).sum()).backward()
    scaler.step(method)
    scaler.update()


def test_the_cpu_computes_by_the_lines_that_kernels_are_made_of():
    torch.manual_seed(0)
    x, ran = torch.randn(40, 50, requires_grad=True), set()
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: ran.add(frame.f_code) if event == "call" else None)
    try:
        activations(x)
        layers(x)
        losses(x)
        training()
    finally:
        sys.setprofile(before)
    for name, function in (FUSED | ROWS | MANY).items():
        file, _, own = name.partition(".")
        if file.startswith("test_"):
            continue
        if own.endswith("_change"):  # of an optimizer, for rows of arrays
            function = getattr(optim, own.removesuffix("_change"))._change
        for each in MADE_OF.get(name, (function,)):
            runs = getattr(each, "__wrapped__", each).__code__ in ran
            assert runs != (name in NOT_ON_A_CPU), (
                f"{name}: {each.__name__} {'ran' if runs else 'did not run'}"
            )


# ---------------------------------------------------------------- branches

BRANCHES = {
    "cuda.gpus.device_of.__init__": "which device a tensor is on",
    "devices.put_on": "from one GPU to another",
    "graphs.cells._is_far": "what a picture asks of a GPU",
    "graphs.check.central_differences": "as this",
    "graphs.sending.array_on_a_gpu": "as this",
    "graphs.sending.contributions": "as this",
    "graphs.summary.in_reach": "as this",
    "graphs.words.Words.local": "as this",
    "nn.recurrent_cells.run_layer": "autocasting casts states otherwise on a CPU",
    "nn.utils.rnn.PackedSequence.is_cuda": "which device a tensor is on",
    "nn.functional.attention.scaled_dot_product_attention": "a GPU is not asked if a query may look nowhere",
    "ops.approximations._of_samples_too.apply": "CuPy brings the function: gpu.arrays.special",
    "ops.approximations.in_float64.apply": "as this",
    "ops.incomplete_gamma._shares": "as this",
    "ops.bessel._by_range": "a GPU is not asked which elements are near 0",
    "ops.axis_maps.apply": "to gpu.runs: which elements with which weights one sum takes",
    "ops.convolution._run": "to gpu.correlate",
    "ops.convert.tensor_type": "the name of a type",
    "ops.create.as_tensor": "what becomes a tensor",
    "ops.create.tensor": "as this",
    "ops.index._entry": "what becomes a tensor; an index is brought beside what it reads",
    "ops.numpy_protocol._as_tensors": "what becomes a tensor",
    "ops.numpy_protocol.array_ufunc": "as this",
    "ops.operands._no_number": "as this",
    "ops.errors.full": "whether it was a GPU that was full",
    "ops.exchange.asarray": "whether memory is shared",
    "ops.half._fit_tensor_cores": "which precision computes",
    "ops.loss._are_classes": "a GPU is not asked whether all targets are classes",
    "ops.loss._class_of_each": "an index of what does not count need not be inside there",
    "ops.normalize._gradients": "a kernel finds x̂ again by the same function",
    "ops.operators._power_by_base_on_arrays": "the exponent is not asked for a shortcut",
    "ops.recurrent._step": "to a kernel of the lines that the CPU runs, see above",
    "ops.reduce.added": "to a way of NumPy's",
    "ops.sort.top_of": "as this; and the order of equal elements is that of PyTorch on a CPU",
    "ops.sort.order_of": "as this",
    "ops.sort.places_in_order": "as this",
    "ops.sort.kthvalue": "as this",
    "ops.sort.mode": "as this",
    "optim.lbfgs._product": "a number stays where it is",
    "tensortypes.tensortype.__instancecheck__": "the name of a type",
}
"""Where, outside of ``autokit/ops/gpu``, an array is asked for its device, and why no formula hangs on it."""


def asking(node: ast.AST, name: str) -> Iterator[str]:
    """The functions in which that is asked."""
    for child in ast.iter_child_nodes(node):
        own = isinstance(child, ast.FunctionDef | ast.ClassDef)
        asked = child.id if isinstance(child, ast.Name) else getattr(child, "attr", None)
        if asked in ("on_a_gpu", "is_on_cpu", "array_on_a_gpu", "is_cuda"):
            yield name
        yield from asking(child, f"{name}.{child.name}" if own else name)


def test_each_branch_for_a_gpu_is_known():
    root, found = Path(torch.__file__).parent, set()
    for path in root.rglob("*.py"):
        if not path.is_relative_to(root / "ops" / "gpu"):
            name = ".".join(path.relative_to(root).with_suffix("").parts)
            found |= set(asking(ast.parse(path.read_text("utf-8")), name))
    assert found == set(BRANCHES)
