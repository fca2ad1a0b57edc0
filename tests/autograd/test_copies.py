"""Tensors of a graph, and what they share, through ``pickle``, ``copy`` and files."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import autokit
from tests.libraries import LIBRARIES, on_each, pytorch


def _pickled(T: Any, value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def _saved(T: Any, value: Any) -> Any:
    file = io.BytesIO()
    T.save(value, file)
    file.seek(0)
    return T.load(file)


ways = pytest.mark.parametrize("way", [_pickled, _saved], ids=["pickle", "save"])


def _leaf(T: Any) -> Any:
    return T.tensor([2.0, 3.0], requires_grad=True)


@on_each
@ways
def test_what_a_graph_made_comes_back_as_a_leaf(T: Any, way: Callable[..., Any]):
    y = _leaf(T) * 2
    y.note = "mine"
    y.retain_grad()
    same = way(T, y)
    assert same.tolist() == [4.0, 6.0] and same.requires_grad and same.is_leaf and same.grad is None
    assert same.note == "mine"
    (same * 3).sum().backward()
    assert same.grad.tolist() == [3.0, 3.0] and y.grad is None


def test_pytorch_reads_what_a_graph_made():
    file = io.BytesIO()
    autokit.save({"loss": _leaf(autokit) * 2}, file)
    file.seek(0)
    read = pytorch().load(file)["loss"]
    assert read.tolist() == [4.0, 6.0] and read.requires_grad and read.is_leaf


@on_each
def test_a_module_may_hold_what_a_graph_made(T: Any):
    layer = T.nn.Linear(2, 2)
    layer.last = layer(T.ones(1, 2))
    assert pickle.loads(pickle.dumps(layer)).last.tolist() == layer.last.tolist()
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(layer)


@on_each
def test_a_shallow_copy_is_a_leaf_that_shares_the_memory(T: Any):
    y = _leaf(T) * 2
    same = copy.copy(y)
    assert same.is_leaf and same.requires_grad and same is not y
    same.data.fill_(7.0)
    assert y.tolist() == [7.0, 7.0]


@on_each
def test_hooks_stay_behind_and_a_pickle_says_so(T: Any):
    for tensor in (_leaf(T), _leaf(T) * 2):
        tensor.register_hook(lambda g: g * 10)
        with pytest.warns(UserWarning, match="backward hook .* on tensor will not be serialized"):
            pickle.dumps(tensor)
    x = _leaf(T)
    x.register_hook(lambda g: g * 10)
    x.register_post_accumulate_grad_hook(lambda x: x.grad.zero_())
    same = copy.deepcopy(x)
    same.sum().backward()
    assert same.grad.tolist() == [1.0, 1.0]


@on_each
def test_copies_of_views_share_the_copy_of_their_memory(T: Any):
    x = T.arange(6.0).reshape(2, 3)
    row, turned, expanded = x[1], x.t(), x[:1].expand(2, 3)
    x_, row_, turned_, expanded_ = copy.deepcopy([x, row, turned, expanded])
    assert (turned_.stride(), expanded_.stride()) == ((1, 3), (0, 1))
    version = x_._version
    row_.fill_(9.0)
    turned_[0, 0] = 7.0
    assert x_.tolist() == [[7.0, 1.0, 2.0], [9.0, 9.0, 9.0]] and expanded_[1].tolist() == [7.0, 1.0, 2.0]
    assert (x_._version > version or T is not autokit) and x.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


@on_each
@pytest.mark.parametrize(
    "view",
    [
        lambda T: T.tensor([1.5, 2.5]).view(T.int32),
        lambda T: T.tensor([1.5, 2.5, 3.5, 4.5, 5.5])[2:4].view(T.int64),
        lambda T: T.tensor([1 + 2j, 3 + 4j]).real,
        lambda T: T.tensor([1 + 2j, 3 + 4j]).imag,
        lambda T: T.view_as_real(T.tensor([[1 + 2j, 3 + 4j]]).t()),
        lambda T: T.view_as_complex(T.tensor([[1.0, 2.0], [3.0, 4.0]])[1:]),
        lambda T: T.ones(2, 3).t().view(T.int32)[1:],
        lambda T: T.arange(4.0)[:0],
    ],
)
def test_a_copy_of_a_view_in_another_dtype_has_that_dtype(T: Any, view: Any):
    tensor = view(T)
    same = copy.deepcopy(tensor)
    assert (same.dtype, same.tolist()) == (tensor.dtype, tensor.tolist())
    assert same.shape == tensor.shape and same.stride() == tensor.stride()


@on_each
def test_copies_of_views_in_two_dtypes_share_their_memory(T: Any):
    x = T.tensor([1.0, 2.0])
    numbers, bits = copy.deepcopy([x, x.view(T.int32)])
    numbers.zero_()
    assert bits.tolist() == [0, 0] and x.tolist() == [1.0, 2.0]


@on_each
def test_a_copy_lies_in_memory_as_it_did(T: Any):
    for tensor in (T.ones(2, 3).t(), T.ones(4, 4)[::2, 1:], T.ones(1, 2, 3, 4).permute(0, 2, 3, 1)):
        same = copy.deepcopy(tensor)
        assert same.stride() == tensor.stride() and same.tolist() == tensor.tolist()


@on_each
def test_a_node_is_not_copied(T: Any):
    node = (_leaf(T) * 2).grad_fn
    for copying in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle 'MulBackward0' object"):
            copying(node)


def test_attributes_and_gradients_are_copied_as_in_pytorch():
    told = []
    for T in LIBRARIES:
        x = _leaf(T)
        x.note = ["mine"]
        x.grad = T.ones(2)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made = [_pickled(T, x), _saved(T, x), copy.deepcopy(x), copy.copy(x)]
        told.append([(one.note, one.note is x.note, one.grad is None, one.requires_grad) for one in made])
    assert all(each == told[0] for each in told)
