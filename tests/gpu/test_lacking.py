"""Each thing that CuPy lacks or does otherwise: NumPy's own words give another answer there, ours the CPU's.

The list is the head of ``autokit/ops/gpu/__init__.py``.  Where CuPy has learned
one of them, its test fails here, and says that the item may go.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import autokit.ops.gpu
from autokit.devices import module_for, on_a_gpu, to_numpy
from autokit.late_errors import wait
from autokit.ops import correlate
from autokit.ops.gpu import arrays, bounds, ufuncs
from autokit.ops.gpu import correlate as correlate_gpu

pytestmark = pytest.mark.usefixtures("gpu")

ROW = np.array([3.0, -1.0, 4.0, -1.5, 5.0])
PLACES = np.array([0, 2, 2, 0])
VALUES = np.array([10.0, 20.0, 30.0, 40.0])
STARTS = np.array([0, 2, 3])
FAR = np.array([1, 7])
MATRIX = np.array([[1.0, 2.0], [2.0, 4.0]])
MATRICES = 3 * np.eye(3) + np.arange(18.0).reshape(2, 1, 3, 3) / 20
SIDES = np.arange(24.0).reshape(4, 3, 2)
ZEROS = np.array([1, 0])
WINDOWS = correlate.Windows(stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2)
IMAGES = np.sin(np.arange(2 * 4 * 7 * 8.0)).reshape(2, 4, 7, 8)
KERNELS = np.cos(np.arange(6 * 2 * 3 * 2.0)).reshape(6, 2, 3, 2)
SENT = np.cos(np.arange(2 * 6 * 4 * 6.0)).reshape(2, 6, 4, 6)

Words = Callable[..., Any]


def changed(change: Words) -> Words:
    """What an array is after ``change``, which gets a copy of it."""

    def words(array: Any, *others: Any) -> Any:
        array = array.copy()
        change(array, *others)
        return array

    return words


def refusing(refuse: Words) -> Words:
    """``refuse``, and the answer for which it does not wait."""

    def words(*given: Any) -> None:
        refuse(*given)
        wait()

    return words


def refuse_far(row: Any, places: Any) -> None:
    bounds.refuse_outside(places, -row.shape[0], row.shape[0], lambda place: IndexError(place))


def first_outside(row: Any, places: Any) -> Any:
    place = bounds.outside(places, -row.shape[0], row.shape[0])
    if place is not None:
        raise IndexError(place)
    return row[places]


def divide(numbers: Any) -> Any:
    with np.errstate(divide="raise"):
        return 6 // numbers


def invert(matrix: Any) -> Any:
    with arrays.raising(matrix):
        return np.linalg.inv(matrix)


def erf(row: Any) -> Any:
    from autokit.ops.approximations import erf as by_lines

    return by_lines(row)  # on a GPU it is CuPy's, by ``special``: NumPy has none


def convolve(name: str, *given: Any) -> Words:
    """The convolution of that name, and what it takes beside the arrays."""

    def words(*arrays: Any) -> Any:
        module = correlate_gpu if on_a_gpu(arrays[0]) else correlate
        return getattr(module, name)(*arrays, *given)

    return words


ITEMS: dict[str, tuple[Words | None, Words, tuple[Any, ...]]] = {
    "ufuncs.add_at": (
        changed(np.add.at),
        changed(ufuncs.add_at),
        (ROW.astype(complex), PLACES, VALUES * 1j),
    ),
    "ufuncs.combine_at": (
        changed(np.multiply.at),
        changed(lambda *given: ufuncs.combine_at(np.multiply, *given)),
        (ROW, PLACES, VALUES),
    ),
    "ufuncs.accumulate": (
        lambda a: np.maximum.accumulate(a, axis=0),
        lambda a: ufuncs.accumulate(np.maximum, a, 0),
        (ROW,),
    ),
    "ufuncs.reduceat": (
        np.maximum.reduceat,
        lambda a, starts: ufuncs.reduceat(np.maximum, a, starts),
        (ROW, STARTS),
    ),
    "ufuncs.floor_divide": (
        np.floor_divide,
        ufuncs.floor_divide,
        (np.array([1.0, 6.0]), np.array([0.1, 0.1])),
    ),
    "ufuncs.remainder": (np.remainder, ufuncs.remainder, (ROW, np.full(5, np.inf))),
    "bounds.refuse_outside": (lambda a, places: a[places], refusing(refuse_far), (ROW, FAR)),
    "bounds.outside": (lambda a, places: a[places], first_outside, (ROW, FAR)),
    "bounds.refuse_zeros": (
        divide,
        refusing(lambda a: bounds.refuse_zeros(a, ZeroDivisionError)),
        (ZEROS,),
    ),
    "arrays.like": (
        lambda a: np.zeros_like(a, shape=()),
        lambda a: arrays.like(np.zeros_like, a, shape=()),
        (ROW,),
    ),
    "arrays.reduced": (
        lambda a: np.sum(a, axis=0),
        lambda a: np.sum(a, axis=arrays.reduced(a, 0)),
        (ROW[0].reshape(()),),
    ),
    "arrays.is_writable": (
        lambda a: np.array(a.flags.writeable),
        lambda a: np.array(arrays.is_writable(a)),
        (ROW,),
    ),
    "arrays.raising": (np.linalg.inv, invert, (MATRIX,)),
    "arrays.solve": (np.linalg.solve, arrays.solve, (MATRICES, SIDES)),
    "arrays.special": (None, erf, (ROW,)),
    "correlate.correlate": (None, convolve("correlate", None, WINDOWS), (IMAGES, KERNELS)),
    "correlate.correlate_input_gradient": (
        None,
        convolve("correlate_input_gradient", None, IMAGES.shape, WINDOWS),
        (SENT, KERNELS),
    ),
    "correlate.correlate_weight_gradient": (
        None,
        convolve("correlate_weight_gradient", KERNELS.shape, WINDOWS),
        (SENT, IMAGES),
    ),
}
"""For each item NumPy's own words, what stands in their place, and of which arrays."""


def answer(words: Words, given: tuple[Any, ...]) -> Any:
    """The numbers, or that it raised."""
    try:
        return to_numpy(words(*given))
    except Exception:
        return "it raises"


def is_same(one: Any, other: Any) -> bool:
    if isinstance(one, str | None) or isinstance(other, str | None):
        return one is other
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("item", ITEMS)
def test_numpys_words_do_not_do_on_a_gpu_and_ours_do(item: str):
    plain, ours, given = ITEMS[item]
    given_there = tuple([module_for("cuda").asarray(each) for each in given])
    expected = answer(plain or ours, given)
    assert plain or not isinstance(expected, str)
    assert is_same(answer(ours, given_there), expected)
    assert plain is None or not is_same(answer(plain, given_there), expected), "CuPy has it by now"


def test_the_list_that_a_reader_finds_is_this_one():
    text = autokit.ops.gpu.__doc__ or ""
    listed = re.findall(r":func:`~autokit\.ops\.gpu\.([\w.]+)`", text)
    assert sorted(listed) == sorted(ITEMS)
    for module in re.findall(r":mod:`~?(autokit[\w.]+)`", text):
        assert import_module(module).__doc__
    names = {
        path.stem for path in (import_module("pathlib").Path(autokit.ops.gpu.__file__).parent).glob("*.py")
    }
    assert names - {"__init__"} == set(re.findall(r"autokit\.ops\.gpu\.(\w+)", text))
