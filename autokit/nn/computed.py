"""Parameters that are computed: a layer that looks for one finds the tensor in the attribute of its name.

So it is where a parametrization computes it, and where a program took the
parameter away and set a tensor in its place, as weight dropout does, or a
network whose weights another network makes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import ref

if TYPE_CHECKING:
    from autokit.nn.module import Module


class Computed(dict[str, Any]):
    """A module's register of parameters, which answers for a computed one with the module's attribute."""

    def __init__(self, module: Module) -> None:
        super().__init__(module._parameters)
        self.module = ref(module)  # not to keep alive what holds this

    def __missing__(self, name: str) -> Any:
        try:
            return getattr(self.module(), name)
        except AttributeError:
            raise KeyError(name) from None

    def __reduce__(self) -> Any:
        return _again, (self.module(), dict(self))


def _again(module: Module, parameters: dict[str, Any]) -> Computed:
    made = Computed.__new__(Computed)
    made.update(parameters)
    made.module = ref(module)
    return made


def let_compute(module: Module) -> None:
    """Let ``module`` have parameters that are computed."""
    if not isinstance(module._parameters, Computed):
        module.__dict__["_parameters"] = Computed(module)
