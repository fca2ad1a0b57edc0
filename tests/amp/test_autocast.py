"""Autocasting: products in float16, sums and losses in float32, networks that train as PyTorch's."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest

import autokit
from autokit.amp.autocast_mode import HALF, SINGLE
from autokit.engine.detours import DETOURS
from autokit.engine.operation import OPERATIONS
from tests.beside import assert_same
from tests.libraries import LIBRARIES, on_each

F = autokit.nn.functional


def network(T: Any) -> Any:
    T.manual_seed(0)
    nn = T.nn
    head = nn.Sequential(nn.Flatten(), nn.Linear(36, 16), nn.LayerNorm(16), nn.Tanh(), nn.Linear(16, 3))
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), head)


def test_a_network_trains_as_pytorchs():
    losses = []
    for T in LIBRARIES:
        model = network(T)
        optimizer = T.optim.SGD(model.parameters(), lr=0.1)
        T.manual_seed(1)
        x, y = T.randn(8, 1, 8, 8), T.randint(3, (8,))
        losses.append([])
        for _ in range(8):
            optimizer.zero_grad()
            with T.autocast("cpu", dtype=T.float16):
                out = model(x)
                loss = T.nn.functional.cross_entropy(out, y)
            assert (out.dtype, loss.dtype) == (T.float16, T.float32)
            loss.backward()
            assert all(p.grad.dtype == p.dtype == T.float32 for p in model.parameters())
            optimizer.step()
            losses[-1].append(loss.item())
    assert losses[0][-1] < losses[0][0]
    for other in losses[1:]:
        np.testing.assert_allclose(losses[0], other, rtol=1e-2)


@on_each
def test_products_are_half_losses_and_norms_single_others_as_they_meet(T: Any):
    f = T.nn.functional
    a, b = T.ones(2, 2), T.ones(1, 2, 2)
    with T.autocast("cpu", dtype=T.float16):
        halves = [a @ a, b @ b, f.linear(a, a), f.conv1d(b, b), T.mm(a, a)]
        product = a @ a
        singles = [f.mse_loss(product, a), f.cross_entropy(product, T.tensor([0, 1])), product.prod()]
        met = [product + a, product * product, product.relu(), T.cat([product, a]), a.double() + product]
        integers = T.tensor([1, 2]) + 1
    assert {each.dtype for each in halves} == {T.float16}
    assert {each.dtype for each in singles} == {T.float32}
    wanted = [T.float32, T.float16, T.float16, T.float32, T.float64]
    assert [each.dtype for each in met] == wanted and integers.dtype == T.int64
    assert (a @ a).dtype == T.float32


def test_reductions_and_softmax_are_single():
    with autokit.autocast("cpu"):
        product = autokit.ones(2, 2) @ autokit.ones(2, 2)
        for each in (product.sum(), product.mean(), product.softmax(0), product.var(), product.norm()):
            assert each.dtype == autokit.float32
        big = autokit.full((4, 1), 300.0) @ autokit.full((1, 4), 300.0)
        assert big.isinf().all() and (product * 30000).sum().item() == 4 * 60000


def test_the_lists_name_operations_that_there_are():
    assert {*HALF, *SINGLE} <= OPERATIONS.keys() and not set(HALF) & set(SINGLE)


@pytest.mark.parametrize("name", ["MultiheadAttention", "TransformerEncoderLayer", "LSTM", "GRU", "RNN"])
def test_layers_compute_in_half_and_their_gradients_are_single(name: str):
    layer = getattr(autokit.nn, name)(4, 2)
    x = autokit.ones(3, 2, 4)
    with autokit.autocast("cpu"):
        result = layer(x, x, x) if name == "MultiheadAttention" else layer(x)
    first = result[0] if isinstance(result, tuple) else result
    assert first.dtype == (autokit.float32 if name.startswith("Transformer") else autokit.float16)
    (first.float() ** 2).sum().backward()
    assert {parameter.grad.dtype for parameter in layer.parameters()} == {autokit.float32}


@on_each
def test_blocks_nest_are_switched_off_and_end(T: Any):
    a = T.ones(2, 2)

    def dtype() -> Any:
        return (a @ a).dtype

    with T.autocast("cpu", dtype=T.float16):
        with T.autocast("cpu", enabled=False):
            assert dtype() == T.float32 and not T.is_autocast_enabled("cpu")
            with T.autocast("cpu", dtype=T.float16):
                assert dtype() == T.float16
            assert dtype() == T.float32
        assert dtype() == T.float16 and T.is_autocast_enabled("cpu")
    with pytest.raises(KeyError), T.autocast("cpu", dtype=T.float16):
        raise KeyError
    assert dtype() == T.float32 and not T.is_autocast_enabled("cpu") and not DETOURS


@on_each
def test_a_thread_autocasts_for_itself(T: Any):
    found: list[Any] = []
    with T.autocast("cpu", dtype=T.float16):
        other = threading.Thread(target=lambda: found.append((T.ones(2, 2) @ T.ones(2, 2)).dtype))
        other.start()
        other.join()
    assert found == [T.float32]


def test_second_derivatives_and_in_place_changes():
    def program(T: Any) -> Any:
        w, x = T.full((2, 2), 0.5, requires_grad=True), T.full((2, 2), 0.25)
        with T.autocast("cpu", dtype=T.float16):
            y = (x @ w).float()
            y.mul_(y.exp())
            (first,) = T.autograd.grad((y**2).sum(), w, create_graph=True)
        return first, T.autograd.grad((first * first).sum(), w)

    assert_same(program, 2e-2)


def test_what_there_is_not_is_said():
    with pytest.warns(UserWarning, match="computes in float16: autokit has no bfloat16"):
        context = autokit.autocast("cpu", dtype=autokit.bfloat16)
    with context:
        assert (autokit.ones(2, 2) @ autokit.ones(2, 2)).dtype == autokit.float16
    with pytest.warns(UserWarning, match="nothing is cast"):
        assert not autokit.autocast("cpu", dtype=autokit.float64).enabled
    with pytest.raises(ValueError, match="'cpu' or 'cuda'"):
        autokit.autocast(autokit.float16)
    with pytest.raises(TypeError, match="with autocast"):
        autokit.autocast("cpu")(3)
    if not autokit.cuda.is_available():
        with pytest.warns(UserWarning, match="there is no GPU"):
            assert not autokit.cuda.amp.autocast().enabled
        with warnings.catch_warnings(action="error"):
            assert not autokit.autocast("cuda", enabled=autokit.cuda.is_available()).enabled
