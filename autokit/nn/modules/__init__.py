"""The layers under the names of PyTorch's files, as ``torch.nn.modules.conv.Conv2d``."""

from __future__ import annotations

from autokit.nn import activation, container, dropout, linear, loss, padding, pooling, sparse, transformer
from autokit.nn import convolution as conv
from autokit.nn import normalization as batchnorm
from autokit.nn import recurrent as rnn
from autokit.nn.module import Module
from autokit.nn.modules import module

instancenorm = batchnorm
normalization = batchnorm

__all__ = [
    "Module",
    "activation",
    "batchnorm",
    "container",
    "conv",
    "dropout",
    "instancenorm",
    "linear",
    "loss",
    "module",
    "normalization",
    "padding",
    "pooling",
    "rnn",
    "sparse",
    "transformer",
]
