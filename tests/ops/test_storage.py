"""The memory behind tensors, read and changed through their storages."""

from __future__ import annotations

import pytest

import autokit
from tests.support import require

require("torch")
import torch  # noqa: E402

VIEWS = {
    "whole": lambda x: x,
    "row": lambda x: x[1],
    "turned": lambda x: x.t(),
    "every second": lambda x: x[:, ::2],
    "spread": lambda x: x[0, 0].expand(4),
    "of another dtype": lambda x: x.view(x.int().dtype) if x.dtype.itemsize == 4 else x,
    "none": lambda x: x[:0],
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_views_have_the_storage_of_their_base(name: str):
    (ours, mine), (theirs, yours) = (
        (base, VIEWS[name](base)) for base in (T.arange(1.0, 7.0).view(2, 3) for T in (autokit, torch))
    )
    assert mine.storage().tolist() == yours.storage().tolist()
    assert repr(mine.storage()) == repr(yours.storage())
    for kind in ("storage", "untyped_storage"):
        own, other = getattr(mine, kind)(), getattr(yours, kind)()
        assert (len(own), own.size(), own.nbytes()) == (len(other), other.size(), other.nbytes())
        assert own[3] == other[3]
        assert own.data_ptr() == ours.data_ptr()
    mine.storage()[0] = yours.storage()[0] = 9
    assert ours.tolist() == theirs.tolist()
    assert mine.untyped_storage().tolist() == yours.untyped_storage().tolist()


def test_a_storage_is_read_within_its_bounds():
    row = autokit.arange(3).storage()
    assert row[-1] == 2
    with pytest.raises(IndexError, match="out of range"):
        row[3]
    with pytest.raises(RuntimeError, match="slices"):
        row[1:]
    assert autokit.is_storage(row)
    assert autokit.is_storage(row.untyped())
    assert not autokit.is_storage(autokit.ones(1))


def test_a_turned_array_from_numpy_has_a_storage():
    import numpy as np

    turned = autokit.from_numpy(np.arange(6).reshape(2, 3).T)
    assert turned.storage().tolist() == torch.from_numpy(np.arange(6).reshape(2, 3).T).storage().tolist()
