"""The older names of mixed precision on a GPU, as ``torch.cuda.amp``; see :mod:`autokit.amp`."""

from __future__ import annotations

import warnings
from typing import Any

from autokit import amp, dtypes

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}('cuda', args...)` "
        "instead.",
        FutureWarning,
        stacklevel=3,
    )


class autocast(amp.autocast):
    """``torch.amp.autocast("cuda")`` under its older name."""

    def __init__(
        self, enabled: bool = True, dtype: dtypes.dtype | None = None, cache_enabled: bool = True
    ) -> None:
        _deprecated("autocast")
        super().__init__("cuda", dtype or dtypes.BY_NAME["float16"], enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """``torch.amp.GradScaler("cuda")`` under its older name."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        _deprecated("GradScaler")
        super().__init__("cuda", *args, **settings)


def custom_fwd(fwd: Any = None, *, cast_inputs: dtypes.dtype | None = None) -> Any:
    """``torch.amp.custom_fwd(device_type="cuda")`` under its older name."""
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any = None) -> Any:
    """``torch.amp.custom_bwd(device_type="cuda")`` under its older name."""
    return amp.custom_bwd(bwd, device_type="cuda")
