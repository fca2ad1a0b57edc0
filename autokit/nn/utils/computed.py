"""Parameters that are computed from others: a layer that looks for one finds what was computed."""

from __future__ import annotations

from typing import Any

from autokit.nn.module import Module


class Computed(dict[str, Any]):
    """A module's register of parameters, which answers for a computed one with the module's attribute."""

    def __init__(self, module: Module) -> None:
        super().__init__(module._parameters)
        self.module = module

    def __missing__(self, name: str) -> Any:
        try:
            return getattr(self.module, name)
        except AttributeError:
            raise KeyError(name) from None

    def __reduce__(self) -> Any:
        return _again, (self.module, dict(self))


def _again(module: Module, parameters: dict[str, Any]) -> Computed:
    made = Computed.__new__(Computed)
    made.update(parameters)
    made.module = module
    return made


def let_compute(module: Module) -> None:
    """Let ``module`` have parameters that are computed."""
    if not isinstance(module._parameters, Computed):
        module.__dict__["_parameters"] = Computed(module)
