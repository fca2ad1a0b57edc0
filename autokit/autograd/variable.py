"""``Variable`` under the name of PyTorch's file: what older programs import from here."""

from autokit.autograd import Variable
from autokit.missing import names_of

__getattr__ = names_of("torch.autograd.variable")

__all__ = ["Variable"]
