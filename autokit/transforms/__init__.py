"""Transforms of images before they go into a network, as ``torchvision.transforms``.

>>> import numpy as np
>>> from autokit import transforms
>>> prepare = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))])
>>> prepare(np.array([[0, 255]], np.uint8))
tensor([[[-1.,  1.]]])

Most take a PIL image or a tensor of shape (..., C, H, W).  The random ones draw
from autokit's generator in torchvision's order, so that the same seed gives the
same pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autokit.base.generator import default_generator
from autokit.base.missing import absent
from autokit.engine.tensor import Tensor
from autokit.transforms import functional
from autokit.transforms.functional import InterpolationMode, two

__all__ = [
    "CenterCrop",
    "Compose",
    "Grayscale",
    "InterpolationMode",
    "Lambda",
    "Normalize",
    "Pad",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomRotation",
    "RandomVerticalFlip",
    "Resize",
    "ToPILImage",
    "ToTensor",
    "functional",
]

__getattr__ = absent("torch.transforms")


class _Transform:
    """An object that is called with a picture; its text shows its settings."""

    def __repr__(self) -> str:
        settings = [f"{name}={value}" for name, value in vars(self).items() if not name.startswith("_")]
        return f"{type(self).__name__}({', '.join(settings)})"


class Compose:
    """One transform after the other.

    >>> Compose([ToTensor(), Normalize(0.5, 0.5)])
    Compose(
        ToTensor()
        Normalize(mean=0.5, std=0.5)
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


class ToTensor(_Transform):
    """A PIL image, or an array of shape (H, W) or (H, W, C), as floats from 0 to 1 of shape (C, H, W).

    Only bytes are divided by 255; an array of other numbers keeps them.
    """

    def __call__(self, pic: Any) -> Tensor:
        return functional.to_tensor(pic)


class ToPILImage(_Transform):
    """A tensor of shape (C, H, W), or an array of shape (H, W, C), as a PIL image."""

    def __call__(self, pic: Any) -> Any:
        return functional.to_pil_image(pic)


class Normalize(_Transform):
    """``(image - mean) / std``, with one of each for each channel; a tensor of floats only.

    >>> Normalize((0.1307,), (0.3081,))
    Normalize(mean=(0.1307,), std=(0.3081,))
    """

    def __init__(self, mean: Any, std: Any, inplace: bool = False) -> None:
        self.mean, self.std, self._inplace = mean, std, inplace

    def __call__(self, tensor: Tensor) -> Tensor:
        return functional.normalize(tensor, self.mean, self.std, self._inplace)


class Lambda(_Transform):
    """A function of one's own as a transform."""

    def __init__(self, lambd: Callable[[Any], Any]) -> None:
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self._function = lambd

    def __call__(self, img: Any) -> Any:
        return self._function(img)


class Resize(_Transform):
    """The picture in another size: (height, width), or one number for its shorter side.

    >>> Resize((32, 32))
    Resize(size=(32, 32), interpolation=bilinear, antialias=True)
    """

    def __init__(
        self,
        size: int | Sequence[int],
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        two(size)
        self.size, self.interpolation, self.antialias = size, interpolation, antialias

    def __call__(self, img: Any) -> Any:
        return functional.resize(img, self.size, self.interpolation)


class CenterCrop(_Transform):
    """The middle of the picture, of this height and width; a smaller picture gets a border of zeros."""

    def __init__(self, size: int | Sequence[int]) -> None:
        self.size = two(size)

    def __call__(self, img: Any) -> Any:
        return functional.center_crop(img, self.size)


class Pad(_Transform):
    """The picture with borders: see :func:`functional.pad`."""

    def __init__(self, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant") -> None:
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def __call__(self, img: Any) -> Any:
        return functional.pad(img, self.padding, self.fill, self.padding_mode)


class Grayscale(_Transform):
    """The picture in grey, in one channel or the same in three."""

    def __init__(self, num_output_channels: int = 1) -> None:
        self.num_output_channels = num_output_channels

    def __call__(self, img: Any) -> Any:
        return functional.rgb_to_grayscale(img, self.num_output_channels)


class RandomHorizontalFlip(_Transform):
    """With probability ``p``, left becomes right."""

    _flip = staticmethod(functional.hflip)

    def __init__(self, p: float = 0.5) -> None:
        self.p = p

    def __call__(self, img: Any) -> Any:
        return self._flip(img) if default_generator.uniform(1)[0] < self.p else img


class RandomVerticalFlip(RandomHorizontalFlip):
    """With probability ``p``, top becomes bottom."""

    _flip = staticmethod(functional.vflip)


class RandomCrop(_Transform):
    """A part of this height and width from anywhere in the picture.

    Parameters
    ----------
    size : int or (int, int)
        Height and width.
    padding : int or sequence, optional
        Borders that the picture gets first; see :func:`functional.pad`.
    fill, padding_mode
        What the borders hold.

    Raises
    ------
    ValueError
        When it is called, if the picture is smaller than ``size``.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        fill: Any = 0,
        padding_mode: str = "constant",
    ) -> None:
        self.size, self.padding = two(size), padding
        self._fill, self._padding_mode = fill, padding_mode

    def __call__(self, img: Any) -> Any:
        if self.padding is not None:
            img = functional.pad(img, self.padding, self._fill, self._padding_mode)
        _, whole_height, whole_width = functional.get_dimensions(img)
        height, width = self.size
        if whole_height < height or whole_width < width:
            raise ValueError(
                f"Required crop size {self.size} is larger than input image size "
                f"{(whole_height, whole_width)}: give it borders by padding="
            )
        if (whole_height, whole_width) == self.size:
            return img
        top = int(default_generator.integers(0, whole_height - height + 1, 1)[0])
        left = int(default_generator.integers(0, whole_width - width + 1, 1)[0])
        return functional.crop(img, top, left, height, width)


class RandomRotation(_Transform):
    """The picture turned by an angle from ``degrees``, a range or the largest either way."""

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: InterpolationMode = InterpolationMode.NEAREST,
        expand: bool = False,
        center: Sequence[int] | None = None,
        fill: Any = 0,
    ) -> None:
        if isinstance(degrees, int | float) and not degrees >= 0:
            raise ValueError("If degrees is a single number, it must be positive.")
        low, high = (-degrees, degrees) if isinstance(degrees, int | float) else degrees
        self.degrees = [float(low), float(high)]
        self.interpolation, self.expand, self._center, self.fill = interpolation, expand, center, fill

    def __call__(self, img: Any) -> Any:
        low, high = self.degrees
        angle = float(default_generator.uniform(1, low=low, high=high)[0])
        return functional.rotate(img, angle, self.interpolation, self.expand, self._center, self.fill)
