"""Python's search for garbage, put off while autokit is loaded.

What an import makes stays.  Each search among it finds nothing, and all of
them together took a fifth of the time of ``import autokit``.
"""

from __future__ import annotations

import gc

_searching = gc.isenabled()
gc.disable()


def finished() -> None:
    """Search again from here on, if Python did so before."""
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()  # to freeze and thaw makes all of it old, which a search looks at seldom
    if _searching:
        gc.enable()
