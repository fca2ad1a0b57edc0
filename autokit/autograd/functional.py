"""``torch.autograd.functional``: products with Jacobians and Hessians; see :mod:`autokit.func.functional`."""

from autokit.func.functional import hessian, hvp, jacobian, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
