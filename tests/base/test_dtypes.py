"""The dtypes themselves, what two of them become, and their limits."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from autokit.base import dtypes
from autokit.base.dtypes import BY_NAME, NAMES_ONLY, as_dtype, can_cast, finfo, iinfo, promote_types
from tests.support import require

NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


@pytest.fixture
def default_dtype():
    yield
    dtypes.set_default_dtype(BY_NAME["float32"])


@pytest.mark.parametrize("name", BY_NAME)
def test_every_name_prints_as_pytorchs(name: str):
    kind = BY_NAME[name]
    assert repr(kind) == f"torch.{kind.name}"
    assert kind.itemsize == kind.numpy.itemsize and kind.numpy.name == kind.name
    assert pickle.loads(pickle.dumps(kind)) is copy.deepcopy(kind) is kind


@pytest.mark.parametrize("name", [*BY_NAME, *NAMES_ONLY])
def test_what_a_dtype_says_of_itself(name: str):
    require("torch")
    import torch

    ours, theirs = dtypes.dtype_named(name), getattr(torch, name)
    for fact in ("is_floating_point", "is_complex", "is_signed", "itemsize"):
        if not (ours.is_complex and fact == "itemsize"):
            assert getattr(ours, fact) == getattr(theirs, fact), fact


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (BY_NAME["int8"], "int8"),
        ("torch.long", "int64"),
        (np.dtype("int16"), "int16"),
        (float, "float64"),
        (bool, "bool"),
    ],
)
def test_as_dtype(value: object, expected: str):
    assert as_dtype(value) is BY_NAME[expected]


@pytest.mark.parametrize("value", ["float99", np.dtype("U3"), object, np.uint16, 3.0, None.__class__])
def test_what_is_no_dtype_is_refused_with_those_that_are(value: object):
    with pytest.raises(TypeError, match=r"There are: .*float32"):
        as_dtype(value)


@pytest.mark.parametrize(
    "value", [*NAMES_ONLY.values(), "bfloat16", "torch.complex64", complex, np.dtype("c8")]
)
def test_a_dtype_in_which_nothing_is_computed_says_so_in_one_sentence(value: object):
    with pytest.raises(TypeError, match=r"autokit (does not compute in bfloat16|has no complex)") as caught:
        as_dtype(value)
    assert str(caught.value).count(".") <= 2  # of torch.float32, torch.float16
    with pytest.raises(TypeError, match="autokit"):
        dtypes.set_default_dtype(as_dtype(value))


@pytest.mark.usefixtures("default_dtype")
def test_the_default_dtype():
    assert dtypes.get_default_dtype() is BY_NAME["float32"]
    dtypes.set_default_dtype(BY_NAME["float64"])
    assert dtypes.get_default_dtype() is BY_NAME["float64"] and finfo().bits == 64
    for wrong in (BY_NAME["int64"], "float32"):
        with pytest.raises(TypeError, match="floating-point"):
            dtypes.set_default_dtype(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("first", NAMES)
@pytest.mark.parametrize("second", NAMES)
def test_two_dtypes_meet_as_in_pytorch(first: str, second: str):
    require("torch")
    import torch

    ours, theirs = [BY_NAME[first], BY_NAME[second]], [getattr(torch, first), getattr(torch, second)]
    assert repr(promote_types(*ours)) == repr(torch.promote_types(*theirs))
    assert can_cast(*ours) == torch.can_cast(*theirs)


@pytest.mark.parametrize("name", NAMES[1:])
def test_limits(name: str):
    require("torch")
    import torch

    limits = "finfo" if name.startswith("float") else "iinfo"
    ours, theirs = getattr(dtypes, limits)(BY_NAME[name]), getattr(torch, limits)(getattr(torch, name))
    facts = ["bits", "max", "min", "dtype"]
    facts += ["eps", "tiny", "smallest_normal", "resolution"] if limits == "finfo" else []
    assert [getattr(ours, fact) for fact in facts] == [getattr(theirs, fact) for fact in facts]
    assert repr(ours) == repr(theirs)


def test_limits_of_what_has_none():
    with pytest.raises(TypeError, match=r"use torch\.iinfo"):
        finfo(BY_NAME["int32"])
    for wrong in ("float32", "bool"):
        with pytest.raises(TypeError, match=r"torch\.iinfo\(\) is for integer dtypes"):
            iinfo(BY_NAME[wrong])
