"""Interactive pictures: widgets in a notebook, and the same in one HTML file.

:class:`Player` plays a timeline in a notebook, :func:`animate` the story of a
tensor, and :func:`save_html` writes one file that plays anywhere.  The
notebook packages load with the first widget that is asked for, so that
writing a file needs none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autokit.widgets.export import save_html

if TYPE_CHECKING:
    from autokit.widgets.player import Player, animate

__all__ = ["Player", "animate", "save_html"]


def __getattr__(name: str) -> Any:
    if name in ("Player", "animate"):
        from autokit.widgets import player

        return getattr(player, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
