"""Functions of images, as ``torchvision.transforms.functional``: they take PIL images and tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import numpy as np

from autokit.engine.tensor import Tensor, new_tensor
from autokit.transforms.conversion import is_picture, normalize, pillow, to_pil_image, to_tensor

__all__ = [
    "InterpolationMode",
    "center_crop",
    "crop",
    "get_dimensions",
    "hflip",
    "normalize",
    "pad",
    "resize",
    "rgb_to_grayscale",
    "rotate",
    "to_pil_image",
    "to_tensor",
    "vflip",
]


class InterpolationMode(Enum):
    """How the pixels of a resized or turned picture are found between the old ones."""

    NEAREST = "nearest"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"

    def __str__(self) -> str:
        return self.value


_PIL_NUMBERS = {InterpolationMode.NEAREST: 0, InterpolationMode.BILINEAR: 2, InterpolationMode.BICUBIC: 3}


def get_dimensions(img: Any) -> list[int]:
    """Channels, height and width."""
    if isinstance(img, Tensor) and img.ndim >= 2:
        return [1 if img.ndim == 2 else img.shape[-3], *img.shape[-2:]]
    if is_picture(img):
        return [len(img.getbands()), img.height, img.width]
    raise TypeError(f"img should be PIL Image or Tensor Image. Got {type(img)}")


def _by_pillow(img: Any, change: Callable[[Any], Any]) -> Any:
    """``img`` as ``change`` makes it, a function of PIL images: of a tensor, plane by plane."""
    _, height, width = get_dimensions(img)
    if not isinstance(img, Tensor):
        return change(img)
    planes = img.array.reshape(-1, height, width).astype(np.float32)
    changed = np.stack([np.asarray(change(pillow().fromarray(plane))) for plane in planes])
    if img.array.dtype.kind in "iu":
        limits = np.iinfo(img.array.dtype)
        changed = np.clip(np.round(changed), limits.min, limits.max)
    return new_tensor(changed.reshape(*img.shape[:-2], *changed.shape[1:]).astype(img.array.dtype))


def hflip(img: Any) -> Any:
    """Left becomes right."""
    get_dimensions(img)
    return img.flip(-1) if isinstance(img, Tensor) else img.transpose(0)  # type: ignore[attr-defined]


def vflip(img: Any) -> Any:
    """Top becomes bottom."""
    get_dimensions(img)
    return img.flip(-2) if isinstance(img, Tensor) else img.transpose(1)  # type: ignore[attr-defined]


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part of the picture; what lies outside of it is 0."""
    _, whole_height, whole_width = get_dimensions(img)
    if not isinstance(img, Tensor):
        return img.crop((left, top, left + width, top + height))
    before_x, before_y = max(-left, 0), max(-top, 0)
    behind_x, behind_y = max(left + width - whole_width, 0), max(top + height - whole_height, 0)
    img = pad(img, [before_x, before_y, behind_x, behind_y])
    top, left = top + before_y, left + before_x
    return img[..., top : top + height, left : left + width]


def center_crop(img: Any, output_size: int | Sequence[int]) -> Any:
    """The middle of the picture; a picture that is smaller is put into the middle of zeros."""
    height, width = two(output_size)
    _, whole_height, whole_width = get_dimensions(img)
    return crop(img, _middle(whole_height, height), _middle(whole_width, width), height, width)


def _middle(whole: int, part: int) -> int:
    return round((whole - part) / 2) if part <= whole else -((part - whole) // 2)


def pad(img: Any, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant") -> Any:
    """The picture with borders: ``padding`` on all sides, or (sides, top and bottom), or one for each.

    ``padding_mode`` is ``"constant"`` (``fill``), ``"edge"``, ``"reflect"`` or ``"symmetric"``.
    """
    get_dimensions(img)
    sizes = [padding] if isinstance(padding, int) else list(padding)
    if len(sizes) not in (1, 2, 4):
        raise ValueError(f"Padding must be an int or a 1, 2, or 4 element tuple, not {padding!r}")
    left, top, right, bottom = sizes * (4 // len(sizes))
    array = img.array if isinstance(img, Tensor) else np.asarray(img)
    first = array.ndim - 2 if isinstance(img, Tensor) else 0
    widths = [(0, 0)] * array.ndim
    widths[first : first + 2] = [(top, bottom), (left, right)]
    if padding_mode == "constant":
        shape = [before + size + behind for size, (before, behind) in zip(array.shape, widths)]
        padded = np.zeros_like(array, shape=shape)
        padded[...] = fill
        inside = tuple([slice(before, before + size) for size, (before, _) in zip(array.shape, widths)])
        padded[inside] = array
    elif padding_mode in ("edge", "reflect", "symmetric"):
        padded = np.pad(array, widths, padding_mode)  # type: ignore[call-overload]
    else:
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
    return new_tensor(padded) if isinstance(img, Tensor) else pillow().fromarray(padded)


def resize(
    img: Any,
    size: int | Sequence[int],
    interpolation: InterpolationMode = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> Any:
    """The picture in another size: (height, width), or one number for its shorter side.

    A picture that gets smaller is smoothed first, whatever ``antialias`` says.
    """
    _, height, width = get_dimensions(img)
    if isinstance(size, int) or len(size) == 1:
        shorter = size if isinstance(size, int) else size[0]
        longer = int(shorter * max(height, width) / min(height, width))
        height, width = (longer, shorter) if width <= height else (shorter, longer)
    else:
        height, width = two(size)
    mode = _PIL_NUMBERS[interpolation]
    return _by_pillow(img, lambda picture: picture.resize((width, height), mode))


def rotate(
    img: Any,
    angle: float,
    interpolation: InterpolationMode = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Sequence[int] | None = None,
    fill: Any = 0,
) -> Any:
    """The picture turned by ``angle`` degrees against the clock, about its middle or ``center`` (x, y).

    ``expand`` makes room for all of it; ``fill`` is what comes to lie outside.
    """
    mode, several = _PIL_NUMBERS[interpolation], not isinstance(img, Tensor) and len(img.getbands()) > 1
    colour = (fill,) * len(img.getbands()) if several and not isinstance(fill, tuple) else fill
    return _by_pillow(img, lambda picture: picture.rotate(angle, mode, expand, center, fillcolor=colour))


def rgb_to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """The picture in grey: 0.2989 red, 0.587 green and 0.114 blue; PIL images by PIL's own shares."""
    channels = get_dimensions(img)[0]
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    if not isinstance(img, Tensor):
        grey = img.convert("L")
        return grey if num_output_channels == 1 else pillow().merge("RGB", [grey] * 3)
    if channels == 3:
        shares = np.array([0.2989, 0.587, 0.114], np.float32)
        grey = np.einsum("c,...chw->...hw", shares, img.array)[..., None, :, :].astype(img.array.dtype)
    else:
        grey = img.array
    return new_tensor(np.repeat(grey, num_output_channels, axis=-3))


def two(size: int | Sequence[int]) -> tuple[int, int]:
    """Height and width: the same for both where one is given."""
    if isinstance(size, int):
        return size, size
    if len(size) not in (1, 2):
        raise ValueError(f"a size is one number or (height, width), and not {size!r}")
    return int(size[0]), int(size[-1])
