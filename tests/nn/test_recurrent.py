"""Recurrent layers, their cells and packed sequences beside PyTorch's."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import autokit
from tests.nn.twins import BOTH, assert_alike, assert_both, assert_same_error, flat

SETTINGS = [
    "4, 3", "4, 3, 2", "4, 3, num_layers=2, bidirectional=True", "4, 3, bias=False", "4, 3, batch_first=True",
    "4, 3, num_layers=3, dropout=0.4", "4, 3, 2, bidirectional=True, batch_first=True, dropout=0.2",
]  # fmt: skip
LAYERS = [f"nn.{kind}({settings})" for kind, settings in product(("RNN", "LSTM", "GRU"), SETTINGS)]
LAYERS += [
    "nn.RNN(4, 3, 2, 'relu')",
    "nn.RNN(4, 3, nonlinearity='relu')",
    "nn.GRU(4, 3, 2, dropout=0.3).eval()",
]


@pytest.mark.parametrize("layer", LAYERS)
def test_layers(layer: str):
    assert_alike(layer, lambda torch: (torch.randn(5, 2, 4),))


def states(torch: Any, module: Any, batch: tuple[int, ...]) -> Any:
    count = module.num_layers * (2 if module.bidirectional else 1)
    h = torch.randn(count, *batch, module.hidden_size)
    return (h, torch.randn(count, *batch, module.hidden_size)) if module.mode == "LSTM" else h


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("batched", [True, False])
def test_first_states_and_single_sequences(layer: str, batched: bool):
    def run(torch: Any, module: Any) -> Any:
        torch.manual_seed(1)
        module.eval()
        batch = ((5 if module.batch_first else 2),) if batched else ()
        x = torch.randn(*((5, 2, 4) if batched else (5, 4)), requires_grad=True)
        hx = states(torch, module, batch)
        leaves = [x, *[each.requires_grad_() for each in flat(hx)], *module.parameters()]
        out = flat(module(x, hx))
        sum((each * each).sum() for each in out).backward()
        return [*out, *[each.grad for each in leaves]]

    assert_both(run, layer)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("lengths", [[5, 3, 3, 1], [2, 5, 1, 4]])
def test_packed_sequences(layer: str, lengths: list[int]):
    def run(torch: Any, module: Any) -> Any:
        rnn = torch.nn.utils.rnn
        torch.manual_seed(1)
        x = torch.randn(5, 4, 4, requires_grad=True)
        packed = rnn.pack_padded_sequence(x, lengths, enforce_sorted=lengths[0] == 5)
        hx = states(torch, module, (4,)) if lengths[0] == 2 else None
        out, last = module(packed, hx)
        padded, counts = rnn.pad_packed_sequence(out, batch_first=True, padding_value=-1.0, total_length=6)
        assert counts.tolist() == lengths
        outputs = [padded, *flat(last)]
        sum((each * each).sum() for each in outputs).backward()
        return [*outputs, x.grad, *[p.grad for p in module.parameters()]]

    assert_both(run, layer)


CELLS = ["nn.RNNCell(4, 3)", "nn.RNNCell(4, 3, nonlinearity='relu')", "nn.RNNCell(4, 3, bias=False)"]
CELLS += ["nn.LSTMCell(4, 3)", "nn.LSTMCell(4, 3, bias=False)", "nn.GRUCell(4, 3)", "nn.GRUCell(4, 3, False)"]


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("batch", [(2,), ()])
def test_cells(cell: str, batch: tuple[int, ...]):
    def with_states(torch: Any) -> Any:
        x, h, c = torch.randn(*batch, 4), torch.randn(*batch, 3), torch.randn(*batch, 3)
        return x, (h, c) if "LSTM" in cell else h

    assert_alike(cell, lambda torch: (torch.randn(*batch, 4),))
    assert_alike(cell, with_states)

    def three_steps(torch: Any, module: Any) -> Any:
        x, state = with_states(torch)
        for _ in range(3):
            state = module(x, state)
        sum(each.sum() for each in flat(state)).backward()
        return [state, [parameter.grad for parameter in module.parameters()]]

    assert_both(three_steps, cell)


@pytest.mark.parametrize(("cell", "gates", "end"), [
    ("LSTMCell", {"input gate": "σ", "forget gate": "σ", "cell gate": "tanh", "output gate": "σ"}, "output"),
    ("GRUCell", {"reset gate": "σ", "update gate": "σ", "new gate": "tanh"}, "v"),
    ("RNNCell", {}, "tanh v"),
])  # fmt: skip
def test_the_picture_of_a_cell_has_its_gates(cell: str, gates: dict[str, str], end: str):
    module = getattr(autokit.nn, cell)(3, 4)
    nodes = {node.name: node for node in autokit.graph(flat(module(autokit.ones(2, 3)))[0].sum()).nodes}
    assert {name: node.symbol for name, node in nodes.items() if name.endswith(" gate")} == gates
    assert nodes["h"].formula.startswith(end)
    assert "c" not in nodes or nodes["c"].formula == "kept + added"


def test_the_learners_names_for_the_states_of_a_cell_stand_before_the_textbooks():
    hidden, cells = autokit.nn.LSTMCell(3, 4)(autokit.ones(2, 3))
    names = [node.name for node in autokit.graph(hidden.sum()).nodes]
    assert {"hidden", "cells", "forget gate"} <= set(names) and not {"h", "c"} & set(names)
    assert cells.name == ""


@pytest.mark.parametrize("layer", [
    "nn.RNN(3, 2)", "nn.RNN(3, 2, nonlinearity='relu', bias=False)", "nn.LSTM(3, 2)", "nn.GRU(3, 2)",
    "nn.GRU(3, 2, bidirectional=True)",
])  # fmt: skip
def test_second_derivatives(layer: str):
    def run(torch: Any, module: Any) -> Any:
        module.double()
        torch.manual_seed(1)
        x = torch.randn(3, 2, 3, dtype=torch.float64, requires_grad=True)
        out, _ = module(x)
        learning = [x, *module.parameters()]
        firsts = torch.autograd.grad((out**3).sum(), learning, create_graph=True)
        sum((each * each).sum() for each in firsts).backward()
        return [*firsts, *[each.grad for each in learning]]

    assert_both(run, layer)


@pytest.mark.parametrize("make", [
    lambda rnn, t: rnn.pad_sequence([t([1.0, 2, 3]), t([4.0]), t([5.0, 6])]),
    lambda rnn, t: rnn.pad_sequence([t([1.0, 2, 3]), t([4.0])], True, -1.0, "left"),
    lambda rnn, t: rnn.pad_sequence([t([[1, 2], [3, 4]]), t([[4, 5]])], padding_value=9),
    lambda rnn, t: rnn.pack_sequence([t([1.0, 2, 3]), t([4.0])]),
    lambda rnn, t: rnn.pack_sequence([t([4.0]), t([1.0, 2, 3]), t([7.0, 8])], enforce_sorted=False),
    lambda rnn, t: rnn.unpack_sequence(rnn.pack_sequence([t([4.0]), t([1.0, 2])], enforce_sorted=False)),
    lambda rnn, t: rnn.unpad_sequence(t([[1, 2, 0], [3, 4, 5]]), t([2, 3]), batch_first=True),
    lambda rnn, t: rnn.pad_packed_sequence(rnn.pack_sequence([t([1, 2, 3]), t([4])]), total_length=4),
])  # fmt: skip
def test_packing_and_padding(make: Any):
    mine, wanted = (make(torch.nn.utils.rnn, torch.tensor) for torch in BOTH)
    assert repr(mine) == repr(wanted)


@pytest.mark.parametrize("wrong", [
    "rnn.pad_sequence([])", "rnn.pack_padded_sequence(torch.ones(3, 2), [2, 3])",
    "rnn.pack_padded_sequence(torch.ones(3, 2), [3, 0])", "nn.RNN(0, 3)", "nn.RNN(3, 2, dropout=2)",
    "nn.RNN(3, 2, nonlinearity='selu')", "nn.RNN(3, 2)(torch.ones(2, 2, 4))",
    "nn.RNN(3, 2)(torch.ones(2, 2, 3), torch.ones(1, 3, 2))", "nn.GRUCell(3, 2)(torch.ones(2, 4))",
    "nn.RNN(3, 2)(torch.ones(2, 2, 3), torch.ones(1, 2))",
    "nn.GRUCell(3, 2)(torch.ones(2, 3), torch.ones(2, 3))",
    "nn.LSTM(3, 2)(torch.ones(2, 2, 3), (torch.ones(1, 2, 2), torch.ones(1, 2, 3)))",
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:dropout option adds dropout")
def test_wrong_use(wrong: str):
    assert_same_error(wrong)


def test_a_length_beyond_the_batch_is_refused():
    with pytest.raises(RuntimeError, match="at most 3, the length of the batch"):
        autokit.nn.utils.rnn.pack_padded_sequence(autokit.ones(3, 2), [4, 3])
