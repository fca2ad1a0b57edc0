"""Functions called around a module's ``forward``: to look at what goes in and out, or to change it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autokit.tensor import RemovableHandle

if TYPE_CHECKING:
    from autokit.nn.module import Module

Entry = tuple[Callable[..., Any], bool]
"""A hook, and whether it wants the keyword arguments."""


class Hooks:
    """One module's hooks, in the order in which they are called."""

    def __init__(self) -> None:
        self.before: OrderedDict[int, Entry] = OrderedDict()
        self.after: OrderedDict[int, Entry] = OrderedDict()

    def add(self, when: str, hook: Callable[..., Any], prepend: bool, with_kwargs: bool) -> RemovableHandle:
        """Put ``hook`` at the end of those called ``when``, or at their beginning."""
        hooks = getattr(self, when)
        handle = RemovableHandle(hooks, (hook, with_kwargs))
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle


def call_with_hooks(module: Module, hooks: Hooks, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run ``module.forward`` with the hooks around it."""
    for hook, with_kwargs in tuple(hooks.before.values()):
        if with_kwargs:
            changed = hook(module, args, kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got "
                        f"{changed}."
                    )
                args, kwargs = changed
        else:
            changed = hook(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
    output = module.forward(*args, **kwargs)
    for hook, with_kwargs in tuple(hooks.after.values()):
        changed = hook(module, args, kwargs, output) if with_kwargs else hook(module, args, output)
        if changed is not None:
            output = changed
    return output
