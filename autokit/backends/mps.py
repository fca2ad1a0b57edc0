"""GPUs of Apple's: autokit does not use them."""

from __future__ import annotations


def is_available() -> bool:
    """False: autokit does not use them."""
    return False


is_built = is_available
