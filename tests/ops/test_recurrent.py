"""The faster way of a recurrent layer through arrays beside the plain one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit.ops import native, recurrent, recurrent_arrays, recurrent_steps
from autokit.ops.recurrent import recurrence
from tests.support import require

KINDS = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
SIZES = [(3, 3, 3), (4, 2, 2, 1), (1,)]


def operands_of(
    kind: str, sizes: tuple[int, ...], with_bias: bool = True, scale: float = 1.0
) -> tuple[Any, ...]:
    random, width, gates = np.random.RandomState(0), 5, KINDS[kind]
    given = random.standard_normal((sum(sizes), gates * width)) * scale
    h, c = random.standard_normal((2, sizes[0], width))
    weight = random.standard_normal((gates * width, width))
    bias = random.standard_normal(gates * width) if with_bias else np.zeros(())
    return given, h, c if kind == "LSTM" else np.zeros(()), weight, bias


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("scale", [1.0, 200.0])
@pytest.mark.parametrize("kept", [None, {}])
def test_arrays_go_the_way_of_the_plain_rule(kind, backwards, with_bias, sizes, scale, kept):
    operands = operands_of(kind, sizes, with_bias, scale)
    copies = [each.copy() for each in operands]
    rule = recurrence.operation
    plain = rule.plain(*operands, sizes, backwards, kind)
    made = rule.forward(*operands, sizes, backwards, kind, kept if kept is None else {})
    assert np.allclose(made, plain, rtol=1e-12, atol=1e-14)
    assert all(np.array_equal(each, copy) for each, copy in zip(operands, copies))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_gradients_by_the_gates_that_were_kept_and_by_those_found_again_are_those_of_tensors(
    kind, backwards, with_bias, sizes
):
    arrays = operands_of(kind, sizes, with_bias)
    leaves = [torch.tensor(each, requires_grad=bool(each.ndim)) for each in arrays]
    learning = [each for each in leaves if each.requires_grad]
    plain = recurrence.operation.plain(*leaves, sizes, backwards, kind)
    g = torch.from_numpy(np.random.RandomState(1).standard_normal(plain.shape))
    expected = torch.autograd.grad(plain, learning, g)
    kept: dict[str, Any] = {}
    out = recurrence(*leaves, sizes, backwards, kind, kept)
    assert "gates" in kept
    for _way_back in range(3):
        found = torch.autograd.grad(out, learning, g, retain_graph=True)
        for each, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(each.numpy(), wanted.numpy(), rtol=1e-9, atol=1e-11)
        assert "gates" not in kept


class Other(np.ndarray):
    """Arrays of another library, as far as the rule knows."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_arrays_of_other_kinds_go_the_same_way_in_other_pieces(kind, backwards, sizes):
    operands = operands_of(kind, sizes)
    given, h, c, weight, bias = operands
    if kind != "RNN_RELU":
        first = given[: len(h)], h @ weight.T + bias, h, c
        for one, other in zip(recurrent_steps.step_on_a_gpu(kind, *first), recurrent._step(kind, *first)):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    order = list(recurrent._times(sizes, backwards))
    kept: dict[str, Any] = {}
    out = recurrent_arrays.scan(*operands, order, kind, kept)
    g = np.random.RandomState(1).standard_normal(out.shape)
    expected = recurrent_arrays.gradients(g, *operands, out, order, kind, kept)
    others = [each.view(Other) for each in (g, *operands, out)]
    for found in (
        recurrent_arrays.gradients(g, *operands, out, order, kind, None),
        recurrent_arrays.gradients(*others, order, kind, None),
    ):
        for one, wanted in zip(found, expected, strict=True):
            assert (one is None) == (wanted is None)
            if one is not None:
                np.testing.assert_allclose(one, wanted, rtol=1e-9, atol=1e-13)


def test_what_is_computed_again_for_a_picture_leaves_the_gates_as_they_were():
    """Finite differences call the rule again, with the same settings and other numbers."""
    operands = operands_of("LSTM", (2, 2))
    kept: dict[str, Any] = {}
    rule = recurrence.operation
    rule.forward(*operands, (2, 2), False, "LSTM", kept)
    gates = kept["gates"][0].copy()
    rule.forward(operands[0] + 1, *operands[1:], (2, 2), False, "LSTM", kept)
    assert np.array_equal(kept["gates"][0], gates)
    del kept["gates"]
    rule.forward(operands[0] + 1, *operands[1:], (2, 2), False, "LSTM", kept)
    assert "gates" not in kept


@pytest.mark.parametrize("sizes", [(6, 6, 6), (11, 11, 9, 3, 1), (1,) * 9])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_compiled_loops_go_the_way_of_the_lines(monkeypatch, sizes, backwards, with_bias, scale):
    require("numba")
    monkeypatch.setattr(native, "LARGE", 1)
    operands, rule = operands_of("LSTM", sizes, with_bias, scale), recurrence.operation
    settings, made = (sizes, backwards, "LSTM"), []
    for dtype in (np.float64, np.float32):  # of which the first goes by NumPy's lines
        arrays, kept = [each.astype(dtype) for each in operands], {}
        out = rule.forward(*arrays, *settings, kept)
        g = np.random.RandomState(1).standard_normal(out.shape).astype(dtype)
        gradients = rule.rules[0].vjp(g, *arrays, out, *settings, kept)
        made.append(
            [out, rule.forward(*arrays, *settings), *[each for each in gradients if each is not None]]
        )
    assert {"native_recurrent.lstm", "native_recurrent.lstm_back"} <= {key[0] for key in native._ready}
    for by_lines, by_loop in zip(*made, strict=True):
        np.testing.assert_allclose(by_loop, by_lines, rtol=1e-4, atol=1e-5)


def test_compiled_loops_let_what_is_not_a_number_through(monkeypatch):
    require("numba")
    monkeypatch.setattr(native, "LARGE", 1)
    given, *others = [each.astype(np.float32) for each in operands_of("LSTM", (3, 3))]
    given[1, 2] = np.nan
    given[2] = np.inf
    out = recurrence.operation.forward(given, *others, (3, 3), False, "LSTM")
    assert np.isnan(out[1, 2]) and np.isnan(out[4]).all() and np.isfinite(out[[0, 2, 3, 5]]).all()


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_gradients_of_samples_are_those_of_each(kind: str):
    torch.manual_seed(0)
    layer = getattr(torch.nn, kind)(3, 4)
    parameters = {name: each.detach() for name, each in layer.named_parameters()}
    samples = torch.randn(3, 5, 2, 3)

    def loss(parameters: Any, x: Any) -> Any:
        return torch.func.functional_call(layer, parameters, (x,))[0].pow(2).sum()

    together = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, samples)
    for place, sample in enumerate(samples):
        for name, alone in torch.func.grad(loss)(parameters, sample).items():
            np.testing.assert_allclose(together[name][place].numpy(), alone.numpy(), rtol=1e-4, atol=1e-6)
