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
    "nn.common_types": "_size_2_t",
    "nn.modules": "Linear Module ReLU",
    "nn.parallel": "DataParallel DistributedDataParallel",
    "nn.parameter": "Parameter UninitializedParameter",
    "nn.utils.spectral_norm": "spectral_norm",
    "nn.utils.weight_norm": "weight_norm remove_weight_norm",
    "autograd.grad_mode": "no_grad set_grad_enabled",
    "backends.cuda": "matmul sdp_kernel",
    "backends.cudnn": "benchmark deterministic is_available",
    "backends.mps": "is_available",
    "distributions.constraint_registry": "biject_to transform_to",
    "distributions.utils": "broadcast_all logits_to_probs probs_to_logits",
    "utils.data.distributed": "DistributedSampler",
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


def test_switches_are_set_in_the_file_and_by_the_name_alike():
    cudnn = importlib.import_module("autokit.backends.cudnn")
    before = cudnn.benchmark
    try:
        cudnn.benchmark = True
        assert ak.backends.cudnn.benchmark and ak.backends.cudnn is cudnn
    finally:
        cudnn.benchmark = before
    with ak.backends.cuda.sdp_kernel(enable_flash=False):
        assert not ak.backends.mps.is_available() and not cudnn.is_available()


def test_a_missing_layer_says_so_by_the_name_of_the_file_too():
    with pytest.raises(ImportError, match=r"Linea.*did you mean"):
        exec("from autokit.nn.modules import Linea", {})
    with pytest.raises(AttributeError):
        _ = nn.parameter.Nothing
