"""The layers under the names of PyTorch's files, as ``torch.nn.modules.conv.Conv2d``."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from autokit import missing
from autokit.nn import (
    activation,
    container,
    distance,
    dropout,
    linear,
    loss,
    multihead_attention,
    padding,
    pooling,
    sparse,
    transformer,
)
from autokit.nn import convolution as conv
from autokit.nn import normalization as batchnorm
from autokit.nn import recurrent as rnn
from autokit.nn import resampling as upsampling
from autokit.nn.module import Module
from autokit.nn.modules import module, utils

instancenorm = batchnorm
normalization = batchnorm
flatten = linear
fold = pixelshuffle = upsampling

__all__ = [
    "Module",
    "activation",
    "batchnorm",
    "container",
    "conv",
    "distance",
    "dropout",
    "flatten",
    "fold",
    "instancenorm",
    "linear",
    "loss",
    "module",
    "normalization",
    "padding",
    "pixelshuffle",
    "pooling",
    "rnn",
    "sparse",
    "transformer",
    "upsampling",
    "utils",
]


def __getattr__(name: str) -> Any:
    nn = import_module("autokit.nn")
    if name in nn.__all__:  # each layer is here too
        return getattr(nn, name)
    raise missing.error("torch.nn.modules", name)


vars(activation)["MultiheadAttention"] = multihead_attention.MultiheadAttention  # PyTorch has it there
# So that `from torch.nn.modules.conv import Conv2d` finds them.
for _name in __all__[1:]:
    sys.modules.setdefault(f"{__name__}.{_name}", globals()[_name])
