"""Batch normalization after training, put into the layer before it; and layers made without first values."""

from __future__ import annotations

import copy
import inspect
from typing import Any, TypeVar

from autokit.nn.module import Module
from autokit.nn.parameter import Parameter
from autokit.ops.exponential import rsqrt
from autokit.ops.filled import ones_like, zeros_like
from autokit.tensor import Tensor

Layer = TypeVar("Layer", bound=Module)


def fuse_conv_bn_eval(conv: Layer, bn: Any, transpose: bool = False) -> Layer:
    """A copy of ``conv`` that computes what ``bn`` makes of its output, in evaluation.

    >>> import autokit as torch
    >>> conv, bn = torch.nn.Conv2d(1, 2, 3).eval(), torch.nn.BatchNorm2d(2).eval()
    >>> x = torch.randn(1, 1, 5, 5)
    >>> torch.allclose(fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-6)
    True
    """
    return _fused(conv, bn, fuse_conv_bn_weights, transpose)


def fuse_linear_bn_eval(linear: Layer, bn: Any) -> Layer:
    """A copy of ``linear`` that computes what ``bn`` makes of its output, in evaluation."""
    if bn.num_features not in (1, linear.out_features):
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    return _fused(linear, bn, fuse_linear_bn_weights)


def _fused(layer: Layer, bn: Any, fuse: Any, *options: Any) -> Layer:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    made = copy.deepcopy(layer)
    made.weight, made.bias = fuse(
        made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, *options
    )
    return made


def fuse_conv_bn_weights(
    conv_w: Parameter,
    conv_b: Parameter | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """The weight and bias of a convolution together with the normalization after it."""
    scale, shift = _affine(conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _parameters(conv_w, conv_b, conv_w * scale.reshape(shape), shift)


def fuse_linear_bn_weights(
    linear_w: Parameter,
    linear_b: Parameter | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:
    """The weight and bias of a linear layer together with the normalization after it."""
    scale, shift = _affine(linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    return _parameters(linear_w, linear_b, linear_w * scale.unsqueeze(-1).to(linear_w.dtype), shift)


def _affine(
    bias: Tensor | None, mean: Tensor, var: Tensor, eps: float, weight: Tensor | None, shift: Tensor | None
) -> tuple[Tensor, Tensor]:
    scale = rsqrt(var + eps) * (ones_like(mean) if weight is None else weight)
    start = zeros_like(mean) if bias is None else bias
    return scale, (start - mean) * scale + (zeros_like(mean) if shift is None else shift)


def _parameters(
    old_weight: Tensor, old_bias: Tensor | None, weight: Tensor, bias: Tensor
) -> tuple[Parameter, Parameter]:
    """The new ones learn where the old ones did; a bias that was none did not."""
    return (
        Parameter(weight.detach().to(old_weight.dtype), old_weight.requires_grad),
        Parameter(
            bias.detach().to((old_weight if old_bias is None else old_bias).dtype),
            old_bias is not None and old_bias.requires_grad,
        ),
    )


def skip_init(module_cls: type[Layer], *args: Any, **kwargs: Any) -> Layer:
    """A layer whose first values are still to be set; it must take ``device``.

    >>> import autokit as torch
    >>> skip_init(torch.nn.Linear, 2, 3).weight.shape
    torch.Size([3, 2])
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    return module_cls(*args, **kwargs)
