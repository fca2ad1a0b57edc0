"""What all optimizers share: groups of parameters with their settings, and a state for each parameter."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from sys import _getframe as get_frame
from typing import Any

from autokit.autograd.modes import enable_grad
from autokit.dtypes import FLOATS
from autokit.ops.recording import OUR_FILES
from autokit.tensor import Tensor, new_tensor

Params = Iterable[Any]
Line = tuple[Any, int]
"""Where a change was made: a code object, and an instruction in it."""


class Optimizer:
    """Base of the optimizers; a subclass defines ``_update(group, line)``.

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
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                "torch.Tensor: put it into a list"
            )
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError(
                "optimizer got an empty parameter list: model.parameters() is used up after one pass, and "
                "layers in "
                "a plain list are not found; use nn.ModuleList"
            )
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Train more parameters, under settings of their own where ``param_group`` has them."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group = dict(param_group)
        params = group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of "
                "tensors in "
                "sets will change between runs. Please use a list instead."
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        named = [isinstance(param, tuple) for param in params]
        if any(named):
            if not all(named):
                raise ValueError(
                    "all optimizer params should be with/without names. Some param names are missing"
                )
            group["param_names"] = [name for name, _ in params]
            params = [param for _, param in params]
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {type(param).__name__}"
                )
            if param.grad_fn is not None and not param.retains_grad:
                raise ValueError(
                    "can't optimize a non-leaf Tensor: it is the result of an operation, and training would "
                    "not "
                    "change what it was made from"
                )
        if len(set(params)) < len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause "
                "an error",
                stacklevel=3,
            )
        if not {param for known in self.param_groups for param in known["params"]}.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append({**group, "params": params, **self._settings_of(group)})

    def _settings_of(self, group: Mapping[str, Any]) -> dict[str, Any]:
        return {name: group.get(name, value) for name, value in self.defaults.items()}

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters; or set them to zero."""
        for group in self.param_groups:
            for param in group["params"]:
                if set_to_none:
                    param._grad = None
                elif param._grad is not None:
                    param._grad = new_tensor(param._grad.array * 0)

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
        line = _calling_line()
        for group in self.param_groups:
            self._update(group, line)
        return loss

    def _update(self, group: dict[str, Any], line: Line) -> None:
        """Change the parameters of one group in place, and note in their storages the line that did it."""
        raise NotImplementedError(f"{type(self).__name__} defines no step")

    # ------------------------------------------------------------ saving and loading

    def state_dict(self) -> dict[str, Any]:
        """The settings and the state, with numbers in place of the parameters."""
        numbers: dict[Tensor, int] = {}
        for group in self.param_groups:
            for param in group["params"]:
                numbers.setdefault(param, len(numbers))
        return {
            "state": {numbers[param]: state for param, state in self.state.items()},
            "param_groups": [
                {
                    **{name: value for name, value in group.items() if name != "params"},
                    "params": [numbers[param] for param in group["params"]],
                }
                for group in self.param_groups
            ],
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what :meth:`state_dict` gave; the parameters themselves stay.

        Raises
        ------
        ValueError
            If the groups do not fit this optimizer's.
        """
        given = state_dict["param_groups"]
        if len(given) != len(self.param_groups):
            raise ValueError(
                "loaded state dict has a different number of parameter groups: "
                f"{len(given)} in place of {len(self.param_groups)}"
            )
        for own, other in zip(self.param_groups, given, strict=True):
            if len(own["params"]) != len(other["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's "
                    "group: "
                    f"{len(other['params'])} parameters in place of {len(own['params'])}"
                )
        state = deepcopy(state_dict["state"])
        self.state.clear()
        for own, other in zip(self.param_groups, given, strict=True):
            own.update({name: deepcopy(value) for name, value in other.items() if name != "params"})
            for param, number in zip(own["params"], other["params"], strict=True):
                if number in state:
                    self.state[param] = {
                        name: _fitting(value, param) for name, value in state[number].items()
                    }

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for place, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {place}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([*lines, ")"])


def _calling_line() -> Line:
    """The line of the learner's program that asked for a step."""
    frame = get_frame(1)
    while frame.f_code.co_filename in OUR_FILES:
        frame = frame.f_back  # type: ignore[assignment]
    return frame.f_code, frame.f_lasti


def check_not_negative(**settings: float) -> None:
    """Raise PyTorch's error for the first of ``settings`` that is below 0 or NaN."""
    for name, value in settings.items():
        if not value >= 0:
            raise ValueError(f"Invalid {_WORDS.get(name, name)}: {value}")


_WORDS = {"lr": "learning rate", "momentum": "momentum value", "weight_decay": "weight_decay value"}


def _fitting(value: Any, param: Tensor) -> Any:
    """A loaded value in the parameter's dtype, where it goes with the parameter's elements."""
    if isinstance(value, Tensor) and value.array.dtype.kind in FLOATS and value.array.ndim:
        return new_tensor(value.array.astype(param.array.dtype, copy=False))
    return value
