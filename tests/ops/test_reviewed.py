"""What a reviewer's programs found: each of these once gave something else than PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autokit
from tests.ops.beside import assert_same_error, assert_same_outcome
from tests.support import require

require("torch")
import torch  # noqa: E402


@pytest.mark.parametrize(
    "line",
    [
        "T.ldexp(T.tensor([0.0, 1.0, -1.0]), T.tensor([255, 200, -200]))",
        "T.ldexp(T.tensor([1e-30, 0.0]), T.tensor([150, 129]))",
        "T.ldexp(T.tensor([1e30, 2.0**-20]), T.tensor([-150, 140]))",
        "T.ldexp(T.tensor([0.0, 1.0]), T.tensor([255, 3], dtype=T.uint8))",
        "T.ldexp(T.tensor([0.0, 3.0], dtype=T.float16), T.tensor([300, -3]))",
        "T.ldexp(T.tensor([0.0, 1e-38], dtype=T.float64), T.tensor([2000, 1100]))",
        "T.tensor([0.0]).ldexp_(T.tensor([300]))",
        "T.tensor(3.0 in T.tensor([1.0, 3.0]))",
        "T.tensor(T.tensor([3.0]) in T.ones(2, 2))",
        "T.tensor(2 in T.tensor([1.0, 3.0]))",
    ],
)
def test_a_line_gives_what_pytorch_gives(line: str):
    assert_same_outcome(line)


@pytest.mark.parametrize(
    "line",
    [
        "T.zeros(3, dtype=T.bfloat16).__setitem__(0, T.ones(3))",
        "T.zeros(3, dtype=T.complex64).__setitem__(0, T.ones(3))",
        "[1] in T.ones(2)",
        "None in T.ones(2)",
        "'a' in T.ones(2)",
        "T.ones(3) in T.ones(2)",
        "T.int64.to_complex()",
        "T.randint(2**63, (1,))",
        "T.randint(-(2**63) - 1, 0, (1,))",
    ],
)
def test_a_line_is_refused_as_by_pytorch(line: str):
    assert_same_error(line)


def test_numpys_integers_are_sizes_and_its_other_numbers_are_refused():
    for T in (autokit, torch):
        assert T.Tensor(np.int64(3)).shape == (3,) and T.Tensor(np.int32(3), 2).shape == (3, 2)
        assert T.FloatTensor(np.uint8(2), np.int64(1)).shape == (2, 1)
        assert np.float32(3) in T.tensor([1.0, 3.0])
        for number in (np.float32(3), np.bool_(True)):
            with pytest.raises(TypeError, match="data must be a sequence"):
                T.Tensor(number)


def test_ldexp_is_one_operation_with_the_power_as_its_derivative():
    for T in (autokit, torch):
        x = T.tensor([1e-30, 3.0], requires_grad=True)
        assert T.ldexp(x, T.tensor([100, -1])).grad_fn.name() == "LdexpBackward0"
    x = autokit.tensor([1e-30, 3.0], requires_grad=True)
    x.ldexp(autokit.tensor([100, -1])).sum().backward()
    assert x.grad.tolist() == [2.0**100, 0.5]  # PyTorch's is 0: it takes the power among integers


def test_infinities_and_nan_come_in_silence_where_a_program_makes_errors_of_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = autokit.tensor([0.0, -1.0, 1e38])
        y = x.clone().requires_grad_()
        for made in (x.log(), x * 1e38, x / 0, x.sqrt(), x % 0, x.std(), (y * y).exp(), x.mul_(10)):
            assert not made.isfinite().all()
        assert autokit.vmap(autokit.log)(autokit.zeros(2)).tolist() == [-INF, -INF]


INF = float("inf")
PARTS = {
    "rows": lambda a: a[1:],
    "columns": lambda a: a[:, 2:],
    "a place": lambda a: a[2:, 3:],
    "every second": lambda a: a[1::2, ::2],
    "turned": lambda a: a[1:].T,
    "repeated": lambda a: np.broadcast_to(a[1], (2, 4)).copy()[:1],
    "nothing": lambda a: a[1:1],
    "whole": lambda a: a,
}


@pytest.mark.parametrize("dtype", ["float32", "int8", "float64"])
@pytest.mark.parametrize("part", PARTS)
def test_the_memory_of_a_part_of_an_array_begins_with_it(part: str, dtype: str):
    def told(T: Any) -> list[Any]:
        a = np.arange(12, dtype=dtype).reshape(3, 4)
        x = T.from_numpy(PARTS[part](a))
        told = [x.storage_offset(), x.stride(), x.tolist(), x.untyped_storage().nbytes()]
        if x.numel():
            told += [x.as_strided((2,), (1,) if x.shape[-1] > 1 else (0,), 0).tolist()]
            x[..., 0] = 7
            told += [a.tolist(), x[..., -1:].storage_offset(), x.flatten()[-1:].tolist()]
            with pytest.raises(RuntimeError, match="out of bounds for storage"):
                x.as_strided((100,), (1,), 0)
        return told

    assert told(autokit) == told(torch)


def test_a_part_that_may_not_be_written_to_stays_so():
    array = np.arange(4.0)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        x = autokit.from_numpy(array[1:])
    with pytest.raises(RuntimeError):
        x.add_(1)


def test_a_part_keeps_its_array():
    x = autokit.from_numpy(np.arange(100_000.0)[50_000:])
    filler = [np.full(100_000, -1.0) for _ in range(20)]
    assert x[0].item() == 50_000 and len(filler) == 20


@pytest.mark.parametrize(
    "name", ["log", "sqrt", "log1p", "acos", "atanh", "digamma", "log2", "sinh", "logit"]
)
def test_a_backward_pass_is_silent_where_a_program_makes_errors_of_warnings(name: str):
    def gradient(T: Any) -> Any:
        x = T.tensor([0.0, -1.0, 1e38], requires_grad=True)
        getattr(T, name)(x).sum().backward()
        return x.grad.numpy()

    expected = gradient(torch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = gradient(autokit)
        assert autokit.tensor([float("nan"), 3.0]).int().tolist()[1] == 3
        assert autokit.nn.functional.layer_norm(autokit.tensor([[INF, 0.0]]), (2,)).isnan().all()
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["cat", "stack", "hstack", "vstack", "column_stack"])
def test_what_is_joined_is_refused_by_an_out_of_integers_as_by_pytorch(name: str):
    assert_same_error(f"T.{name}([T.ones(2)], out=T.zeros(2, dtype=T.int64))")


@pytest.mark.parametrize(
    "call", ["zeros(2", "ones(2", "full((2,), 3.0", "eye(2", "rand(2", "linspace(0, 1, 2", "randint(3, (2,)"]
)
def test_a_function_of_a_size_resizes_out_in_silence(call: str):
    for T in (autokit, torch):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert eval(f"T.{call}, out=T.ones(3))", {"T": T}).shape[0] == 2


@pytest.mark.parametrize(
    "line",
    [
        "T.nn.functional.cross_entropy(T.ones(2, 3), T.tensor([0, 1], dtype=T.int8))",
        "T.nn.functional.nll_loss(T.ones(3), T.tensor(1, dtype=T.int8))",
        "T.nn.functional.nll_loss(T.ones(2, 3, 2), T.zeros(2, 2, dtype=T.int8))",
    ],
)
def test_classes_of_other_integers_are_refused_as_by_pytorch(line: str):
    assert_same_error(line)
