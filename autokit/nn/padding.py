"""Padding layers add elements around a signal, an image or a volume."""

from __future__ import annotations

from autokit.engine.tensor import Tensor
from autokit.nn import functional as F
from autokit.nn.layer import FunctionLayer, Size, per_dimension

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _Pad(FunctionLayer):
    """Add elements around the last ``ndim`` dimensions: ``padding`` on all sides, or (left, right, …)."""

    ndim = 1
    mode = "constant"
    text = "{padding}"
    padding: Size

    def check(self) -> None:
        """Repeat a single number for all sides."""
        self.padding = per_dimension(self.padding, 2 * self.ndim)

    def forward(self, input: Tensor) -> Tensor:
        """``input`` with more elements around it."""
        return F.pad(input, self.padding, self.mode, getattr(self, "value", None))


class ZeroPad1d(_Pad):
    """Add zeros at the ends of signals: ``padding`` at both, or (left, right)."""


class ZeroPad2d(_Pad):
    """Add zeros around images: ``padding`` on all sides, or (left, right, top, bottom)."""

    ndim = 2


class ZeroPad3d(_Pad):
    """Add zeros around volumes: ``padding`` on all sides, or (left, right, top, bottom, front, back)."""

    ndim = 3


class ConstantPad1d(_Pad):
    """Add ``value`` at the ends of (N, C, L) or (C, L): ``padding`` at both, or (left, right)."""

    text = "padding={padding}, value={value}"
    value: float


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


class ReflectionPad1d(_Pad):
    """Add the elements next to the ends of a signal, mirrored; the outermost ones are not repeated."""

    mode = "reflect"


class ReflectionPad2d(_Pad):
    """Add the elements next to the edges of an image, mirrored; the outermost ones are not repeated."""

    ndim, mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """Add the elements next to the faces of a volume, mirrored; the outermost ones are not repeated."""

    ndim, mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """Repeat the elements at the ends of a signal."""

    mode = "replicate"


class ReplicationPad2d(_Pad):
    """Repeat the elements at the edges of an image."""

    ndim, mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """Repeat the elements at the edges of a volume."""

    ndim, mode = 3, "replicate"


class CircularPad1d(_Pad):
    """Add the end of a signal before it and its beginning after it, as if it were periodic."""

    mode = "circular"


class CircularPad2d(_Pad):
    """Continue an image at its edges as if it were periodic."""

    ndim, mode = 2, "circular"


class CircularPad3d(_Pad):
    """Continue a volume at its faces as if it were periodic."""

    ndim, mode = 3, "circular"
