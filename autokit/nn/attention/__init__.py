"""``torch.nn.attention``: which way :func:`~autokit.nn.functional.scaled_dot_product_attention` goes.

autokit has one way, so that the choice changes no number.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from importlib import import_module
from typing import Any

from autokit import missing

__all__ = ["SDPBackend", "sdpa_kernel"]


def __getattr__(name: str) -> Any:
    if name in ("bias", "flex_attention"):
        return import_module(f"autokit.nn.attention.{name}")
    raise missing.error("torch.nn.attention", name)


class SDPBackend(IntEnum):
    """PyTorch's ways to attend."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """A block in which PyTorch attends by one of ``backends``; here it changes nothing.

    Raises
    ------
    AssertionError
        If ``backends`` is neither an :class:`SDPBackend` nor a list of them.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.nn.attention import SDPBackend, sdpa_kernel
    >>> x = torch.ones(1, 2, 3)
    >>> with sdpa_kernel(SDPBackend.MATH):
    ...     torch.nn.functional.scaled_dot_product_attention(x, x, x).shape
    torch.Size([1, 2, 3])
    """
    given = backends if isinstance(backends, list) else [backends]
    if not all(isinstance(each, SDPBackend) for each in given):
        raise AssertionError(
            f"Backend must be an instance of SDPBackend or a list of SDPBackend instances: it is {backends!r}"
        )
    yield
