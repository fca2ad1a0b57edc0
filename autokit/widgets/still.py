"""The still picture of a widget, which is shown where the widget cannot run."""

from __future__ import annotations

STILL = "ak-still-of-player"
"""By this class the style sheet knows the still that a living widget hides."""

_GONE = f".jp-OutputArea:has(.{STILL}) .jupyter-widgets:not(:has(*)) {{ display: none }}"


def in_its_place(html: str) -> str:
    """The still as the output beside its widget's own.

    A notebook that is opened without its kernel looks in vain for the widget,
    and says so in an output of a text alone.  Of the widget's style sheet it
    knows nothing then, so the still brings the line that takes the text away.
    """
    return f'<div class="{STILL}"><style>{_GONE}</style>{html}</div>'
