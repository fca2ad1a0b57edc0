"""``torch.autograd.forward_ad``: dual numbers; see :mod:`autokit.func.duals`."""

from autokit.func import duals
from autokit.func.duals import *  # noqa: F403 - all that it offers
from autokit.missing import names_of

__getattr__ = names_of("torch.autograd.forward_ad")

__all__ = duals.__all__
