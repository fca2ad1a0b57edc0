"""autokit.datasets.Digits: the real images."""

from __future__ import annotations

import numpy as np

import autokit as ak
from autokit.datasets import Digits
from autokit.utils.data import DataLoader
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


def test_transforms_apply_to_each_sample():
    plain = Digits(train=False)
    changed = Digits(
        train=False, transform=lambda image: 1 - image.flatten(), target_transform=lambda n: n % 2
    )
    image, numeral = changed[5]
    np.testing.assert_array_equal(image.numpy(), 1 - plain[5][0].numpy().reshape(-1))
    assert numeral == plain[5][1] % 2
    batch, parities = next(iter(DataLoader(changed, batch_size=4)))
    assert batch.shape == (4, 64) and parities.tolist() == [changed[i][1] for i in range(4)]


def test_a_batch_read_at_once_equals_one_that_is_stacked():
    digits = Digits(train=False)
    images, numerals = next(iter(DataLoader(digits, batch_size=5)))
    assert images.shape == (5, 1, 8, 8)
    np.testing.assert_array_equal(images.numpy(), np.stack([digits[i][0].numpy() for i in range(5)]))
    assert numerals.tolist() == [digits[i][1] for i in range(5)]


def test_it_says_what_it_is():
    assert repr(Digits(train=False)) == "Dataset Digits\n    Number of datapoints: 360\n    Split: test"
