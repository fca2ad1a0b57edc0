"""Autocasting beside PyTorch: networks train alike; blocks nest and end; parameters are cast once."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autokit as ak
from tests.support import require

require("torch")
require("ml_dtypes")
import torch  # noqa: E402

BOTH = (ak, torch)


def network(T: Any) -> Any:
    T.manual_seed(0)
    return T.nn.Sequential(
        T.nn.Conv2d(1, 4, 3),
        T.nn.BatchNorm2d(4),
        T.nn.ReLU(),
        T.nn.MaxPool2d(2),
        T.nn.Flatten(),
        T.nn.Linear(36, 16),
        T.nn.LayerNorm(16),
        T.nn.Tanh(),
        T.nn.Linear(16, 3),
    )


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_a_network_trains_as_pytorchs(half: str):
    losses = []
    for T in BOTH:
        model = network(T)
        optimizer = T.optim.SGD(model.parameters(), lr=0.1)
        T.manual_seed(1)
        x, y = T.randn(8, 1, 8, 8), T.randint(3, (8,))
        losses.append([])
        for _ in range(8):
            optimizer.zero_grad()
            with T.autocast("cpu", dtype=getattr(T, half)):
                out = model(x)
                loss = T.nn.functional.cross_entropy(out, y)
            assert repr(out.dtype) == f"torch.{half}" and repr(loss.dtype) == "torch.float32"
            loss.backward()
            assert all(repr(p.grad.dtype) == "torch.float32" for p in model.parameters())
            optimizer.step()
            losses[-1].append(loss.item())
    assert losses[0][-1] < losses[0][0]
    np.testing.assert_allclose(*losses, rtol={"float16": 5e-3, "bfloat16": 4e-2}[half])


@pytest.mark.parametrize(
    "name", ["MultiheadAttention", "TransformerEncoderLayer", "LSTM", "RNN", "Embedding"]
)
def test_layers_give_pytorchs_dtypes(name: str):
    dtypes = []
    for T in BOTH:
        layer = getattr(T.nn, name)(4, 2)
        x = T.ones(3, 2, 4)
        arguments = {"MultiheadAttention": (x, x, x), "Embedding": (T.tensor([1, 2]),)}.get(name, (x,))
        with T.autocast("cpu"):
            result = layer(*arguments)
        first = result[0] if isinstance(result, tuple) else result
        first.float().sum().backward()
        dtypes.append([repr(first.dtype), *(repr(p.grad.dtype) for p in layer.parameters())])
    assert dtypes[0] == dtypes[1]


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["GRU", "GRU of both ways", "RNN", "GRUCell", "LSTMCell", "RNNCell"])
def test_recurrent_layers_take_halves_where_pytorch_does(name: str, half: str):
    """On the CPU PyTorch casts the products alone, but for the layer LSTM, which is one operation."""
    found = []
    for T in BOTH:
        T.manual_seed(0)
        kind, both_ways = name.split()[0], {"bidirectional": True} if "both" in name else {}
        layer = getattr(T.nn, kind)(4, 3, **both_ways)
        x = T.randn(2, 4) if "Cell" in name else T.randn(5, 2, 4)
        with T.autocast("cpu", dtype=getattr(T, half)):
            result = layer(x)
        first = result[0] if isinstance(result, tuple) else result
        (first.float() ** 2).sum().backward()
        found.append([first, *(p.grad for p in layer.parameters())])
    for ours, theirs in zip(*found, strict=True):
        assert str(ours.dtype) == str(theirs.dtype)
        tolerance = {"float16": 3e-3, "bfloat16": 3e-2}[half]
        np.testing.assert_allclose(
            ours.detach().float().numpy(), theirs.detach().float().numpy(), rtol=tolerance, atol=tolerance
        )


def test_autocasting_is_turned_on_without_a_block():
    for T in BOTH:
        T.set_autocast_enabled("cpu", True)
        try:
            assert T.is_autocast_enabled("cpu") and (T.ones(2, 2) @ T.ones(2, 2)).dtype == T.bfloat16
        finally:
            T.set_autocast_enabled("cpu", False)
        assert not T.is_autocast_enabled("cpu") and (T.ones(2, 2) @ T.ones(2, 2)).dtype == T.float32
        with pytest.raises(TypeError):
            T.set_autocast_enabled("cpu", 1)


def test_a_parameter_is_cast_once_and_forgotten_at_the_end():
    for T in BOTH:
        w = T.ones(2, 2, requires_grad=True)
        x = T.ones(2, 2)
        with T.autocast("cpu"):
            first, second = x @ w, x @ w
            casts = {each.grad_fn.next_functions[1][0] for each in (first, second)}
            assert len(casts) == 1 and next(iter(casts)).name() == "ToCopyBackward0"
            with T.autocast("cpu"):
                assert (x @ w).grad_fn.next_functions[1][0] in casts
        with T.autocast("cpu", cache_enabled=False):
            assert (x @ w).grad_fn.next_functions[1][0] not in casts
        (first + second).sum().backward()
        assert w.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_a_cast_is_not_kept_beyond_a_change():
    """PyTorch would go on with the old values until the block ends."""
    w = ak.ones(2, 2, requires_grad=True)
    with ak.autocast("cpu"):
        before = ak.ones(1, 2) @ w
        with ak.no_grad():
            w.mul_(2)
        after = ak.ones(1, 2) @ w
        with ak.no_grad():
            assert not (ak.ones(1, 2) @ w).requires_grad
    assert before.tolist() == [[2.0, 2.0]] and after.tolist() == [[4.0, 4.0]]


def test_blocks_nest_turn_off_and_decorate():
    for T in BOTH:
        x = T.ones(2, 2)

        @T.autocast("cpu", dtype=T.float16)
        def product() -> Any:
            return x @ x

        assert not T.is_autocast_enabled("cpu")
        with T.autocast("cpu", dtype=T.bfloat16):
            assert T.is_autocast_enabled("cpu") and T.get_autocast_dtype("cpu") is T.bfloat16
            assert (x @ x).dtype is T.bfloat16 and x.mm(x).dtype is T.bfloat16
            assert T.einsum("ij,jk->ik", x, x).dtype is T.bfloat16
            assert (x.double() @ x.double()).dtype is T.float64
            with T.autocast("cpu", enabled=False):
                assert (x @ x).dtype is T.float32 and not T.is_autocast_enabled("cpu")
            assert product().dtype is T.float16
            assert (x @ x).dtype is T.bfloat16
            with pytest.raises(ZeroDivisionError), T.autocast("cpu", dtype=T.float16):
                1 / 0  # noqa: B018
            assert (x @ x).dtype is T.bfloat16
        assert (x @ x).dtype is T.float32 and product().dtype is T.float16
        assert T.amp.is_autocast_available("cpu") and T.is_autocast_cache_enabled()


def test_out_is_left_alone():
    for T in BOTH:
        x, out = T.ones(2, 2), T.zeros(2, 2)
        with T.autocast("cpu"):
            T.mm(x, x, out=out)
        assert out.tolist() == [[2, 2], [2, 2]] and out.dtype is T.float32


def test_a_second_derivative():
    seconds = []
    for T in BOTH:
        w = T.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True)
        with T.autocast("cpu"):
            y = (w @ w).float().pow(2).sum()
        (first,) = T.autograd.grad(y, w, create_graph=True)
        (second,) = T.autograd.grad(first.sum(), w)
        seconds.append(second.numpy())
    np.testing.assert_allclose(*seconds, rtol=0.03)


def test_in_float16_small_gradients_vanish():
    """The lesson on underflow: what the scaler is there for."""
    for T in BOTH:
        w = T.ones(1, 1, requires_grad=True)
        with T.autocast("cpu", dtype=T.float16):
            out = T.full((1, 1), 1e-4) @ w
        (out.float() * 1e-4).sum().backward(retain_graph=True)
        assert w.grad.item() == 0
        (out.float() * 1e-4 * 1024).sum().backward()
        assert w.grad.item() == pytest.approx(1024 * 1e-8, rel=0.01)


def test_what_cannot_be_warns_and_does_nothing():
    for T in BOTH:
        said = []
        for make in (
            lambda T: T.autocast("cuda"),
            lambda T: T.autocast("cpu", dtype=T.float32),
            lambda T: T.cuda.amp.autocast(),
        ):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                block = make(T)
            said.append([(each.category, str(each.message)) for each in caught])
            with block:
                assert (T.ones(1, 1) @ T.ones(1, 1)).dtype is T.float32
        if T is ak:
            ours = said
    assert ours == said
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`, got: `<class 'int'>`"):
        ak.autocast(3)
    with pytest.raises(RuntimeError, match="Invalid device string: 'tpu'"):
        ak.autocast("tpu")
    with pytest.raises(TypeError, match=r"must be a torch\.dtype, not str"):
        ak.autocast("cpu", "float16")


def test_losses_of_probabilities_are_refused_on_a_gpu():
    from tests.amp.test_autocast_lists import ours

    with ours("cuda", "float16"), pytest.raises(RuntimeError, match="are unsafe to autocast"):
        ak.nn.functional.binary_cross_entropy(ak.rand(2), ak.rand(2))


@pytest.mark.parametrize("cast", [False, True])
def test_functions_of_ones_own(cast: bool):
    """They say whether they are cast, and their backward is cast as their forward was."""
    for T in BOTH:
        seen = []
        inputs = {"cast_inputs": T.float32} if cast else {}

        class Product(T.autograd.Function):  # type: ignore[name-defined]
            @staticmethod
            @T.amp.custom_fwd(device_type="cpu", **inputs)
            def forward(ctx: Any, a: Any, b: Any) -> Any:
                ctx.save_for_backward(a, b)
                out = a @ b
                seen.append(repr(out.dtype))
                return out

            @staticmethod
            @T.amp.custom_bwd(device_type="cpu")
            def backward(ctx: Any, g: Any) -> Any:
                a, b = ctx.saved_tensors
                made = g @ b.t()
                seen.append(repr(made.dtype))
                return made.to(a.dtype), (a.t() @ g).to(b.dtype)

        a, b = (T.ones(2, 2, requires_grad=True) for _ in range(2))
        with T.autocast("cpu", dtype=T.bfloat16):
            out = Product.apply(a * 1, b * 1)
        out.float().sum().backward()
        assert seen == (["torch.float32"] * 2 if cast else ["torch.bfloat16"] * 2)
        assert a.grad.tolist() == [[2, 2], [2, 2]]


def test_a_checkpoint_computes_again_as_it_did():
    from autokit.utils.checkpoint import checkpoint

    w = ak.ones(2, 2, requires_grad=True)
    seen = []

    def part(x: Any) -> Any:
        out = x @ w
        seen.append(out.dtype)
        return out.float().exp()

    with ak.autocast("cpu"):
        out = checkpoint(part, ak.ones(2, 2), use_reentrant=False)
    out.sum().backward()
    assert seen == [ak.bfloat16, ak.bfloat16]
