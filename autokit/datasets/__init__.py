"""Real data to learn from."""

from autokit.datasets.digits import Digits

__all__ = ["Digits"]
