"""autokit.nn: state_dict and load_state_dict."""

from __future__ import annotations

import pytest

import autokit as ak
from autokit import nn


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
    for value, words in ((ak.ones(2), "size mismatch"), (3, "should be a tensor")):
        with pytest.raises(RuntimeError, match=words):
            net.load_state_dict({"1.bias": value}, strict=False)


def test_loading_converts_the_dtype_and_assign_holds_the_tensor_itself():
    net = model()
    state = {name: tensor.double() for name, tensor in net.state_dict().items()}
    net.load_state_dict(state)
    assert net[0].weight.dtype == ak.float32
    parameter = net[0].weight
    net.load_state_dict(state, assign=True)
    assert net[0].weight.dtype == ak.float64 and net[0].weight is not parameter
    assert isinstance(net[0].weight, nn.Parameter) and net[0].weight.requires_grad
    other, net[0].bias.requires_grad = model(), False
    net.load_state_dict(other.state_dict(keep_vars=True), assign=True)
    assert net[0].weight is other[0].weight  # a parameter is no copy: what trains the one trains the other
    assert net[0].bias is other[0].bias and not net[0].bias.requires_grad


def test_a_wrapped_state_and_a_checkpoint_are_recognized():
    net = model()
    wrapped = {f"module.{name}": tensor for name, tensor in net.state_dict().items()}
    with pytest.raises(RuntimeError, match=r'Each key begins with "module."'):
        net.load_state_dict(wrapped)
    with pytest.raises(RuntimeError, match=r'give state_dict\["model"\]'):
        net.load_state_dict({"model": net.state_dict(), "epoch": 3})


def test_a_module_may_add_to_the_state():
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(1, 1)

        def state_dict(self, *args: object, **settings: object) -> dict[str, object]:
            state = super().state_dict(*args, **settings)
            state["count"] = 3
            return state

    assert nn.Sequential(Counting()).state_dict()["count"] == 3


def test_an_older_state_of_batch_normalization_lacks_the_number_of_batches():
    net = nn.Sequential(nn.BatchNorm1d(2))
    state = {name: tensor + 1 for name, tensor in net.state_dict().items() if "num_batches" not in name}
    net.load_state_dict(state)
    assert net[0].running_mean.tolist() == [1, 1] and net[0].num_batches_tracked.item() == 0
