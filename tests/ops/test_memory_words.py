"""How the memory of a new tensor is asked for: layout, pin_memory, memory_format."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import autokit
from tests.support import require


def library(name: str) -> Any:
    require(name)
    return importlib.import_module(name)


LIKE = [
    lambda T, x, **words: T.zeros_like(x, **words),
    lambda T, x, **words: T.full_like(input=x, fill_value=2, **words),
    lambda T, x, **words: T.rand_like(x, **words),
    lambda T, x, **words: T.randn_like(x, **words),
    lambda T, x, **words: T.randint_like(x, 9, **words),
]


def shown(tensor: Any) -> tuple[Any, ...]:
    return tensor.stride(), tensor.dtype.is_floating_point, tensor.requires_grad, tensor.tolist()


@pytest.mark.parametrize("make", LIKE)
@pytest.mark.parametrize("word", ["preserve_format", "contiguous_format", "channels_last", None])
def test_the_order_in_memory_is_as_asked_and_numbers_are_drawn_in_it(make: Any, word: str | None):
    def made(T: Any) -> Any:
        T.manual_seed(3)
        x = T.arange(120.0).reshape(2, 3, 4, 5).permute(0, 2, 3, 1)
        return make(T, x, memory_format=getattr(T, word) if word else None, layout=T.strided)

    ours, theirs = shown(made(autokit)), shown(made(library("torch")))
    assert ours[:3] == theirs[:3]
    assert autokit.allclose(autokit.tensor(ours[3]), autokit.tensor(theirs[3]))


MAKERS = [
    lambda T, **words: T.zeros(2, 3, **words),
    lambda T, **words: T.full((2,), 3.0, **words),
    lambda T, **words: T.rand(3, **words),
    lambda T, **words: T.arange(3, **words),
    lambda T, **words: T.randperm(4, **words),
    lambda T, **words: T.ones(2).new_full((2,), 2.0, **words),
    lambda T, **words: T.ones(2).new_zeros((2,), **words),
    lambda T, **words: T.linspace(0, 1, 3, **words),
]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("name", ["autokit", "torch"])
def test_makers_know_layout_and_pin_memory(make: Any, name: str):
    T = library(name)
    T.manual_seed(0)
    plain = make(T)
    T.manual_seed(0)
    assert make(T, layout=T.strided, pin_memory=False).tolist() == plain.tolist()
    with pytest.raises(TypeError, match="layout"):
        make(T, layout=1)
    with pytest.raises(TypeError, match="pin_memory"):
        make(T, pin_memory=1)
    with pytest.raises(TypeError, match="memory_format"):
        make(T, memory_format=T.contiguous_format)


@pytest.mark.parametrize("name", ["autokit", "torch"])
def test_empty_takes_an_order_and_tensor_no_layout(name: str):
    T = library(name)
    made = T.empty(2, 3, 4, 5, memory_format=T.channels_last, requires_grad=True)
    assert made.stride() == (60, 1, 15, 3) and made.is_leaf and made.requires_grad
    assert T.tensor([1.0, 2.0], pin_memory=False).tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="unexpected keyword argument 'layout'"):
        T.tensor([1.0], layout=T.strided)
    with pytest.raises(RuntimeError, match="rank 4"):
        T.zeros_like(T.rand(2, 3), memory_format=T.channels_last)
    with pytest.raises(TypeError, match="input"):
        T.zeros_like(memory_format=T.contiguous_format)


def test_what_cannot_be_had_says_what_to_do():
    with pytest.raises(RuntimeError, match="pin_memory=True requires a CUDA"):
        autokit.zeros(2, pin_memory=True)
    with pytest.raises(NotImplementedError, match=r"x\.to_sparse\(\)"):
        autokit.zeros(2, layout=autokit.sparse_coo)
