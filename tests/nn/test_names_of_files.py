"""What programs import by the names of PyTorch's files is there, and what is missing says why."""

from __future__ import annotations

import importlib

import pytest

import autokit as ak
from autokit import nn

FILES = {
    "nn.modules.activation": "MultiheadAttention ReLU",
    "nn.modules.batchnorm": "BatchNorm2d _BatchNorm",
    "nn.modules.container": "ModuleList Sequential",
    "nn.modules.conv": "Conv2d ConvTranspose2d _ConvNd",
    "nn.modules.distance": "CosineSimilarity",
    "nn.modules.dropout": "Dropout _DropoutNd",
    "nn.modules.flatten": "Flatten Unflatten",
    "nn.modules.fold": "Fold Unfold",
    "nn.modules.instancenorm": "InstanceNorm2d",
    "nn.modules.linear": "Identity Linear",
    "nn.modules.loss": "CrossEntropyLoss _Loss _WeightedLoss",
    "nn.modules.module": "Module",
    "nn.modules.normalization": "GroupNorm LayerNorm",
    "nn.modules.padding": "ZeroPad2d",
    "nn.modules.pixelshuffle": "PixelShuffle",
    "nn.modules.pooling": "MaxPool2d",
    "nn.modules.rnn": "LSTM RNNBase",
    "nn.modules.sparse": "Embedding",
    "nn.modules.transformer": "TransformerEncoderLayer",
    "nn.modules.upsampling": "Upsample",
    "nn.modules.utils": "_pair",
    "nn.parallel": "DataParallel",
    "autograd.variable": "Variable",
    "testing": "assert_close",
    "types": "Device",
}


@pytest.mark.parametrize("file", FILES)
def test_programs_import_from_pytorchs_files(file: str):
    module = importlib.import_module(f"autokit.{file}")
    for name in FILES[file].split():
        assert hasattr(module, name)


def test_bases_that_programs_ask_for():
    assert isinstance(nn.Conv2d(1, 1, 1), nn.modules.conv._ConvNd)
    assert isinstance(nn.ConvTranspose1d(1, 1, 1), nn.modules.conv._ConvNd)
    assert isinstance(nn.Dropout2d(), nn.modules.dropout._DropoutNd)
    assert isinstance(nn.BatchNorm1d(2), nn.modules.batchnorm._BatchNorm)
    assert nn.modules.utils._pair(3) == (3, 3) == nn.modules.utils._pair([3, 3])


def test_a_missing_module_says_why():
    with pytest.raises(
        ModuleNotFoundError, match=r"PyTorch has torch\.profiler, autokit has not yet; use %%prun"
    ):
        importlib.import_module("autokit.profiler")
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        importlib.import_module("autokit.nothing")


def test_a_model_wrapped_for_several_devices_computes_as_it_is():
    model = nn.DataParallel(nn.Linear(2, 1), device_ids=[0])
    x = ak.ones(3, 2)
    assert ak.equal(model(x), model.module(x))
    assert list(model.state_dict()) == ["module.weight", "module.bias"]


def test_gradients_are_neither_sparse_nor_quantized():
    gradient = ak.ones(2)  # as optimizers of one's own ask
    assert not (gradient.is_sparse or gradient.is_quantized or gradient.is_mps)
