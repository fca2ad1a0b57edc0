"""Compiled loops: they give what the interpreter gives, on other numbers and run after run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autokit.static import emit_loops
from tests.static import programs
from tests.static.programs import BINARY, UNARY, assert_agrees, traced

pytest.importorskip("numba")
from autokit.static.loops import compiled


def pointer(address, dtype):
    return np.ctypeslib.as_array((np.ctypeslib.as_ctypes_type(dtype) * 10**6).from_address(int(address)))


def gemm(routine, turned_a, turned_b, m, n, k, alpha, a, width_a, b, width_b, beta, c, width_c):
    dtype = type(alpha)

    def matrix(address, rows, columns, width):
        array = pointer(address, dtype)[: (columns - 1) * width + rows]
        return np.lib.stride_tricks.as_strided(array, (rows, columns), np.array((1, width)) * array.itemsize)

    one = matrix(a, k, m, width_a).T if turned_a == ord("T") else matrix(a, m, k, width_a)
    two = matrix(b, n, k, width_b).T if turned_b == ord("T") else matrix(b, k, n, width_b)
    result = matrix(c, m, n, width_c)
    result[...] = alpha * (one @ two) + (beta * result if beta else 0)


def places(a):
    """Whole numbers that are places along a dimension of two elements or more."""
    return (a > 0).astype(np.int64)


MORE_UNARY = {
    "tanh": lambda a: np.sign(a),  # NumPy's own tanh rounds otherwise than C's
    "mean": lambda a: (a * 12).mean(-1) if a.ndim else a,
    "mean of all": lambda a: (a * 12).mean(),
    "smallest": lambda a: a.min(0) if a.ndim else a,
    "product": lambda a: a.prod(-1) if a.ndim else a,
    "any": lambda a: (a > 0).any(0) if a.ndim else a > 1,
    "all": lambda a: np.logical_and(a > -3, np.logical_not(a < 0)).all(),
    "double": lambda a: a.astype(np.float64) / 4,
    "exponential": lambda a: np.exp(np.where(a > 0, -np.inf, 0)),
    "clipped": lambda a: np.clip(a, -1, 2),
    "below largest": lambda a: a - a.max(-1, keepdims=True) if a.ndim else a,
    "along": lambda a: np.take_along_axis(a, places(a)[..., :1], -1) if a.ndim and a.shape[-1] > 1 else a,
    "picked": lambda a: a[np.arange(3), places(a)[:, 0]] if a.shape == (3, 4) else a,
    "rows": lambda a: a[places(a).reshape(-1)[:2]] if a.ndim and len(a) > 1 else a,
    "flat places": lambda a: a.take(places(a) + 1) if a.size > 2 else a,
    "sum of a block": lambda a: np.stack([a, a]).sum((0, -1)) if a.ndim == 2 else a,
    "sum of ones": lambda a: a.dot(np.ones(4, np.float32)) if a.shape == (3, 4) else a,
    "checked": lambda a: checked(a),
}
MORE_BINARY = {
    "divided": lambda a, b: a / (places(b) + 1),
    "power": lambda a, b: np.power(np.clip(a, -9, 9), (b > 0).astype(np.float32) + 1),
    "outer": lambda a, b: a[:, :1] @ b[:1] if a.ndim == b.ndim == 2 else a,
    "descended": lambda a, b: a - np.float32(0.5) * (a[:, :1] @ b[:1]) if a.ndim == b.ndim == 2 else a,
    "momentum": lambda a, b: a * 0.5 + (b[:, :1] @ b[:1]) if a.shape == b.shape == (3, 4) else a,
    "vector": lambda a, b: a @ b[0] if a.ndim == b.ndim == 2 else a,
    "rows put": lambda a, b: put(a, (places(a)[..., 0],), b) if a.ndim > 1 and len(a) > 1 else a,
    "put flat": lambda a, b: put_flat(a, b) if a.size > 1 else a,
}


def checked(a):
    a.tape.check((a < np.inf).all(), lambda: ValueError("too large"), ())
    return a


def put(a, index, b):
    a = a.copy()
    a[index] = b
    return a


def put_flat(a, b):
    c = np.negative(a)
    c.put(places(a).reshape(-1), b.sum())
    return c


MORE = st.lists(
    st.tuples(
        st.sampled_from([*UNARY, *BINARY, *MORE_UNARY, *MORE_BINARY]), st.integers(0, 99), st.integers(0, 99)
    ),
    min_size=1,
    max_size=12,
)


@pytest.fixture(scope="module")
def more():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "UNARY", UNARY | MORE_UNARY)
        patch.setattr(programs, "BINARY", BINARY | MORE_BINARY)
        yield


@pytest.fixture(scope="module")
def python():
    """The text of the loops runs as it stands, without Numba, which takes a second for each."""

    def plain(source, name, signature):
        module: dict[str, Any] = {}
        exec(source, module)
        module |= {"pointer": pointer, "gemm": gemm, "plus": lambda a, b: a + b}

        def run(*args):
            if any(not isinstance(each, np.ndarray) or not each.flags.c_contiguous for each in args):
                raise TypeError  # as Numba does
            return module[name](*args)

        return run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "_compiled", plain)
        patch.setattr(emit_loops, "FEW", 1)
        yield


@settings(max_examples=3000, deadline=None, report_multiple_bugs=False)
@given(MORE)
def test_loops_compute_what_the_interpreter_computes(python: None, more: None, steps: list[Any]) -> None:
    assert_agrees(traced(steps), build=emit_loops.build)
