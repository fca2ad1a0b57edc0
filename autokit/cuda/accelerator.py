"""The GPU under a name that does not say its maker, as ``torch.accelerator``."""

from __future__ import annotations

from autokit.base.devices import device
from autokit.base.missing import absent
from autokit.cuda import device_count, is_available, synchronize

__getattr__ = absent("torch.accelerator")

__all__ = ["current_accelerator", "device_count", "is_available", "synchronize"]


def current_accelerator(check_available: bool = False) -> device | None:
    """``device("cuda")`` where there is a GPU, else None.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"
    'cpu'
    """
    return device("cuda") if is_available() else None
