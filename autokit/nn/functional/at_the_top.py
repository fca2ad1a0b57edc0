"""What PyTorch has at its top level too, as ``torch.layer_norm``, with the arguments in its order there.

The older functions of this package have a second form that the package itself
calls in PyTorch: the parameters stand elsewhere, the reduction is a number,
0 by default, which is none, and the deprecated arguments are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from autokit.nn import functional as F
from autokit.nn.functional.linear import bilinear as bilinear
from autokit.nn.functional.loss_checks import reduced
from autokit.nn.functional.normalization import (
    batch_norm_of_any_size,
    group_norm_of_any_size,
    instance_norm_of_any_size,
)
from autokit.nn.functional.normalization import rms_norm as rms_norm
from autokit.ops.dims import place_of
from autokit.ops.matrix_norms import matrix_norm
from autokit.ops.names import found_by_pickle, public
from autokit.ops.signatures import looked_at
from autokit.tensor import Tensor

_REDUCTIONS = ("none", "mean", "sum")
_NONE = 0
"""PyTorch's default at the top: the losses of the elements."""


def _reduction(number: int) -> str:
    if number not in (0, 1, 2):
        raise ValueError(
            f"{number!r} is not a valid value for reduction: at the top level it is 0 for none, 1 for mean "
            "and 2 for sum; torch.nn.functional takes the words"
        )
    return _REDUCTIONS[number]


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:
    """See :func:`autokit.nn.functional.layer_norm`."""
    return F.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    """See :func:`autokit.nn.functional.group_norm`; a single value in a group is let pass here."""
    return group_norm_of_any_size(input, num_groups, weight, bias, eps)


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """See :func:`autokit.nn.functional.batch_norm`; a single value, or ``eps`` of 0, is let pass here."""
    return batch_norm_of_any_size(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """See :func:`autokit.nn.functional.instance_norm`; a single value in a channel is let pass here."""
    return instance_norm_of_any_size(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """See :func:`autokit.nn.functional.embedding`; the table comes first, and what is no row pads nothing."""
    rows = weight.array.shape[0] if weight.array.ndim else 0
    padding = padding_idx if 0 <= padding_idx < rows else None
    return F.embedding(indices, weight, padding, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = _NONE,
) -> Tensor:
    """See :func:`autokit.nn.functional.binary_cross_entropy_with_logits`."""
    return F.binary_cross_entropy_with_logits(
        input, target, weight, reduction=_reduction(reduction), pos_weight=pos_weight
    )


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = _NONE
) -> Tensor:
    """See :func:`autokit.nn.functional.cosine_embedding_loss`."""
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=_reduction(reduction))


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: int = _NONE,
    zero_infinity: bool = False,
) -> Tensor:
    """See :func:`autokit.nn.functional.ctc_loss`."""
    return F.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, _reduction(reduction), zero_infinity
    )


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = _NONE
) -> Tensor:
    """See :func:`autokit.nn.functional.hinge_embedding_loss`."""
    return F.hinge_embedding_loss(input, target, margin, reduction=_reduction(reduction))


def kl_div(input: Tensor, target: Tensor, reduction: int = _NONE, *, log_target: bool = False) -> Tensor:
    """See :func:`autokit.nn.functional.kl_div`; the mean divides by the number of elements, and is silent."""
    losses = F.kl_div(input, target, reduction="none", log_target=log_target)
    return reduced(losses, _reduction(reduction))


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = _NONE
) -> Tensor:
    """See :func:`autokit.nn.functional.margin_ranking_loss`."""
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=_reduction(reduction))


def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    """See :func:`autokit.nn.functional.poisson_nll_loss`."""
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_reduction(reduction))


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = _NONE,
) -> Tensor:
    """See :func:`autokit.nn.functional.triplet_margin_loss`."""
    words = _reduction(reduction)
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=words)


def adaptive_max_pool1d(input: Tensor, output_size: int | Sequence[int]) -> tuple[Tensor, Tensor]:
    """The largest elements, and their places: see :func:`autokit.nn.functional.adaptive_max_pool1d`."""
    return F.adaptive_max_pool1d(input, output_size, True)


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    """The largest elements, and their places: see :func:`autokit.nn.functional.max_pool1d`."""
    return F.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """See :func:`autokit.nn.functional.grid_sample`; the modes are 0, 1, 2 in its order."""
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    if not (0 <= interpolation_mode < 3 and 0 <= padding_mode < 3):
        raise RuntimeError(
            f"grid_sampler(): the modes are 0, 1 or 2, not {interpolation_mode} and {padding_mode}"
        )
    return F.grid_sample(input, grid, modes[interpolation_mode], paddings[padding_mode], align_corners)


def frobenius_norm(input: Tensor, dim: int | Sequence[int], keepdim: bool = False) -> Tensor:
    """The root of the sum of squares: see :func:`autokit.linalg.vector_norm`."""
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dims)} dimensions instead.")
    return input.norm(2, dims or None, keepdim)


def nuclear_norm(input: Tensor, dim: Any = (-2, -1), keepdim: bool = False) -> Tensor:
    """The sum of the singular values: see :func:`autokit.linalg.matrix_norm`."""
    if isinstance(dim, bool):  # nuclear_norm(input, keepdim)
        dim, keepdim = (-2, -1), dim
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    return matrix_norm(
        input, "nuc", tuple([place_of(each, input.dim(), "nuclear_norm") for each in dims]), keepdim
    )


def _dropping(name: str, function: Callable[..., Tensor], in_place: bool) -> Callable[..., Tensor]:
    def apply(input: Tensor, p: float, train: bool) -> Tensor:
        return function(input, p, train, in_place)

    apply.__name__ = apply.__qualname__ = name
    how = "; in place." if in_place else "."
    apply.__doc__ = f"See :func:`autokit.nn.functional.{function.__name__}`{how}"
    return apply


dropout = _dropping("dropout", F.dropout, False)
dropout_ = _dropping("dropout_", F.dropout, True)
alpha_dropout = _dropping("alpha_dropout", F.alpha_dropout, False)
alpha_dropout_ = _dropping("alpha_dropout_", F.alpha_dropout, True)
feature_alpha_dropout = _dropping("feature_alpha_dropout", F.feature_alpha_dropout, False)
feature_alpha_dropout_ = _dropping("feature_alpha_dropout_", F.feature_alpha_dropout, True)

_INTO_OUT = ("frobenius_norm", "nuclear_norm")
"""Those that can write into ``out=``."""
_HELPERS = (found_by_pickle, looked_at, matrix_norm, place_of, public, reduced)

for _name, _function in list(globals().items()):
    if isinstance(_function, FunctionType) and _name[0] != "_" and _function not in _HELPERS:
        globals()[_name] = looked_at(_name, public(_function) if _name in _INTO_OUT else _function)
found_by_pickle(__name__, globals())
