"""Functions made from functions, as in ``torch.func``: ``grad``, ``vjp``, ``jacrev``, ``vmap`` and others.

``transforms`` differentiates, ``batching`` runs over a batch, ``modules``
makes functions of modules, and ``trees`` takes nested containers apart.
"""

from autokit.func.batching import vmap
from autokit.func.functionalization import debug_unwrap, functionalize
from autokit.func.linearization import linearize
from autokit.func.modules import functional_call, replace_all_batch_norm_modules_, stack_module_state
from autokit.func.transforms import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp
from autokit.missing import names_of

__getattr__ = names_of("torch.func")

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
