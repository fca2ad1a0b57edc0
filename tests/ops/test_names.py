"""The public forms of a function: NumPy's keywords, hints for mistyped ones, and ``out=``."""

from __future__ import annotations

import importlib
import pickle
from types import FunctionType

import pytest

import autokit as torch


@pytest.mark.parametrize("call", [torch.exp, torch.sum, lambda x, **k: torch.add(x, x, alpha=2, **k)])
def test_out_takes_the_result_and_is_returned(call):
    x = torch.tensor([1.0, 2.0])
    place = torch.zeros(call(x).shape)
    assert call(x, out=place) is place
    assert torch.equal(place, call(x))


def test_out_of_another_shape_is_resized_with_a_warning_unless_it_is_empty():
    x, empty, full = torch.ones(3), torch.empty(0), torch.zeros(2)
    assert torch.exp(x, out=empty).shape == (3,)
    with pytest.warns(UserWarning, match="was resized since it had shape"):
        assert torch.exp(x, out=full).shape == (3,)


def test_out_refuses_gradients_and_a_lower_kind():
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.exp(torch.ones(2, requires_grad=True), out=torch.zeros(2))
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
        torch.exp(torch.ones(2), out=torch.zeros(2, dtype=torch.int64))
    with pytest.raises(TypeError, match="'out' must be Tensor, not list"):
        torch.exp(torch.ones(2), out=[])


def test_numpys_keywords_mean_pytorchs():
    x = torch.arange(6.0).reshape(2, 3)
    assert x.max(axis=1, keepdims=True).values.tolist() == [[2.0], [5.0]]
    assert torch.cat([x, x], axis=1).shape == (2, 6)
    assert x.std(axis=0).shape == (3,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: torch.maximum(x), r"missing 1 .*.other.; call it as maximum\(input, other"),
        (lambda x: torch.cat([x], 0, 1), r"3 were given; call it as cat\(tensors, dim=0\)"),
        (lambda x: x.sum(0, True, None, 3), r"call it as sum\(input, dim=None, keepdim=False"),
        (lambda x: torch.zeros(), "zeros"),
    ],
)
def test_a_wrong_number_of_arguments_says_how_to_call(call, message):
    with pytest.raises(TypeError, match=message):
        call(torch.ones(2, 2))


@pytest.mark.parametrize("call", [torch.sum, torch.max, torch.std])
def test_a_mistyped_keyword_is_named_with_its_neighbour(call):
    with pytest.raises(TypeError, match="unexpected keyword argument 'dimm'; did you mean 'dim'"):
        call(torch.ones(2, 2), dimm=0)


@pytest.mark.parametrize("space", ["", ".fft", ".nn.functional", ".nn.init", ".linalg", ".special"])
def test_pickle_finds_every_function_again(space: str):
    """A layer that holds one, as a transformer's its activation, can then go to another process."""
    room = importlib.import_module(f"autokit{space}")
    values = {name: getattr(room, name) for name in dir(room) if not name.startswith("_")}
    public = {name: value for name, value in values.items() if isinstance(value, FunctionType)}
    assert len(public) > 20
    for name, function in public.items():
        assert pickle.loads(pickle.dumps(function)) is function, name
