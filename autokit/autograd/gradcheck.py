"""``torch.autograd.gradcheck``: derivatives held against differences; see :mod:`autokit.func.gradcheck`."""

from autokit.func.gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
