"""autokit.datasets.Digits: the real images."""

from __future__ import annotations

import numpy as np

import autokit as ak
from autokit.datasets import Digits
from tests.support import require

require("sklearn")


def test_train_and_test_part_the_images_between_them():
    every, train, test = Digits(train=None), Digits(train=True), Digits(train=False)
    assert (len(every), len(train), len(test)) == (1797, 1437, 360)
    images = {image.tobytes() for image in every.data.numpy()}
    apart = [{image.tobytes() for image in part.data.numpy()} for part in (train, test)]
    assert apart[0] | apart[1] == images and not apart[0] & apart[1]
    for part in (train, test):
        counts = np.bincount(part.targets.numpy(), minlength=10)
        assert counts.min() > 0.07 * len(part)


def test_an_image_is_float32_from_0_to_1():
    digits = Digits()
    image, numeral = digits[3]
    assert image.shape == (1, 8, 8) and image.dtype == ak.float32 and isinstance(numeral, int)
    assert digits.data.min().item() == 0 and digits.data.max().item() == 1
    assert digits.targets.dtype == ak.int64


def test_it_says_what_it_is():
    assert repr(Digits(train=False)) == "Dataset Digits\n    Number of datapoints: 360\n    Split: test"
