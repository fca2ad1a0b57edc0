"""Settings of cuDNN, a library of convolutions on GPUs, as ``torch.backends.cudnn``; they have no effect."""

from __future__ import annotations

enabled = True
deterministic = False
benchmark = False
allow_tf32 = True


def is_available() -> bool:
    """False: autokit does not use this library."""
    return False


def version() -> int | None:
    """None: autokit does not use this library."""
    return None
