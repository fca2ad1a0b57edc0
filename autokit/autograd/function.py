"""Operations whose derivative the learner writes, as ``torch.autograd.function``; see ``engine.function``."""

from autokit.base.missing import absent
from autokit.engine.function import Function, FunctionCtx, once_differentiable

__getattr__ = absent("torch.autograd.function")

__all__ = ["Function", "FunctionCtx", "once_differentiable"]
