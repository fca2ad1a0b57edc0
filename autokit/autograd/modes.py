"""Whether operations record: modes, as ``with`` blocks and as decorators; see also ``thread_state``."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from inspect import isgeneratorfunction
from typing import Any, TypeVar

from autokit.shown import by_type
from autokit.tensor import storage_of_new_tensors
from autokit.thread_state import thread

Function = TypeVar("Function", bound=Callable[..., Any])


class _Mode:
    """A change of one field of the thread's state, as a ``with`` block and as a decorator."""

    __repr__ = by_type

    field = "grad_enabled"
    value: Any = True
    _before: list[Any]

    def __enter__(self) -> None:
        # A stack, since one object may be entered again inside itself.
        self.__dict__.setdefault("_before", []).append(getattr(thread.state, self.field))
        setattr(thread.state, self.field, self.value)

    def __exit__(self, *error: object) -> None:
        setattr(thread.state, self.field, self._before.pop())

    def __call__(self, function: Function) -> Function:
        @wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self.again():
                return function(*args, **kwargs)

        @wraps(function)
        def step_by_step(*args: Any, **kwargs: Any) -> Any:
            made = function(*args, **kwargs)
            step, given = made.send, None
            while True:
                try:
                    with self.again():  # not while the caller is at work between two steps
                        value = step(given)
                except StopIteration as end:
                    return end.value
                try:
                    step, given = made.send, (yield value)
                except GeneratorExit:
                    made.close()
                    raise
                except BaseException as error:
                    step, given = made.throw, error

        return step_by_step if isgeneratorfunction(function) else inside  # type: ignore[return-value]

    def again(self) -> _Mode:
        """The same change, to be made once more."""
        mode = _Mode()
        mode.field, mode.value = self.field, self.value
        return mode


class _BareMode(_Mode):
    """A mode that also decorates without parentheses: ``@no_grad`` as well as ``@no_grad()``."""

    def __new__(cls, given: Any = None) -> Any:
        mode = super().__new__(cls)
        return mode(given) if callable(given) else mode


class no_grad(_BareMode):
    """Record nothing: as ``with no_grad():`` or as a decorator.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.no_grad():
    ...     print((x * 2).requires_grad)
    False
    """

    value = False


class enable_grad(_BareMode):
    """Record again, inside a ``no_grad``; inside of :class:`inference_mode` it does nothing."""

    @property
    def value(self) -> bool:  # type: ignore[override]
        """Whether it records."""
        return not thread.state.inference


class set_grad_enabled(_Mode):
    """Record or not, from here on; as a ``with`` block, until its end."""

    def __init__(self, mode: bool) -> None:
        if mode.__class__ is not bool:
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self.value = mode and not thread.state.inference
        self._before = [thread.state.grad_enabled]
        thread.state.grad_enabled = self.value

    def __enter__(self) -> None:
        thread.state.grad_enabled = self.value

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.value})"

    def __call__(self, function: Function) -> Function:
        thread.state.grad_enabled = self._before.pop()  # as a decorator it acts inside the function only
        return super().__call__(function)


class inference_mode(_BareMode):
    """Record nothing, for evaluation, and mark what is made: it can enter no graph afterwards.

    A tensor that was made in it (``x.is_inference()``) may be computed with
    everywhere; but outside, nothing may change it in place, and no derivative
    may save it.  ``x.clone()`` makes an ordinary tensor.  A view of an
    ordinary tensor is an ordinary one.  ``inference_mode(False)`` records.

    Raises
    ------
    RuntimeError
        Outside: by an in-place change, by ``requires_grad_()``, or where a derivative would save it.

    Examples
    --------
    >>> import autokit as torch
    >>> w = torch.ones(2, requires_grad=True)
    >>> with torch.inference_mode():
    ...     y = w * 2
    >>> y.requires_grad, y.is_inference(), y.clone().is_inference()
    (False, True, False)
    """

    value = False

    def __init__(self, mode: bool = True) -> None:
        self.value = not mode

    def __enter__(self) -> None:
        super().__enter__()
        self._before.append((self._before.pop(), thread.state.inference))
        _set_inference(not self.value)

    def __exit__(self, *error: object) -> None:
        before, inference = self._before.pop()
        _set_inference(inference)
        self._before.append(before)
        super().__exit__(*error)

    def again(self) -> inference_mode:
        """The same change, to be made once more."""
        return inference_mode(not self.value)


_inferring = 0
_lock = threading.Lock()


def _set_inference(now: bool) -> None:
    """Note whether this thread is in the mode; as long as any is, new tensors ask where they are made."""
    global _inferring
    with _lock:
        _inferring += now - thread.state.inference
        thread.state.inference = now
        storage_of_new_tensors(_storage_of_new if _inferring else None)


def _storage_of_new() -> Any:
    from autokit.memory import INFERENCE

    return INFERENCE if thread.state.inference else None


class recording(_Mode):
    """Keep every value for the picture, however large: ``with autokit.recording():``.

    Without it a graph keeps values of up to 1,000 elements.
    """

    field = "keep"
    value = float("inf")


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside of :class:`inference_mode`."""
    return thread.state.inference


def is_grad_enabled() -> bool:
    """Whether operations record a graph in this thread."""
    return thread.state.grad_enabled
