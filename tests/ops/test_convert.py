"""Conversions beside PyTorch's: dtypes and their gradients, devices, copies, pickles."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import autokit
from autokit.ops.convert import CONVERSIONS
from tests.oracle import compare, compare_errors, numbers, refused

X = numbers(2, 3) * 3
REAL = [name for name in CONVERSIONS if name != "bfloat16"]

PROGRAMS = [
    *[lambda T, x, name=name: getattr(x, name)() for name in REAL],
    lambda T, x: x.to(T.float32),
    lambda T, x: x.to(T.float32) * x,
    lambda T, x: x.half().float() * 2,
    lambda T, x: x.to(dtype=T.int64),
    lambda T, x: x.to("cpu"),
    lambda T, x: x.to(T.device("cpu")),
    lambda T, x: x.to("cpu", T.float32),
    lambda T, x: x.to(T.ones(1, dtype=T.int64)),
    lambda T, x: x.to(T.float64, copy=True) * x,
    lambda T, x: x.type_as(T.ones(1)),
    lambda T, x: x.type("torch.FloatTensor"),
    lambda T, x: x.type(T.float32),
    lambda T, x: x.clone() ** 2,
    lambda T, x: x.T.contiguous() ** 2,
    lambda T, x: x.T.is_contiguous(),
    lambda T, x: x.cpu() * x,
    lambda T, x: T.is_floating_point(x) and x.long().is_floating_point(),
    lambda T, x: (T.is_signed(x), x.byte().is_signed()),
    lambda T, x: tuple(str(T.result_type(each, 1.5)) for each in (x, x.int(), x.half(), T.tensor(True))),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_conversion_is_pytorchs(program: Any):
    compare(program, abs(X))


def test_what_changes_nothing_gives_the_tensor_itself():
    x = autokit.ones(2, 3)
    for same in (x.to(x.dtype), x.to("cpu"), x.float(), x.cpu(), x.contiguous(), x.type_as(x)):
        assert same is x
    assert x.pin_memory() is x.to_dense() is x
    assert x.to(x.dtype, copy=True) is not x and x.clone() is not x


def test_an_integer_copy_has_no_gradient():
    x = autokit.ones(2, requires_grad=True)
    assert not x.long().requires_grad and x.double().requires_grad
    assert repr(x.double().grad_fn) == "<ToCopyBackward0>" and repr(x.clone().grad_fn) == "<CloneBackward0>"


REFUSED = [
    (lambda T: T.ones(2).to([1]), "invalid combination of arguments"),
    (lambda T: T.ones(2).to("tpus"), "Invalid device string"),
    (lambda T: copy.deepcopy(T.ones(2, requires_grad=True) * 2), "use .detach().clone()"),
]

test_what_pytorch_refuses_is_refused_in_a_sentence = refused(REFUSED)


@pytest.mark.skipif(autokit.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_refused():
    assert "no CUDA GPU" in compare_errors(lambda T: T.ones(2).cuda())


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_for_python_and_for_pickle(copied: Any):
    x = autokit.arange(6.0).reshape(2, 3).requires_grad_()
    x.name = "weights"
    (x * x).sum().backward()
    twin = copied(x)
    assert twin.tolist() == x.tolist() and twin.requires_grad and twin.is_leaf and twin.name == "weights"
    with autokit.no_grad():
        twin[0, 0] = 7
    assert x.tolist() == np.arange(6.0).reshape(2, 3).tolist()
    (twin * 2).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [[0, 2, 4], [6, 8, 10]]


def test_a_deep_copy_of_several_keeps_what_is_one():
    x = autokit.ones(2, requires_grad=True)
    x.sum().backward()
    first, second, other = copy.deepcopy([x, x, x.grad])
    assert first is second and first is not x and first.grad is other
    assert not np.shares_memory(other.numpy(), x.grad.numpy())
    layer = autokit.nn.Linear(2, 1)
    twin = copy.deepcopy(layer)
    assert type(twin.weight) is type(layer.weight) and twin.weight is not layer.weight
