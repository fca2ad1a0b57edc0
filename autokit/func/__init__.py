"""Transforms, as in ``torch.func``: ``grad(f)`` is the function that computes the gradient of ``f``.

``transforms`` differentiates in reverse mode and ``forward`` in forward mode; ``batching`` holds ``vmap``,
``modules`` calls modules as functions of their parameters, and ``trees`` flattens nested containers.
"""

from autokit.base.missing import absent
from autokit.func.batching import vmap
from autokit.func.forward import jacfwd, jvp
from autokit.func.modules import functional_call
from autokit.func.transforms import grad, grad_and_value, hessian, jacrev, vjp

__getattr__ = absent("torch.func")

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "vjp",
    "vmap",
]
