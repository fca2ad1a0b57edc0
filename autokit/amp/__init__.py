"""Mixed precision, as ``torch.amp``: dtypes chosen for each operation, gradients saved from vanishing."""

from __future__ import annotations

from autokit.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from autokit.amp.grad_scaler import GradScaler
from autokit.missing import names_of

__getattr__ = names_of("torch.amp")

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
