"""``weight_norm`` and ``spectral_norm`` in their older form: a hook sets the weight before each call."""

from __future__ import annotations

import warnings
from typing import Any

from autokit.autograd.modes import no_grad
from autokit.nn import functional
from autokit.nn.convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from autokit.nn.module import Module
from autokit.nn.parameter import Parameter
from autokit.nn.utils.parametrizations import lengths


class _WeightNormHook:
    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, dim

    def compute(self, module: Module) -> Any:
        g, v = (getattr(module, f"{self.name}_{each}") for each in "gv")
        return v * (g / lengths(v, self.dim))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """See :func:`autokit.nn.utils.parametrizations.weight_norm`, which takes its place."""
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    if _hook_of(module, name, _WeightNormHook):
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook = _WeightNormHook(name, dim)
    weight = getattr(module, name)
    delattr(module, name)
    with no_grad():
        length = lengths(weight, dim).detach()
    module.register_parameter(f"{name}_g", Parameter(length))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    hook(module, None)
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Make the weight an ordinary parameter again."""
    key = _hook_of(module, name, _WeightNormHook)
    if key is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    with no_grad():
        value = module._forward_pre_hooks[key].compute(module).detach()
    _restore(module, name, value, (f"{name}_g", f"{name}_v"), key)
    return module


class _SpectralNormHook:
    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def compute(self, module: Module, advance: bool) -> Any:
        weight, u, v = (getattr(module, f"{self.name}_{each}") for each in ("orig", "u", "v"))
        matrix = weight.movedim(self.dim, 0).flatten(1)
        if advance:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(functional.normalize(matrix.T.mv(u), dim=0, eps=self.eps))
                    u.copy_(functional.normalize(matrix.mv(v), dim=0, eps=self.eps))
        # Copies: the vectors go on before the way back.
        return weight / u.clone().dot(matrix.mv(v.clone()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute(module, module.training))


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """See :func:`autokit.nn.utils.parametrizations.spectral_norm`, which takes its place."""
    if n_power_iterations <= 0:
        raise ValueError(
            f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
        )
    if _hook_of(module, name, _SpectralNormHook):
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    if dim is None:
        dim = 1 if isinstance(module, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d) else 0
    weight = module._parameters.get(name)
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    hook = _SpectralNormHook(name, n_power_iterations, dim, eps)
    with no_grad():
        rows, columns = weight.movedim(dim, 0).flatten(1).shape
        u = functional.normalize(weight.new_empty(rows).normal_(0, 1), dim=0, eps=eps)
        v = functional.normalize(weight.new_empty(columns).normal_(0, 1), dim=0, eps=eps)
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.detach())
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Make the weight an ordinary parameter again."""
    key = _hook_of(module, name, _SpectralNormHook)
    if key is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    with no_grad():
        value = module._forward_pre_hooks[key].compute(module, False).detach()
    _restore(module, name, value, (f"{name}_orig", f"{name}_u", f"{name}_v"), key)
    return module


def _hook_of(module: Module, name: str, kind: type) -> int | None:
    """The number of the hook of this kind that computes the parameter ``name``."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and getattr(hook, "name", None) == name:
            return key
    return None


def _restore(module: Module, name: str, value: Any, sources: tuple[str, ...], key: int) -> None:
    del module._forward_pre_hooks[key]
    for each in (name, *sources):
        delattr(module, each)
    module.register_parameter(name, Parameter(value))
