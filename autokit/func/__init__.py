"""Functions made from functions, as in ``torch.func``: ``grad``, ``vjp``, ``jacrev``, ``vmap`` and others.

``transforms`` differentiates in reverse mode, ``forward`` in forward mode, ``batching`` runs over a batch,
``modules`` makes functions of modules, and ``trees`` takes nested containers apart.
"""

from autokit.base.missing import absent
from autokit.func.batching import vmap
from autokit.func.forward import jacfwd, jvp
from autokit.func.modules import functional_call, stack_module_state
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
    "stack_module_state",
    "vjp",
    "vmap",
]
