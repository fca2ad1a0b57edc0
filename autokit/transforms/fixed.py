"""Transforms without chance, each an object that is called with a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autokit import dtypes
from autokit.tensor import Tensor
from autokit.transforms import functional
from autokit.transforms.functional import InterpolationMode, interpolation_mode, two


class Compose:
    """One transform after the other.

    >>> Compose([PILToTensor(), ConvertImageDtype()])
    Compose(
        PILToTensor()
        ConvertImageDtype()
    )
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, img: Any) -> Any:
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        return "\n".join(["Compose(", *(f"    {transform}" for transform in self.transforms), ")"])


class _Plain:
    """A transform whose settings need not be shown."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ToTensor(_Plain):
    """A PIL image, or an array of shape (H, W) or (H, W, C), as floats from 0 to 1 of shape (C, H, W).

    Only bytes are divided by 255; an array of other numbers keeps them.
    """

    def __call__(self, pic: Any) -> Tensor:
        return functional.to_tensor(pic)


class PILToTensor(_Plain):
    """A PIL image as a tensor of shape (C, H, W), its numbers as they are."""

    def __call__(self, pic: Any) -> Tensor:
        return functional.pil_to_tensor(pic)


class ToPILImage:
    """A tensor of shape (C, H, W), or an array of shape (H, W, C), as a PIL image."""

    def __init__(self, mode: str | None = None) -> None:
        self.mode = mode

    def __call__(self, pic: Any) -> Any:
        return functional.to_pil_image(pic, self.mode)

    def __repr__(self) -> str:
        return "ToPILImage()" if self.mode is None else f"ToPILImage(mode={self.mode})"


class ConvertImageDtype(_Plain):
    """A tensor in another dtype and its range: see :func:`functional.convert_image_dtype`."""

    def __init__(self, dtype: dtypes.dtype | None = None) -> None:
        self.dtype = dtype

    def __call__(self, image: Tensor) -> Tensor:
        return functional.convert_image_dtype(image, self.dtype)


class Normalize:
    """``(image - mean) / std``, with one of each for each channel; a tensor of floats only.

    >>> Normalize((0.1307,), (0.3081,))
    Normalize(mean=(0.1307,), std=(0.3081,))
    """

    def __init__(self, mean: Any, std: Any, inplace: bool = False) -> None:
        self.mean = mean
        self.std = std
        self.inplace = inplace

    def __call__(self, tensor: Tensor) -> Tensor:
        return functional.normalize(tensor, self.mean, self.std, self.inplace)

    def __repr__(self) -> str:
        return f"Normalize(mean={self.mean}, std={self.std})"


class Lambda(_Plain):
    """A function of one's own as a transform."""

    def __init__(self, lambd: Callable[[Any], Any]) -> None:
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, img: Any) -> Any:
        return self.lambd(img)


class Resize:
    """The picture in another size: (height, width), or one number for its shorter side.

    >>> Resize((32, 32))
    Resize(size=(32, 32), interpolation=bilinear, max_size=None, antialias=True)
    """

    def __init__(
        self,
        size: int | Sequence[int],
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        max_size: int | None = None,
        antialias: bool | None = True,
    ) -> None:
        if not isinstance(size, int | list | tuple):
            raise TypeError(f"Size should be int or sequence. Got {type(size)}")
        if not isinstance(size, int) and len(size) not in (1, 2):
            raise ValueError("If size is a sequence, it should have 1 or 2 values")
        self.size = size
        self.interpolation = interpolation_mode(interpolation)
        self.max_size = max_size
        self.antialias = antialias

    def __call__(self, img: Any) -> Any:
        return functional.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self) -> str:
        return (
            f"Resize(size={self.size}, interpolation={self.interpolation.value}, max_size={self.max_size}, "
            f"antialias={self.antialias})"
        )


class CenterCrop:
    """The middle of the picture, of this height and width; a smaller picture gets a border of zeros."""

    def __init__(self, size: int | Sequence[int]) -> None:
        self.size = two(size)

    def __call__(self, img: Any) -> Any:
        return functional.center_crop(img, self.size)

    def __repr__(self) -> str:
        return f"CenterCrop(size={self.size})"


class Pad:
    """The picture with borders: see :func:`functional.pad`."""

    def __init__(self, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant") -> None:
        if not isinstance(padding, int | tuple | list):
            raise TypeError("Got inappropriate padding arg")
        if not isinstance(padding, int) and len(padding) not in (1, 2, 4):
            raise ValueError(
                f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(padding)} element tuple"
            )
        if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
            raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def __call__(self, img: Any) -> Any:
        return functional.pad(img, self.padding, self.fill, self.padding_mode)

    def __repr__(self) -> str:
        return f"Pad(padding={self.padding}, fill={self.fill}, padding_mode={self.padding_mode})"


class Grayscale:
    """The picture in grey, in one channel or the same in three."""

    def __init__(self, num_output_channels: int = 1) -> None:
        self.num_output_channels = num_output_channels

    def __call__(self, img: Any) -> Any:
        return functional.rgb_to_grayscale(img, self.num_output_channels)

    def __repr__(self) -> str:
        return f"Grayscale(num_output_channels={self.num_output_channels})"
