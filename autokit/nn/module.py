"""The module: parameters, and a ``forward`` that uses them; modules hold modules.

What is assigned to an attribute of a module is sorted by its kind: parameters,
buffers and modules go into registers of their own, and everything else becomes
a plain attribute.  From the registers come ``parameters()``, ``state_dict()``
and all that walks over a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType
from typing import Any, ClassVar, TypeVar
from weakref import ref

from autokit import missing
from autokit.nn.computed import let_compute
from autokit.nn.conversion import Convertible
from autokit.nn.hooks import Hookable, as_registered, call_with_hooks, hooks_of, of_all_modules
from autokit.nn.parameter import Buffer, Parameter
from autokit.nn.scope import name_layer
from autokit.nn.state import IncompatibleKeys, load_state, save_state
from autokit.ops.recording import calling_line
from autokit.tensor import Tensor
from autokit.thread_state import thread

Self = TypeVar("Self", bound="Module")

_REGISTERS = ("_modules", "_parameters", "_buffers")


def _by_name_of(kind: type) -> Any:
    """The ``__init__`` that ``kind`` has from a base of ours; an error about its arguments names ``kind``."""
    init = kind.__init__  # type: ignore[misc]
    made = FunctionType(init.__code__, init.__globals__, init.__name__, init.__defaults__, init.__closure__)
    made.__kwdefaults__, made.__annotations__, made.__doc__ = (
        init.__kwdefaults__,
        init.__annotations__,
        init.__doc__,
    )
    made.__qualname__, made.__module__ = f"{kind.__name__}.__init__", init.__module__
    return made


class Module(Hookable, Convertible):
    """What all layers and models are made from.

    Subclasses call ``super().__init__()``, assign layers and parameters to
    attributes, and define ``forward``.

    Attributes
    ----------
    training : bool
        Set by :meth:`train` and :meth:`eval`; layers such as dropout look at it.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit import nn
    >>> class Line(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.slope = nn.Parameter(torch.tensor(2.0))
    ...     def forward(self, x):
    ...         return self.slope * x
    >>> line = Line()
    >>> line(torch.tensor(3.0))
    tensor(6., grad_fn=<MulBackward0>)
    >>> [name for name, _ in line.named_parameters()]
    ['slope']
    """

    _version: int = 1
    """The version of what a class saves: it stands in the file, for PyTorch to know older ones by."""
    _saved_since: ClassVar[dict[str, int]] = {}
    """The version that an entry of the state came with: a state of an older one is whole without it."""

    _is_ours: ClassVar[bool] = False
    """Whether ``forward`` is autokit's own, so that what it does belongs to the line that calls it."""

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._is_ours = str(getattr(cls.forward, "__module__", "")).startswith("autokit.nn.")
        inherited = cls.__init__.__qualname__.startswith("_") and not cls.__name__.startswith("_")
        if inherited and str(cls.__module__).startswith("autokit.nn."):
            cls.__init__ = _by_name_of(cls)  # type: ignore[method-assign]

    def __init__(self) -> None:
        plain = self.__dict__  # past __setattr__, which needs the registers that are made here
        plain["training"] = True
        for register in _REGISTERS:
            plain[register] = {}
        plain["_unsaved_buffers"] = set()
        plain["_hooks"] = None

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; every subclass defines it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        state = thread.state
        outer, line = state.scope, state.line
        state.scope = (outer, ref(self))
        try:
            if self._hooks is None and not of_all_modules:
                if not self._is_ours:
                    state.line = None
                elif line is None:
                    state.line = calling_line()
                return self.forward(*args, **kwargs) if kwargs else self.forward(*args)
            state.line = None
            return call_with_hooks(self, hooks_of(self), args, kwargs)
        except (RuntimeError, TypeError, ValueError, IndexError, AssertionError) as error:
            name_layer(error, self)
            raise
        finally:
            state.scope, state.line = outer, line

    # ------------------------------------------------------------ attributes

    def __setattr__(self, name: str, value: Any) -> None:
        registers = self.__dict__
        if "_parameters" not in registers:
            if isinstance(value, Parameter | Buffer | Module):
                raise AttributeError(
                    f"cannot assign module before Module.__init__() call: begin your __init__ with "
                    f"super().__init__(), then assign {name}"
                )
            object.__setattr__(self, name, value)
        elif isinstance(value, Parameter):
            self._forget(name, but_in="_parameters")
            registers["_parameters"][name] = as_registered(self, "_parameters", name, value)
        elif isinstance(value, Module):
            self._forget(name, but_in="_modules")
            registers["_modules"][name] = as_registered(self, "_modules", name, value)
        elif isinstance(value, Buffer):
            self.register_buffer(name, value, value.persistent)
        elif name in registers["_parameters"]:
            _refuse_unless_none(f"parameter '{name}' (torch.nn.Parameter", value)
            registers["_parameters"][name] = None
        elif name in registers["_modules"]:
            _refuse_unless_none(f"child module '{name}' (torch.nn.Module", value)
            registers["_modules"][name] = as_registered(self, "_modules", name, None)
        elif name in registers["_buffers"]:
            if not isinstance(value, Tensor):
                _refuse_unless_none(f"buffer '{name}' (torch.nn.Buffer, torch.Tensor", value)
            registers["_buffers"][name] = as_registered(self, "_buffers", name, value)
        else:
            if isinstance(value, Tensor):
                let_compute(self)
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        if "_modules" in own:
            for register in _REGISTERS:
                if name in own[register]:
                    return own[register][name]
        raise AttributeError(missing.of_module(self, name), name=name)

    def __delattr__(self, name: str) -> None:
        if any(name in self.__dict__.get(register, {}) for register in _REGISTERS):
            self._forget(name)
        else:
            object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        registered = [name for register in _REGISTERS for name in self.__dict__.get(register, {})]
        return sorted({*super().__dir__(), *registered})

    def _forget(self, name: str, but_in: str = "") -> None:
        """Make room for another kind of thing under this name; in its own register it keeps its place."""
        self.__dict__.pop(name, None)
        for register in _REGISTERS:
            if register != but_in:
                self.__dict__[register].pop(name, None)
        self._unsaved_buffers.discard(name)

    def _check_name(self, name: str, kind: str, register: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in register:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under ``name``; None keeps the name for later."""
        self._check_name(name, "parameter", self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and param._node is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                "explicitly. "
                "To express it as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = None if param is None else as_registered(self, "_parameters", name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the module's state but is not trained.

        ``persistent=False`` leaves it out of the ``state_dict``.
        """
        self._check_name(name, "buffer", self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' (torch Tensor or None "
                "required)"
            )
        self._buffers[name] = as_registered(self, "_buffers", name, tensor)
        if persistent:
            self._unsaved_buffers.discard(name)
        else:
            self._unsaved_buffers.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a module under ``name``."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(missing.not_a_module(module))
        self._check_name(name, "module", self._modules)
        self._modules[name] = as_registered(self, "_modules", name, module)

    register_module = add_module

    def get_submodule(self, target: str) -> Module:
        """The module at a path such as ``"encoder.0"``; ``""`` is the module itself."""
        module = self
        for name in target.split(".") if target else ():
            found = module._modules.get(name) or getattr(module, name, None)
            if found is None:
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            if not isinstance(found, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
            module = found
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put ``module`` at a path such as ``"encoder.0"``; ``strict`` insists that there is one already.

        Raises
        ------
        ValueError
            If the path is empty, or ``module`` is no module.
        AttributeError
            If the path leads nowhere.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError("`module` is not an nn.Module, found " + str(type(module)))
        path, _, name = target.rpartition(".")
        around = self.get_submodule(path)
        if strict and not hasattr(around, name):
            raise AttributeError(f"{type(around).__name__} has no attribute `{name}`")
        if hasattr(around, name) and not isinstance(getattr(around, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(around, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path such as ``"encoder.0.weight"``."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not isinstance(found := getattr(module, name, None), Parameter):
            raise AttributeError(f"{type(module).__name__} has no parameter `{name}`")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path such as ``"encoder.0.mean"``."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if (found := module._buffers.get(name)) is None:
            raise AttributeError(f"{type(module).__name__} has no buffer `{name}`")
        return found

    # ------------------------------------------------------------ walks over the model

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all inside it, each with its path; one that is shared comes once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from child.named_modules(memo, path, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all inside it; one that is shared comes once."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly inside, each with its name."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        """The modules directly inside."""
        for _, child in self.named_children():
            yield child

    def _named(
        self, register: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        owners: Iterable[tuple[str, Module]] = [(prefix, self)]
        if recurse:
            owners = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        seen = set()
        for path, module in owners:
            for name, value in module.__dict__[register].items():
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield f"{path}.{name}" if path else name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters, each with its path; one that is shared comes once."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, as an optimizer wants them."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers, each with its path."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def apply(self: Self, fn: Callable[[Module], Any]) -> Self:
        """Call ``fn`` on every module inside and then on this one, as to initialize them."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    # ------------------------------------------------------------ modes

    def train(self: Self, mode: bool = True) -> Self:
        """Set this module and all inside it to train; ``train(False)`` is :meth:`eval`."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        for module in self.modules():
            module.training = mode
        return self

    def eval(self: Self) -> Self:
        """Set this module and all inside it to evaluate."""
        return self.train(False)

    def requires_grad_(self: Self, requires_grad: bool = True) -> Self:
        """Train all parameters, or none."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters; or set them to zero."""
        for parameter in self.parameters():
            if parameter.grad is not None:
                parameter.grad = None if set_to_none else parameter.grad.detach() * 0

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing, and say so once: see :func:`torch.compile`."""
        from autokit.func.compiling import compile

        compile(self, *args, **kwargs)

    # ------------------------------------------------------------ saving and loading

    def state_dict(
        self, *, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """All parameters and persistent buffers by their paths; they share the module's memory.

        ``keep_vars`` gives the parameters themselves, not detached.
        """
        return save_state(self, destination, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy the values of ``state_dict`` into this module's parameters and buffers.

        Parameters
        ----------
        state_dict : mapping
            As :meth:`state_dict` gives it.
        strict : bool
            Insist on the very same paths; else what is missing stays as it was.
        assign : bool
            Take the tensors themselves in place of copying their values.

        Returns
        -------
        missing_keys, unexpected_keys
            A named tuple of lists; both are empty if ``strict``.

        Raises
        ------
        RuntimeError
            If something does not fit; it lists all of it, and nothing is loaded.
        """
        return load_state(self, state_dict, strict, assign)

    def get_extra_state(self) -> Any:
        """What else belongs into the state; subclasses define it, together with :meth:`set_extra_state`."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called. A module that has "
            "more to save than parameters and buffers defines this method and set_extra_state()."
        )

    def set_extra_state(self, state: Any) -> None:
        """Take over what :meth:`get_extra_state` gave."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called. A module that "
            "defines get_extra_state() defines this method too."
        )

    # ------------------------------------------------------------ as text

    def extra_repr(self) -> str:
        """What stands in the brackets of the printed module; subclasses say their settings here."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        return self._text(self.extra_repr())

    def _text(self, extra: str) -> str:
        children = self._children_text()
        if not children and "\n" not in extra:
            return f"{self._get_name()}({extra})"
        lines = [*extra.split("\n"), *children] if extra else children
        return f"{self._get_name()}(\n" + "".join(f"  {line}\n" for line in lines) + ")"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from autokit.draw.table import table_bundle
        from autokit.graphs.tables import module_table

        return table_bundle(module_table(self), repr(self))

    def _children_text(self) -> list[str]:
        return [f"({name}): {indented(child)}" for name, child in self._modules.items()]


def _refuse_unless_none(place: str, value: Any) -> None:
    if value is not None:
        kind = f"torch.{type(value).__name__}" if isinstance(value, Tensor) else type(value).__name__
        raise TypeError(f"cannot assign '{kind}' as {place} or None expected)")


def indented(module: Module | None) -> str:
    """The text of a module inside another: its later lines move to the right."""
    return repr(module).replace("\n", "\n  ")
