"""The class of the graph's nodes, as ``torch.autograd.graph.Node``."""

from autokit.base.missing import absent
from autokit.engine.node import Node

__getattr__ = absent("torch.autograd.graph")

__all__ = ["Node"]
