"""Hooks of every module: for a look at a whole program, as a profiler takes it, or at its building."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autokit.handles import RemovableHandle
from autokit.nn.hooks import add_for_all, of_registration
from autokit.nn.module import Module

__all__ = [
    "Module",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before the ``forward`` of every module; it may return other arguments."""
    return add_for_all("before", hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after every ``forward``; it may return another output.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.nn.modules.module import register_module_forward_hook
    >>> def tell(module, args, output):
    ...     print(type(module).__name__, tuple(output.shape))
    >>> with register_module_forward_hook(tell):
    ...     _ = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())(torch.ones(1, 2))
    Linear (1, 3)
    ReLU (1, 3)
    Sequential (1, 3)
    """
    return add_for_all("after", hook, with_kwargs, always_call)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` when gradients arrive at any module; it may return others."""
    return add_for_all("arriving", hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` when the gradients by any module's inputs are known."""
    return add_for_all("leaving", hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` where any module gets a parameter; it may return another.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.nn.modules.module import register_module_parameter_registration_hook
    >>> def tell(module, name, parameter):
    ...     print(type(module).__name__, name, tuple(parameter.shape))
    >>> with register_module_parameter_registration_hook(tell):
    ...     _ = torch.nn.Linear(2, 3)
    Linear weight (3, 2)
    Linear bias (3,)
    """
    return RemovableHandle(of_registration["_parameters"], hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` where any module gets a buffer; it may return another."""
    return RemovableHandle(of_registration["_buffers"], hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` where any module gets another inside; it may return another."""
    return RemovableHandle(of_registration["_modules"], hook)
