"""Debugging a backward pass: :func:`steps` stops it before each node, ``anomaly`` finds the first NaN."""

from autokit.debug.anomaly import detect_anomaly, set_detect_anomaly
from autokit.debug.steps import Step, steps

__all__ = ["Step", "detect_anomaly", "set_detect_anomaly", "steps"]
