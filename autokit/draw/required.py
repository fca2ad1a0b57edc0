"""matplotlib and Pillow, which draw PNG, PDF, GIF and charts; an error says how to install them."""

from __future__ import annotations


def require_matplotlib() -> None:
    """Raise an error that says how to get matplotlib, where there is none.

    Raises
    ------
    ModuleNotFoundError
        If matplotlib is not installed.
    """
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "PNG, PDF, GIF and charts that stand still are drawn by matplotlib, which comes with "
            'pip install ".[lab]" in the folder of autokit; .svg and .html need nothing'
        ) from None
