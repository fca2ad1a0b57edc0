"""Hooks of modules: functions that are called before and after ``forward`` and during the backward pass."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autokit.base.handles import RemovableHandle
from autokit.engine.function import Function
from autokit.engine.modes import is_grad_enabled
from autokit.engine.tensor import Tensor

if TYPE_CHECKING:
    from autokit.nn.module import Module


class Hooks:
    """One module's hooks by their number, in the order in which they are called.

    Attributes
    ----------
    before, after : OrderedDict
        Around ``forward``.
    always : set of int
        Those of ``after`` that are called even if ``forward`` fails.
    with_kwargs : set of int
        Those that get the keyword arguments too.
    arriving, leaving : OrderedDict
        In the backward pass: before the gradients of the module's inputs are computed, and after.
    """

    def __init__(self) -> None:
        self.before: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self.after: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self.arriving: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self.leaving: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self.always: set[int] = set()
        self.with_kwargs: set[int] = set()


class Hookable:
    """The part of a module that lets programs look at its calls: the methods that register hooks."""

    _hooks: Hooks | None = None

    def _add_hook(self, when: str, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        if self._hooks is None:
            self.__dict__["_hooks"] = Hooks()
        hooks = getattr(self._hooks, when)
        handle = RemovableHandle(hooks, hook)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before every ``forward``; it may return other arguments.

        ``with_kwargs`` makes that ``hook(module, args, kwargs)``, which may
        return both; ``prepend`` puts it before the other hooks.
        """
        handle = self._add_hook("before", hook, prepend)
        if with_kwargs:
            self._hooks.with_kwargs.add(handle.id)  # type: ignore[union-attr]
        return handle

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

        Examples
        --------
        >>> import autokit as torch
        >>> layer = torch.nn.ReLU()
        >>> handle = layer.register_forward_hook(lambda module, args, output: print(output))
        >>> _ = layer(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
        >>> handle.remove()
        """
        handle = self._add_hook("after", hook, prepend)
        if with_kwargs:
            self._hooks.with_kwargs.add(handle.id)  # type: ignore[union-attr]
        if always_call:
            self._hooks.always.add(handle.id)  # type: ignore[union-attr]
        return handle

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the gradients of the inputs are computed.

        It may return other gradients in place of ``grad_input``.
        """
        return self._add_hook("leaving", hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The older name of :meth:`register_full_backward_hook`."""
        return self._add_hook("leaving", hook)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` when gradients arrive; it may return others."""
        return self._add_hook("arriving", hook, prepend)


def call_with_hooks(module: Module, hooks: Hooks, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run ``module.forward`` with the hooks around it."""
    output, called = None, set()

    def call_after(key: int, hook: Callable[..., Any]) -> Any:
        called.add(key)
        return hook(module, args, kwargs, output) if key in hooks.with_kwargs else hook(module, args, output)

    try:
        args, kwargs = _call_before(module, hooks, args, kwargs)
        way_back = _WayBack(module, hooks) if hooks.arriving or hooks.leaving else None
        if way_back is not None:
            args = way_back.begin(args)
        output = module.forward(*args, **kwargs)
        for key, hook in tuple(hooks.after.items()):
            changed = call_after(key, hook)
            if changed is not None:
                output = changed
    except Exception:
        for key in [key for key in hooks.after if key in hooks.always and key not in called]:
            call_after(key, hooks.after[key])
        raise
    return output if way_back is None else way_back.end(output)


def _call_before(
    module: Module, hooks: Hooks, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    for key, hook in tuple(hooks.before.items()):
        if key in hooks.with_kwargs:
            changed = hook(module, args, kwargs)
            if changed is None:
                continue
            if not isinstance(changed, tuple) or len(changed) != 2:
                raise RuntimeError(
                    f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), got {changed}."
                )
            args, kwargs = changed
        else:
            changed = hook(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
    return args, kwargs


# ---------------------------------------------------------------- hooks of the backward pass


class BackwardHookFunction(Function):
    """The identity; its ``backward`` returns what ``observe`` returns for the gradients."""

    @staticmethod
    def forward(ctx: Any, observe: Callable[..., Any], *tensors: Tensor) -> Any:
        """The tensors, as they are."""
        ctx.observe = observe
        results = tuple([tensor.view_as(tensor) for tensor in tensors])
        ctx.mark_non_differentiable(*[out for out, x in zip(results, tensors) if not x.requires_grad])
        return results

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """The gradients, as ``observe`` returns them."""
        return (None, *ctx.observe(gradients))


class _WayBack:
    """The backward hooks of one call: one node in the graph before the module, and one after it."""

    def __init__(self, module: Module, hooks: Hooks) -> None:
        self.module = module
        self.arriving = tuple(hooks.arriving.values())
        self.leaving = tuple(hooks.leaving.values())
        self.grad_output: tuple[Any, ...] | None = None
        self.has_inputs = False

    def begin(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """``args`` behind a node where the gradients leave the module."""
        found = _observed(args, self._leave)
        self.has_inputs = found is not args
        self.count = len(args)
        return found

    def end(self, output: Any) -> Any:
        """``output`` before a node where the gradients arrive at the module."""
        if isinstance(output, Tensor):
            return _observed((output,), self._arrive)[0]
        if isinstance(output, tuple):
            return _observed(output, self._arrive)
        warnings.warn(
            "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
            f"received {type(output)}",
            stacklevel=4,
        )
        return output

    def _arrive(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in self.arriving:
            gradients = _changed(hook(self.module, gradients), gradients)
        self.grad_output = gradients
        if not self.has_inputs:  # no input requires a gradient: nothing will leave the module
            for hook in self.leaving:
                hook(self.module, (None,) * self.count, gradients)
        return gradients

    def _leave(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        if self.grad_output is None:
            return gradients  # they came past the module's output
        for hook in self.leaving:
            gradients = _changed(hook(self.module, gradients, self.grad_output), gradients)
        self.grad_output = None
        return gradients


def _changed(returned: Any, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    """The gradients that a backward hook returned, or those that there were."""
    if returned is None:
        return gradients
    returned = returned if isinstance(returned, tuple | list) else (returned,)
    if len(returned) != len(gradients):
        raise RuntimeError(
            f"Backward hook returned {len(returned)} gradients, but {len(gradients)} are expected: return a "
            "tuple of gradients, one for each, or None"
        )
    return tuple(returned)


def _observed(values: Any, observe: Callable[..., Any]) -> Any:
    """``values`` with their tensors behind a node that calls ``observe``, if any of them is to be trained."""
    places = [place for place, value in enumerate(values) if isinstance(value, Tensor)]
    if not (is_grad_enabled() and any(values[place].requires_grad for place in places)):
        return values

    def spread(gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """Let ``observe`` see a gradient, or None, for every value."""
        of = dict(zip(places, gradients))
        returned = observe(tuple([of.get(place) for place in range(len(values))]))
        return tuple([returned[place] for place in places])

    results = BackwardHookFunction.apply(spread, *[values[place] for place in places])
    changed = list(values)
    for place, result in zip(places, results):
        changed[place] = result
    return type(values)(*changed) if hasattr(values, "_fields") else tuple(changed)
