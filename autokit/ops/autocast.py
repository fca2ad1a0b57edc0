"""What autocasting does to operations: which run in half precision, which in float32, and how they get there.

The lists are those that PyTorch's dispatcher holds, by the names of the functions here.  Every other
operation takes its operands as they come.

An operation asks for autocasting only where a dtype of half precision is in use at all, so that a program
without it pays nothing: that is why each asks ``HALVES`` first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autokit import dtypes
from autokit.dtypes import HALVES
from autokit.tensor import Tensor
from autokit.thread_state import thread

_FLOAT32 = np.dtype(np.float32)

_PRODUCTS = """
    addbmm addmm baddbmm bmm conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d linear
    matmul mm prelu scaled_dot_product_attention vecdot
"""
_LOSSES = """
    binary_cross_entropy_with_logits cdist cosine_embedding_loss cross_entropy hinge_embedding_loss huber_loss
    kl_div l1_loss margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss nll_loss
    poisson_nll_loss smooth_l1_loss soft_margin_loss triplet_margin_loss
"""

_ON_CUDA = {
    "lower": _PRODUCTS + "addmv addr chain_matmul einsum multi_dot mv",
    "by parts": "matrix_power sum_to_size",
    "float32": _LOSSES
    + """
    acos asin cosh cosine_similarity dist erfinv exp expm1 group_norm layer_norm log log10 log1p log2
    local_response_norm logsumexp lp_pool3d multilabel_soft_margin_loss normalize pairwise_distance pdist pow
    reciprocal renorm rms_norm rsqrt sinh softplus square tan triplet_margin_with_distance_loss trapezoid
    trapz cumulative_trapezoid upsample
    """,
    "float32 unless told": """
    cumprod cumsum linalg_norm log_softmax matrix_norm norm prod softmax softmin sum vector_norm
    """,
    "widest": "addcdiv addcmul atan2 bilinear cross dot grid_sample index_put scatter_add tensordot vdot",
    "refused": "binary_cross_entropy",
}
_ON_CPU = {
    "lower": _PRODUCTS + "chain_matmul corrcoef cov multi_dot tensordot",
    "by parts": "matrix_power",
    "float32": _LOSSES
    + """
    adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d binary_cross_entropy cholesky cholesky_ex
    cholesky_inverse cholesky_solve cond ctc_loss eig eigh eigvals eigvalsh fractional_max_pool2d
    fractional_max_pool3d grid_sample inv inv_ex inverse
    linalg_cholesky linalg_lu_solve linalg_qr linalg_svd lp_pool3d lstsq lu_solve matrix_rank max_unpool1d
    max_unpool2d max_unpool3d nanquantile pinverse prod qr quantile solve svd svdvals trace triangular_solve
    """,
    "widest": "cat index_copy stack",
}


class Region(NamedTuple):
    """What autocasting does on one type of device.

    Attributes
    ----------
    dtype : numpy.dtype
        The lower precision.
    ways : dict
        For each listed operation how its operands are cast.
    casts : dict or None
        Parameters that were cast already, by their identity: each is cast once for all its uses.
    """

    dtype: np.dtype
    ways: dict[str, Callable[..., Any]]
    casts: dict[Any, Any] | None


def autocasted(
    name: str, function: Callable[..., Any], arguments: tuple[Any, ...], settings: dict[str, Any]
) -> Any:
    """What the operation ``name``, which is ``function``, gives where autocasting is at work."""
    state = thread.state
    regions = state.autocast
    assert regions is not None
    region = regions.get(_device_type((*arguments, *settings.values())))
    way = region.ways.get(name) if region is not None and settings.get("out") is None else None
    if way is _by_parts and hasattr(function, "__wrapped__"):
        return function.__wrapped__(*arguments, **settings)
    state.autocast = None  # an operation is cast as a whole, and not inside
    try:
        if way is not None:
            arguments, settings = way(region, arguments, settings)
        return function(*arguments, **settings)
    finally:
        state.autocast = regions


def _device_type(values: Any) -> str:
    """Where an operation computes: where its first tensor is."""
    for value in values:
        if isinstance(value, Tensor):
            return value.device.type
        if value.__class__ in (list, tuple) and any(isinstance(each, Tensor) for each in value):
            return _device_type(value)
    return ""


# ---------------------------------------------------------------- ways


def _all_to(dtype: Any, region: Region, arguments: Any, settings: Any) -> Any:
    return (
        tuple([_cast(each, dtype, region) for each in arguments]),
        {key: _cast(each, dtype, region) for key, each in settings.items()},
    )


def _to_lower(region: Region, arguments: Any, settings: Any) -> Any:
    return _all_to(region.dtype, region, arguments, settings)


def _to_float32(region: Region, arguments: Any, settings: Any) -> Any:
    return _all_to(_FLOAT32, region, arguments, settings)


def _to_float32_unless_told(region: Region, arguments: Any, settings: Any) -> Any:
    if settings.get("dtype") is not None or any(isinstance(each, dtypes.dtype) for each in arguments):
        return arguments, settings
    return _to_float32(region, arguments, settings)


def _to_widest(region: Region, arguments: Any, settings: Any) -> Any:
    wide = any(each.array.dtype == _FLOAT32 for each in _tensors((*arguments, *settings.values())))
    return _all_to(_FLOAT32 if wide else region.dtype, region, arguments, settings)


def _by_parts(region: Region, arguments: Any, settings: Any) -> Any:
    return arguments, settings  # the operations inside are cast, each in its way


def _refused(region: Region, arguments: Any, settings: Any) -> Any:
    raise RuntimeError(
        "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
        "Many models use a sigmoid layer right before the binary cross entropy layer.\n"
        "In this case, combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits\n"
        "or torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are\n"
        "safe to autocast."
    )


def _setting(name: str, place: int, arguments: Any, settings: Any) -> Any:
    return settings.get(name, arguments[place] if len(arguments) > place else None)


def _unless_area(region: Region, arguments: Any, settings: Any) -> Any:
    area = _setting("mode", 3, arguments, settings) == "area"
    return (arguments, settings) if area else _to_float32(region, arguments, settings)


def _area_of_volumes(region: Region, arguments: Any, settings: Any) -> Any:
    area = _setting("mode", 3, arguments, settings) == "area"
    cast = area and any(each.array.ndim == 5 for each in _tensors((*arguments, *settings.values())))
    return _to_float32(region, arguments, settings) if cast else (arguments, settings)


def _of_matrices(region: Region, arguments: Any, settings: Any) -> Any:
    dimensions = [each.array.ndim for each in _tensors((*arguments, *settings.values()))]
    cast = min(dimensions) > 0 and max(dimensions) > 1
    return _to_lower(region, arguments, settings) if cast else (arguments, settings)


def _contracting(region: Region, arguments: Any, settings: Any) -> Any:
    """Of an Einstein sum only what is a product of matrices: where operands share an index that is summed."""
    equation = arguments[0] if arguments else None
    if isinstance(equation, str):
        given, arrow, kept = equation.replace(" ", "").partition("->")
        indices = [set(each) for each in given.split(",")]
        shared = {index for index in given if index.isalpha() and sum(index in each for each in indices) > 1}
        if len(indices) < 2 or (arrow and shared <= set(kept)) or not shared:
            return arguments, settings
    return _to_lower(region, arguments, settings)


def _over_images(region: Region, arguments: Any, settings: Any) -> Any:
    cast = any(each.array.ndim > 3 for each in _tensors((*arguments, *settings.values())))
    return _to_float32(region, arguments, settings) if cast else (arguments, settings)


def _without_indices(region: Region, arguments: Any, settings: Any) -> Any:
    indices = _setting("return_indices", 6, arguments, settings)
    return (arguments, settings) if indices else _to_float32(region, arguments, settings)


def _by_neighbours(region: Region, arguments: Any, settings: Any) -> Any:
    mode, sides = (_setting(*each, arguments, settings) for each in (("mode", 2), ("pad", 1)))
    cast = mode == "replicate" or (mode == "reflect" and len(sides) < 6)
    return _to_float32(region, arguments, settings) if cast else (arguments, settings)


_WAYS = {
    "lower": _to_lower,
    "float32": _to_float32,
    "float32 unless told": _to_float32_unless_told,
    "widest": _to_widest,
    "by parts": _by_parts,
    "refused": _refused,
}
WAYS = {
    device: {name: _WAYS[way] for way, names in lists.items() for name in names.split()}
    for device, lists in (("cpu", _ON_CPU), ("cuda", _ON_CUDA))
}
WAYS["cuda"]["interpolate"] = _unless_area
WAYS["cpu"].update(
    einsum=_contracting,
    inner=_of_matrices,
    interpolate=_area_of_volumes,
    local_response_norm=_over_images,
    max_pool3d=_without_indices,
    pad=_by_neighbours,
)
"""For each type of device, how the operands of each listed operation are cast."""


def _tensors(values: Any) -> list[Tensor]:
    found = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif value.__class__ in (list, tuple):
            found += _tensors(value)
    return found


def _cast(value: Any, dtype: np.dtype, region: Region) -> Any:
    """``value`` with its floating point tensors, but for those of float64, in another dtype."""
    if not isinstance(value, Tensor):
        if value.__class__ in (list, tuple):
            return value.__class__([_cast(each, dtype, region) for each in value])
        return value
    own = value.array.dtype
    if own == dtype or not (own == _FLOAT32 or own in HALVES):
        return value
    from autokit.ops.convert import cast

    if region.casts is None or not value._requires_grad or value._node is not None or dtype == _FLOAT32:
        return cast(value, dtype=dtype, asked=True)
    key = id(value), thread.state.grad_enabled
    known = region.casts.get(key)
    if known is None or known[0] is not value or known[1] != (id(value.array), value._version):
        known = region.casts[key] = (
            value,
            (id(value.array), value._version),
            cast(value, dtype=dtype, asked=True),
        )
    return known[2]
