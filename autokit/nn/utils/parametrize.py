"""Parameters as functions of others: a weight that is always symmetric, or of norm 1.

A parametrization is a module whose ``forward`` computes the parameter from what is trained in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from autokit.autograd.modes import no_grad
from autokit.nn.computed import let_compute
from autokit.nn.container import ModuleDict, ModuleList
from autokit.nn.module import Module
from autokit.nn.parameter import Parameter
from autokit.tensor import Tensor

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "type_before_parametrizations",
]

_cache: dict[Any, Any] = {}
_caching = [0]


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor once inside of the block, however often it is used."""
    _caching[0] += 1
    try:
        yield
    finally:
        _caching[0] -= 1
        if not _caching[0]:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, applied one after the other, and what they compute it from.

    Attributes
    ----------
    original, or original0, original1, ... : Parameter or Tensor
        What is trained in place of the tensor.
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        with no_grad():
            start = self._inverted(original)
        self.is_tensor = isinstance(start, Tensor)
        if isinstance(start, Tensor):
            if not unsafe and start.dtype != original.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype: it is "
                    f"{start.dtype}, and the tensor's {original.dtype}"
                )
            with no_grad():
                original.data = start.detach()
            self._hold("original", original)
        else:
            self.ntensors = len(start)
            for place, each in enumerate(start):
                held = each
                if isinstance(original, Parameter):
                    held = Parameter(each, original.requires_grad and each.is_floating_point())
                self._hold(f"original{place}", held)
        if not unsafe:
            _check(self(), original)

    def _inverted(self, value: Any) -> Any:
        for module in reversed([*self]):
            if not hasattr(module, "right_inverse"):
                return value
            with suppress(NotImplementedError):
                value = module.right_inverse(value)
        if not isinstance(value, Tensor | Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(value).__name__}"
            )
        return value

    def _hold(self, name: str, tensor: Tensor) -> None:
        if isinstance(tensor, Parameter):
            self.register_parameter(name, tensor)
        else:
            self.register_buffer(name, tensor)

    def originals(self) -> list[Tensor]:
        """What the tensor is computed from."""
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{place}") for place in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Change what is trained so that the tensor becomes ``value``."""
        with no_grad():
            for module in reversed([*self]):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
            given = [value] if self.is_tensor else list(value)
            if len(given) != len(self.originals()):
                raise ValueError(
                    f"'right_inverse' must return {len(self.originals())} tensors. Got {len(given)}"
                )
            for own, new in zip(self.originals(), given):
                own.data = new.detach()

    def forward(self) -> Tensor:  # type: ignore[override]
        """The tensor."""
        first, *others = self
        value = first(*self.originals())
        for module in others:
            value = module(value)
        return value


def _check(made: Any, original: Tensor) -> None:
    if not isinstance(made, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
    for what, own, new in (
        ("dtype", original.dtype, made.dtype),
        ("shape", original.shape, made.shape),
    ):
        if own != new:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` "
                f"flag is enabled: it is {own}, and becomes {new}"
            )


def _property(name: str) -> property:
    def compute(self: Module) -> Tensor:
        if not _caching[0]:
            return self.parametrizations[name]()
        key = id(self), name
        if key not in _cache:
            _cache[key] = self, self.parametrizations[name]()
        return _cache[key][1]

    def assign(self: Module, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(compute, assign)


class _Parametrized:
    """What the class of a parametrized module has beside its own: attributes that are computed."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        else:
            super().__setattr__(name, value)


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Compute ``module.tensor_name`` by ``parametrization`` from now on.

    Parameters
    ----------
    module : Module
    tensor_name : str
        Of a parameter or buffer; one that is parametrized already is so by both.
    parametrization : Module
        Takes the original tensor.  Its ``right_inverse``, if it has one, finds the original, or several,
        for the value that the tensor has now, and for what is assigned to it later.
    unsafe : bool
        Do not compare the shape and dtype before and after.

    Raises
    ------
    ValueError
        If there is no such tensor, or its shape or dtype would change.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.nn.utils import parametrize
    >>> class Symmetric(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = parametrize.register_parametrization(torch.nn.Linear(3, 3), "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.T).all()), [name for name, _ in layer.named_parameters()]
    (True, ['bias', 'parametrizations.weight.original'])
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            with no_grad():
                now = getattr(module, tensor_name)
                _check(parametrization(now), now)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    original = getattr(module, tensor_name)
    parametrizations = ParametrizationList([parametrization], original, unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        let_compute(module)
        kind = type(module)
        module.__class__ = type(
            f"Parametrized{kind.__name__}", (_Parametrized, kind), {"__module__": kind.__module__}
        )
        module.parametrizations = ModuleDict()
    setattr(type(module), tensor_name, _property(tensor_name))
    module.parametrizations[tensor_name] = parametrizations
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether ``module`` has parametrized tensors, or this one."""
    found = module._modules.get("parametrizations") if isinstance(module, _Parametrized) else None
    if not isinstance(found, ModuleDict):
        return False
    return tensor_name in found if tensor_name is not None else len(found) > 0


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make ``module.tensor_name`` an ordinary tensor again.

    Parameters
    ----------
    leave_parametrized : bool
        Give it the computed value; else what that was computed from.

    Raises
    ------
    ValueError
        If it is not parametrized, or was computed from several tensors and none of them is to be left.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    found = module.parametrizations[tensor_name]
    if not found.is_tensor and not leave_parametrized:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms "
            "of a sequence of tensors."
        )
    original = found.originals()[0]
    with no_grad():
        value = getattr(module, tensor_name).detach().clone() if leave_parametrized else None
    if value is not None and found.is_tensor:
        original.data = value
    elif value is not None:
        original = Parameter(value, original.requires_grad) if isinstance(original, Parameter) else value
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if isinstance(original, Parameter):
        module.register_parameter(tensor_name, original)
    else:
        module.register_buffer(tensor_name, original)
    if not len(module.parametrizations):
        del module.parametrizations
        module.__class__ = type_before_parametrizations(module)
        module.__dict__["_parameters"] = dict(module._parameters)
    return module


def type_before_parametrizations(module: Module) -> type[Module]:
    """The class that ``module`` had before it was parametrized."""
    kind = type(module)
    return kind.__bases__[1] if isinstance(module, _Parametrized) else kind
