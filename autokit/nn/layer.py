"""What layers share: parameters made before they are drawn, and functions that became modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from autokit import dtypes
from autokit.devices import computing_on, get_default_device, module_for
from autokit.nn.module import Module
from autokit.nn.parameter import Parameter
from autokit.tensor import Tensor, new_tensor


def require_whole(shape: tuple[Any, ...]) -> None:
    """Raise unless the sizes of a parameter or a buffer are whole numbers."""
    for size in shape:
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            raise TypeError(
                f"empty(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}: "
                f"the sizes of a layer are whole numbers, but one of them is {size!r}"
            )


def unset(shape: tuple[int, ...], device: Any = None, dtype: Any = None) -> Parameter:
    """A parameter of ``shape`` whose values are still to be drawn."""
    require_whole(shape)
    if min(shape, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    kind = dtypes.as_dtype(dtype) if dtype is not None else dtypes.get_default_dtype()
    where = get_default_device() if device is None else device
    with computing_on(where):
        return Parameter(new_tensor(module_for(where).empty(shape, kind.numpy)))


def per_dimension(value: Any, ndim: int) -> tuple[int, ...]:
    """``value`` for each of ``ndim`` dimensions: one number stands for all."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * ndim


class FunctionLayer(Module):
    """A function of :mod:`autokit.nn.functional` as a module.

    The function's settings become attributes of the same names, which may be
    changed later, and are what the printed module shows.

    Attributes
    ----------
    function : callable
        What ``forward`` calls.
    shown : tuple of str, optional
        Which settings are printed; all of them, where a class does not choose.
    """

    function: ClassVar[Callable[..., Any]]
    shown: ClassVar[tuple[str, ...] | None] = None
    _settings: tuple[str, ...] = ()

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.__dict__.update(settings, _settings=tuple(settings))

    def forward(self, input: Tensor) -> Any:
        """Call the function with ``input`` and the settings."""
        own = self.__dict__
        return self.function(input, **{name: own[name] for name in self._settings})

    def extra_repr(self) -> str:
        """The settings, for the printed module; ``inplace`` only if it is chosen."""
        names = self._settings if self.shown is None else self.shown
        return ", ".join(
            f"{name}={getattr(self, name)}" for name in names if name != "inplace" or self.inplace
        )
