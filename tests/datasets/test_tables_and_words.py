"""The small sets: scikit-learn's tables, and the words of this package."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest

import autokit as ak
from autokit import datasets
from autokit.utils.data import DataLoader
from tests.support import require


@pytest.mark.parametrize(
    ("kind", "rows", "features", "classes"),
    [
        (datasets.Iris, 150, 4, 3),
        (datasets.Wine, 178, 13, 3),
        (datasets.BreastCancer, 569, 30, 2),
        (datasets.Diabetes, 442, 10, 0),
    ],
)
def test_tables(kind: Any, rows: int, features: int, classes: int):
    require("sklearn")
    every, train, test = kind(train=None), kind(), kind(train=False)
    assert every.data.shape == (rows, features) and every.data.dtype == ak.float32
    assert len(every.feature_names) == features and len(every.classes) == classes
    assert len(train) + len(test) == rows and len(test) == -(-rows // 5)
    both = np.concatenate([train.data.numpy(), test.data.numpy()])
    assert sorted(map(tuple, both)) == sorted(map(tuple, every.data.numpy()))
    if classes:
        assert set(train.targets.tolist()) == set(test.targets.tolist()) == set(range(classes))
    at_once = next(iter(DataLoader(test, batch_size=3)))
    one_by_one = next(iter(DataLoader(kind(train=False, transform=lambda row: row), batch_size=3)))
    for fast, slow in zip(at_once, one_by_one, strict=True):
        assert fast.dtype == slow.dtype and (fast == slow).all()
    assert every[0][0].tolist() == every.data[0].tolist()


def test_tables_without_scikit_learn_say_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ImportError, match="Iris comes with scikit-learn: pip install scikit-learn"):
        datasets.Iris()


def test_names_are_many_and_in_small_letters():
    names = datasets.Names()
    assert len(set(names.data)) == len(names) > 5000 and names.data == sorted(names.data)
    assert all(re.fullmatch("[a-z]{2,}", name) for name in names.data)
    assert datasets.Names(transform=str.upper)[0] == names[0].upper()
    assert len(next(iter(DataLoader(names, batch_size=4)))) == 4


def test_sonnets():
    sonnets = datasets.Sonnets(length=10)
    assert sonnets.decode(sonnets.data) == sonnets.text and len(sonnets.text) > 90_000
    lines = [len(poem.splitlines()) for poem in sonnets.text.split("\n\n")]
    assert len(lines) == 154 and lines == [14] * 98 + [15] + [14] * 26 + [12] + [14] * 28
    before, after = sonnets[len(sonnets) - 1]
    assert before.shape == after.shape == (10,)
    assert sonnets.text.endswith(sonnets.decode(after)) and before[1:].tolist() == after[:-1].tolist()
    images, targets = next(iter(DataLoader(sonnets, batch_size=3, shuffle=True)))
    assert images.shape == targets.shape == (3, 10) and images.dtype == ak.int64
    for wrong in (len(sonnets), -len(sonnets) - 1):
        with pytest.raises(IndexError, match="out of range"):
            sonnets[wrong]
    with pytest.raises(ValueError, match="have no 'ß'"):
        sonnets.encode("aß")
    with pytest.raises(ValueError, match="length must be from 1"):
        datasets.Sonnets(length=0)
