"""``Variable``, which older programs import from ``torch.autograd.variable``: it is a tensor."""

from autokit.base.missing import absent
from autokit.engine.tensor import Tensor as Variable

__getattr__ = absent("torch.autograd.variable")

__all__ = ["Variable"]
