"""Limits of dtypes, old tensor types, ``to`` and ``type`` in all forms, beside PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autokit
from tests.support import printed_by, require

require("torch")
import torch  # noqa: E402

FLOATS = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
TYPES = ["Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Byte", "Char", "Bool"]


@pytest.fixture(autouse=True)
def default_dtype():
    yield
    for T in (autokit, torch):
        T.set_default_dtype(T.float32)


def outcome(make: Any, T: Any) -> Any:
    """What ``make`` gives in words that both libraries share: a text, or the kind of an error."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"autokit\.")  # as the import does
        try:
            made = make(T)
        except Exception as error:
            return type(error).__name__
    kinds = [warning.category.__name__ for warning in said]
    if isinstance(made, T.Tensor):
        return f"{made!r} {made.stride() if made.numel() else ''}", kinds
    return repr(made), kinds


def assert_alike(make: Any) -> None:
    assert outcome(make, autokit) == outcome(make, torch)


@pytest.mark.parametrize("name", FLOATS)
def test_finfo(name: str):
    ours, theirs = autokit.finfo(getattr(autokit, name)), torch.finfo(getattr(torch, name))
    for what in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype"):
        assert getattr(ours, what) == getattr(theirs, what), what
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("name", INTEGERS)
def test_iinfo(name: str):
    ours, theirs = autokit.iinfo(getattr(autokit, name)), torch.iinfo(getattr(torch, name))
    assert (ours.bits, ours.max, ours.min, ours.dtype) == (theirs.bits, theirs.max, theirs.min, theirs.dtype)
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize(
    "make",
    [
        lambda T: T.finfo(),
        lambda T: T.finfo(type=T.float16),
        lambda T: T.finfo(T.int32),
        lambda T: T.finfo("float32"),
        lambda T: T.iinfo(T.float32),
        lambda T: T.iinfo(T.bool),
        lambda T: T.iinfo(),
        lambda T: T.finfo(T.float32) == T.finfo(T.float32),
        lambda T: T.finfo(T.float32) == T.finfo(T.float64),
        lambda T: hash(T.finfo(T.float32)),
    ],
)
def test_limits_of_what_has_none(make: Any):
    assert_alike(make)


@pytest.mark.parametrize("dtype", [None, "float32", "int64"])
@pytest.mark.parametrize(
    "data",
    [[1, "a"], ["a", 1], [["a"]], [[1], ["a"]], [1.0, "a"], [1, None], [1, {}], [1, {2}], [1, object()]]
    + [[1, 1j], "a", [[1, 2], [3, "a"]], [1, [2]], [[1], 2]],
    ids=lambda data: type(data).__name__ + str(len(str(data))),
)
def test_what_is_no_number_is_refused_as_by_pytorch(data: Any, dtype: str | None):
    assert_alike(lambda T: T.tensor(data, dtype=dtype and getattr(T, dtype)))


@pytest.mark.parametrize("name", TYPES)
def test_the_old_types(name: str):
    def kind(T: Any) -> Any:
        return getattr(T, f"{name}Tensor")

    for make in (
        lambda T: kind(T)([1, 0, 1]),
        lambda T: kind(T)([[1], [0]]),
        lambda T: kind(T)(2, 3).shape,
        lambda T: kind(T)(T.Size([2, 1])).shape,
        lambda T: kind(T)(),
        lambda T: kind(T)((2, 3)),
        lambda T: kind(T)(np.array([1.0, 0.0])),
        lambda T: kind(T)(range(3)),
        lambda T: kind(T)(6.7),
        lambda T: kind(T)(None),
        lambda T: kind(T)("abc"),
        lambda T: kind(T)([1], [2]),
        lambda T: kind(T)(2, "a"),
        lambda T: kind(T)(-1),
        lambda T: kind(T)(T.ones(2, dtype=kind(T).dtype)),
        lambda T: kind(T)(T.ones(2, dtype=T.complex64)),
        lambda T: kind(T).dtype,
        lambda T: kind(T),
        lambda T: isinstance(T.ones(2, dtype=kind(T).dtype), kind(T)),
        lambda T: isinstance(T.ones(2, dtype=T.complex64), kind(T)),
        lambda T: isinstance(3, kind(T)),
        lambda T: T.ones(2).type(kind(T)),
        lambda T: T.ones(2).type(f"torch.{name}Tensor"),
        lambda T: T.ones(2).type(kind(T).dtype).type(),
    ):
        assert_alike(make)


@pytest.mark.parametrize(
    "make",
    [
        lambda T: T.ones(2).type("LongTensor"),
        lambda T: T.ones(2).type(float),
        lambda T: T.ones(2).type(3),
        lambda T: T.ones(2).type(T.Tensor),
        lambda T: T.Tensor(6.7),
        lambda T: T.Tensor(True),
        lambda T: T.Tensor(T.ones(2, dtype=T.float64)),
        lambda T: T.ByteTensor([300]),
        lambda T: T.LongTensor([2**63]),
        lambda T: T.LongTensor([1, 2.7]),
        lambda T: T.set_default_tensor_type(T.LongTensor),
        lambda T: T.set_default_tensor_type(T.float32),
    ],
)
def test_the_old_types_misused(make: Any):
    assert_alike(make)


def test_the_old_constructor_names_the_new_one():
    with pytest.raises(TypeError, match=r"tensor\(6\.7\)"):
        autokit.Tensor(6.7)


@pytest.mark.parametrize("by_name", [True, False])
def test_set_default_tensor_type(by_name: bool):
    with pytest.warns(UserWarning, match="deprecated"):
        autokit.set_default_tensor_type("torch.DoubleTensor" if by_name else autokit.DoubleTensor)
    assert autokit.ones(1).dtype is autokit.float64


def by_channels(T: Any) -> Any:
    """An image of which each pixel's channels lie side by side."""
    return T.ones(2, 3, 4, 5).contiguous(memory_format=T.channels_last)


TO = [
    lambda T, x: x.to(),
    lambda T, x: x.to("foo"),
    lambda T, x: x.to("cpu") is x,
    lambda T, x: x.to("cpu", T.float64),
    lambda T, x: x.to(T.float64, "cpu"),
    lambda T, x: x.to(T.float64, True, True),
    lambda T, x: x.to("cpu", T.float64, True, True),
    lambda T, x: x.to(T.ones(1, dtype=T.int64)),
    lambda T, x: x.to(T.ones(1, dtype=T.int64), True, True),
    lambda T, x: x.to(float),
    lambda T, x: x.to(int),
    lambda T, x: x.to("float32"),
    lambda T, x: x.to(dtype="float32"),
    lambda T, x: x.to(dtype=float),
    lambda T, x: x.to(None) is x,
    lambda T, x: x.to(None, T.int8),
    lambda T, x: x.to(dtype=None) is x,
    lambda T, x: x.to(T.float32, copy=True) is x,
    lambda T, x: x.to(T.float32, non_blocking=True) is x,
    lambda T, x: x.to(memory_format=T.channels_last),
    lambda T, x: x.to(memory_format=T.preserve_format) is x,
    lambda T, x: x.to(memory_format=T.contiguous_format) is x,
    lambda T, x: x.to(memory_format=3),
    lambda T, x: x.t().to(memory_format=T.contiguous_format),
    lambda T, x: by_channels(T).to(memory_format=T.contiguous_format),
    lambda T, x: by_channels(T).double().to("cpu", memory_format=T.contiguous_format),
    lambda T, x: by_channels(T).to(memory_format=T.preserve_format),
    lambda T, x: by_channels(T).transpose(0, 2).to(memory_format=T.contiguous_format),
    lambda T, x: x.t().to(T.float64),
    lambda T, x: x.t().to(T.float64, memory_format=T.contiguous_format),
    lambda T, x: x.t().to(copy=True),
    lambda T, x: x[:, ::2].to(T.float64),
    lambda T, x: x[:, :1].expand(2, 4).to(T.float64),
    lambda T, x: x.to(bogus=1),
    lambda T, x: x.to([1]),
    lambda T, x: x.to(T.float64, T.float32),
    lambda T, x: x.to("cpu", "cpu"),
    lambda T, x: x.to(True),
    lambda T, x: x.to(device=T.device("cpu"), dtype=T.int8),
    lambda T, x: x.to(T.FloatTensor),
    lambda T, x: T.ones(1, 2, 2, 2).to(memory_format=T.channels_last),
    lambda T, x: T.ones(1, 2, 2, 2).to(T.float64, memory_format=T.channels_last),
    lambda T, x: x.double(memory_format=T.preserve_format),
    lambda T, x: x.half(1),
    lambda T, x: x.long(memory_format=3),
    lambda T, x: x.type_as(3),
    lambda T, x: T.is_floating_point(3),
    lambda T, x: T.is_nonzero(x),
    lambda T, x: T.is_nonzero(x[:0]),
    lambda T, x: T.is_nonzero(3),
    lambda T, x: T.result_type("a", 1),
    lambda T, x: T.result_type(1, 2.0),
    lambda T, x: T.result_type(1, True),
    lambda T, x: T.result_type(True, 1j),
    lambda T, x: T.result_type(tensor=x, other=1j),
    lambda T, x: T.can_cast(1, 2),
    lambda T, x: T.promote_types(1, 2),
    lambda T, x: (T.channels_last, T.preserve_format, x.layout),
]


@pytest.mark.parametrize("make", TO)
def test_to(make: Any):
    assert_alike(lambda T: make(T, T.arange(6.0).reshape(2, 3)))


@pytest.mark.parametrize("source", ["bool", *INTEGERS, *FLOATS])
def test_can_cast(source: str):
    for target in ("bool", *INTEGERS, *FLOATS):
        assert_alike(lambda T: T.can_cast(from_=getattr(T, source), to=getattr(T, target)))


ODD = [float("inf"), float("nan"), -float("inf"), 1e20, -1e20, 3e9, -3e9, 300.7, -1.2, 0.3, -0.0, 200.0]


@pytest.mark.parametrize("target", ["bool", *INTEGERS])
@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
def test_floats_beyond_an_integers_range(source: str, target: str):
    assert_alike(lambda T: T.tensor(ODD, dtype=getattr(T, source)).to(getattr(T, target)))


@pytest.mark.parametrize("target", ["bool", *INTEGERS, *FLOATS[:4]])
def test_integers_beyond_a_narrow_range(target: str):
    assert_alike(lambda T: T.tensor([2**40 + 5, -1, 300, 2**62 + 2**8 + 1]).to(getattr(T, target)))


DATA = [2**63, [2**63], -(2**63), -(2**63) - 1, 300, -1, -300, 1e10, 1.7, float("nan"), 1e40, True, 2, 2**64]


@pytest.mark.parametrize("target", [None, "bool", "uint8", "int32", "int64", "float16", "float32"])
@pytest.mark.parametrize("data", DATA, ids=repr)
def test_numbers_that_do_not_fit(data: Any, target: str | None):
    assert_alike(lambda T: T.tensor(data, dtype=getattr(T, target) if target else None))


@pytest.mark.parametrize(
    "make",
    [
        lambda T: T.clamp(T.tensor([1, 200], dtype=T.uint8), -1, 5),
        lambda T: T.clamp(T.tensor([1, 200], dtype=T.uint8), 0, 500),
        lambda T: T.clamp(T.tensor([1, 100], dtype=T.int8), 0, 500),
        lambda T: T.clamp(T.tensor([True, False]), 0, 1),
        lambda T: T.clamp(T.tensor([1, 200], dtype=T.uint8), 0.5, 1),
        lambda T: T.ones(2, dtype=T.uint8).clamp_(-1, 5),
        lambda T: T.tensor([1, 200]).clamp(max=2**62),
    ],
)
def test_bounds_that_do_not_fit(make: Any):
    assert_alike(make)


def test_bfloat16_is_loaded_when_it_is_used_and_says_how_to_get_it():
    program = """
import sys
import autokit as torch
assert "ml_dtypes" not in sys.modules and torch.bfloat16.itemsize == 2
sys.modules["ml_dtypes"] = None
try:
    torch.ones(2, dtype=torch.bfloat16)
except RuntimeError as error:
    assert "autokit-edu[bfloat16]" in str(error)
else:
    raise SystemExit("no error")
"""
    assert printed_by(program) == ""


@pytest.mark.parametrize("make", ["T.Tensor(x)", "T.FloatTensor(x)", "Own(x)"])
@pytest.mark.parametrize("given", ["leaf", "leaf * 2", "leaf.detach()", "T.nn.Parameter(leaf.detach())"])
def test_a_tensor_of_a_tensor_is_a_view_of_it(given: str, make: str):
    found = []
    for T in (autokit, torch):
        leaf = T.tensor([1.0, 2.0], requires_grad=True)
        x = eval(given, {"leaf": leaf, "T": T})
        made = eval(make, {"T": T, "x": x, "Own": type("Own", (T.Tensor,), {})})
        facts: list[Any] = [made.requires_grad, made.is_leaf, made._is_view(), type(made).__name__]
        facts.append(made.grad_fn and made.grad_fn.name())
        if made.requires_grad:
            made.pow(2).sum().backward()
            facts.append([each.grad.tolist() for each in (leaf, x) if each.is_leaf and each.grad is not None])
        with T.no_grad():
            made += 1
        facts.append([made.tolist(), x.tolist(), x._version])
        found.append(facts)
    assert found[0] == found[1]
