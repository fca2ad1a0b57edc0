"""autokit.nn: state_dict and load_state_dict."""

from __future__ import annotations

from collections import OrderedDict

import pytest

import autokit as ak
from autokit import nn
from tests.support import require


def model() -> nn.Sequential:
    return nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))


def test_a_state_goes_round_by_value():
    first, second = model(), model()
    result = second.load_state_dict(first.state_dict())
    assert repr(result) == "<All keys matched successfully>"
    x = ak.ones(1, 2)
    assert second(x).tolist() == first(x).tolist()
    with ak.no_grad():
        first[0].weight.zero_()
    assert second(x).tolist() != first(x).tolist()


def test_the_state_shares_memory_and_is_outside_of_the_graph():
    net = model()
    state = net.state_dict()
    assert list(state) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert not any(tensor.requires_grad for tensor in state.values())
    with ak.no_grad():
        net[0].bias.fill_(7.0)
    assert state["0.bias"].tolist() == [7, 7, 7]
    assert net.state_dict(keep_vars=True)["0.bias"] is net[0].bias
    assert next(iter(net.state_dict(prefix="net."))) == "net.0.weight"


def test_what_does_not_fit_is_all_listed_and_nothing_is_loaded():
    net = model()
    before = net[1].bias.tolist()
    state = net.state_dict()
    state.update({"1.bias": ak.full((1,), 9.0), "extra": ak.ones(1), "0.weight": ak.ones(1, 1)})
    del state["0.bias"]
    with pytest.raises(RuntimeError) as error:
        net.load_state_dict(state)
    assert str(error.value) == (
        "Error(s) in loading state_dict for Sequential:\n"
        '\tMissing key(s) in state_dict: "0.bias". \n'
        '\tUnexpected key(s) in state_dict: "extra". \n'
        "\tsize mismatch for 0.weight: copying a param with shape torch.Size([1, 1]) from checkpoint, "
        "the shape in current model is torch.Size([3, 2])."
    )
    assert net[1].bias.tolist() == before


def test_not_strict_loads_what_there_is_and_says_what_was_not():
    net = model()
    result = net.load_state_dict({"1.bias": ak.full((1,), 9.0), "extra": ak.ones(1)}, strict=False)
    assert result.missing_keys == ["0.weight", "0.bias", "1.weight"]
    assert result.unexpected_keys == ["extra"]
    assert net[1].bias.tolist() == [9]
    with pytest.raises(RuntimeError, match="size mismatch"):
        net.load_state_dict({"1.bias": ak.ones(2)}, strict=False)


def test_loading_converts_the_dtype_and_assign_takes_the_tensor_itself():
    net = model()
    state = {name: tensor.double() for name, tensor in net.state_dict().items()}
    net.load_state_dict(state)
    assert net[0].weight.dtype == ak.float32
    parameter = net[0].weight
    net.load_state_dict(state, assign=True)
    assert net[0].weight.dtype == ak.float64 and net[0].weight is not parameter
    assert isinstance(net[0].weight, nn.Parameter) and net[0].weight.requires_grad


@pytest.mark.parametrize(
    ("state", "error", "words"),
    [
        (3, TypeError, "dict-like"),
        ({"0.weight": 3}, RuntimeError, 'parameter named "0.weight", expected torch.Tensor'),
    ],
)
def test_wrong_states(state: object, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        model().load_state_dict(state, strict=False)  # type: ignore[arg-type]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("version", [None, 1, 2])
def test_a_state_from_before_batches_were_counted(version: int | None, strict: bool):
    """Weights of famous networks are as old as that; a plain dict says no version and passes for old."""
    require("torch")
    import torch

    told = []
    for T in (ak, torch):
        net = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.BatchNorm1d(3))
        net(T.ones(4, 2))
        saved = net.state_dict()
        old = {name: value for name, value in saved.items() if "num_batches" not in name}
        if version is not None:
            old = OrderedDict(old)
            old._metadata = {**saved._metadata, "1": {"version": version}}
        try:
            told.append((repr(net.load_state_dict(old, strict=strict)), int(net[1].num_batches_tracked)))
        except RuntimeError as error:
            told.append(str(error))
    assert told[0] == told[1]
