"""The modes of a thread: whether it records operations, and which values it keeps for the picture.

Each thread has a :class:`State`. ``no_grad``, ``enable_grad`` and ``recording`` change one field of it, in a
``with`` block or in a decorated function, and restore it at the end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from functools import wraps
from inspect import isgeneratorfunction
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

SMALL = 1000
"""Values with up to this number of elements stay in the graph for its picture."""


class State:
    """The fields of one thread.

    Attributes
    ----------
    recording : bool
        Whether operations leave nodes behind.
    keep : float
        Values with up to this number of elements stay in the graph for its picture.
    scope : tuple or None
        The module whose ``forward`` is running, for the picture: the scope around it, a weak reference to the
        module, and the place in the learner's program that called it, where all of its code is autokit's.
    code : code object or None
        The function of the learner's program that recorded the last node.
    shape : tuple of int
        The shape of the last node.
    listener : callable or None
        Told what happens in each backward pass; see ``observed``.
    """

    __slots__ = ("code", "keep", "listener", "recording", "scope", "shape")
    recording: bool
    keep: float

    def __init__(self) -> None:
        self.recording, self.keep = True, SMALL
        self.scope: Any = None
        self.code: Any = None
        self.shape: tuple[int, ...] = ()
        self.listener: Any = None


class _Thread(threading.local):
    # One look-up finds all fields: an attribute of a `threading.local` takes longer to read than others.
    def __init__(self) -> None:
        self.state = State()


thread = _Thread()
"""``thread.state`` is the state of the thread that asks."""


class Mode:
    """Give a field of the thread's state another value, in a ``with`` block or in a decorated function."""

    field = "recording"
    value: Any = True

    def __enter__(self) -> None:
        # A stack, because one object may be entered again inside itself.
        self.__dict__.setdefault("_before", []).append(getattr(thread.state, self.field))
        setattr(thread.state, self.field, self.value)

    def __exit__(self, *error: object) -> None:
        setattr(thread.state, self.field, self.__dict__["_before"].pop())

    def again(self) -> Mode:
        """A new object for the same change, for another ``with`` block."""
        mode = Mode()
        mode.field, mode.value = self.field, self.value
        return mode

    def __call__(self, function: Function) -> Function:
        @wraps(function)
        def inside(*args: Any, **settings: Any) -> Any:
            with self.again():
                return function(*args, **settings)

        @wraps(function)
        def between_yields(*args: Any, **settings: Any) -> Generator[Any, Any, Any]:
            # The mode holds while the generator runs, not while its caller works with what it yielded.
            generator, received = function(*args, **settings), None
            while True:
                try:
                    with self.again():
                        value = generator.send(received)
                except StopIteration as end:
                    return end.value
                received = yield value

        return between_yields if isgeneratorfunction(function) else inside  # type: ignore[return-value]


class _BareMode(Mode):
    """A mode that also decorates without parentheses: ``@no_grad`` as well as ``@no_grad()``."""

    def __new__(cls, function: Any = None) -> Any:
        mode = super().__new__(cls)
        return mode(function) if callable(function) else mode


class no_grad(_BareMode):
    """Record no operations, in a ``with`` block or in a decorated function.

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
    """Record operations, also inside a ``no_grad``."""


class inference_mode(_BareMode):
    """The same as :class:`no_grad`; ``inference_mode(False)`` records."""

    def __init__(self, mode: Any = True) -> None:
        self.value = not mode


class set_grad_enabled(Mode):
    """Record operations or not, from here on; in a ``with`` block, until its end."""

    def __init__(self, mode: bool) -> None:
        if mode.__class__ is not bool:
            raise TypeError(f"set_grad_enabled() takes True or False, not {type(mode).__name__}")
        self.value = mode
        self._before = [thread.state.recording]
        thread.state.recording = mode

    def __enter__(self) -> None:
        thread.state.recording = self.value

    def __call__(self, function: Function) -> Function:
        thread.state.recording = self._before.pop()  # as a decorator it acts inside the function only
        return super().__call__(function)


class recording(Mode):
    """Keep every value for the picture, however large: ``with autokit.recording():``.

    Without it a graph keeps values of up to :data:`SMALL` elements.
    """

    field = "keep"
    value = float("inf")


def is_grad_enabled() -> bool:
    """Whether operations of this thread are recorded."""
    return thread.state.recording
