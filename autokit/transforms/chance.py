"""Transforms by chance: they draw from autokit's generator as torchvision does from PyTorch's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autokit import random
from autokit.transforms import functional
from autokit.transforms.functional import InterpolationMode, degrees_between, interpolation_mode, two


def _drawn() -> float:
    return float(random.default_generator.uniform(1)[0])


class _RandomFlip:
    def __init__(self, p: float = 0.5) -> None:
        self.p = p

    def __call__(self, img: Any) -> Any:
        return self.flipped(img) if _drawn() < self.p else img

    def flipped(self, img: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"


class RandomHorizontalFlip(_RandomFlip):
    """With probability ``p``, left becomes right."""

    def flipped(self, img: Any) -> Any:
        """The flipped picture."""
        return functional.hflip(img)


class RandomVerticalFlip(_RandomFlip):
    """With probability ``p``, top becomes bottom."""

    def flipped(self, img: Any) -> Any:
        """The flipped picture."""
        return functional.vflip(img)


class RandomCrop:
    """A part of this height and width from anywhere in the picture.

    Parameters
    ----------
    size : int or (int, int)
        Height and width.
    padding : int or sequence, optional
        Borders that the picture gets first; see :func:`functional.pad`.
    pad_if_needed : bool
        Give a picture that is smaller than ``size`` borders, in place of an error.
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
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
    ) -> None:
        self.size = two(size)
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    @staticmethod
    def get_params(img: Any, output_size: tuple[int, int]) -> tuple[int, int, int, int]:
        """Top, left, height and width of a part, drawn at random."""
        _, whole_height, whole_width = functional.get_dimensions(img)
        height, width = output_size
        if whole_height < height or whole_width < width:
            raise ValueError(
                f"Required crop size {(height, width)} is larger than input image size "
                f"{(whole_height, whole_width)}: pad_if_needed=True gives it borders"
            )
        if (whole_height, whole_width) == (height, width):
            return 0, 0, height, width
        top = int(random.default_generator.integers(0, whole_height - height + 1, 1)[0])
        left = int(random.default_generator.integers(0, whole_width - width + 1, 1)[0])
        return top, left, height, width

    def __call__(self, img: Any) -> Any:
        if self.padding is not None:
            img = functional.pad(img, self.padding, self.fill, self.padding_mode)
        if self.pad_if_needed:
            height, width = self.size
            _, whole_height, whole_width = functional.get_dimensions(img)
            if whole_width < width:
                img = functional.pad(img, [width - whole_width, 0], self.fill, self.padding_mode)
            if whole_height < height:
                img = functional.pad(img, [0, height - whole_height], self.fill, self.padding_mode)
        return functional.crop(img, *self.get_params(img, self.size))

    def __repr__(self) -> str:
        return f"RandomCrop(size={self.size}, padding={self.padding})"


class RandomRotation:
    """The picture turned by an angle from ``degrees``, a range or the largest either way."""

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: InterpolationMode | int = InterpolationMode.NEAREST,
        expand: bool = False,
        center: Sequence[int] | None = None,
        fill: Any = 0,
    ) -> None:
        self.degrees = degrees_between(degrees)
        self.interpolation = interpolation_mode(interpolation)
        self.expand = expand
        self.center = center
        self.fill = 0 if fill is None else fill

    def __call__(self, img: Any) -> Any:
        low, high = self.degrees
        angle = float(random.default_generator.uniform(1, low=low, high=high)[0])
        return functional.rotate(img, angle, self.interpolation, self.expand, self.center, self.fill)

    def __repr__(self) -> str:
        parts = f"degrees={self.degrees}, interpolation={self.interpolation.value}, expand={self.expand}"
        centre = "" if self.center is None else f", center={self.center}"
        return f"RandomRotation({parts}{centre}, fill={self.fill})"


class RandomApply:
    """All of ``transforms`` with probability ``p``, or none."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]], p: float = 0.5) -> None:
        self.transforms = transforms
        self.p = p

    def __call__(self, img: Any) -> Any:
        if self.p < _drawn():
            return img
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        return "\n".join(
            ["RandomApply(", f"    p={self.p}", *(f"    {transform}" for transform in self.transforms), ")"]
        )
