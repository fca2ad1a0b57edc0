"""An argument of a wrong type is named as PyTorch names it, whatever went wrong first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autokit as torch


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: torch.gather(True, 0, x), "argument 'input' .* must be Tensor, not bool"),
        (lambda x: torch.linalg.solve(x, {}), "must be Tensor, not dict"),
        (lambda x: torch.linalg.solve(x.long(), B={}), "argument 'B' must be Tensor, not dict"),
        (lambda x: torch.cat(1), "must be tuple of Tensors, not int"),
        (lambda x: torch.reshape(x, None), "argument 'shape' .* must be tuple of ints, not NoneType"),
        (lambda x: x.clone().add_(other=True, alpha=torch.float32), r"add_\(\): argument 'alpha' must be"),
        (lambda x: x.clone().add_(1, alfa=2), r"unexpected keyword argument 'alfa'; did you mean 'alpha'"),
        (lambda x: torch.sin_([1, 2]), r"sin_\(\): argument 'input' .* must be Tensor, not list"),
    ],
)
def test_the_argument_is_named(call: Callable[[Any], Any], words: str):
    with pytest.raises(TypeError, match=words):
        call(torch.ones(2, 2))


def test_an_in_place_function_takes_its_tensor_by_name():
    x = torch.zeros(2)
    assert torch.cos_(input=x) is x and x.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", ["view", "reshape", "expand", "repeat", "permute", "tile", "flip"])
def test_a_method_without_its_sizes_is_refused(name: str):
    with pytest.raises(TypeError, match="missing"):
        getattr(torch.ones(1), name)()
