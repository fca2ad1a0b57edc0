"""A module has parameters and a ``forward`` that computes with them; it may hold other modules.

A value that is assigned to an attribute of a module is stored by its kind: there is a register for
parameters, one for buffers and one for modules, and everything else becomes an ordinary attribute.
``parameters()``, ``state_dict()`` and similar methods read these registers.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar
from weakref import ref

from autokit.base import doors
from autokit.base.dtypes import BY_NAME, as_dtype, dtype
from autokit.base.missing import near, pytorch_names
from autokit.engine.modes import no_grad, thread
from autokit.engine.record import calling_line
from autokit.engine.tensor import Tensor
from autokit.nn.hooks import Hookable, call_with_hooks
from autokit.nn.parameter import Buffer, Parameter
from autokit.nn.state import IncompatibleKeys, load_state, save_state

Self = TypeVar("Self", bound="Module")

REGISTERS = ("_parameters", "_buffers", "_modules")
_KINDS = {
    "_parameters": "parameter '{}' (torch.nn.Parameter or None expected)",
    "_buffers": "buffer '{}' (torch.Tensor or None expected)",
    "_modules": "child module '{}' (torch.nn.Module or None expected)",
}


class Module(Hookable):
    """The base of all layers and models.

    Subclasses call ``super().__init__()``, assign layers and parameters to attributes, and define
    ``forward``.

    Attributes
    ----------
    training : bool
        Set by :meth:`train` and :meth:`eval`; layers such as dropout depend on it.

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

    _repr_mimebundle_ = doors.shown

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]

    _is_ours = False
    """Whether ``forward`` is autokit's, so that its operations belong to the line that calls the module."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._is_ours = str(getattr(cls.forward, "__module__", "")).startswith("autokit.")

    def __init__(self) -> None:
        plain = self.__dict__  # not by __setattr__, which needs the registers
        plain["training"] = True
        for register in REGISTERS:
            plain[register] = {}
        plain["_unsaved_buffers"] = set()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; every subclass defines it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        state, hooks = thread.state, self._hooks
        outer, line = state.scope, None
        if hooks is None and self._is_ours:
            line = (outer and outer[2]) or calling_line()
        state.scope = (outer, ref(self), line)
        try:
            if hooks is None:
                return self.forward(*args, **kwargs)
            return call_with_hooks(self, hooks, args, kwargs)
        except (RuntimeError, TypeError, ValueError, IndexError, AssertionError) as error:
            _name_layer(error, self)
            raise
        finally:
            state.scope = outer

    def hybridize(self: Self, active: bool = True, **settings: Any) -> Self:
        """Run ``forward`` as a static graph from now on; ``hybridize(False)`` goes back.

        The name is that of MXNet's Gluon. ``settings`` are those of :func:`autokit.static.compile`.

        Examples
        --------
        >>> import autokit as torch
        >>> layer = torch.nn.Linear(2, 1).hybridize()
        >>> layer(torch.ones(4, 2)).shape
        torch.Size([4, 1])
        """
        self.__dict__.pop("forward", None)
        if active:
            self.__dict__["forward"] = doors.compiled(self.forward, **settings)
        return self

    # ------------------------------------------------------------ attributes

    def __setattr__(self, name: str, value: Any) -> None:
        registers = self.__dict__
        kind = _register_for(value)
        register = kind or self._register_of(name)
        if register is None:
            object.__setattr__(self, name, value)
            return
        if "_parameters" not in registers:
            raise AttributeError(
                f"cannot assign module before Module.__init__() call: begin your __init__ with "
                f"super().__init__(), then assign {name}"
            )
        is_new_buffer = register == "_buffers" and isinstance(value, Tensor)
        if kind is None and value is not None and not is_new_buffer:
            place = _KINDS[register].format(name)
            raise TypeError(f"cannot assign '{type(value).__name__}' as {place}")
        self._forget(name, but_in=register)
        registers[register][name] = value
        if isinstance(value, Buffer):
            self._save_or_not(name, value.persistent)

    def __getattr__(self, name: str) -> Any:
        plain = self.__dict__
        for register in REGISTERS:
            if register in plain and name in plain[register]:
                return plain[register][name]
        raise AttributeError(_no_attribute(self, name), name=name, obj=self)

    def __delattr__(self, name: str) -> None:
        if self._register_of(name):
            self._forget(name)
        else:
            object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        registered = [name for register in REGISTERS for name in self.__dict__.get(register, {})]
        return sorted({*super().__dir__(), *registered})

    def _register_of(self, name: str) -> str | None:
        """The register that has an entry ``name``."""
        plain = self.__dict__
        return next((each for each in REGISTERS if name in plain.get(each, ())), None)

    def _forget(self, name: str, but_in: str = "") -> None:
        """Remove a value of another kind from this name; one of the same kind keeps its place."""
        self.__dict__.pop(name, None)
        for register in REGISTERS:
            if register != but_in:
                self.__dict__[register].pop(name, None)
        if but_in != "_buffers":
            self._unsaved_buffers.discard(name)

    def _save_or_not(self, name: str, persistent: bool) -> None:
        if persistent:
            self._unsaved_buffers.discard(name)
        else:
            self._unsaved_buffers.add(name)

    def _check_name(self, name: str, kind: str, register: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type(name).__name__}")
        if "." in name or not name:
            raise KeyError(f'{kind} name can\'t contain "." or be empty, got: {name!r}')
        if name not in register and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under ``name``; None keeps the name for later."""
        self._check_name(name, "parameter", self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' as {_KINDS['_parameters'].format(name)}: "
                "put nn.Parameter(...) around it"
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the module's state but is not trained.

        ``persistent=False`` leaves it out of the ``state_dict``.
        """
        self._check_name(name, "buffer", self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{type(tensor).__name__}' as {_KINDS['_buffers'].format(name)}")
        self._buffers[name] = tensor
        self._save_or_not(name, persistent)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a module under ``name``."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(_not_a_module(module))
        self._check_name(name, "module", self._modules)
        self._modules[name] = module

    register_module = add_module

    def get_submodule(self, target: str) -> Module:
        """The module at a path such as ``"encoder.0"``; ``""`` is the module itself."""
        module = self
        for name in target.split(".") if target else ():
            found = getattr(module, name, None)
            if not isinstance(found, Module):
                raise AttributeError(
                    f"{type(module).__name__} has no module `{name}`, in the path {target!r}"
                )
            module = found
        return module

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path such as ``"encoder.0.weight"``."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not isinstance(found := getattr(module, name, None), Parameter):
            raise AttributeError(f"{type(module).__name__} has no parameter `{name}`")
        return found

    # ------------------------------------------------------------ the parts of the model

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

    def modules(self) -> Iterator[Module]:
        """This module and all inside it; one that is shared comes once."""
        for _, module in self.named_modules():
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
        """All parameters, as an optimizer takes them."""
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
        self.training = mode
        for child in self.children():
            child.train(mode)
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
        """Set the gradients of all parameters to None; or, unless ``set_to_none``, to zero."""
        for parameter in self.parameters():
            if parameter.grad is not None:
                parameter.grad = None if set_to_none else parameter.grad.detach() * 0

    # ------------------------------------------------------------ devices and dtypes

    def to(self: Self, *args: Any, **kwargs: Any) -> Self:
        """Move and convert all parameters and buffers, in place: ``to(device)``, ``to(dtype)``, or both.

        A dtype changes floating point tensors only.
        """
        device = kwargs.pop("device", None)
        kind = kwargs.pop("dtype", None)
        kwargs.pop("non_blocking", None)
        if kwargs:
            raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
        for argument in args:
            if isinstance(argument, dtype | type):
                kind = argument
            elif isinstance(argument, Tensor):
                device, kind = argument.device, argument.dtype
            elif argument is not None and not isinstance(argument, bool):  # a bool is non_blocking
                device = argument
        kind = None if kind is None else as_dtype(kind)
        if kind is not None and not kind.is_floating_point:
            raise TypeError(f"nn.Module.to only accepts floating point dtypes, but got desired dtype={kind}")

        def convert(tensor: Tensor) -> Tensor:
            return tensor.to(device=device, dtype=kind if tensor.dtype.is_floating_point else None)

        return self._convert(convert)

    def _convert(self: Self, convert: Callable[[Tensor], Tensor]) -> Self:
        """Convert every parameter and buffer; the parameters stay the objects that optimizers hold."""
        with no_grad():
            for parameter in self.parameters():
                parameter.data = convert(parameter.data)
                if parameter.grad is not None:
                    parameter.grad = convert(parameter.grad)
            for module in self.modules():
                for name, buffer in module._buffers.items():
                    if buffer is None:
                        continue
                    if hasattr(buffer, "materialize"):  # a lazy layer's, which stays one
                        buffer.data = convert(buffer.data)
                    else:
                        module._buffers[name] = convert(buffer)
        return self

    def float(self: Self) -> Self:
        """All floating point parameters and buffers as float32."""
        return self.to(BY_NAME["float32"])

    def double(self: Self) -> Self:
        """All floating point parameters and buffers as float64."""
        return self.to(BY_NAME["float64"])

    def half(self: Self) -> Self:
        """All floating point parameters and buffers as float16."""
        return self.to(BY_NAME["float16"])

    def cpu(self: Self) -> Self:
        """All parameters and buffers in main memory."""
        return self.to("cpu")

    def cuda(self: Self, device: Any = None) -> Self:
        """All parameters and buffers on a GPU."""
        return self.to("cuda" if device is None else device)

    # ------------------------------------------------------------ saving and loading

    def state_dict(
        self, *, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """All parameters and persistent buffers by their paths; they share the module's memory.

        ``keep_vars`` gives the parameters themselves, not detached.
        """
        return save_state(self, OrderedDict() if destination is None else destination, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy the values of ``state_dict`` into this module's parameters and buffers.

        Parameters
        ----------
        state_dict : mapping
            As :meth:`state_dict` gives it.
        strict : bool
            Require exactly the same paths; else parameters that are missing stay as they were.
        assign : bool
            Hold the tensors themselves in place of copying their values.

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

    # ------------------------------------------------------------ as text

    def extra_repr(self) -> str:
        """The text in the brackets of the printed module; subclasses return their settings."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra, children = self.extra_repr(), self._children_text()
        if not children and "\n" not in extra:
            return f"{self._get_name()}({extra})"
        lines = [*extra.split("\n"), *children] if extra else children
        return f"{self._get_name()}(\n" + "".join(f"  {line}\n" for line in lines) + ")"

    def _children_text(self) -> list[str]:
        return [f"({name}): {indented(child)}" for name, child in self._modules.items()]


def indented(module: Module | None) -> str:
    """The text of a module inside another: its later lines move to the right."""
    return repr(module).replace("\n", "\n  ")


def _register_for(value: Any) -> str | None:
    """The register that a value of this kind belongs to."""
    if isinstance(value, Parameter):
        return "_parameters"
    if isinstance(value, Module):
        return "_modules"
    return "_buffers" if isinstance(value, Buffer) else None


# ---------------------------------------------------------------- errors that teach


def _no_attribute(module: Module, name: str) -> str:
    said = f"'{type(module).__name__}' object has no attribute '{name}'"
    if name.startswith("_"):
        return said
    if "_modules" not in vars(module):
        return f"{said}: call super().__init__() first"
    if name in ("device", "dtype"):
        return f"{said}: its tensors have one each, as next(model.parameters()).{name}"
    if name in pytorch_names().get("torch.nn.Module", ()):
        return f"{said}: PyTorch's modules have it, autokit's do not"
    if hasattr(Tensor, name):
        kind = type(module).__name__
        return f"{said}: tensors have it; {kind}(...) makes a layer, which gives one when it is called"
    return said + near(name, dir(module))


def _not_a_module(value: Any) -> str:
    name = getattr(value, "__name__", type(value).__name__)
    said = f"{name} is not a Module subclass"
    if isinstance(value, type):
        return f"{said}: it is a class, and {name}() makes a layer of it"
    if isinstance(value, list | tuple):
        return f"{said}: give the modules one by one, as in nn.Sequential(*layers)"
    return f"{said}: a function is no layer; use nn.ReLU() for relu" if callable(value) else said


def _name_layer(error: Exception, module: Module) -> None:
    """Add to ``error`` which layer of the model it comes from, if that is one of autokit's.

    An error in a learner's ``forward`` needs no such help, and the innermost layer alone says where.
    """
    home = str(type(module).forward.__module__)
    if not home.startswith("autokit.nn.") or home == "autokit.nn.container" or hasattr(error, "layer"):
        return
    if len(error.args) == 1 and isinstance(error.args[0], str):
        path = _path_in_model()
        error.args = (f"{error.args[0]} [in {path + ': ' if path else ''}{module}]",)
        error.layer = path  # type: ignore[attr-defined]


def _path_in_model() -> str:
    """The path in the outermost module of the one whose ``forward`` is running, as ``"encoder.0"``."""
    running, scope = [], thread.state.scope
    while scope is not None:
        scope, module, _ = scope
        running.append(module())
    path = ""
    while len(running) > 1:
        outer, inner = running.pop(), running[-1]
        step = next((name for name, module in outer.named_modules() if module is inner), type(inner).__name__)
        path = f"{path}.{step}" if path else step
    return path
