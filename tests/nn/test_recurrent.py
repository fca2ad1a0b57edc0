"""Recurrent layers, their cells and packed sequences beside PyTorch's."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import autokit as ak
from autokit import nn
from tests.libraries import pytorch
from tests.nn.twins import assert_alike, assert_close, flat, twins
from tests.support import require

SETTINGS = [
    "4, 3", "4, 3, 2", "4, 3, num_layers=2, bidirectional=True", "4, 3, bias=False", "4, 3, batch_first=True",
    "4, 3, num_layers=3, dropout=0.4", "4, 3, 2, bidirectional=True, batch_first=True, dropout=0.2",
]  # fmt: skip
LAYERS = [f"{kind}({settings})" for kind, settings in product(("RNN", "LSTM", "GRU"), SETTINGS)]
LAYERS += ["RNN(4, 3, 2, 'relu')", "RNN(4, 3, nonlinearity='relu')", "LSTM(4, 3, proj_size=2)"]
LAYERS += ["LSTM(4, 3, 2, bidirectional=True, proj_size=2)", "GRU(4, 3, 2, dropout=0.3).eval()"]


def built(layer: str) -> Any:
    return lambda torch: eval(f"torch.nn.{layer}", {"torch": torch})


@pytest.mark.parametrize("layer", LAYERS)
def test_layers(layer: str):
    require("torch")
    assert_alike(built(layer), lambda torch: (torch.randn(5, 2, 4),))


@pytest.mark.parametrize("layer", ["LSTM(4, 3, 2)", "GRU(4, 3, bidirectional=True)", "RNN(4, 3)"])
def test_a_batch_of_no_sequences(layer: str):
    require("torch")
    assert_alike(built(layer), lambda torch: (torch.randn(5, 0, 4),))


def states(torch: Any, module: Any, batch: tuple[int, ...]) -> Any:
    count = module.num_layers * (2 if module.bidirectional else 1)
    h = torch.randn(count, *batch, module.proj_size or module.hidden_size)
    return (h, torch.randn(count, *batch, module.hidden_size)) if module.mode == "LSTM" else h


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("batched", [True, False])
def test_first_states_and_single_sequences(layer: str, batched: bool):
    require("torch")
    import torch

    results = []
    for library, module in zip((ak, torch), twins(built(layer))):
        library.manual_seed(1)
        module.eval()
        batch = ((5 if module.batch_first else 2),) if batched else ()
        x = library.randn(*((5, 2, 4) if batched else (5, 4)), requires_grad=True)
        hx = states(library, module, batch)
        leaves = [each.requires_grad_() for each in flat(hx)]
        out = flat(module(x, hx))
        sum((each * each).sum() for each in out).backward()
        results.append(
            [*out, x.grad, *[leaf.grad for leaf in leaves], *[p.grad for p in module.parameters()]]
        )
    for place, (our, their) in enumerate(zip(*results, strict=True)):
        assert_close(our, their, str(place), 1e-4, 1e-5)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("lengths", [[5, 3, 3, 1], [2, 5, 1, 4]])
def test_packed_sequences(layer: str, lengths: list[int]):
    require("torch")
    import torch

    results = []
    for library, module in zip((ak, torch), twins(built(layer))):
        rnn = library.nn.utils.rnn
        library.manual_seed(1)
        x = library.randn(5, 4, 4, requires_grad=True)
        packed = rnn.pack_padded_sequence(x, lengths, enforce_sorted=lengths[0] == 5)
        hx = states(library, module, (4,)) if lengths[0] == 2 else None
        out, last = module(packed, hx)
        padded, counts = rnn.pad_packed_sequence(out, batch_first=True, padding_value=-1.0, total_length=6)
        assert counts.tolist() == lengths
        outputs = [padded, *flat(last)]
        sum((each * each).sum() for each in outputs).backward()
        results.append([*outputs, x.grad, *[p.grad for p in module.parameters()]])
    for place, (our, their) in enumerate(zip(*results, strict=True)):
        assert_close(our, their, str(place), 1e-4, 1e-5)


CELLS = ["RNNCell(4, 3)", "RNNCell(4, 3, nonlinearity='relu')", "RNNCell(4, 3, bias=False)", "LSTMCell(4, 3)"]
CELLS += ["LSTMCell(4, 3, bias=False)", "GRUCell(4, 3)", "GRUCell(4, 3, False)"]


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("batch", [(2,), ()])
def test_cells(cell: str, batch: tuple[int, ...]):
    require("torch")
    assert_alike(built(cell), lambda torch: (torch.randn(*batch, 4),))

    def with_states(torch: Any) -> Any:
        h, c = torch.randn(*batch, 3), torch.randn(*batch, 3)
        return torch.randn(*batch, 4), (h, c) if "LSTM" in cell else h

    if "LSTM" not in cell:
        assert_alike(built(cell), with_states)
    ours, theirs = (m for m in twins(built(cell)))
    import torch

    outputs = []
    for library, module in ((ak, ours), (torch, theirs)):
        library.manual_seed(3)
        x, state = with_states(library)
        for _ in range(3):
            state = module(x, state)
        outputs.append(flat(state))
        sum(each.sum() for each in outputs[-1]).backward()
    for our, their in zip(*outputs):
        assert_close(our, their)
    for our, their in zip(ours.parameters(), theirs.parameters()):
        assert_close(our.grad, their.grad, "", 1e-4, 1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("layer", [
    f"{kind}(4, 3, {settings})" for kind in ("RNN", "GRU", "LSTM")
    for settings in ("", "batch_first=True", "bidirectional=True", "num_layers=2, bias=False")
] + ["LSTM(4, 3, proj_size=2)", "RNNCell(4, 3, nonlinearity='relu')", *CELLS])  # fmt: skip
def test_the_nodes_of_results_have_pytorchs_names(layer: str, dtype: str):
    require("torch")
    import torch

    names = []
    for library in (ak, torch):
        module = eval(f"nn.{layer}", {"nn": library.nn}).to(getattr(library, dtype))
        x = library.ones(2, 3, 4, dtype=getattr(library, dtype))
        names.append([each.grad_fn.name() for each in flat(module(x[0] if "Cell" in layer else x))])
    assert names[0] == names[1]


@pytest.mark.parametrize("kind", ["LSTM", "LSTMCell"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("states", [
    "h", "h[0]", "T.cat([h, h])", "T.stack([h, h])", "(h,)", "(h, h, h)", "(h, None)", "3", "[h, h]",
])  # fmt: skip
def test_states_that_are_no_pair_are_refused_as_by_pytorch(states: str, packed: bool, kind: str):
    require("torch")
    import torch

    raised = []
    for T in (ak, torch):
        x, h = T.ones(3, 2, 4), T.zeros(1, 2, 3)
        if kind == "LSTMCell":
            x, h = x[0], h[0]
        elif packed:
            x = T.nn.utils.rnn.pack_padded_sequence(x, [3, 2])
        try:
            getattr(T.nn, kind)(4, 3)(x, eval(states, {"T": T, "h": h}))
            raised.append(None)
        except Exception as error:
            raised.append(type(error))
    assert raised[0] is raised[1]


@pytest.mark.parametrize("layer", [
    "RNN(3, 2)", "RNN(3, 2, nonlinearity='relu', bias=False)", "LSTM(3, 2)", "GRU(3, 2)",
    "GRU(3, 2, bidirectional=True)",
])  # fmt: skip
def test_second_derivatives(layer: str):
    module = built(layer)(ak).double()
    x = ak.randn(3, 2, 3, dtype=ak.float64, requires_grad=True)
    weights = list(module.parameters())

    def run(x: Any, *weights: Any) -> Any:
        named = dict(zip([name for name, _ in module.named_parameters()], weights))
        out, _ = ak.func.functional_call(module, named, (x,))
        return out

    copies = [weight.detach().requires_grad_() for weight in weights]
    assert ak.autograd.gradcheck(run, (x, *copies))
    assert ak.autograd.gradgradcheck(run, (x, *copies))


def test_packing_and_padding():
    require("torch")
    import torch

    for make in (
        lambda rnn, t: rnn.pad_sequence([t([1.0, 2, 3]), t([4.0]), t([5.0, 6])]),
        lambda rnn, t: rnn.pad_sequence([t([1.0, 2, 3]), t([4.0])], True, -1.0, "left"),
        lambda rnn, t: rnn.pad_sequence([t([[1, 2], [3, 4]]), t([[4, 5]])], padding_value=9),
        lambda rnn, t: rnn.pack_sequence([t([1.0, 2, 3]), t([4.0])]),
        lambda rnn, t: rnn.pack_sequence([t([4.0]), t([1.0, 2, 3]), t([7.0, 8])], enforce_sorted=False),
        lambda rnn, t: rnn.unpack_sequence(rnn.pack_sequence([t([4.0]), t([1.0, 2])], enforce_sorted=False)),
        lambda rnn, t: rnn.unpad_sequence(t([[1, 2, 0], [3, 4, 5]]), t([2, 3]), batch_first=True),
        lambda rnn, t: rnn.pack_padded_sequence(t([[1, 2, 0], [3, 4, 5]]), [2, 3], True, False).float(),
        lambda rnn, t: rnn.pack_padded_sequence(t([[1, 2, 0], [3, 4, 5], [6, 7, 8]]), [1, 3], True, False),
        lambda rnn, t: rnn.pack_padded_sequence(t([[1, 2, 0], [3, 4, 5]]), [2], enforce_sorted=False),
        lambda rnn, t: rnn.invert_permutation(t([2, 0, 1])),
    ):  # fmt: skip
        assert repr(make(nn.utils.rnn, ak.tensor)) == repr(make(torch.nn.utils.rnn, torch.tensor))


@pytest.mark.parametrize("wrong", [
    "pad_sequence([])", "pad_sequence(3)", "pad_sequence([torch.ones(2, 3), torch.ones(2, 2)])",
    "pack_padded_sequence(torch.ones(3, 2), [2, 3])", "pack_padded_sequence(torch.ones(3, 2), [3, 0])",
    "pack_padded_sequence(torch.ones(3, 2), [3])", "pack_padded_sequence([[1.0]], [1])",
    "pack_padded_sequence(torch.ones(3, 2), [], False, False)",
    "pack_padded_sequence(torch.ones(3, 2), [3, 2], 0)",
    "pack_padded_sequence(torch.ones(3, 2), [3, 2], None)",
    "pad_packed_sequence(rnn.pack_sequence([torch.ones(3)]), 'first')",
    "pad_packed_sequence(rnn.pack_sequence([torch.ones(3)]), total_length=4.0)",
    "pad_packed_sequence(rnn.pack_sequence([torch.ones(3)]), total_length=2)",
    "pad_sequence([torch.ones(2)], padding_side='top')", "pad_sequence([torch.ones(2)], 1)",
])  # fmt: skip
def test_wrong_sequences(wrong: str):
    assert_same_error(f"torch.nn.utils.rnn.{wrong}")


def test_a_length_beyond_the_batch_is_refused():
    with pytest.raises(RuntimeError, match="the longest of 'lengths' is 4, but the batch has 3 times"):
        nn.utils.rnn.pack_padded_sequence(ak.ones(3, 2), [4, 3])


def assert_same_error(text: str) -> None:
    require("torch")
    import torch

    with pytest.raises(Exception) as theirs:
        eval(text, {"torch": torch, "rnn": torch.nn.utils.rnn})
    with pytest.raises(type(theirs.value)):
        eval(text, {"torch": ak, "rnn": nn.utils.rnn})


@pytest.mark.parametrize("wrong", [
    "RNN(0, 3)", "RNN(3, 0)", "RNN(3, 2, 0)", "RNN(3, 2, dropout=2)", "RNN(3, 2, dropout=True)",
    "RNN(3.0, 2)",
    "RNN(3, 2, nonlinearity='selu')", "GRU(3, 2, proj_size=1)", "LSTM(3, 2, proj_size=2)",
    "LSTM(3, 2, bias=1)",
    "LSTM(3, 2, proj_size=-1)", "RNN(3, 2)(torch.ones(2, 2, 2, 3))", "RNN(3, 2)(torch.ones(2, 2, 4))",
    "RNN(3, 2)(torch.ones(2, 2, 3).double())", "RNN(3, 2)(torch.ones(2, 2, 3), torch.ones(1, 3, 2))",
    "RNN(3, 2)(torch.ones(2, 2, 3), torch.ones(1, 2))", "RNN(3, 2)(torch.ones(2, 3), torch.ones(1, 2, 2))",
    "LSTM(3, 2)(torch.ones(2, 2, 3), (torch.ones(1, 2), torch.ones(1, 2)))", "RNN(3, 2)(torch.ones(0, 2, 3))",
    "LSTM(3, 2)(torch.ones(2, 2, 3), (torch.ones(1, 2, 2), torch.ones(1, 2, 3)))",
    "GRUCell(3, 2)(torch.ones(2, 2, 3))", "GRUCell(3, 2)(torch.ones(2, 4))",
    "RNNCell(3, 2, nonlinearity='x')(torch.ones(3))",
    "GRUCell(3, 2)(torch.ones(2, 3), torch.ones(2, 3))",
    "LSTMCell(3, 2)(torch.ones(3), (torch.ones(1, 1, 2),) * 2)",
])  # fmt: skip
def test_wrong_settings_and_inputs(wrong: str):
    assert_same_error(f"torch.nn.{wrong}")


def test_dropout_in_a_single_layer_warns():
    with pytest.warns(UserWarning, match="expects num_layers greater than 1"):
        nn.LSTM(3, 2, dropout=0.5)


@pytest.mark.parametrize("layer", ["GRU(3, 2, 2)", "LSTM(3, 4, bias=False, proj_size=2, bidirectional=True)"])
def test_programs_find_the_parameters_in_a_row(layer: str):
    torch = pytorch()
    mine, theirs = eval(layer, vars(nn).copy()), eval(layer, vars(torch.nn).copy())
    assert mine._flat_weights_names == theirs._flat_weights_names
    assert [each.shape for each in mine._flat_weights] == [each.shape for each in theirs._flat_weights]
    assert mine._flat_weights[1] is mine._parameters[mine._flat_weights_names[1]]
