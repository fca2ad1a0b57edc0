"""Apple's GPUs, as ``torch.backends.mps``: autokit does not use them."""

from __future__ import annotations


def is_available() -> bool:
    """False: autokit does not use them."""
    return False


is_built = is_available
