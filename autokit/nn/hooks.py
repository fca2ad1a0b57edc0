"""Functions called around a module, on the way forward and back: to look at what passes, or to change it."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autokit.autograd.function import Function
from autokit.tensor import RemovableHandle, Tensor
from autokit.thread_state import thread

if TYPE_CHECKING:
    from autokit.nn.module import Module

Listed = OrderedDict[int, Callable[..., Any]]
"""Hooks by their number, which no two have in common."""


class Hooks:
    """One module's hooks, in the order in which they are called.

    Attributes
    ----------
    before, after : dict
        Around ``forward``.
    always : set of int
        Those of ``after`` that are called even if ``forward`` fails.
    with_kwargs : set of int
        Those that get the keyword arguments too, or, of ``loading``, the module.
    arriving, leaving : dict
        On the way back: before the module's gradients are found, and after.
    last_node : dict
        The older kind, which sees only the last node of the module.
    saving, saved, loading, loaded : dict
        Around ``state_dict`` and ``load_state_dict``.
    """

    def __init__(self) -> None:
        self.before: Listed = OrderedDict()
        self.after: Listed = OrderedDict()
        self.always: set[int] = set()
        self.with_kwargs: set[int] = set()
        self.arriving: Listed = OrderedDict()
        self.leaving: Listed = OrderedDict()
        self.last_node: Listed = OrderedDict()
        self.saving: Listed = OrderedDict()
        self.saved: Listed = OrderedDict()
        self.loading: Listed = OrderedDict()
        self.loaded: Listed = OrderedDict()

    def add(
        self, when: str, hook: Callable[..., Any], prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Put ``hook`` at the end of those called ``when``, or at their beginning."""
        hooks = getattr(self, when)
        handle = RemovableHandle(hooks, hook)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        if with_kwargs:
            self.with_kwargs.add(handle.id)
        return handle


def _listed(when: str, doc: str) -> property:
    """PyTorch's name of the hooks that are called ``when``, by which programs look at them and clear them."""

    def read(module: Hookable) -> Listed:
        return getattr(module._all_hooks(), when)

    def write(module: Hookable, hooks: Listed) -> None:
        setattr(module._all_hooks(), when, hooks)

    return property(read, write, doc=doc)


class Hookable:
    """What a module has to be looked at and changed from outside: the methods that register hooks."""

    _hooks: Hooks | None = None

    _forward_pre_hooks = _listed("before", "The hooks called before ``forward``, by their number.")
    _forward_hooks = _listed("after", "The hooks called after ``forward``, by their number.")
    _backward_pre_hooks = _listed("arriving", "The hooks called before the gradients are found.")
    _backward_hooks = _listed("leaving", "The hooks called when the gradients are known.")

    def register_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before this module's part of a :meth:`state_dict`."""
        return self._all_hooks().add("saving", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after its part, to change it."""
        return self._all_hooks().add("saved", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call a hook before anything is loaded; it may change ``state_dict`` in place, as to rename keys.

        The call is ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)``; what it adds to the lists, :meth:`load_state_dict` reports.
        """
        return self._all_hooks().add("loading", hook, with_kwargs=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., None], with_module: bool = False
    ) -> RemovableHandle:
        return self._all_hooks().add("loading", hook, with_kwargs=with_module)

    def register_load_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after all was loaded; it may change the lists in place."""
        return self._all_hooks().add("loaded", hook)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before every ``forward``; it may return other arguments.

        ``with_kwargs`` makes that ``hook(module, args, kwargs)``, which may
        return both; ``prepend`` puts it before the other hooks.
        """
        return self._all_hooks().add("before", hook, prepend, with_kwargs)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after every ``forward``; it may return another output.

        ``with_kwargs`` makes that ``hook(module, args, kwargs, output)``;
        ``always_call`` calls it even if ``forward`` fails.
        """
        hooks = self._all_hooks()
        handle = hooks.add("after", hook, prepend, with_kwargs)
        if always_call:
            hooks.always.add(handle.id)
        return handle

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the gradients by the inputs are known.

        It may return other gradients in place of ``grad_input``.
        """
        return self._hooks_without("last_node").add("leaving", hook, prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` when gradients arrive; it may return others."""
        return self._all_hooks().add("arriving", hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook`` at the last node of the module alone; use :meth:`register_full_backward_hook`."""
        return self._hooks_without("leaving").add("last_node", hook)

    def _hooks_without(self, other: str) -> Hooks:
        hooks = self._all_hooks()
        if getattr(hooks, other):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please "
                "use only one of them."
            )
        return hooks

    def _all_hooks(self) -> Hooks:
        hooks = self._hooks
        if hooks is None:
            hooks = self.__dict__["_hooks"] = Hooks()
        return hooks


of_all_modules: dict[int, tuple[str, Callable[..., Any], bool, bool]] = {}
"""Hooks of every module: when each is called, the hook, whether it gets the keyword arguments, and
whether it is called even if ``forward`` fails."""


def add_for_all(
    when: str, hook: Callable[..., Any], with_kwargs: bool = False, always: bool = False
) -> RemovableHandle:
    """Call ``hook`` for every module there is and will be, before the module's own hooks."""
    return RemovableHandle(of_all_modules, (when, hook, with_kwargs, always))


of_registration: dict[str, dict[int, Callable[..., Any]]] = {
    "_parameters": {},
    "_buffers": {},
    "_modules": {},
}
"""Hooks of every module, by the register into which something is put."""


def as_registered(module: Module, register: str, name: str, value: Any) -> Any:
    """What a register of ``module`` gets under ``name``: ``value``, or what a hook gives in its place."""
    for hook in tuple(of_registration[register].values()):
        changed = hook(module, name, value)
        if changed is not None:
            value = changed
    return value


def hooks_of(module: Module) -> Hooks:
    """The hooks around a call of ``module``: those of every module, and then its own."""
    own = module._hooks
    if not of_all_modules:
        assert own is not None
        return own
    both = Hooks()
    for key, (when, hook, with_kwargs, always) in of_all_modules.items():
        getattr(both, when)[key] = hook
        if with_kwargs:
            both.with_kwargs.add(key)
        if always:
            both.always.add(key)
    if own is not None:
        both.always |= own.always
        both.with_kwargs |= own.with_kwargs
        for when in ("before", "after", "arriving", "leaving", "last_node"):
            getattr(both, when).update(getattr(own, when))
    return both


def call_with_hooks(module: Module, hooks: Hooks, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run ``module.forward`` with the hooks around it."""
    output, called = None, set()
    try:
        args, kwargs = _before(module, hooks, args, kwargs)
        way_back = _WayBack(module, hooks) if hooks.arriving or hooks.leaving else None
        if way_back is not None:
            args = way_back.into(args)
        output = module.forward(*args, **kwargs)
        for key, hook in tuple(hooks.after.items()):
            called.add(key)
            more = (kwargs,) if key in hooks.with_kwargs else ()
            changed = hook(module, args, *more, output)
            if changed is not None:
                output = changed
    except Exception:
        for key in [key for key in hooks.after if key in hooks.always and key not in called]:
            more = (kwargs,) if key in hooks.with_kwargs else ()
            try:
                hooks.after[key](module, args, *more, output)
            except Exception as error:
                warnings.warn(
                    "module forward hook with ``always_call=True`` raised an exception that was silenced as "
                    f"another error was raised in forward: {error}",
                    stacklevel=3,
                )
        raise
    if way_back is not None:
        output = way_back.out_of(output)
    for hook in tuple(hooks.last_node.values()):
        _hook_last_node(module, hook, output)
    return output


def _before(
    module: Module, hooks: Hooks, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    for key, hook in tuple(hooks.before.items()):
        if key in hooks.with_kwargs:
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
    return args, kwargs


# ---------------------------------------------------------------- on the way back


class BackwardHookFunction(Function):
    """Nothing but a place in the graph: ``passing`` sees the gradients that pass it, and may change them."""

    @staticmethod
    def forward(ctx: Any, passing: Callable[..., Any], fill: bool, *tensors: Tensor) -> Any:
        """The tensors, as they are; ``fill`` makes zeros of gradients that there are none of."""
        ctx.set_materialize_grads(fill)
        ctx.passing = passing
        through = [each.view_as(each) for each in tensors]
        ctx.mark_non_differentiable(*[out for out, each in zip(through, tensors) if not each.requires_grad])
        return tuple(through)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """The gradients, as ``passing`` gives them back."""
        return (None, None, *ctx.passing(gradients))


class _WayBack:
    """The backward hooks of one call: one place in the graph before the module, and one after it."""

    def __init__(self, module: Module, hooks: Hooks) -> None:
        self.module = module
        self.arriving = [*hooks.arriving.values()]
        self.leaving = [*hooks.leaving.values()]
        self.grad_output: tuple[Any, ...] | None = None
        self.inputs: list[int] | None = None
        self.count = 0

    def into(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """``args`` behind a place where the gradients leave the module."""
        self.count = len(args)
        args, self.inputs = _placed(args, self._leave, fill=True)
        return args

    def out_of(self, output: Any) -> Any:
        """``output`` before a place where the gradients arrive at the module."""
        if not isinstance(output, Tensor | tuple):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                f"received {type(output)}",
                stacklevel=4,
            )
            return output
        if isinstance(output, Tensor):
            return _placed((output,), lambda found: self._arrive(found, [0], 1))[0][0]
        places = [place for place, each in enumerate(output) if isinstance(each, Tensor)]
        placed, _ = _placed(output, lambda found: self._arrive(found, places, len(output)))
        return placed

    def _arrive(self, gradients: tuple[Any, ...], places: list[int], count: int) -> tuple[Any, ...]:
        found = dict(zip(places, gradients))
        grads = tuple([found.get(place) for place in range(count)])
        for hook in self.arriving:
            grads = _same_number(
                hook(self.module, grads), grads, "pre hook returned an invalid number of grad_output"
            )
        self.grad_output = grads
        if self.inputs is None:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs "
                f"since no inputs require gradients: the grad_input of {type(self.module).__name__} is None",
                stacklevel=5,
            )
            for hook in self.leaving:
                changed = hook(self.module, (None,) * self.count, grads)
                if changed is not None and any(each is not None for each in changed):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return "
                        "None or None for all gradients."
                    )
        return tuple([grads[place] for place in places])

    def _leave(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        if self.grad_output is None or self.inputs is None:
            return gradients  # they came past the module's output
        found = dict(zip(self.inputs, gradients))
        grads = tuple([found.get(place) for place in range(self.count)])
        for hook in self.leaving:
            changed = hook(self.module, grads, self.grad_output)
            grads = _same_number(changed, grads, "hook returned an invalid number of grad_input")
        self.grad_output = None
        return tuple([grads[place] for place in self.inputs])


def _same_number(changed: Any, grads: tuple[Any, ...], wrong: str) -> tuple[Any, ...]:
    if changed is None:
        return grads
    if len(changed) != len(grads):
        raise RuntimeError(f"Backward {wrong}, got {len(changed)}, but expected {len(grads)}")
    for old, new in zip(grads, changed):
        if isinstance(old, Tensor) and isinstance(new, Tensor) and old.shape != new.shape:
            raise RuntimeError(
                f"hook 'hook' has changed the size of value: from {list(old.shape)} to {list(new.shape)}; "
                "return a tuple of gradients, one for each"
            )
    return tuple(changed)


def _placed(values: Any, passing: Callable[..., Any], fill: bool = False) -> tuple[Any, list[int] | None]:
    """``values`` with their tensors behind a place in the graph, if there is one, and where they stand."""
    places = [place for place, each in enumerate(values) if isinstance(each, Tensor)]
    if not (thread.state.grad_enabled and any(values[place].requires_grad for place in places)):
        return values, None
    through = BackwardHookFunction.apply(passing, fill, *[values[place] for place in places])
    through = through if isinstance(through, tuple) else (through,)
    placed = list(values)
    for place, each in zip(places, through):
        placed[place] = each
    return (type(values)(*placed) if hasattr(values, "_fields") else tuple(placed)), places


def _hook_last_node(module: Module, hook: Callable[..., Any], output: Any) -> None:
    while not isinstance(output, Tensor):
        output = (
            next(each for each in output.values() if isinstance(each, Tensor))
            if isinstance(output, dict)
            else output[0]
        )
    if output._node is not None:
        output._node.register_hook(lambda found, arrived: hook(module, found, arrived))
