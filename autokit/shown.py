"""How an object that has no text of its own shows itself: by its type.

Python would add its address, which differs from run to run, and so would what a notebook stores.
"""


def by_type(shown: object) -> str:
    """The module and the name of the type.

    Examples
    --------
    >>> class Run:
    ...     __repr__ = by_type
    >>> class Walk(Run):
    ...     pass
    >>> Walk()
    <autokit.shown.Walk>
    """
    return f"<{type(shown).__module__}.{type(shown).__qualname__}>"
