"""The base class of the optimizers takes the step: for each parameter it calls the method's formula.

A method such as SGD defines its formula on arrays, :meth:`Optimizer.update`. This file does the rest: it
keeps groups of parameters with different settings, skips parameters without a gradient, keeps the state of
each parameter between steps, and saves and loads these states.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from functools import wraps
from typing import Any

import numpy as np

from autokit.base import doors
from autokit.base.handles import RemovableHandle
from autokit.engine.detours import DETOURS, step_through_detours
from autokit.engine.inplace import mark_changed
from autokit.engine.modes import enable_grad
from autokit.engine.record import calling_line
from autokit.engine.tensor import Tensor, new_tensor

Params = Iterable[Any]
Group = dict[str, Any]

required = "<required parameter>"
"""The default of a setting that each group must give."""


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """``step`` with the optimizer's hooks around it; it also notes, for schedulers, that it was called."""

    @wraps(step)
    def hooked(self: Optimizer, *args: Any, **settings: Any) -> Any:
        self._stepped = True
        if DETOURS:
            return step_through_detours(self, lambda: with_hooks(self, *args, **settings))
        return with_hooks(self, *args, **settings)

    def with_hooks(self: Optimizer, *args: Any, **settings: Any) -> Any:
        if self._hooks is None:
            return step(self, *args, **settings)
        before, after = self._hooks
        for hook in tuple(before.values()):
            changed = hook(self, (self, *args), settings)
            if changed is not None:
                (_, *args), settings = changed  # type: ignore[assignment]
        result = step(self, *args, **settings)
        for hook in tuple(after.values()):
            hook(self, (self, *args), settings)
        return result

    hooked.has_hooks = True  # type: ignore[attr-defined]
    return hooked


class Optimizer:
    """Base of the optimizers.

    A new method is a subclass that defines :meth:`update`, the formula for one array; or ``step()``, which
    changes the tensors of ``group["params"]`` by their ``.grad`` for each group of ``self.param_groups``,
    inside ``torch.no_grad()``. It keeps values from step to step in the dict ``self.state[parameter]``.

    Parameters
    ----------
    params : iterable
        Of tensors; or of dicts, each with tensors under ``"params"`` and settings of that group; or of pairs
        (name, tensor).
    defaults : dict
        The settings of groups that do not say otherwise.

    Attributes
    ----------
    param_groups : list of dict
        The parameters and their settings, which may be changed between steps.
    state : dict
        What the optimizer keeps from step to step, by parameter.

    Raises
    ------
    ValueError
        If there are no parameters, one is no leaf, or one comes twice.
    TypeError
        If ``params`` holds something that is no tensor.

    Examples
    --------
    >>> import autokit as torch
    >>> class SignDescent(Optimizer):
    ...     def __init__(self, params, lr):
    ...         super().__init__(params, {"lr": lr})
    ...
    ...     @torch.no_grad()
    ...     def step(self):
    ...         for group in self.param_groups:
    ...             for param in group["params"]:
    ...                 param -= group["lr"] * param.grad.sign()
    >>> x = torch.tensor([3.0, -2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> SignDescent([x], lr=0.5).step()
    >>> x
    tensor([ 2.5000, -1.5000], requires_grad=True)
    """

    _repr_mimebundle_ = doors.shown

    numbers: tuple[str, ...] = ("step",)
    """Those states that are one number for any shape of the parameter; a formula reads their ``item()``."""

    _hooks: tuple[dict[int, Any], dict[int, Any]] | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "step" in cls.__dict__ and not hasattr(cls.step, "has_hooks"):
            cls.step = _with_hooks(cls.step)  # type: ignore[method-assign]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                "one Tensor: put it into a list"
            )
        if not isinstance(params, Iterable):
            hint = ": give its model.parameters()" if hasattr(params, "parameters") else ""
            raise TypeError(f"'{type(params).__name__}' object is not iterable{hint}")
        self._stepped = False
        self.defaults = defaults
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[Group] = []
        groups = list(params)
        if not groups:
            raise ValueError(
                "optimizer got an empty parameter list: model.parameters() is used up after one pass, and "
                "layers in a plain list are not found; use nn.ModuleList"
            )
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    # ------------------------------------------------------------ groups

    def add_param_group(self, param_group: Group) -> None:
        """Train more parameters, with the settings in ``param_group``, or else with the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer parameters need to be in an order, but a set has none: use a list")
        params = [params] if isinstance(params, Tensor) else list(params)
        if params and all(isinstance(each, tuple) for each in params):  # as named_parameters() gives them
            param_group["param_names"] = [name for name, _ in params]
            params = [param for _, param in params]
        self._check(params)
        param_group["params"] = params
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required parameter {name}")
            param_group.setdefault(name, default)
        self.param_groups.append(param_group)

    def _check(self, params: list[Any]) -> None:
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {type(param).__name__}"
                )
            if param.grad_fn is not None and not param.retains_grad:
                raise ValueError(
                    "can't optimize a non-leaf Tensor: it is the result of an operation, and training would "
                    "not change what it was computed from"
                )
        if len(set(params)) < len(params):
            warnings.warn(
                "a parameter group has duplicate parameters: a step changes them twice", stacklevel=5
            )
        if not {param for group in self.param_groups for param in group["params"]}.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None; or, unless ``set_to_none``, to zero."""
        for group in self.param_groups:
            for param in group["params"]:
                if set_to_none:
                    param._grad = None
                elif param._grad is not None:
                    param._grad.detach_().zero_()

    # ------------------------------------------------------------ the step

    @_with_hooks
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change all parameters once, by their gradients.

        Parameters
        ----------
        closure : callable, optional
            Computes the loss anew and calls ``backward()``; called first, and its result is returned.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            self._change(group)
        return loss

    def _change(self, group: Group) -> None:
        """One step of the parameters of a group."""
        if isinstance(group.get("lr"), Tensor):
            group = {**group, "lr": group["lr"].item()}
        maximize, line = group.get("maximize"), calling_line()
        decay = 0 if group.get("decoupled_weight_decay") else group.get("weight_decay")
        remembers = True  # until a first state is empty, as of plain SGD
        for param in group["params"]:
            if param._grad is None:
                continue
            array, gradient = param.array, param._grad.array
            if maximize:
                gradient = -gradient
            if decay:  # the gradient of loss + decay/2 · ‖param‖²
                gradient = gradient + decay * array
            state = self.state.get(param)
            if state is None and remembers:
                state = self._begin(param, gradient, group)
                remembers = bool(state)
            memory = {name: value.array for name, value in state.items()} if state else {}
            if "step" in memory:
                memory["step"] += 1
            try:
                self.update(array, gradient, memory, group)
            except ValueError as error:
                raise _explained(error, param, state or {}) from None
            mark_changed(param, line)

    def _begin(self, param: Tensor, gradient: Any, group: Group) -> dict[str, Any]:
        """The first state of ``param``, which is kept in ``self.state`` unless it is empty."""
        begun = self.initial_state(param.array, gradient, group)
        if begun:
            self.state[param] = {name: new_tensor(value) for name, value in begun.items()}
        return self.state[param] if begun else begun

    def initial_state(self, array: Any, gradient: Any, group: Group) -> dict[str, Any]:
        """The state of a parameter before its first step: arrays by name; by default there are none."""
        return {}

    def update(self, array: Any, gradient: Any, state: dict[str, Any], group: Group) -> None:
        """The formula: change ``array`` and the arrays of ``state`` in place.

        Parameters
        ----------
        array : ndarray
            The parameter.
        gradient : ndarray
            The gradient, in which ``maximize`` and ``weight_decay`` are taken into account already.
        state : dict
            The arrays of :meth:`initial_state`; if it has a ``step``, that counts this step already.
        group : dict
            The settings; ``group["lr"]`` is a number.
        """
        raise NotImplementedError(f"{type(self).__name__} defines neither update() nor step()")

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step; it may return other ``(args, kwargs)``."""
        self._hooks = self._hooks or ({}, {})
        return RemovableHandle(self._hooks[0], hook)

    def register_step_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        self._hooks = self._hooks or ({}, {})
        return RemovableHandle(self._hooks[1], hook)

    # ------------------------------------------------------------ saving and loading

    def state_dict(self) -> dict[str, Any]:
        """The settings and the state, with numbers in place of the parameters.

        The tensors in it are the optimizer's, which the next step changes: save it, or copy it
        (``copy.deepcopy``).
        """
        numbers: dict[Any, int] = {}
        groups = []
        for group in self.param_groups:
            for param in group["params"]:
                numbers.setdefault(param, len(numbers))
            settings = {name: value for name, value in group.items() if name != "params"}
            groups.append({**settings, "params": [numbers[param] for param in group["params"]]})
        state = {numbers.get(key, key): remembered for key, remembered in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Load what :meth:`state_dict` returned; the parameters themselves stay.

        Raises
        ------
        ValueError
            If the groups do not fit this optimizer's.
        """
        given = deepcopy(state_dict["param_groups"])
        sizes = [[len(group["params"]) for group in groups] for groups in (given, self.param_groups)]
        if sizes[0] != sizes[1]:
            raise ValueError(
                f"the loaded state dict has groups of {sizes[0]} parameters, and the optimizer of {sizes[1]}"
            )
        params: dict[Any, Tensor] = {}
        for ours, other in zip(self.param_groups, given, strict=True):
            params.update(zip(other["params"], ours["params"], strict=True))
            other["params"] = ours["params"]
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, remembered in state_dict["state"].items():
            state[params.get(key, key)] = _fitting(remembered, params[key]) if key in params else remembered
        self.__setstate__({"state": state, "param_groups": given})

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for group in self.param_groups:
            for name, default in self.defaults.items():
                group.setdefault(name, default)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for place, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {place}"] if place else [f"Parameter Group {place}"]
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([*lines, ")"])


# ---------------------------------------------------------------- what the methods share


def zeros(array: Any, *names: str) -> dict[str, Any]:
    """A state that counts the steps, and has zeros in the shape of ``array`` under each of ``names``."""
    return {"step": np.zeros((), np.float32), **{name: np.zeros_like(array) for name in names}}


def checked(**settings: Any) -> dict[str, Any]:
    """``settings``, and an error if one is below 0 or NaN; both of ``betas`` must also be below 1."""
    words = {"lr": "learning rate", "eps": "epsilon value"}
    for name, value in settings.items():
        if name == "betas":
            for place in (0, 1):
                if not 0.0 <= value[place] < 1.0:
                    raise ValueError(f"Invalid beta parameter at index {place}: {value[place]}")
        elif not value >= 0.0:
            raise ValueError(f"Invalid {words.get(name, f'{name} value')}: {value}")
    return settings


def _explained(error: ValueError, param: Tensor, state: dict[str, Any]) -> Exception:
    """The exception to raise where NumPy could not write a step into ``param``."""
    if not param.array.flags.writeable:
        return RuntimeError(
            "more than one element of the written-to tensor refers to a single memory location, as after "
            "expand(): train the tensor that was expanded"
        )
    for name, value in state.items():
        if isinstance(value, Tensor) and value.dim() and value.shape != param.shape:
            return RuntimeError(
                f"the state's {name!r} has shape {list(value.shape)}, and its parameter shape "
                f"{list(param.shape)}: a state is for the same parameters in the same order"
            )
    return error


def _fitting(value: Any, param: Tensor, name: Any = None) -> Any:
    """A copy of a loaded value, in the parameter's dtype and on its device; the step count stays as it is."""
    if isinstance(value, Tensor):
        if name == "step":
            return value.detach().clone()
        dtype = param.dtype if value.is_floating_point() else value.dtype
        return value.detach().to(device=param.device, dtype=dtype, copy=True)
    if isinstance(value, dict):
        return {key: _fitting(each, param, key) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_fitting(each, param) for each in value]
    return deepcopy(value)
