"""``torch.autograd.functional``: products with Jacobians and Hessians; see :mod:`autokit.func.functional`."""

from autokit.func.functional import hessian, hvp, jacobian, jvp, vhp, vjp
from autokit.missing import names_of

__getattr__ = names_of("torch.autograd.functional")

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
