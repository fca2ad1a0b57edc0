"""The table of a model's layers: its numbers, text, HTML and errors; and that the model stays as it was."""

from __future__ import annotations

import re
from typing import Any

import pytest

import autokit as ak
from autokit import nn
from tests.support import require


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2))
        self.again = self.conv[2]
        self.scale = nn.Parameter(ak.ones(3))
        self.unused = nn.Linear(2, 2)
        self.head = nn.Linear(27, 2)

    def forward(self, x: Any, factor: Any = 1) -> Any:
        return self.head(self.again(self.conv(x)).flatten(1)) * factor


def test_numbers():
    table = ak.summary(Net(), (5, 1, 8, 8))
    by_path = {each.path: each for each in table.layers}
    conv = by_path["conv.0"]
    assert (conv.inputs, conv.outputs, conv.depth) == (((5, 1, 8, 8),), ((5, 3, 6, 6),), 2)
    assert conv.multiply_adds == 5 * 3 * 6 * 6 * 9 and by_path["head"].multiply_adds == 5 * 27 * 2
    assert table.parameters == sum(each.parameters for each in table.layers) == 30 + 6 + 3 + 6 + 56
    assert table.parameter_bytes == 4 * table.parameters and table.buffer_bytes == 4 * 6 + 8
    # Of conv.0 to conv.3, of conv.2 again, and of head.
    assert table.output_bytes == 4 * 5 * (3 * 108 + 27 + 27 + 2)


MODELS = {
    "a network": (lambda T: T.nn.Sequential(T.nn.Linear(4, 8), T.nn.Tanh(), T.nn.Linear(8, 3)), (6, 4)),
    "convolution in groups": (lambda T: T.nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2), (2, 4, 9)),
    "transposed convolution": (lambda T: T.nn.ConvTranspose2d(4, 6, 3, stride=2), (2, 4, 5, 5)),
    "dilated convolution": (lambda T: T.nn.Conv3d(1, 2, 2, dilation=2), (1, 1, 5, 5, 5)),
    "a transformer": (lambda T: T.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (2, 5, 8)),
}


@pytest.mark.parametrize("name", MODELS)
def test_multiply_adds_are_half_of_the_operations_that_pytorch_counts(name: str):
    require("torch")
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    build, shape = MODELS[name]
    counter = FlopCounterMode(display=False)
    with counter:  # in training, where PyTorch takes no short cut through a fused layer
        build(torch)(torch.zeros(shape))
    assert ak.summary(build(ak), shape).multiply_adds == counter.get_total_flops() / 2


def test_recurrent_layers_count_every_step():
    assert ak.summary(nn.LSTM(4, 8), (5, 2, 4)).multiply_adds == 10 * 32 * (4 + 8)
    assert ak.summary(nn.GRU(4, 8, bidirectional=True), (5, 2, 4)).multiply_adds == 2 * 10 * 24 * (4 + 8)


def test_as_text():
    assert repr(ak.summary(Net(), (5, 1, 8, 8))) == (
        "Layer                                Input    Output   Parameters  Multiply-adds\n"
        "Net                                  5×1×8×8  5×2               3\n"
        "├─ conv: Sequential                  5×1×8×8  5×3×3×3\n"
        "│  ├─ 0: Conv2d                      5×1×8×8  5×3×6×6          30          4,860\n"
        "│  ├─ 1: BatchNorm2d                 5×3×6×6  5×3×6×6           6\n"
        "│  ├─ 2: ReLU (2 calls)              5×3×6×6  5×3×6×6\n"
        "│  └─ 3: MaxPool2d                   5×3×6×6  5×3×3×3\n"
        "├─ again: ReLU (the same as conv.2)  5×3×6×6  5×3×6×6\n"
        "├─ unused: Linear (not called)                                  6\n"
        "└─ head: Linear                      5×27     5×2              56            270\n"
        "\n"
        "101 parameters, all trainable: 404 bytes; buffers: 32 bytes\n"
        "5,130 multiply-adds\n"
        "input: 1.3 kB; outputs of the layers: 7.6 kB"
    )


def test_as_a_table():
    class Strange(nn.Module):
        def forward(self, x: Any) -> Any:
            return x

    Strange.__name__ = "<script>alert(1)</script>"
    model = nn.Sequential(nn.Linear(2, 3), Strange())
    shown = ak.summary(model, (1, 2))._repr_mimebundle_()
    assert shown["text/plain"] == repr(ak.summary(model, (1, 2)))
    page = shown["text/html"]
    assert "<script" not in page and "&lt;script&gt;" in page
    assert page == ak.summary(model, (1, 2))._repr_mimebundle_()["text/html"]
    assert page.count("<tr>") == 4 and page.count('scope="row"') == 3 and page.count('scope="col"') == 5
    assert '<tt aria-hidden="true">└─&nbsp;</tt>1: <b>' in page
    cells = re.findall(r"<t[hd] [^>]*>", page)
    sides = [re.search(r'align="(\w+)" style="text-align: (\w+)', cell).groups() for cell in cells]
    assert all(one == other for one, other in sides), "a notebook's own style puts all to the right"
    assert "#" not in re.sub(r"&#\d+;", "", page) and "color" not in page  # the page's own colours


def state_of(model: Any) -> Any:
    return (
        [
            (name, value.tolist(), value._version, value.requires_grad)
            for name, value in model.state_dict(keep_vars=True).items()
        ],
        [(module.training, module._hooks) for module in model.modules()],
        [parameter.grad for parameter in model.parameters()],
        ak.get_rng_state().tolist(),
        ak.is_grad_enabled(),
    )


@pytest.mark.parametrize("fails", [False, True])
def test_the_model_is_left_as_it_was_found(fails: bool):
    model = Net()
    model.conv[1].eval()
    model.head.weight.requires_grad_(False)
    seen = []
    model.head.register_forward_hook(lambda module, args, output: seen.append(output.shape))
    x = ak.rand(5, 4 if fails else 1, 8, 8)
    before, given = state_of(model), x.tolist()
    with ak.no_grad():
        around = state_of(model)
        if fails:
            with pytest.raises(RuntimeError):
                ak.summary(model, x)
        else:
            ak.summary(model, x)
        assert state_of(model) == around
    assert state_of(model) == before and x.tolist() == given
    assert seen == ([] if fails else [(5, 2)])  # hooks of one's own run


def test_lazy_layers_stay_lazy():
    model = nn.Sequential(nn.LazyLinear(4), nn.LazyLinear(2))
    assert ak.summary(model, (3, 5)).parameters == 4 * 6 + 2 * 5
    assert isinstance(model[0], nn.LazyLinear) and model[0].has_uninitialized_params()


def test_a_failure_names_the_layer():
    model = nn.Sequential(nn.Flatten(), nn.Sequential(nn.Linear(4, 8), nn.Linear(9, 2)))
    with pytest.raises(
        RuntimeError, match=r"in its layer '1\.1', Linear\(in_features=9.*given 3×8: RuntimeError: mat1"
    ):
        ak.summary(model, (3, 4))

    class Own(nn.Module):
        def forward(self, x: Any) -> Any:
            return x.nothing

    with pytest.raises(RuntimeError, match=r"in its own forward, Own\(\), which was given 2: AttributeError"):
        ak.summary(Own(), (2,))
    with pytest.raises(RuntimeError, match="given no tensors: TypeError"):
        ak.summary(nn.Linear(2, 2))
    with pytest.raises(TypeError, match="must be a Module, not int"):
        ak.summary(3)
