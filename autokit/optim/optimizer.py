"""What all optimizers share: groups of parameters with their settings, and a state for each parameter."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from copy import deepcopy
from typing import Any

from autokit.autograd.modes import enable_grad, no_grad
from autokit.current_gpu import SEVERAL, OnGPU, gpu_of
from autokit.ops.errors import broadcast_message, full
from autokit.ops.inplace import refuse_change
from autokit.ops.recording import calling_line
from autokit.optim.hooks import Hookable, with_hooks
from autokit.optim.hooks import register_optimizer_step_post_hook as register_optimizer_step_post_hook
from autokit.optim.hooks import register_optimizer_step_pre_hook as register_optimizer_step_pre_hook
from autokit.tensor import Tensor
from autokit.thread_state import UNUSUAL

Params = Iterable[Any]
Line = tuple[Any, int]
"""Where a change was made: a code object, and an instruction in it."""


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()
"""The default of a setting that each group must give."""


class Optimizer(Hookable):
    """Base of the optimizers.

    A method of one's own is a subclass that defines ``step()``: for each
    group of ``self.param_groups`` it changes the tensors of
    ``group["params"]`` by their ``.grad`` and the group's settings, inside
    ``torch.no_grad()``; ``self.state[parameter]`` is a dict for what it
    remembers.

    Parameters
    ----------
    params : iterable
        Of tensors; or of dicts, each with tensors under ``"params"`` and
        settings of their own; or of pairs (name, tensor).
    defaults : dict
        The settings of groups that do not say otherwise.

    Attributes
    ----------
    param_groups : list of dict
        The parameters and their settings, which may be changed between steps.
    state : dict
        What the optimizer remembers, by parameter.

    Raises
    ------
    ValueError
        If there are no parameters, one is no leaf, or one comes twice.
    TypeError
        If what is given are no tensors.

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

    _stepped = False
    _scheduled = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "step" in cls.__dict__ and not hasattr(cls.step, "has_hooks"):
            cls.step = with_hooks(cls.step)  # type: ignore[method-assign]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{params.type()}: put it into a list"
            )
        if not isinstance(params, Iterable):
            hint = ": give its model.parameters()" if hasattr(params, "parameters") else ""
            raise TypeError(f"'{type(params).__name__}' object is not iterable{hint}")
        if defaults.get("differentiable"):
            raise NotImplementedError(
                "differentiable=True is not supported: optimizers here change arrays, outside of the graph. "
                "To differentiate through a step, take the gradient with "
                "torch.autograd.grad(loss, params, create_graph=True) and compute the new parameters with "
                "operations, as in new = param - lr * gradient."
            )
        self.defaults = defaults
        self._make_room_for_hooks()
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError(
                "optimizer got an empty parameter list: model.parameters() is used up after one pass, and "
                "layers in a plain list are not found; use nn.ModuleList"
            )
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Train more parameters, under settings of their own where ``param_group`` has them."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        if "params" not in param_group:
            raise KeyError("params")
        params = _listed(param_group["params"])
        names = [param[0] for param in params if isinstance(param, tuple)]
        if names:
            if len(names) < len(params):
                raise ValueError(
                    "all optimizer params should be with/without names. Some param names are missing"
                )
            param_group["param_names"] = names
            params = [param[1] for param in params]
        param_group["params"] = params
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {_type_name(param)}"
                )
            if param.grad_fn is not None and not param.retains_grad:
                raise ValueError(
                    "can't optimize a non-leaf Tensor: it is the result of an operation, and training would "
                    "not change what it was made from"
                )
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {name}"
                )
            param_group.setdefault(name, default)
        if len(set(params)) < len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause "
                "an error; see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        for group in self.param_groups:
            if ("param_names" in param_group) != ("param_names" in group):
                with_names = "with names" if "param_names" in param_group else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. "
                    f"cannot add param group {with_names} to the optimizer"
                )
        if not {param for group in self.param_groups for param in group["params"]}.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters; or, unless ``set_to_none``, set them to zero."""
        for group in self.param_groups:
            for param in group["params"]:
                if set_to_none:
                    param._grad = None
                elif param._grad is not None:
                    param._grad.detach_().zero_()

    @with_hooks
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
        line = calling_line()
        for group in self.param_groups:
            _refuse_expanded(group["params"])
            try:
                if SEVERAL in UNUSUAL:
                    self._update_on_each_gpu(group, line)
                else:
                    self._update(group, line)
            except MemoryError as error:
                raise full(group["params"], error) from None
        return loss

    def _update_on_each_gpu(self, group: dict[str, Any], line: Line) -> None:
        """Change the parameters of one group, each on the GPU that holds it."""
        places: dict[int | None, list[Tensor]] = {}
        for param in group["params"]:
            places.setdefault(gpu_of(param), []).append(param)
        for gpu, params in places.items():
            with nullcontext() if gpu is None else OnGPU(gpu):
                self._update({**group, "params": params}, line)

    def _update(self, group: dict[str, Any], line: Line) -> None:
        """Change the parameters of one group in place, and note in their storages the line that did it."""
        raise NotImplementedError(f"{type(self).__name__} defines no step")

    # ------------------------------------------------------------ saving and loading

    def state_dict(self) -> dict[str, Any]:
        """The settings and the state, with numbers in place of the parameters.

        The tensors in it are the optimizer's own, which the next step changes: save it, or copy it
        (``copy.deepcopy``).
        """
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers: dict[Any, int] = {}
        groups, start = [], 0
        for group in self.param_groups:
            for place, param in enumerate(group["params"], start):
                numbers.setdefault(param, place)
            start += len(group["params"])
            settings = {name: value for name, value in group.items() if name != "params"}
            groups.append({**settings, "params": [numbers[param] for param in group["params"]]})
        state = {
            numbers[key] if isinstance(key, Tensor) else key: remembered
            for key, remembered in self.state.items()
        }
        result: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave; the parameters themselves stay.

        Raises
        ------
        ValueError
            If the groups do not fit this optimizer's.
        """
        state_dict = dict(state_dict)
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        given = deepcopy(state_dict["param_groups"])
        if len(given) != len(self.param_groups):
            raise ValueError(
                "loaded state dict has a different number of parameter groups: "
                f"{len(given)} in place of {len(self.param_groups)}"
            )
        for own, other in zip(self.param_groups, given, strict=True):
            if len(own["params"]) != len(other["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's "
                    f"group: {len(other['params'])} parameters in place of {len(own['params'])}"
                )
        params: dict[Any, Tensor] = {}
        for own, other in zip(self.param_groups, given, strict=True):
            params.update(zip(other["params"], own["params"], strict=True))
            other["params"] = own["params"]
            if "param_names" in own:
                other.setdefault("param_names", own["param_names"])
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, remembered in state_dict["state"].items():
            if key in params:
                state[params[key]] = _fitting(remembered, params[key])
            else:
                state[key] = remembered
        self.__setstate__({"state": state, "param_groups": given})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def _state_of_another_model(self) -> str:
        """What to say where the state of a parameter has another shape than the parameter; else empty."""
        for group in self.param_groups:
            for param in group["params"]:
                for name, value in self.state.get(param, {}).items():
                    if isinstance(value, Tensor) and value.dim() and value.shape != param.shape:
                        return (
                            f"{broadcast_message(value.shape, param.shape)}: the state's {name!r} is of "
                            f"shape {tuple(value.shape)}, and its parameter of shape {tuple(param.shape)}. "
                            "A state is for a model of the same shapes, its parameters in the same order"
                        )
        return ""

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_room_for_hooks()
        for group in self.param_groups:
            for name, default in self.defaults.items():
                group.setdefault(name, default)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for place, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {place}"] if place else [f"Parameter Group {place}"]
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([*lines, ")"])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from autokit.draw.table import table_bundle
        from autokit.graphs.tables import optimizer_table

        return table_bundle(optimizer_table(self), repr(self))


def number_of(value: Any) -> Any:
    """A setting as a Python number: learning rates and decay rates may also be tensors of one element."""
    if value.__class__ is float or value.__class__ is int:
        return value
    return value.array.item() if isinstance(value, Tensor) else float(value)


def check_one_element(**settings: Any) -> None:
    """Raise PyTorch's error for the first of ``settings`` that is a tensor of several elements."""
    for name, value in settings.items():
        if isinstance(value, Tensor) and value.array.size != 1:
            raise ValueError(f"Tensor {name} must be 1-element")


def check_not_negative(**settings: Any) -> None:
    """Raise PyTorch's error for the first of ``settings`` that is below 0 or NaN."""
    for name, value in settings.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {_WORDS.get(name, f'{name} value')}: {value}")


_WORDS = {"lr": "learning rate", "eps": "epsilon value"}


def check_betas(betas: tuple[Any, Any]) -> None:
    """Raise PyTorch's error where one of the two decay rates is not from 0 to below 1."""
    for place in (0, 1):
        if not 0.0 <= betas[place] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {place}: {betas[place]}")


def check_fused(fused: bool | None, foreach: bool | None) -> None:
    """Raise PyTorch's error where both implementations are asked for at once."""
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def _listed(params: Any) -> list[Any]:
    if isinstance(params, Tensor):
        return [params]
    if isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of tensors "
            "in sets will change between runs. Please use a list instead."
        )
    return list(params)


def _type_name(value: Any) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _fitting(value: Any, param: Tensor, name: Any = None) -> Any:
    """A copy of a loaded value, in the parameter's dtype and on its device where it belongs to them."""
    if isinstance(value, Tensor):
        if name == "step":
            return value.detach().clone()
        dtype = param.dtype if param.is_floating_point() else value.dtype
        return value.detach().to(device=param.device, dtype=dtype, copy=True)
    if isinstance(value, dict):
        return {key: _fitting(each, param, key) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_fitting(each, param) for each in value)
    return deepcopy(value)


def _refuse_expanded(params: Iterable[Tensor]) -> None:
    """Raise for a parameter to be changed whose elements share one place, as ``expand`` makes them."""
    for param in params:
        array = param.array
        if array.base is not None and param._grad is not None and 0 in array.strides:
            with no_grad():
                refuse_change(param)
