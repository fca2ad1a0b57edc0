"""Mixed precision, as ``torch.amp``: products compute in float16, sums in float32, the loss is scaled."""

from autokit.amp.autocast_mode import (
    autocast,
    is_autocast_enabled,
)
from autokit.amp.grad_scaler import GradScaler
from autokit.base.missing import absent

__getattr__ = absent("torch.amp")

__all__ = [
    "GradScaler",
    "autocast",
    "is_autocast_enabled",
]
