"""``torch.autograd.forward_ad``: dual numbers; see :mod:`autokit.func.duals`."""

from autokit.func import duals
from autokit.func.duals import *  # noqa: F403 - all that it offers

__all__ = duals.__all__
