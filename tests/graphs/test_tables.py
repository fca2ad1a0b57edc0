"""Modules, optimizers and loaders show themselves: as tables that say the truth, the same on every run."""

from __future__ import annotations

import re

import pytest

import autokit as ak
from autokit import nn, optim
from autokit.draw.table import table_html, table_text
from autokit.graphs.model import Table
from autokit.graphs.tables import module_table
from autokit.utils.data import DataLoader, IterableDataset, TensorDataset
from tests.draw.graphs import HOSTILE


def network() -> nn.Module:
    shared = nn.Linear(4, 4)
    net = nn.Sequential(
        nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Sequential(shared, nn.ReLU(), shared), nn.Linear(4, 2)
    )
    net[3].bias.requires_grad_(False)
    return net


def test_a_module_is_a_tree_with_shapes_and_counts():
    net = network()
    table = module_table(net)
    assert [(row[0], row[1], row[4]) for row in table.rows] == [
        ("Sequential", "Sequential", str(sum(p.numel() for p in net.parameters()))),
        ("    0", "Linear", "16"),
        ("    1", "BatchNorm1d", "8"),
        ("    2", "Sequential", "20"),
        ("        0", "Linear", "20"),
        ("        1", "ReLU", "0"),
        ("        2", "Linear", "shared"),
        ("    3", "Linear", "10"),
    ]
    assert table.rows[1][3] == "weight [4, 3], bias [4]"
    learning = sum(p.numel() for p in net.parameters() if p.requires_grad)
    held = sum(p.numel() * p.element_size() for p in net.parameters())
    assert table.notes[0] == f"54 parameters, {learning} of them learn; {held} bytes"
    assert (
        table.notes[-1] == "in training mode" and module_table(net.eval()).notes[-1] == "in evaluation mode"
    )


def test_a_module_that_holds_itself_ends():
    net = nn.Sequential(nn.ReLU())
    net._modules["self"] = net
    assert len(module_table(net).rows) <= 200


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(3))


def everything() -> dict[str, object]:
    net = network()
    data = TensorDataset(ak.ones(10, 3), ak.ones(10))
    groups = [{"params": net[0].parameters(), "lr": 1e-4}, {"params": net[3].parameters()}]
    return {
        "module": net,
        "parameter": net[0].weight,
        "optimizer": optim.Adam(groups, lr=1e-3),
        "loader": DataLoader(data, batch_size=4, shuffle=True),
        "stream": DataLoader(Stream()),
        "tensor": ak.tensor([1.0, 2.0], requires_grad=True),
        "graph": ak.graph(net(ak.ones(2, 3)).sum()),
        "timeline": ak.record(ak.tensor(2.0, requires_grad=True) * 3.0),
    }


@pytest.mark.parametrize("name", sorted(everything()))
def test_all_of_it_shows_itself_the_same_on_every_run(name: str):
    shown = []
    for _ in range(2):
        ak.manual_seed(0)
        shown.append(everything()[name]._repr_mimebundle_())
    assert shown[0] == shown[1] and set(shown[0]) == {"text/plain", "text/html"}
    for form in shown[0].values():
        assert not re.search(r"0x[0-9a-f]{6}", form)
    assert not re.search(r"<(script|svg)|\son\w+=", shown[0]["text/html"])


def test_an_optimizer_shows_its_groups_and_a_loader_its_portions():
    shown = everything()
    words = shown["optimizer"]._repr_mimebundle_()["text/html"]
    assert "0.0001" in words and "(0.9, 0.999)" in words and "no step was taken so far" in words
    words = shown["loader"]._repr_mimebundle_()["text/plain"]
    assert "samples     10" in words and "batches     3" in words and "shuffled" in words
    assert "not known beforehand" in shown["stream"]._repr_mimebundle_()["text/plain"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_table_shows_hostile_text_as_text(name: str):
    table = Table(name, ("a", "b"), ((f"  {name}", name),), (name,))
    for form in (table_html(table), table_text(table)):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", form)
    assert not re.search("<(script|img)", table_html(table))
