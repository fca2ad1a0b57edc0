"""Padding: more elements around a signal, an image or a volume."""

from __future__ import annotations

from typing import ClassVar

from autokit.nn import functional
from autokit.nn.layer import per_dimension
from autokit.nn.module import Module
from autokit.tensor import Tensor


class _Pad(Module):
    """Add elements around the last ``ndim`` dimensions."""

    ndim: ClassVar[int]
    mode: ClassVar[str]
    value: float | None = None

    def __init__(self, padding: int | tuple[int, ...]) -> None:
        super().__init__()
        self.padding = per_dimension(padding, 2 * self.ndim)

    def forward(self, input: Tensor) -> Tensor:
        """``input`` with more elements around it."""
        return functional.pad(input, self.padding, self.mode, self.value)

    def extra_repr(self) -> str:
        """The setting, for the printed module."""
        return f"{self.padding}"


class ConstantPad1d(_Pad):
    """Add ``value`` at the ends of (N, C, L) or (C, L): ``padding`` at both, or (left, right)."""

    ndim, mode = 1, "constant"

    def __init__(self, padding: int | tuple[int, ...], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def extra_repr(self) -> str:
        """The settings, for the printed module."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad2d(ConstantPad1d):
    """Add ``value`` around images: ``padding`` on all sides, or (left, right, top, bottom).

    >>> import autokit as torch
    >>> ConstantPad2d((1, 0, 0, 1), 7.0)(torch.zeros(1, 1, 2))
    tensor([[[7., 0., 0.],
             [7., 7., 7.]]])
    """

    ndim = 2


class ConstantPad3d(ConstantPad1d):
    """Add ``value`` around volumes: ``padding`` on all sides, or (left, right, top, bottom, front, back)."""

    ndim = 3


class ZeroPad1d(ConstantPad1d):
    """Add zeros at the ends of signals: ``padding`` at both, or (left, right)."""

    def __init__(self, padding: int | tuple[int, ...]) -> None:
        super().__init__(padding, 0.0)

    extra_repr = _Pad.extra_repr


class ZeroPad2d(ZeroPad1d):
    """Add zeros around images: ``padding`` on all sides, or (left, right, top, bottom)."""

    ndim = 2


class ZeroPad3d(ZeroPad1d):
    """Add zeros around volumes: ``padding`` on all sides, or (left, right, top, bottom, front, back)."""

    ndim = 3


class ReflectionPad1d(_Pad):
    """Add what stands before the edge of a signal, mirrored; the edge itself is not repeated."""

    ndim, mode = 1, "reflect"


class ReflectionPad2d(ReflectionPad1d):
    """Add what stands before the edges of an image, mirrored; the edges themselves are not repeated."""

    ndim = 2


class ReflectionPad3d(ReflectionPad1d):
    """Add what stands before the edges of a volume, mirrored; the edges themselves are not repeated."""

    ndim = 3


class ReplicationPad1d(_Pad):
    """Repeat the elements at the ends of a signal."""

    ndim, mode = 1, "replicate"


class ReplicationPad2d(ReplicationPad1d):
    """Repeat the elements at the edges of an image."""

    ndim = 2


class ReplicationPad3d(ReplicationPad1d):
    """Repeat the elements at the edges of a volume."""

    ndim = 3


class CircularPad1d(_Pad):
    """Add before a signal its own end, and after it its beginning, as if it went round."""

    ndim, mode = 1, "circular"


class CircularPad2d(CircularPad1d):
    """Let an image go round at its edges."""

    ndim = 2


class CircularPad3d(CircularPad1d):
    """Let a volume go round at its edges."""

    ndim = 3
