"""A cell that runs again lets go of the widgets that it showed before.

A notebook's output is replaced then, but ipywidgets and IPython's history would keep what it showed.
"""

from __future__ import annotations

import gc
from typing import Any
from weakref import ref

SHOWN: dict[str, tuple[str, list[ref[Any]]]] = {}
"""For each cell its last run, and the widgets that this has shown."""


def take_the_place(widget: Any) -> None:
    """Note that the cell that runs shows ``widget``, and close what its run before has shown."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()  # type: ignore[no-untyped-call]
    request = shell.kernel.get_parent() if hasattr(shell, "kernel") else {}
    cell = request.get("metadata", {}).get("cellId")
    if not cell:
        return
    now, (last, shown) = request["header"]["msg_id"], SHOWN.get(cell, ("", []))
    SHOWN[cell] = now, [*(shown if last == now else ()), ref(widget)]
    if shown and last != now:
        for each in shown:
            _let_go(each(), shell)
        gc.collect()  # a widget and what observes it refer to each other


def _let_go(widget: Any, shell: Any) -> None:
    """Close ``widget`` if there is still one, and take it out of ``Out``, ``_`` and ``_7``."""
    if widget is None:
        return
    widget.close()
    widget.layout.close()
    for space in (shell.user_ns, shell.user_ns_hidden, shell.user_ns.get("_oh", {})):
        for name in [name for name, value in space.items() if value is widget]:
            if isinstance(name, int) or name.startswith("_"):
                del space[name]
