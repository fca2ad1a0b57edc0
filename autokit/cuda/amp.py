"""Mixed precision on a GPU under its older names, as ``torch.cuda.amp``; ``autokit.amp`` explains it."""

from __future__ import annotations

from autokit import amp
from autokit.base.dtypes import dtype
from autokit.base.missing import absent

__getattr__ = absent("torch.cuda.amp")

__all__ = ["GradScaler", "autocast"]

GradScaler = amp.GradScaler


class autocast(amp.autocast):
    """As :class:`autokit.amp.autocast`, for a GPU."""

    def __init__(self, enabled: bool = True, dtype: dtype | None = None) -> None:
        super().__init__("cuda", dtype, enabled)
