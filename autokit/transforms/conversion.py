"""Transforms that convert images to tensors, and tensors to images."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from autokit.base.devices import to_numpy
from autokit.base.dtypes import get_default_dtype
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.create import as_tensor

_DTYPES = {
    "1": np.dtype(bool),
    "I": np.dtype(np.int32),
    "I;16": np.dtype(np.int32),
    "F": np.dtype(np.float32),
}
"""The dtype of a picture's numbers by PIL's name of its mode; all other modes are of bytes."""


def pillow() -> ModuleType:
    """``PIL.Image``.

    Raises
    ------
    ImportError
        If Pillow is missing; says how to get it.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("pictures are PIL images, which Pillow brings: pip install pillow") from error
    return Image


def is_picture(image: Any) -> bool:
    """Whether this is a PIL image."""
    return hasattr(image, "getbands")


def to_tensor(pic: Any) -> Tensor:
    """A PIL image, or an array of shape (H, W) or (H, W, C), as a tensor of shape (C, H, W).

    Bytes from 0 to 255 become floats from 0 to 1; other numbers stay as they are.
    """
    if is_picture(pic):
        array: np.ndarray = np.array(pic, _DTYPES.get(pic.mode, np.uint8))
        if pic.mode == "1":
            array = array * np.uint8(255)
    elif isinstance(pic, np.ndarray):
        array = pic
    else:
        raise TypeError(
            f"pic should be PIL Image or ndarray. Got {type(pic)}"
            + (": what is a tensor already needs no ToTensor" if isinstance(pic, Tensor) else "")
        )
    if array.ndim not in (2, 3):
        raise ValueError(f"pic should be 2/3 dimensional. Got {array.ndim} dimensions.")
    array = np.ascontiguousarray(np.atleast_3d(array).transpose(2, 0, 1))
    if array.dtype == np.uint8:
        array = array.astype(get_default_dtype().numpy) / np.float32(255)
    return new_tensor(array)


def to_pil_image(pic: Any, mode: str | None = None) -> Any:
    """A tensor of shape (C, H, W) or (H, W), or an array of shape (H, W, C) or (H, W), as a PIL image.

    Floats of a tensor from 0 to 1 become bytes from 0 to 255, cut off after the point.
    """
    if not isinstance(pic, Tensor | np.ndarray):
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(pic)}.")
    if pic.ndim not in (2, 3):
        raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
    if isinstance(pic, Tensor):
        array = to_numpy(pic.array)
        if array.dtype.kind == "f" and mode != "F":
            array = (array * 255).astype(np.uint8)
        array = array.transpose(1, 2, 0) if array.ndim == 3 else array
    else:
        array = pic
    channels = array.shape[2] if array.ndim == 3 else 1
    if channels > 4:
        raise ValueError(f"pic should not have > 4 channels. Got {channels} channels.")
    return pillow().fromarray(np.ascontiguousarray(array[:, :, 0] if array.shape[2:] == (1,) else array))


def normalize(tensor: Tensor, mean: Any, std: Any, inplace: bool = False) -> Tensor:
    """``(tensor - mean) / std``, with a mean and a standard deviation for each channel.

    Raises
    ------
    TypeError
        If it is no tensor of floats.
    ValueError
        If it has no channels, or a standard deviation is 0.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(tensor)}: put ToTensor() before Normalize")
    if tensor.array.dtype.kind != "f":
        raise TypeError(f"Input tensor should be a float tensor. Got {tensor.dtype}.")
    if tensor.ndim < 3:
        raise ValueError(
            "Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = "
            f"{tuple(tensor.shape)}."
        )
    means, stds = (
        as_tensor(value, dtype=tensor.dtype, device=tensor.device).array.reshape(-1, 1, 1)
        for value in (mean, std)
    )
    if (stds == 0).any():
        raise ValueError(
            f"std evaluated to zero after conversion to {tensor.dtype}, leading to division by zero."
        )
    normal = (tensor - new_tensor(means)) / new_tensor(stds)
    return tensor.copy_(normal) if inplace else normal  # type: ignore[attr-defined]
