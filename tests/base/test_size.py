"""The shape of a tensor, and the handle that takes a hook away."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from autokit.base.handles import RemovableHandle
from autokit.base.size import Size


def test_sums_and_products_of_sizes_are_sizes():
    shape = Size([2, 3])
    for result in ((1, *shape), shape):
        assert repr(Size(result)) == f"torch.Size({list(result)})"
    for result in ((1,) + shape, shape + (1,), shape * 2, 2 * shape, shape[::-1], sum([shape, shape], ())):
        assert type(result) is Size and Size(tuple(result)) == result
    assert type(copy.deepcopy(shape)) is type(pickle.loads(pickle.dumps(shape))) is Size
    assert shape.numel() == 6 and shape[0] == 2 and [*shape] == [2, 3] and shape == (2, 3)
    with pytest.raises(TypeError):
        shape + [4]


def test_a_size_holds_whole_numbers_alone():
    assert [type(size) for size in Size([np.int64(3), True])] == [int, int]
    for wrong in ([1.5], ["a"], [None]):
        with pytest.raises(TypeError, match=r"iterable of 'int' \(item 0"):
            Size(wrong)
    with pytest.raises(TypeError, match="item 2 is 'float'"):
        Size([1, 2]) + (0.5,)


def test_a_handle_takes_its_hook_away_once_and_no_other():
    hooks: dict[int, str] = {}
    first, second = RemovableHandle(hooks, "first"), RemovableHandle(hooks, "second")
    first.remove()
    first.remove()
    assert list(hooks.values()) == ["second"]
    with second:
        pass
    assert not hooks and " at 0x" not in repr(first)
