"""Helpers that define layers: :class:`FunctionLayer` turns a function into a module."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter as Argument
from inspect import Signature, get_annotations
from typing import Any, ClassVar, dataclass_transform

from autokit.engine.tensor import Tensor
from autokit.nn.module import Module
from autokit.nn.parameter import Parameter
from autokit.ops.create import empty

Size = int | tuple[int, ...]


def empty_parameter(*shape: int, device: Any = None, dtype: Any = None) -> Parameter:
    """A parameter of ``shape`` whose values are not set yet."""
    return Parameter(empty(*shape, device=device, dtype=dtype))


def per_dimension(value: Any, ndim: int) -> tuple[int, ...]:
    """``value`` for each of ``ndim`` dimensions: one number stands for all."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * ndim


@dataclass_transform()
class FunctionLayer(Module):
    """A function of :mod:`autokit.nn.functional` as a module.

    A subclass names the function, and lists its settings with their defaults, as a dataclass does. They are
    the arguments of the class, and attributes, which may be changed later.

    Attributes
    ----------
    function : callable
        What ``forward`` calls.
    text : str, optional
        How the settings are printed; by default all of them with their names.

    Examples
    --------
    >>> from autokit.nn import functional as F
    >>> class Leak(FunctionLayer):
    ...     function = staticmethod(F.leaky_relu)
    ...     negative_slope: float = 0.2
    >>> Leak(0.1)
    Leak(negative_slope=0.1)
    """

    function: ClassVar[Callable[..., Any]]
    text: ClassVar[str | None] = None
    settings: ClassVar[tuple[str, ...]] = ()
    """The names of the settings."""
    __signature__: ClassVar[Signature] = Signature()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not cls.__module__.startswith("autokit."):
            return  # a learner's layer lists its settings in __init__
        arguments = dict(cls.__signature__.parameters)
        for name in get_annotations(cls):
            default = cls.__dict__.get(name, Argument.empty)
            if default is not Argument.empty:
                delattr(cls, name)  # it would hide a buffer of this name
            arguments[name] = Argument(name, Argument.POSITIONAL_OR_KEYWORD, default=default)
        cls.settings = tuple(arguments)
        cls.__signature__ = Signature(list(arguments.values()))

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__()
        try:
            bound = self.__signature__.bind(*args, **settings)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}(): {error}; it takes {self.__signature__}") from None
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if isinstance(value, Tensor):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)
        self.check()

    def check(self) -> None:
        """Check the settings, and complete them; subclasses define it where there is something to check."""

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Call the function with the inputs and the settings."""
        return self.function(*inputs, **named, **{name: getattr(self, name) for name in self.settings})

    def extra_repr(self) -> str:
        """The settings, for the printed module; ``inplace`` only if it is chosen."""
        if self.text is not None:
            return self.text.format(**self.__dict__)
        shown = [name for name in self.settings if name != "inplace" or self.inplace]
        return ", ".join(f"{name}={getattr(self, name)}" for name in shown)
