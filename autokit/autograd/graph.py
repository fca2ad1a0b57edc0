"""The graph itself, as ``torch.autograd.graph``: its nodes."""

from autokit.base.missing import absent
from autokit.engine.node import Node

__getattr__ = absent("torch.autograd.graph")

__all__ = ["Node"]
