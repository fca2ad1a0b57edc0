"""Functions that a program has called around the steps of optimizers, and around their states."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from autokit.tensor import RemovableHandle

if TYPE_CHECKING:
    from autokit.optim.optimizer import Optimizer

_KINDS = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)
_step_pre_hooks_of_all: OrderedDict[int, Callable[..., Any]] = OrderedDict()
_step_post_hooks_of_all: OrderedDict[int, Callable[..., Any]] = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before each step of any optimizer."""
    return RemovableHandle(_step_pre_hooks_of_all, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after each step of any optimizer."""
    return RemovableHandle(_step_post_hooks_of_all, hook)


def with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """``step`` with the hooks called around it; learning rate schedulers learn that it was called."""

    def among_hooks(self: Optimizer, args: Any, kwargs: Any) -> Any:
        for hook in (*_step_pre_hooks_of_all.values(), *self._optimizer_step_pre_hooks.values()):
            changed = hook(self, (self, *args), kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(
                        f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                    )
                (_, *args), kwargs = changed
        result = step(self, *args, **kwargs)
        for hook in (*self._optimizer_step_post_hooks.values(), *_step_post_hooks_of_all.values()):
            hook(self, (self, *args), kwargs)
        return result

    @wraps(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        own = self.__dict__
        own["_stepped"] = True
        try:
            if "_optimizer_step_pre_hooks" in own and (  # else it only wraps another one
                own["_optimizer_step_pre_hooks"]
                or own["_optimizer_step_post_hooks"]
                or _step_pre_hooks_of_all
                or _step_post_hooks_of_all
            ):
                return among_hooks(self, args, kwargs)
            return step(self, *args, **kwargs) if args or kwargs else step(self)
        except ValueError as error:
            if "broadcast" in str(error) and (words := self._state_of_another_model()):
                raise RuntimeError(words) from error
            raise

    hooked.has_hooks = True  # type: ignore[attr-defined]
    return hooked


class Hookable:
    """An optimizer, as far as it calls hooks."""

    _optimizer_step_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_step_post_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]]

    def _make_room_for_hooks(self) -> None:
        """Let hooks of each kind be registered; those that are stay."""
        for name in _KINDS:
            self.__dict__.setdefault(name, OrderedDict())

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step; it may return other ``(args, kwargs)``."""
        return RemovableHandle(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return RemovableHandle(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[[Any], None], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` before :meth:`state_dict`; before the other hooks if ``prepend``."""
        return _registered(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` after :meth:`state_dict`; it may return another one."""
        return _registered(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before one is loaded; it may return another one."""
        return _registered(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[[Any], None], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` after a ``state_dict`` was loaded."""
        return _registered(self._optimizer_load_state_dict_post_hooks, hook, prepend)


def _registered(
    hooks: OrderedDict[int, Callable[..., Any]], hook: Callable[..., Any], prepend: bool
) -> RemovableHandle:
    handle = RemovableHandle(hooks, hook)
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle
