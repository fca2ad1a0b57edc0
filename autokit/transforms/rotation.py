"""Turning a tensor: for each new pixel the place it comes from, and the pixels around that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

_TOLERANCE = 1e-4  # of a pixel, which a corner may reach over the edge of the new picture


def rotated(
    array: np.ndarray, angle: float, smooth: bool, expand: bool, center: Sequence[float] | None, fill: Any
) -> np.ndarray:
    """``array`` of shape (..., H, W) turned by ``angle`` degrees against the clock.

    A new pixel is the nearest old one to where it comes from, or with ``smooth`` mixed of the four about
    it; ``fill`` is what lies outside.
    """
    height, width = array.shape[-2:]
    x0, y0 = (0.0, 0.0) if center is None else (center[0] - width / 2, center[1] - height / 2)
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    new_height, new_width = _extent(height, width, cos, sin, x0, y0) if expand else (height, width)
    x = (np.arange(new_width) - (new_width - 1) / 2 - x0).astype(np.float32)
    y = (np.arange(new_height) - (new_height - 1) / 2 - y0).astype(np.float32)[:, None]
    columns = (cos * x - sin * y + (x0 + (width - 1) / 2)).astype(np.float32)
    rows = (sin * x + cos * y + (y0 + (height - 1) / 2)).astype(np.float32)
    wide = array.astype(np.float64 if array.dtype == np.float64 else np.float32, copy=False)
    shape = (*array.shape[:-2], new_height, new_width)
    turned, inside = np.zeros(shape, wide.dtype), np.zeros((new_height, new_width), np.float32)
    for places, share in _neighbours(rows, columns) if smooth else _nearest(rows, columns):
        row, column = places
        here = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        share = share * here
        turned += wide[..., np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)] * share
        inside += share
    if fill is not None:
        colour = np.asarray(fill, wide.dtype).reshape(-1, 1, 1)
        # An edge is mixed with what lies outside a second time, as in torchvision.
        turned = turned * inside + (1 - inside) * (colour if colour.size > 1 else colour.item())
    if array.dtype.kind in "iu":
        turned = np.round(turned)
    return turned.astype(array.dtype, copy=False)


def _extent(height: int, width: int, cos: float, sin: float, x0: float, y0: float) -> tuple[int, int]:
    """Height and width of the smallest picture that holds all of the turned one."""
    corners = np.array([[x, y] for x in (-width / 2, width / 2) for y in (-height / 2, height / 2)])
    away = corners - [x0, y0]
    turned = away @ np.array([[cos, sin], [-sin, cos]]) + [x0 + width / 2, y0 + height / 2]
    low, high = (np.trunc(edge / _TOLERANCE) * _TOLERANCE for edge in (turned.min(0), turned.max(0)))
    across, down = np.ceil(high) - np.floor(low)
    return int(down), int(across)


def _nearest(rows: np.ndarray, columns: np.ndarray) -> list[tuple[tuple[np.ndarray, np.ndarray], Any]]:
    return [((np.rint(rows).astype(np.int64), np.rint(columns).astype(np.int64)), np.float32(1))]


def _neighbours(rows: np.ndarray, columns: np.ndarray) -> list[tuple[tuple[np.ndarray, np.ndarray], Any]]:
    top, left = np.floor(rows), np.floor(columns)
    down, right = rows - top, columns - left
    return [
        (((top + i).astype(np.int64), (left + j).astype(np.int64)), share_down * share_right)
        for i, share_down in enumerate((1 - down, down))
        for j, share_right in enumerate((1 - right, right))
    ]
