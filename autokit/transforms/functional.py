"""What is done to a picture: torchvision's ``transforms.functional`` on PIL images and tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from autokit.tensor import Tensor, new_tensor
from autokit.transforms.conversion import (
    convert_image_dtype,
    is_picture,
    kind,
    normalize,
    pil_to_tensor,
    pillow,
    to_pil_image,
    to_tensor,
)
from autokit.transforms.rotation import rotated

__all__ = [
    "InterpolationMode",
    "center_crop",
    "convert_image_dtype",
    "crop",
    "get_dimensions",
    "get_image_size",
    "hflip",
    "normalize",
    "pad",
    "pil_to_tensor",
    "resize",
    "rgb_to_grayscale",
    "rotate",
    "to_grayscale",
    "to_pil_image",
    "to_tensor",
    "vflip",
]


class InterpolationMode(Enum):
    """How the pixels of a resized or turned picture are found between the old ones."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


_PIL_NUMBERS = {
    InterpolationMode.NEAREST: 0,
    InterpolationMode.NEAREST_EXACT: 0,
    InterpolationMode.LANCZOS: 1,
    InterpolationMode.BILINEAR: 2,
    InterpolationMode.BICUBIC: 3,
    InterpolationMode.BOX: 4,
    InterpolationMode.HAMMING: 5,
}
_BY_PIL_NUMBER = {number: mode for mode, number in reversed(_PIL_NUMBERS.items())}


def interpolation_mode(given: InterpolationMode | int) -> InterpolationMode:
    """The mode, or that which PIL means by a number."""
    if isinstance(given, int):
        given = _BY_PIL_NUMBER.get(given, given)  # type: ignore[arg-type]
    if not isinstance(given, InterpolationMode):
        raise TypeError(
            "Argument interpolation should be a InterpolationMode or a corresponding Pillow integer "
            f"constant, but it is {given!r}"
        )
    return given


def get_dimensions(img: Any) -> list[int]:
    """Channels, height and width."""
    if isinstance(img, Tensor):
        if img.ndim < 2:
            raise TypeError(f"a tensor is an image from two dimensions on, but it has {img.ndim}")
        return [1 if img.ndim == 2 else img.shape[-3], *img.shape[-2:]]
    if is_picture(img):
        return [len(img.getbands()), img.height, img.width]
    raise TypeError(f"img should be PIL Image or Tensor Image. {kind(img)}")


def get_image_size(img: Any) -> list[int]:
    """Width and height."""
    _, height, width = get_dimensions(img)
    return [width, height]


def hflip(img: Any) -> Any:
    """Left becomes right."""
    get_dimensions(img)
    return img.flip(-1) if isinstance(img, Tensor) else img.transpose(0)


def vflip(img: Any) -> Any:
    """Top becomes bottom."""
    get_dimensions(img)
    return img.flip(-2) if isinstance(img, Tensor) else img.transpose(1)


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """The part of this height and width from (top, left) on; what lies outside the picture is 0."""
    _, whole_height, whole_width = get_dimensions(img)
    if not isinstance(img, Tensor):
        return img.crop((left, top, left + width, top + height))
    part = img[..., max(top, 0) : max(top + height, 0), max(left, 0) : max(left + width, 0)]
    borders = [
        max(min(left + width, 0) - left, 0),
        max(min(top + height, 0) - top, 0),
        max(left + width - max(whole_width, left), 0),
        max(top + height - max(whole_height, top), 0),
    ]
    return pad(part, borders) if any(borders) else part


def center_crop(img: Any, output_size: int | Sequence[int]) -> Any:
    """The middle of the picture; a picture that is smaller is put into the middle of zeros."""
    height, width = two(output_size)
    _, whole_height, whole_width = get_dimensions(img)
    over, under = width - whole_width, height - whole_height
    if over > 0 or under > 0:
        over, under = max(over, 0), max(under, 0)
        img = pad(img, [over // 2, under // 2, (over + 1) // 2, (under + 1) // 2])
        _, whole_height, whole_width = get_dimensions(img)
        if (whole_height, whole_width) == (height, width):
            return img
    top, left = round((whole_height - height) / 2.0), round((whole_width - width) / 2.0)
    return crop(img, top, left, height, width)


def pad(img: Any, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant") -> Any:
    """The picture with borders: ``padding`` on all sides, or (sides, top and bottom), or one for each.

    ``padding_mode`` is ``"constant"`` (``fill``), ``"edge"``, ``"reflect"`` or ``"symmetric"``.
    """
    get_dimensions(img)
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
    left, top, right, bottom = _borders(padding)
    if isinstance(img, Tensor):
        widths = [(0, 0)] * (img.ndim - 2) + [(top, bottom), (left, right)]
        return new_tensor(_padded(img.array, widths, fill, padding_mode))
    if padding_mode == "constant":
        from PIL import ImageOps

        return ImageOps.expand(img, (left, top, right, bottom), fill=colour(img, fill))
    if img.mode == "P":
        padded = pillow().fromarray(_padded(np.asarray(img), [(top, bottom), (left, right)], 0, padding_mode))
        padded.putpalette(img.getpalette())
        return padded
    array = np.asarray(img)
    widths = [(top, bottom), (left, right)] + [(0, 0)] * (array.ndim - 2)
    return pillow().fromarray(_padded(array, widths, 0, padding_mode))


def _padded(array: np.ndarray, widths: list[tuple[int, int]], fill: Any, mode: str) -> np.ndarray:
    cut = [slice(max(-before, 0), max(-after, 0) and after) for before, after in widths]
    array = array[tuple([slice(part.start, part.stop or None) for part in cut])]
    widths = [(max(before, 0), max(after, 0)) for before, after in widths]
    if mode != "constant":
        return np.pad(array, widths, mode)  # type: ignore[call-overload]
    return np.pad(array, widths, constant_values=fill)


def _borders(padding: int | Sequence[int]) -> list[int]:
    if isinstance(padding, int):
        return [padding] * 4
    if not isinstance(padding, tuple | list):
        raise TypeError("Got inappropriate padding arg")
    if len(padding) not in (1, 2, 4):
        raise ValueError(
            f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(padding)} element tuple"
        )
    return list(padding) * (4 // len(padding))


def colour(img: Any, fill: Any) -> Any:
    """``fill`` as a colour of a PIL image."""
    bands = len(img.getbands())
    if isinstance(fill, tuple | list):
        if len(fill) not in (1, bands):
            raise ValueError(
                "The number of elements in 'fill' does not match the number of channels of the image "
                f"({len(fill)} != {bands})"
            )
        fill = tuple(fill) * (bands if len(fill) == 1 else 1)
        return fill[0] if bands == 1 else tuple(int(each) for each in fill)
    return fill if bands == 1 else (int(fill),) * bands


def resize(
    img: Any,
    size: int | Sequence[int],
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Any:
    """The picture in another size: (height, width), or one number for its shorter side.

    A picture that gets smaller is smoothed first: PIL does so always, and for a tensor ``antialias`` says
    so.
    """
    mode = interpolation_mode(interpolation)
    _, height, width = get_dimensions(img)
    new_height, new_width = _new_size(height, width, size, max_size)
    if (new_height, new_width) == (height, width):
        return img
    if not isinstance(img, Tensor):
        return img.resize((new_width, new_height), _PIL_NUMBERS[mode])
    array = img.detach().array
    if mode is InterpolationMode.NEAREST:
        rows, columns = (
            np.minimum((np.arange(new) * (old / new)).astype(np.int64), old - 1)
            for old, new in ((height, new_height), (width, new_width))
        )
        return new_tensor(array[..., rows[:, None], columns])
    if mode not in (InterpolationMode.BILINEAR, InterpolationMode.BICUBIC):
        raise ValueError(
            f"a tensor is resized by nearest, bilinear or bicubic interpolation, not by {mode.value}: put "
            "Resize before ToTensor"
        )
    wide = array.astype(np.float64 if array.dtype == np.float64 else np.float32, copy=False)
    across = _weights(width, new_width, mode, bool(antialias)).astype(wide.dtype)
    down = _weights(height, new_height, mode, bool(antialias)).astype(wide.dtype)
    resized = down @ (wide @ across.T)
    if array.dtype.kind in "iu":
        whole = np.iinfo(array.dtype)
        resized = np.clip(np.round(resized), whole.min, whole.max)
    return new_tensor(resized.astype(array.dtype, copy=False))


def _new_size(height: int, width: int, size: int | Sequence[int], max_size: int | None) -> tuple[int, int]:
    if not isinstance(size, int | list | tuple):
        raise TypeError(f"Size should be int or sequence. Got {type(size)}")
    if isinstance(size, int):
        shortest = size
    elif len(size) == 1:
        shortest = size[0]
    elif len(size) == 2:
        if max_size is not None:
            raise ValueError(
                "max_size should only be passed if size specifies the length of the smaller edge"
            )
        return size[0], size[1]
    else:
        raise ValueError(f"Size must be an int or a 1 or 2 element tuple/list, not a {len(size)} element")
    shorter, longer = sorted((height, width))
    new_shorter, new_longer = shortest, int(shortest * longer / shorter)
    if max_size is not None:
        if max_size <= shortest:
            raise ValueError(
                f"max_size = {max_size} must be strictly greater than the requested size for the smaller "
                f"edge size = {shortest}"
            )
        if new_longer > max_size:
            new_shorter, new_longer = int(max_size * new_shorter / new_longer), max_size
    return (new_longer, new_shorter) if width <= height else (new_shorter, new_longer)


def _weights(old: int, new: int, mode: InterpolationMode, antialias: bool) -> np.ndarray:
    """For each new pixel of a row, how much each old one counts: a matrix of shape (new, old).

    The tent, or Keys's cubic, is drawn about the place where the new pixel comes to lie, wide enough to
    meet all old pixels where there are fewer new ones.
    """
    scale = old / new
    stretch = max(scale, 1.0) if antialias else 1.0
    centres = (np.arange(new) + 0.5) * scale
    if antialias:
        distances = np.abs((np.arange(old) + 0.5 - centres[:, None]) / stretch)
        weights = _KERNELS[mode](distances, -0.5)
        return weights / weights.sum(1, keepdims=True)
    reach = 2 if mode is InterpolationMode.BICUBIC else 1
    places = np.floor(centres - 0.5)[:, None] + np.arange(1 - reach, 1 + reach)
    shares = _KERNELS[mode](np.abs(places + 0.5 - centres[:, None]), -0.75)
    weights = np.zeros((new, old))
    np.add.at(weights, (np.arange(new)[:, None], np.clip(places, 0, old - 1).astype(np.int64)), shares)
    return weights


def _tent(distances: np.ndarray, _: float) -> np.ndarray:
    return np.clip(1 - distances, 0, None)


def _cubic(x: np.ndarray, a: float) -> np.ndarray:
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, near, np.where(x < 2, far, 0))


_KERNELS = {InterpolationMode.BILINEAR: _tent, InterpolationMode.BICUBIC: _cubic}


def rotate(
    img: Any,
    angle: float,
    interpolation: InterpolationMode | int = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Sequence[int] | None = None,
    fill: Any = None,
) -> Any:
    """The picture turned by ``angle`` degrees against the clock, about its middle or ``center`` (x, y).

    ``expand`` makes room for all of it; ``fill`` is what comes to lie outside.
    """
    mode = interpolation_mode(interpolation)
    if isinstance(img, Tensor):
        if mode not in (InterpolationMode.NEAREST, InterpolationMode.BILINEAR):
            raise ValueError(f"Interpolation mode '{mode.value}' is unsupported with Tensor input")
        get_dimensions(img)
        smooth = mode is InterpolationMode.BILINEAR
        return new_tensor(rotated(img.detach().array, angle, smooth, expand, center, fill))
    get_dimensions(img)
    return img.rotate(
        angle,
        _PIL_NUMBERS[mode],
        expand,
        center,
        fillcolor=None if fill is None else colour(img, fill),
    )


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """The PIL image in grey, in one channel or the same in three."""
    if not is_picture(img):
        raise TypeError("Input should be PIL Image")
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    grey = img.convert("L")
    return grey if num_output_channels == 1 else pillow().merge("RGB", [grey] * 3)


def rgb_to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """The picture in grey: 0.2989 red, 0.587 green and 0.114 blue; PIL images by PIL's own shares."""
    if not isinstance(img, Tensor):
        return to_grayscale(img, num_output_channels)
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    channels = get_dimensions(img)[0]
    if channels not in (1, 3):
        raise TypeError(f"Input image tensor permitted channel values are [1, 3], but found {channels}")
    if channels == 3:
        red, green, blue = img.unbind(-3)
        img = (0.2989 * red + 0.587 * green + 0.114 * blue).to(img.dtype).unsqueeze(-3)
    return img if num_output_channels == 1 else img.expand(*img.shape[:-3], 3, *img.shape[-2:])


def two(size: int | Sequence[int]) -> tuple[int, int]:
    """Height and width: the same for both where one is given."""
    if isinstance(size, int):
        return size, size
    if len(size) not in (1, 2):
        raise ValueError("Please provide only two dimensions (h, w) for size.")
    return int(size[0]), int(size[-1])


def degrees_between(degrees: float | Sequence[float]) -> list[float]:
    """The range of angles: from -degrees to degrees where one number is given."""
    if isinstance(degrees, int | float):
        if degrees < 0 or math.isnan(degrees):
            raise ValueError("If degrees is a single number, it must be positive.")
        return [-float(degrees), float(degrees)]
    if len(degrees) != 2:
        raise ValueError("degrees should be a sequence of length 2.")
    return [float(each) for each in degrees]
