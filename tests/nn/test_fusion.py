"""Layers put together with the batch normalization after them, and layers without first values."""

from __future__ import annotations

from typing import Any

import pytest

import autokit as ak
from tests.nn.twins import assert_close
from tests.support import require

require("torch")
import torch  # noqa: E402

BOTH = (ak, torch)


def trained(T: Any, norm: Any) -> Any:
    with T.no_grad():
        for place, each in enumerate((norm.running_mean, norm.weight, norm.bias, norm.running_var)):
            each.copy_(T.linspace(0.5, 1.5 + place, each.numel()))
    return norm.eval()


@pytest.mark.parametrize("kind", ["Conv2d", "ConvTranspose2d", "Linear"])
@pytest.mark.parametrize("bias", [True, False])
def test_fused_layers_compute_the_same(kind: str, bias: bool):
    fused = []
    for T in BOTH:
        T.manual_seed(0)
        utils = T.nn.utils
        if kind == "Linear":
            layer = T.nn.Linear(3, 4, bias=bias).eval()
            norm, x = trained(T, T.nn.BatchNorm1d(4)), T.linspace(-1, 1, 6).reshape(2, 3)
            both = utils.fuse_linear_bn_eval(layer, norm)
        else:
            layer = getattr(T.nn, kind)(2, 4, 3, bias=bias).eval()
            norm, x = trained(T, T.nn.BatchNorm2d(4)), T.linspace(-1, 1, 100).reshape(2, 2, 5, 5)
            both = utils.fuse_conv_bn_eval(layer, norm, transpose=kind == "ConvTranspose2d")
        assert (both(x) - norm(layer(x))).abs().max().item() < 1e-5
        assert type(both) is type(layer) and both is not layer
        fused += [both.weight, both.bias]
        with pytest.raises(AssertionError, match="only for eval"):
            (utils.fuse_linear_bn_eval if kind == "Linear" else utils.fuse_conv_bn_eval)(layer.train(), norm)
    assert_close(fused[0], fused[2])
    assert_close(fused[1], fused[3])


def test_layers_without_first_values():
    for T in BOTH:
        assert tuple(T.nn.utils.skip_init(T.nn.Linear, 3, 2).weight.shape) == (2, 3)
        with pytest.raises(RuntimeError, match="Expected a Module"):
            T.nn.utils.skip_init(int)
        with pytest.raises(RuntimeError, match="must support a 'device' arg"):
            T.nn.utils.skip_init(T.nn.ReLU)
