"""Invertible functions with known slopes, to make distributions of distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import autokit
from autokit.nn import functional as F
from autokit.tensor import Tensor


class Transform:
    """An invertible function, the logarithm of whose slope is known."""

    def __call__(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def inverse(self, y: Tensor) -> Tensor:
        """The ``x`` of which this makes ``y``."""
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """The logarithm of the absolute slope at ``x``, of which this makes ``y``."""
        raise NotImplementedError

    @property
    def inv(self) -> Transform:
        return _Inverse(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    def __init__(self, forward: Transform) -> None:
        self.forward = forward

    def __call__(self, x: Tensor) -> Tensor:
        return self.forward.inverse(x)

    def inverse(self, y: Tensor) -> Tensor:
        return self.forward(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self.forward.log_abs_det_jacobian(y, x)

    @property
    def inv(self) -> Transform:
        return self.forward


class ComposeTransform(Transform):
    """One transform after the other."""

    def __init__(self, parts: Sequence[Transform]) -> None:
        self.parts = list(parts)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def inverse(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part.inverse(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        total: Any = 0
        for part in self.parts:
            after = part(x)
            total = total + part.log_abs_det_jacobian(x, after)
            x = after
        return total


class AffineTransform(Transform):
    """The function ``loc + scale * x``."""

    def __init__(self, loc: Any, scale: Any) -> None:
        self.loc, self.scale = loc, scale

    def __call__(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Tensor):
            return autokit.abs(self.scale).log().expand(x.shape)
        return autokit.full_like(x, math.log(abs(self.scale)))


class ExpTransform(Transform):
    """The function ``exp(x)``."""

    def __call__(self, x: Tensor) -> Tensor:
        return x.exp()

    def inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class SigmoidTransform(Transform):
    """The function ``sigmoid(x)``."""

    def __call__(self, x: Tensor) -> Tensor:
        limits = autokit.finfo(x.dtype)
        return autokit.clamp(autokit.sigmoid(x), min=limits.tiny, max=1.0 - limits.eps)

    def inverse(self, y: Tensor) -> Tensor:
        limits = autokit.finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -F.softplus(-x) - F.softplus(x)


class TanhTransform(Transform):
    """The function ``tanh(x)``."""

    def __init__(self, cache_size: int = 0) -> None:
        self._cached: tuple[Any, Any] = (None, None)
        self._keeps = bool(cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        y = x.tanh()
        if self._keeps:
            self._cached = (x, y)
        return y

    def inverse(self, y: Tensor) -> Tensor:
        return self._cached[0] if y is self._cached[1] else autokit.atanh(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


identity_transform = ComposeTransform([])
