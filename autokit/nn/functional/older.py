"""Second names of functions: ``max_pool2d_with_indices``, and the ``upsample_…`` of older programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autokit.nn import functional as F
from autokit.ops.names import found_by_pickle, in_place_of
from autokit.ops.warn import warn
from autokit.tensor import Tensor


def _with_indices(name: str) -> Callable[..., tuple[Tensor, Tensor]]:
    pool = getattr(F, name)

    @in_place_of(pool)
    def apply(*arguments: Any, return_indices: bool = False, **settings: Any) -> Any:
        return pool(*arguments, return_indices=True, **settings)

    apply.__name__ = apply.__qualname__ = f"{name}_with_indices"
    apply.__doc__ = f"What :func:`{name}` gives, and the places of the elements in ``input``."
    return apply


_POOLING = [f"{kind}max_pool{n}d" for kind in ("", "adaptive_") for n in (1, 2, 3)]
_POOLING += ["fractional_max_pool2d", "fractional_max_pool3d"]
globals().update({f"{name}_with_indices": _with_indices(name) for name in _POOLING})


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """See :func:`autokit.nn.functional.interpolate`."""
    warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.")
    return F.interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(
    input: Tensor, size: Any = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """See :func:`autokit.nn.functional.interpolate`, with ``align_corners=True``."""
    warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.")
    return F.interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


found_by_pickle("autokit.nn.functional", {n: f for n, f in globals().items() if n[0] != "_" and callable(f)})
