"""From pictures to tensors and back, and from one dtype of pictures to another."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit import dtypes
from autokit.devices import to_numpy
from autokit.ops import create
from autokit.tensor import Tensor, new_tensor

if TYPE_CHECKING:
    from PIL import Image

_ARRAY_OF_MODE = {"1": np.bool_, "I": np.int32, "I;16": np.int32, "F": np.float32}
_MODES = {"uint8": "L", "int16": "I;16", "uint16": "I;16", "int32": "I", "float32": "F"}
_COLOURS = {2: ("LA",), 3: ("RGB", "YCbCr", "HSV"), 4: ("RGBA", "CMYK", "RGBX")}


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
    return type(image).__module__.startswith("PIL.") or hasattr(image, "getbands")


def kind(image: Any) -> str:
    return f"Got {type(image)}"


def pil_to_tensor(pic: Image.Image) -> Tensor:
    """A PIL image as a tensor of shape (C, H, W), its numbers as they are."""
    if not is_picture(pic):
        raise TypeError(f"pic should be PIL Image. {kind(pic)}")
    array: np.ndarray = np.array(pic, _ARRAY_OF_MODE.get(pic.mode, np.uint8))
    array = array.reshape(pic.height, pic.width, len(pic.getbands()))
    return new_tensor(np.ascontiguousarray(array.transpose(2, 0, 1)))


def to_tensor(pic: Any) -> Tensor:
    """A PIL image, or an array of shape (H, W) or (H, W, C), as a tensor of shape (C, H, W).

    Bytes from 0 to 255 become floats from 0 to 1; other numbers stay as they are.
    """
    if isinstance(pic, np.ndarray):
        if pic.ndim not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
        image = new_tensor(np.ascontiguousarray(np.atleast_3d(pic).transpose(2, 0, 1)))
    elif is_picture(pic):
        image = pil_to_tensor(pic)
        if pic.mode == "1":
            image = new_tensor(image.array * np.uint8(255))
    else:
        raise TypeError(
            f"pic should be PIL Image or ndarray. {kind(pic)}"
            + (": what is a tensor already needs no ToTensor" if isinstance(pic, Tensor) else "")
        )
    if image.array.dtype != np.uint8:
        return image
    return new_tensor(image.array.astype(dtypes.get_default_dtype().numpy) / np.float32(255))


def to_pil_image(pic: Any, mode: str | None = None) -> Image.Image:
    """A tensor of shape (C, H, W) or (H, W), or an array of shape (H, W, C) or (H, W), as a PIL image.

    Floats of a tensor from 0 to 1 become bytes from 0 to 255, cut off after the point.
    """
    if not isinstance(pic, Tensor | np.ndarray):
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(pic)}.")
    if pic.ndim not in (2, 3):
        raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
    if isinstance(pic, Tensor):
        array = to_numpy(pic.detach().array)
        if array.dtype.kind in dtypes.FLOATS and mode != "F":
            array = (array * 255).astype(np.uint8)
        array = array[:, :, np.newaxis] if array.ndim == 2 else array.transpose(1, 2, 0)
    else:
        array = np.atleast_3d(pic)
    channels = array.shape[2]
    if channels > 4:
        raise ValueError(f"pic should not have > 4 channels. Got {channels} channels.")
    if channels == 1:
        array = array[:, :, 0]
        only = _MODES.get(array.dtype.name)
        permitted: tuple[str, ...] = () if only is None else (only,)
    else:
        permitted = _COLOURS[channels]
    if not permitted or (channels > 1 and array.dtype != np.uint8):
        raise TypeError(f"Input type {array.dtype} is not supported for a picture of {channels} channels")
    if mode is not None and mode not in permitted:
        raise ValueError(
            f"Incorrect mode ({mode}) supplied for input type {array.dtype} with {channels} channels. Should "
            f"be one of {permitted}"
        )
    default = "RGBA" if channels == 4 else permitted[0]
    picture = pillow().fromarray(np.ascontiguousarray(array))
    wanted = mode or default
    if picture.mode != wanted:  # as YCbCr, whose bytes look like those of RGB
        picture = pillow().frombytes(wanted, picture.size, picture.tobytes())
    return picture


def convert_image_dtype(image: Tensor, dtype: dtypes.dtype | None = None) -> Tensor:
    """The picture in ``dtype``, its range with it: floats go from 0 to 1, integers from 0 to their largest.

    Raises
    ------
    RuntimeError
        If the integers are too large for the floats to hold exactly.
    """
    if not isinstance(image, Tensor):
        raise TypeError(f"Input img should be Tensor Image. {kind(image)}")
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    old, new = image.dtype, dtype
    if old == new:
        return image
    if old.is_floating_point:
        if new.is_floating_point:
            return image.to(new)
        if (old.itemsize, new.itemsize) in ((4, 4), (4, 8), (8, 8)):
            raise RuntimeError(
                f"The cast from {old} to {new} cannot be performed safely: such floats do not hold all of "
                "these integers"
            )
        # A little less than one more than the largest, so that each integer has an equal share.
        return (image * (_largest(new) + 1.0 - 1e-3)).to(new)
    if new.is_floating_point:
        return image.to(new) / _largest(old)
    if _largest(old) > _largest(new):
        return image.floor_divide((_largest(old) + 1) // (_largest(new) + 1)).to(new)
    return image.to(new) * ((_largest(new) + 1) // (_largest(old) + 1))


def _largest(kind: dtypes.dtype) -> int:
    return 1 if kind.numpy == np.bool_ else int(np.iinfo(kind.numpy).max)


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
        raise TypeError(f"img should be Tensor Image. {kind(tensor)}: put ToTensor() before Normalize")
    if not tensor.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {tensor.dtype}.")
    if tensor.ndim < 3:
        raise ValueError(
            "Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = "
            f"{tuple(tensor.shape)}."
        )
    means, stds = (create.as_tensor(value, dtype=tensor.dtype, device=tensor.device) for value in (mean, std))
    if (stds.array == 0).any():
        raise ValueError(
            f"std evaluated to zero after conversion to {tensor.dtype}, leading to division by zero."
        )
    means, stds = (each.reshape(-1, 1, 1) if each.ndim == 1 else each for each in (means, stds))
    return tensor.sub_(means).div_(stds) if inplace else (tensor - means) / stds
