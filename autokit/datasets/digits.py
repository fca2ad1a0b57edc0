"""The digits dataset of scikit-learn: 1,797 handwritten numerals as images of 8 by 8 pixels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.datasets.base import PartOfTensors
from autokit.datasets.tables import from_sklearn
from autokit.engine.tensor import Tensor, new_tensor

_TEST_EVERY = 5  # every fifth image is for testing: both parts hold all digits, early images and late


class Digits(PartOfTensors):
    """Handwritten digits to tell apart: an image of shape (1, 8, 8) and its numeral, 0 to 9.

    Parameters
    ----------
    train : bool or None
        The 1,437 images to learn from, or (False) the 360 others to test on;
        None gives all 1,797.
    transform, target_transform : callable, optional
        Applied to each image, a float32 tensor from 0 (paper) to 1 (ink), and
        to each numeral, an int.

    Attributes
    ----------
    data : Tensor
        All images, of shape (N, 1, 8, 8).
    targets : Tensor
        All numerals, int64, of shape (N,).

    Raises
    ------
    ImportError
        If scikit-learn is missing; says how to get it.

    References
    ----------
    E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits",
    UCI Machine Learning Repository, 1998.

    Examples
    --------
    >>> digits = Digits(train=True)
    >>> image, numeral = digits[0]
    >>> len(digits), image.shape, numeral
    (1437, torch.Size([1, 8, 8]), 1)
    """

    classes = tuple("0123456789")

    def __init__(
        self,
        train: bool | None = True,
        transform: Callable[[Tensor], Any] | None = None,
        target_transform: Callable[[int], Any] | None = None,
    ) -> None:
        super().__init__(transform, target_transform)
        source = from_sklearn("digits", "Digits")
        images = (source.images / 16).astype(np.float32)[:, np.newaxis]
        numerals = source.target.astype(np.int64)
        if train is not None:
            chosen = (np.arange(len(images)) % _TEST_EVERY != 0) == bool(train)
            images, numerals = images[chosen], numerals[chosen]
        self.train = train
        self.data = new_tensor(images)
        self.targets = new_tensor(numerals)

    def pair(self, index: int) -> tuple[Tensor, int]:
        """The image and its numeral."""
        return self.data[index], int(self.targets[index])
