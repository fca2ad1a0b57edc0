"""Weight normalization: a weight is the product of a length and a direction, which are trained instead.

References
----------
T. Salimans and D. P. Kingma, "Weight Normalization", NeurIPS 2016.
"""

from __future__ import annotations

from typing import Any

from autokit.nn.module import Module
from autokit.nn.parameter import Parameter
from autokit.ops.norm import vector_norm


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Let ``module`` compute its weight, ``g · v / ‖v‖``, from ``weight_g`` and ``weight_v``.

    ``dim`` is kept: each index along it has a length; None for one length in all.

    >>> from autokit import nn
    >>> layer = weight_norm(nn.Linear(2, 3))
    >>> [(name, tuple(p.shape)) for name, p in layer.named_parameters()]
    [('bias', (3,)), ('weight_g', (3, 1)), ('weight_v', (3, 2))]
    """

    def length(v: Any) -> Any:
        dims = [each for each in range(v.dim()) if dim is None or each != dim % v.dim()]
        return vector_norm(v, 2, dims, keepdim=dim is not None)

    def compute(module: Module, args: Any = None) -> None:
        g, v = getattr(module, f"{name}_g"), getattr(module, f"{name}_v")
        setattr(module, name, v * (g / length(v)))

    weight = getattr(module, name).detach()
    delattr(module, name)
    module.register_parameter(f"{name}_g", Parameter(length(weight)))
    module.register_parameter(f"{name}_v", Parameter(weight))
    compute(module)
    module.register_forward_pre_hook(compute)
    return module
