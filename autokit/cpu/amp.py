"""The older name of mixed precision on a CPU, as ``torch.cpu.amp``; see :mod:`autokit.amp`."""

from __future__ import annotations

import warnings
from typing import Any

from autokit import amp, dtypes

__all__ = ["GradScaler", "autocast"]


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`torch.cpu.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}('cpu', args...)` "
        "instead.",
        FutureWarning,
        stacklevel=3,
    )


class autocast(amp.autocast):
    """``torch.amp.autocast("cpu")`` under its older name."""

    def __init__(
        self, enabled: bool = True, dtype: dtypes.dtype | None = None, cache_enabled: bool = True
    ) -> None:
        _deprecated("autocast")
        super().__init__("cpu", dtype or dtypes.BY_NAME["bfloat16"], enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """``torch.amp.GradScaler("cpu")`` under its older name."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        _deprecated("GradScaler")
        super().__init__("cpu", *args, **settings)
