"""``no_grad`` and the other modes of recording, as ``torch.autograd.grad_mode``; see ``engine.modes``."""

from autokit.base.missing import absent
from autokit.engine.modes import enable_grad, inference_mode, no_grad, set_grad_enabled

__getattr__ = absent("torch.autograd.grad_mode")

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]
