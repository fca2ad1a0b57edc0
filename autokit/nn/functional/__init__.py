"""The functions behind the modules: what a layer computes, given its parameters.

Activations that are single operations come from :mod:`autokit.ops`; the files
here hold those that put several together, and those that first check what they
are given.
"""

from __future__ import annotations

from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

from autokit import ops
from autokit.missing import names_of
from autokit.nn.functional.activation import gumbel_softmax, log_softmax, one_hot, relu, softmax
from autokit.nn.functional.attention import scaled_dot_product_attention
from autokit.nn.functional.ctc import ctc_loss
from autokit.nn.functional.distribution_loss import gaussian_nll_loss, kl_div, poisson_nll_loss
from autokit.nn.functional.dropout import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from autokit.nn.functional.embedding import embedding, embedding_bag
from autokit.nn.functional.fractional_pooling import fractional_max_pool2d, fractional_max_pool3d
from autokit.nn.functional.grids import affine_grid, grid_sample
from autokit.nn.functional.linear import bilinear, linear
from autokit.nn.functional.linear_loss import linear_cross_entropy
from autokit.nn.functional.loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    l1_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
)
from autokit.nn.functional.margin_loss import (
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from autokit.nn.functional.multi_head_attention import multi_head_attention_forward
from autokit.nn.functional.normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    rms_norm,
)
from autokit.nn.functional.pooling import (
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from autokit.ops.names import by_samples_else, found_by_pickle
from autokit.ops.signatures import looked_at, looked_at_after

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
else:
    _missing = names_of("torch.nn.functional")

    def __getattr__(name: str) -> Any:
        if name in _OLDER:
            return getattr(import_module("autokit.nn.functional.older"), name)
        return _missing(name)


_POOLING = [f"{kind}max_pool{n}d" for kind in ("", "adaptive_") for n in (1, 2, 3)]
_OLDER = {"upsample_bilinear", "upsample_nearest", *(f"{name}_with_indices" for name in _POOLING)}
_OLDER |= {"fractional_max_pool2d_with_indices", "fractional_max_pool3d_with_indices"}
"""Names that load a file of their own."""


def __dir__() -> list[str]:
    return sorted({*globals(), *_OLDER})


globals().update(ops.FUNCTIONAL)
for _name in (
    *("ctc_loss", "embedding_bag", "multilabel_margin_loss"),
    *("max_unpool1d", "max_unpool2d", "max_unpool3d"),
):
    globals()[_name] = by_samples_else(globals()[_name])

_SHORT = ("linear", "relu")
for _name, _function in tuple(globals().items()):
    if _name[0] != "_" and _function.__class__ is FunctionType and _name not in ops.FUNCTIONAL:
        _look = looked_at_after if _name in _SHORT else looked_at
        globals()[_name] = _look(f"functional.{_name}", _function)
found_by_pickle(__name__, globals())

__all__ = [
    "affine_grid",
    "alpha_dropout",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "gaussian_nll_loss",
    "grid_sample",
    "group_norm",
    "gumbel_softmax",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "linear",
    "linear_cross_entropy",
    "local_response_norm",
    "log_softmax",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "one_hot",
    "poisson_nll_loss",
    "relu",
    "rms_norm",
    "scaled_dot_product_attention",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    *ops.FUNCTIONAL,
]
