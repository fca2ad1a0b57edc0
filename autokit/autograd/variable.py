"""``Variable`` under the name of PyTorch's file: what older programs import from here."""

from autokit.autograd import Variable

__all__ = ["Variable"]
