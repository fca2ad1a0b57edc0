"""``torch.autograd.gradcheck``: derivatives held against differences; see :mod:`autokit.func.gradcheck`.

PyTorch has a function of this name and a file, so the file can be called.
"""

import sys
from types import ModuleType
from typing import Any

from autokit.func.gradcheck import GradcheckError, gradcheck, gradgradcheck
from autokit.missing import names_of

__getattr__ = names_of("torch.autograd.gradcheck")

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class _Callable(ModuleType):
    def __call__(self, *arguments: Any, **settings: Any) -> bool:
        return gradcheck(*arguments, **settings)


sys.modules[__name__].__class__ = _Callable
