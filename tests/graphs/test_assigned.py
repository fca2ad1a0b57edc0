"""Values keep the names that the program gave them, also where no variable holds them any more."""

from __future__ import annotations

import autokit as ak
from autokit import nn
from autokit.nn import functional as F

data = ak.arange(12.0).reshape(4, 3)
start = ak.ones(2, requires_grad=True)


def attention(x: ak.Tensor) -> ak.Tensor:
    wq, wk = ak.eye(3, requires_grad=True), ak.eye(3, requires_grad=True)
    q, k = x @ wq, x @ wk
    scores = q @ k.T / 3**0.5
    weights = scores.softmax(-1)
    return weights @ x


class Cell(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x: ak.Tensor) -> ak.Tensor:
        pixels = x.view(-1, 3)
        self.hidden = self.layer(pixels).relu() * 2
        low, high = self.hidden.chunk(2)
        largest, _places = high.max(1)
        loss = F.cross_entropy(low, ak.tensor([0, 1]))
        total: ak.Tensor = loss + largest.sum()
        total /= 2
        return -total


def named(end: ak.Tensor) -> dict[str, str]:
    return {node.label: node.formula for node in ak.graph(end).nodes if node.label}


def test_a_local_variable_names_the_value_that_it_was_assigned() -> None:
    found = named(attention(data).sum())
    assert found["q"] == "data @ wq" and found["k"] == "data @ wk"
    assert found["kᵀ"] == "k transposed"
    assert found["scores"].endswith(" / 1.7321") and found["weights"] == "exp scores / Σ exp scores"
    assert "q @ kᵀ" in [node.formula for node in ak.graph(attention(data)).nodes if not node.label]


def test_results_of_two_runs_of_a_line_are_told_apart() -> None:
    found = named(attention(attention(data)))
    assert {"q₁", "q₂", "k₁ᵀ", "k₂ᵀ", "scores₁", "weights₂"} <= found.keys() and "q" not in found


def test_attributes_tuples_and_results_of_calls_have_their_names() -> None:
    cell = Cell()
    found = named(cell(data))
    assert {"pixels", "hidden", "low", "high", "largest", "loss"} <= found.keys()
    assert {"total₁", "total₂"} <= found.keys() and "_places" not in found


def test_variables_in_sight_and_explicit_names_win() -> None:
    def double(x: ak.Tensor) -> ak.Tensor:
        inner = x * 2
        inner.name = "twice"
        y = inner + 1
        return y

    found = named(double(start))  # which calls it `end`
    assert {"twice", "end"} <= found.keys() and not {"inner", "y"} & found.keys()


def test_a_loop_numbers_what_it_assigns_again_and_again() -> None:
    def grow(x: ak.Tensor) -> ak.Tensor:
        for _ in range(3):
            x = x * 2
        return x.sum()

    assert [label for label in named(grow(start)) if label[0] == "x"] == ["x₁", "x₂", "x₃"]
