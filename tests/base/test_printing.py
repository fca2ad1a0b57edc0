"""Printed tensors: PyTorch's printed form, held by literal text and by comparison with PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import autokit
from autokit.base import dtypes, printing
from autokit.base.printing import format_array
from tests.support import require


@pytest.fixture(autouse=True)
def _default_options():
    yield
    printing.set_printoptions(profile="default")


def f32(values: Any) -> np.ndarray:
    return np.array(values, "float32")


LITERAL = [
    (f32([1, 2.5]), {}, "tensor([1.0000, 2.5000])"),
    (
        f32([[1, 2], [3, 4]]),
        {"requires_grad": True},
        "tensor([[1., 2.],\n        [3., 4.]], requires_grad=True)",
    ),
    (f32([0.5, np.nan, -np.inf]), {}, "tensor([0.5000,    nan,   -inf])"),
    (f32([1e-5, 1]), {}, "tensor([1.0000e-05, 1.0000e+00])"),
    (f32(8.0), {"grad_fn_name": "MulBackward0", "requires_grad": True}, "tensor(8., grad_fn=<MulBackward0>)"),
    (np.array([1, -20]), {}, "tensor([  1, -20])"),
    (np.array([1, 2], "int32"), {}, "tensor([1, 2], dtype=torch.int32)"),
    (np.zeros((0, 3), "int64"), {}, "tensor([], size=(0, 3), dtype=torch.int64)"),
    (np.arange(2000), {}, "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
    (f32([1]), {"prefix": "MyTensor"}, "MyTensor([1.])"),
]


@pytest.mark.parametrize(("array", "facts", "text"), LITERAL, ids=[text for _, _, text in LITERAL])
def test_literal_forms(array: np.ndarray, facts: dict[str, Any], text: str):
    assert format_array(array, **facts) == text


def test_long_rows_and_facts_wrap():
    assert format_array(np.arange(30.0, dtype="float32") / 4, grad_fn_name="DivBackward0") == (
        "tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000, 1.2500, 1.5000, 1.7500, 2.0000,\n"
        "        2.2500, 2.5000, 2.7500, 3.0000, 3.2500, 3.5000, 3.7500, 4.0000, 4.2500,\n"
        "        4.5000, 4.7500, 5.0000, 5.2500, 5.5000, 5.7500, 6.0000, 6.2500, 6.5000,\n"
        "        6.7500, 7.0000, 7.2500], grad_fn=<DivBackward0>)"
    )


SPECIAL = st.sampled_from(
    [0.0, -0.0, 1.0, -1.0, 0.5, 1e-5, 1e-4, 1e8, 1e9, 123456.0, np.nan, np.inf, -np.inf]
)
FLOATS = st.one_of(
    SPECIAL,
    st.integers(-2000, 2000).map(float),
    st.floats(-10, 10, width=16),
    st.floats(width=16),
    st.floats(width=32),
)


DTYPES = ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=9))
    if dtype.kind == "f":
        pool = draw(
            st.sampled_from([FLOATS, SPECIAL, st.integers(-30, 30).map(float), st.floats(0, 1, width=16)])
        )
        values = np.array(draw(st.lists(pool, min_size=1, max_size=12)))
        with np.errstate(over="ignore"):
            values = values.astype(dtype)
    else:
        values = draw(hnp.arrays(dtype, 12))
    return np.resize(values, shape).astype(dtype) if 0 not in shape else np.zeros(shape, dtype)


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "precision": st.integers(0, 8),
        "threshold": st.sampled_from([0, 5, 40, 1000]),
        "edgeitems": st.integers(0, 4),
        "linewidth": st.sampled_from([1, 20, 40, 80, 120]),
        "sci_mode": st.sampled_from([True, False, None]),
        "profile": st.sampled_from(["default", "short", "full"]),
    },
)


@settings(max_examples=200, deadline=None)
@given(arrays(), OPTIONS, st.sampled_from(["", "leaf", "result"]))
def test_every_array_prints_as_pytorch_prints_it(array: np.ndarray, options: dict[str, Any], history: str):
    require("torch")
    import torch

    tensor = torch.from_numpy(array.copy())
    facts: dict[str, Any] = {}
    if history and array.dtype.kind == "f":
        facts["requires_grad"] = True
        tensor.requires_grad_()
        if history == "result":
            tensor = tensor.unsqueeze(0).squeeze(0)
            facts["grad_fn_name"] = "SqueezeBackward1"
    torch.set_printoptions(profile="default")
    printing.set_printoptions(profile="default")
    try:
        torch.set_printoptions(**options)
        printing.set_printoptions(**options)
        assert format_array(array, **facts) == repr(tensor)
        assert printing.get_printoptions() == torch._tensor_str.get_printoptions()
    finally:
        torch.set_printoptions(profile="default")


EXPRESSIONS = [
    "T.zeros(2, 0, dtype=T.int64), T.zeros(0), T.tensor(3), T.ones(1, dtype=T.float64)",
    "T.tensor([1, 2]).max(0)",
    "T.tensor([-0.0, 0])",
    "T.tensor([0.5, 500.0]), T.tensor([0.5, 500.5]), T.tensor([1.5e-4, 2e-4]), T.tensor([0.99e-4, 2e-4])",
    "T.tensor([1e5 + 0.5, 1e8]), T.tensor([1.0e8, 2.0e8]), T.tensor([1.0e8, 2.1e8])",
    "T.ones(2, requires_grad=True)",
    "T.ones(1, requires_grad=True) * 2",
    "(T.ones(2, requires_grad=True) * 2).add_(1)",
    "T.ones(2, requires_grad=True)[0]",
    "T.ones(2, 2, requires_grad=True).t()",
    "T.ones(2, requires_grad=True).detach()",
    "T.nn.Parameter(T.ones(2))",
    "[T.tensor(1.0), {'a': T.tensor([2])}]",
    "T.Size([1, 2]), T.zeros(2).dtype, T.device('cpu')",
    "f'{T.tensor(1.5)} {T.tensor(1.5):.3f} {T.tensor(3):d} {T.tensor(3):5} {T.tensor(True)}'",
    "f'{T.tensor([1.5])} {T.tensor(1.5, requires_grad=True):.1f}'",
    "f'{T.tensor(1.5, requires_grad=True) * 2}'",
    "f'{T.tensor([1.5]):.2f}'",
    "f'{T.tensor(1.5):d}'",
    "'%s %.2f %d' % (T.tensor([1.5]), T.tensor(1.5), T.tensor(3))",
    "round(T.tensor(1.567), 2)",
    "T.set_printoptions(precision=2) or T.set_printoptions() or T.tensor([1 / 3])",
    "T.set_printoptions(linewidth=30) or T.arange(10.0)",
    "T.set_printoptions(threshold=5, edgeitems=1) or T.arange(10.0).reshape(2, 5)",
    "T.set_default_dtype(T.float64) or T.tensor([1.5])",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions_print_as_in_pytorch(expression: str):
    require("torch")
    import torch

    printed = []
    for library in (torch, autokit):
        try:
            printed.append(repr(eval(expression, {"T": library})))
        except (TypeError, ValueError) as error:
            printed.append(type(error).__name__)
        finally:
            library.set_printoptions(profile="default")
            library.set_default_dtype(library.float32)
    assert printed[0] == printed[1]


def test_printoptions_holds_inside_its_block_only():
    before = printing.get_printoptions()
    with pytest.raises(KeyError), printing.printoptions(precision=1, sci_mode=True):
        assert format_array(f32([1.25])) == "tensor([1.2e+00])"
        raise KeyError
    assert printing.get_printoptions() == before


def test_the_default_dtype_is_not_said():
    dtypes.set_default_dtype(dtypes.BY_NAME["float64"])
    try:
        assert format_array(np.array([1.5])) == "tensor([1.5000])"
        assert format_array(f32([1.5])) == "tensor([1.5000], dtype=torch.float32)"
    finally:
        dtypes.set_default_dtype(dtypes.BY_NAME["float32"])
