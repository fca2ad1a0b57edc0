"""Going on in a new thread, where calls are nested too deep for the one that they began in.

Each thread of Python has a stack of its own, so a function that calls itself
goes deeper by a new thread than by any call.  The thread that asks waits, and
the new one goes on in its place: with its modes, its context and its GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from threading import Thread
from typing import Any

from autokit.current_gpu import computing_as_here
from autokit.thread_state import thread

DEEPEST = 10_000
"""So many passes inside of each other are no accident any more, or an endless one."""

ENDLESS = (
    f"maximum recursion depth exceeded: {DEEPEST:,} backward passes, each begun by a hook or a backward "
    "function inside of the one before. Does a hook begin a pass that comes to the same hook again?"
)


def in_a_new_thread(function: Callable[..., Any], *args: Any, **settings: Any) -> Any:
    """``function(*args, **settings)``, run by a new thread while this one waits.

    What it raises is raised here, with the lines that it came through there.

    Raises
    ------
    RecursionError
        Inside of :data:`DEEPEST` backward passes; of these it shows the outermost.
    """
    if thread.state.depth > DEEPEST:
        raise RecursionError(ENDLESS)
    state, context, as_here = thread.state, copy_context(), computing_as_here()
    made: list[Any] = []
    raised: list[BaseException] = []

    def run() -> None:
        thread.state = state
        try:
            with as_here():
                made.append(context.run(function, *args, **settings))
        except BaseException as error:  # an interruption too: it is for the program, not for this thread
            raised.append(error)

    helper = Thread(target=run, name="autokit: a deeply nested call")
    helper.start()
    try:
        helper.join()
    except BaseException:  # both use one state, so that nobody may go on before the other is done
        helper.join()
        raise
    if raised:
        error = raised.pop()
        raise error.with_traceback(None) if error.args == (ENDLESS,) else error
    return made.pop()
