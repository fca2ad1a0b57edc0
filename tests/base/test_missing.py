"""A name that PyTorch has and autokit leaves out says so, and what to use; a slip hears its neighbour."""

from __future__ import annotations

import importlib
import importlib.util
import pickle

import pytest

import autokit
from autokit.base import missing
from tests.support import require


def test_the_file_holds_names_of_the_pytorch_that_we_compare_with():
    require("torch")
    import torch

    for space, names in missing.pytorch_names().items():
        room, _, last = space.rpartition(".")
        is_module = last.islower()
        home = importlib.import_module(space) if is_module else getattr(importlib.import_module(room), last)
        for name in names:
            is_there = hasattr(home, name) or is_module and importlib.util.find_spec(f"{space}.{name}")
            assert is_there, f"PyTorch {torch.__version__} has no {space}.{name}"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("torch.sofmax", "torch has no 'sofmax'; did you mean 'softmax'?"),
        ("torch.nn.Relu", "torch.nn has no 'Relu'; did you mean 'ReLU'?"),
        ("torch.autograd.gard", "did you mean 'grad'?"),
        ("torch.nn.SyncBatchNorm", "autokit leaves out torch.nn.SyncBatchNorm: use one process"),
        ("torch.utils.tensorboard", "use ak.monitor"),
        ("torch.onnx", "autokit leaves out torch.onnx: use the function as it is"),
        ("torch.fft", "use numpy.fft, on x.numpy()"),
        ("torch.view_as_complex", "use two real tensors"),
        ("torch.Linear", "torch has no 'Linear': it is torch.nn.Linear"),
        ("torch.nn.softmax", "torch.nn has no 'softmax': it is torch"),
        ("torch.array", "torch has no 'array': use torch.tensor"),
        ("torch.datasets.CIFAR10", "has no 'CIFAR10': use a Dataset"),
        ("x.astype", "'Tensor' object has no attribute 'astype': use x.to(dtype)"),
        ("x.backwards", "x.backward()"),
        ("x.to_sparse()", "autokit leaves out torch.Tensor.to_sparse: use dense tensors"),
    ],
)
def test_a_missing_name_explains_itself(expression: str, message: str):
    with pytest.raises(AttributeError) as caught:
        eval(expression, {"torch": autokit, "x": autokit.ones(2)})
    assert message in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("from autokit import onnx", "autokit leaves out torch.onnx"),
        ("from autokit.nn import Liner", "did you mean 'Linear'?"),
        ("from autokit.utils.tensorboard import SummaryWriter", "use ak.monitor"),
    ],
)
def test_an_import_of_a_missing_name_explains_itself_too(line: str, message: str):
    with pytest.raises(ImportError) as caught:
        exec(line, {})
    assert message in str(caught.value)


def test_a_missing_name_is_there_for_nobody():
    x = autokit.ones(2)
    assert not hasattr(x, "hash_tensor") and not hasattr(autokit, "onnx") and not hasattr(autokit, "_nothing")
    assert getattr(x, "hash_tensor", None) is None and "hash_tensor" not in dir(x) and "exp" in dir(x)
