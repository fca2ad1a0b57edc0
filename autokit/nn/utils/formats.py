"""The order in which the weights of convolutions lie in memory."""

from __future__ import annotations

from typing import Any

from autokit.nn import convolution as layers
from autokit.nn.module import Module


def convert_conv2d_weight_memory_format(module: Module, memory_format: Any) -> Module:
    """Let the weights of all :class:`~autokit.nn.Conv2d` inside of ``module`` lie in ``memory_format``.

    Returns
    -------
    Module
        ``module`` itself.
    """
    return _convert(module, (layers.Conv2d, layers.ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: Module, memory_format: Any) -> Module:
    """Let the weights of all :class:`~autokit.nn.Conv3d` inside of ``module`` lie in ``memory_format``.

    Returns
    -------
    Module
        ``module`` itself.
    """
    return _convert(module, (layers.Conv3d, layers.ConvTranspose3d), memory_format)


def _convert(module: Module, kinds: tuple[type[Any], ...], memory_format: Any) -> Module:
    for each in module.modules():
        if isinstance(each, kinds):
            each.weight.data = each.weight.detach().clone(memory_format=memory_format)  # type: ignore[attr-defined]
    return module
