"""autokit.nn.Module: registers, walks, modes, conversion, text."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import autokit as ak
from autokit import nn
from autokit.engine.modes import thread
from autokit.engine.record import source_line


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 3)
        self.norm = nn.Parameter(ak.ones(3))
        self.register_buffer("mean", ak.zeros(3))
        self.register_buffer("cache", ak.zeros(1), persistent=False)

    def forward(self, x: ak.Tensor) -> ak.Tensor:
        return (self.first(x) - self.mean) * self.norm


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(3, 2))
        self.note = "plain"

    def forward(self, x: ak.Tensor) -> ak.Tensor:
        return self.head(self.encoder(x))


PARAMETERS = ["encoder.norm", "encoder.first.weight", "encoder.first.bias", "head.1.weight", "head.1.bias"]


def test_walks_give_paths_in_the_order_of_registration():
    model = Model()
    assert [name for name, _ in model.named_parameters()] == PARAMETERS
    paths = [name for name, _ in model.named_modules()]
    assert paths == ["", "encoder", "encoder.first", "head", "head.0", "head.1"]
    assert [name for name, _ in model.named_children()] == ["encoder", "head"]
    assert [name for name, _ in model.named_buffers()] == ["encoder.mean", "encoder.cache"]
    assert [name for name, _ in model.named_parameters(prefix="m", recurse=False)] == []
    assert [name for name, _ in model.encoder.named_parameters(prefix="m", recurse=False)] == ["m.norm"]
    assert len(list(model.parameters())) == 5 and len(list(model.children())) == 2
    assert len(list(model.buffers())) == 2 and len(list(model.modules())) == 6


def test_what_is_shared_comes_once_in_walks_and_under_every_path_in_the_state():
    layer = nn.Linear(2, 2)
    model = nn.Sequential(layer, layer)
    every = ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert [name for name, _ in model.named_parameters()] == every[:2]
    assert [name for name, _ in model.named_parameters(remove_duplicate=False)] == every
    assert list(model.state_dict()) == every
    assert len(list(model.modules())) == 2


def test_assigning_sorts_by_kind_and_keeps_the_order():
    model = Model()
    replacement = nn.Parameter(ak.zeros(3))
    model.encoder.first.weight = nn.Parameter(ak.zeros(3, 4))
    model.encoder.norm = replacement
    assert [name for name, _ in model.named_parameters()] == PARAMETERS
    assert model.encoder.norm is replacement
    model.encoder.norm = None
    assert model.encoder.norm is None and "encoder.norm" not in dict(model.named_parameters())
    model.note = nn.Linear(1, 1)
    assert "note" in dict(model.named_children())
    model.note = nn.Parameter(ak.ones(1))
    assert "note" not in dict(model.named_children()) and "note" in dict(model.named_parameters())
    del model.note
    assert not hasattr(model, "note")
    model.encoder.mean = ak.ones(3)
    assert model.encoder.state_dict()["mean"].tolist() == [1, 1, 1]
    model.encoder.cache = ak.ones(1)
    assert "cache" not in model.encoder.state_dict()
    model.buffer = nn.Buffer(ak.ones(2), persistent=False)
    assert "buffer" in dict(model.named_buffers()) and "buffer" not in model.state_dict()


@pytest.mark.parametrize(
    ("act", "error", "words"),
    [
        (lambda m: setattr(m.encoder, "norm", ak.ones(3)), TypeError, "'Tensor' as parameter 'norm'"),
        (lambda m: setattr(m, "head", 3), TypeError, "cannot assign 'int' as child module 'head'"),
        (lambda m: m.foo, AttributeError, "'Model' object has no attribute 'foo'"),
        (lambda m: m.encodr, AttributeError, "did you mean 'encoder'"),
        (lambda m: m.device, AttributeError, r"next\(model.parameters\(\)\).device"),
        (lambda m: m.head.argmax, AttributeError, r"Sequential\(...\) makes a layer, which gives one"),
        (lambda m: m.register_buffer("note", ak.ones(1)), KeyError, "attribute 'note' already exists"),
        (lambda m: m.register_parameter("p", ak.ones(1)), TypeError, r"nn.Parameter\(...\) around it"),
        (lambda m: m.add_module("x", nn.ReLU), TypeError, r"ReLU\(\) makes a layer of it"),
        (lambda m: nn.Sequential([nn.ReLU()]), TypeError, r"nn.Sequential\(\*layers\)"),
        (lambda m: m.to(ak.int64), TypeError, "only accepts floating point"),
        (lambda m: nn.Module()(3), NotImplementedError, 'missing the required "forward"'),
        (lambda m: nn.Parameter([1.0]), TypeError, "torch.tensor"),
        (lambda m: nn.Parameter(ak.tensor([1])), RuntimeError, "floating point"),
    ],
)
def test_wrong_use_says_what_is_wrong(act: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        act(Model())


def test_a_module_that_forgets_super_init_is_told_so():
    class Forgetful(nn.Module):
        def __init__(self) -> None:
            self.layer = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match=r"before Module.__init__\(\) call.*super\(\).__init__\(\)"):
        Forgetful()


def test_get_by_path():
    model = Model()
    assert model.get_submodule("head.1") is model.head[1]
    assert model.get_submodule("") is model
    assert model.get_parameter("encoder.first.bias") is model.encoder.first.bias
    assert {"first", "norm", "mean", "forward"} <= set(dir(model.encoder))


def test_train_eval_requires_grad_apply_and_zero_grad():
    model = Model()
    assert model.eval() is model and not any(module.training for module in model.modules())
    model.train()
    assert all(module.training for module in model.modules())
    model.requires_grad_(False)
    assert not model(ak.ones(1, 4)).requires_grad
    model.requires_grad_()
    seen: list[str] = []
    assert model.apply(lambda module: seen.append(type(module).__name__)) is model
    assert seen == ["Linear", "Encoder", "ReLU", "Linear", "Sequential", "Model"]
    model(ak.ones(1, 4)).sum().backward()
    model.zero_grad(set_to_none=False)
    assert all(p.grad is not None and not p.grad.any() for p in model.parameters())
    model.zero_grad()
    assert all(p.grad is None for p in model.parameters())


def test_conversion_keeps_the_parameters_that_an_optimizer_holds():
    model = Model()
    parameter = model.encoder.norm
    model(ak.ones(1, 4)).sum().backward()
    assert model.double() is model
    assert model.encoder.norm is parameter
    assert {p.dtype for p in model.parameters()} == {ak.float64}
    assert parameter.grad.dtype == ak.float64 and model.encoder.mean.dtype == ak.float64
    assert model(ak.ones(1, 4, dtype=ak.float64)).dtype == ak.float64
    model.register_buffer("count", ak.tensor([3]))
    assert model.float().encoder.norm.dtype == ak.float32
    assert model.count.dtype == ak.int64
    assert model.to("cpu", ak.float64).encoder.norm.dtype == ak.float64
    assert model.to(ak.ones(1)).cpu().encoder.norm.dtype == ak.float32
    assert model.half().encoder.norm.dtype == ak.float16


def test_a_deep_copy_and_a_pickle_share_nothing():
    ak.manual_seed(1)  # with other numbers relu may hide the change
    model = Model()
    x = ak.ones(1, 4)
    expected = model(x).tolist()
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert twin(x).tolist() == expected
        assert [name for name, _ in twin.named_parameters()] == PARAMETERS
        with ak.no_grad():
            twin.encoder.norm += 1
        assert model(x).tolist() == expected != twin(x).tolist()
        assert isinstance(twin.encoder.norm, nn.Parameter) and twin.encoder.norm.requires_grad


def test_a_deep_copy_of_a_parameter_has_no_gradient_and_that_of_a_tensor_has():
    model, x = nn.Linear(2, 1), ak.ones(2, requires_grad=True)
    (model(x).sum() + (x * 2).sum()).backward()
    assert all(each.grad is None for each in copy.deepcopy(model).parameters())
    assert copy.deepcopy(x).grad.tolist() == x.grad.tolist()


def test_the_scope_names_the_modules_that_run_and_is_left_after_an_error():
    seen: list[Any] = []

    class Spy(nn.Module):
        def forward(self, x: ak.Tensor) -> ak.Tensor:
            scope = thread.state.scope
            while scope is not None:
                scope, module, _ = scope
                seen.append(module())
            raise KeyError

    model = nn.Sequential(Spy())
    with pytest.raises(KeyError):
        model(ak.ones(1))
    assert seen == [model[0], model]
    assert thread.state.scope is None


def test_what_autokits_layers_compute_belongs_to_the_line_that_calls_them():
    class Doubled(nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    def line(node: Any) -> str:
        found = source_line(node.code, node.instruction)
        assert found is not None
        return found[2]

    model = nn.Sequential(nn.Linear(2, 2), Doubled(), nn.ReLU())
    out = model(ak.ones(1, 2))
    relu, doubled = out.grad_fn, out.grad_fn.sources[0]
    assert line(relu) == line(doubled.sources[0]) == "out = model(ak.ones(1, 2))"
    assert line(doubled) == "return x * 2"


def test_a_parameter_shares_the_memory_of_its_tensor():
    data = ak.zeros(2)
    parameter = nn.Parameter(data)
    data[0] = 5
    assert parameter.tolist() == [5, 0]
    assert isinstance(parameter + 1, ak.Tensor) and not isinstance(parameter + 1, nn.Parameter)


def test_data_parallel_hands_its_module_on():
    model = nn.DataParallel(nn.Linear(2, 1))
    assert model(ak.ones(1, 2)).shape == (1, 1) and list(model.state_dict()) == [
        "module.weight",
        "module.bias",
    ]
