"""What a rule becomes: operands of one dtype, settings by name, a node with its line, and detours."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np
import pytest

import autokit
from autokit.engine.detours import DETOURS, Detour
from autokit.engine.operation import OPERATIONS, derivative, operation
from autokit.engine.record import source_line
from tests.beside import assert_same

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
KINDS = ["dimensions", "none", "number"]


@pytest.mark.parametrize("first", DTYPES)
def test_two_operands_meet_in_pytorchs_dtype(first: str):
    """All pairs of dtypes, as tensors with dimensions, without, and as Python's numbers."""

    def operand(T: Any, dtype: str, kind: str) -> Any:
        if kind == "number":
            return True if dtype == "bool" else 2.0 if dtype.startswith("float") else 2
        return T.ones((2, 1) if kind == "dimensions" else (), dtype=getattr(T, dtype))

    def program(T: Any) -> Any:
        found = []
        for second, one, other in itertools.product(DTYPES, KINDS, KINDS):
            if (one, other) != ("number", "number"):
                a, b = operand(T, first, one), operand(T, second, other)
                found += [a + b, str((a * b).dtype), str((a / b).dtype), str((a > b).dtype)]
        return found

    assert_same(program)


def test_gradients_come_back_in_each_operands_dtype():
    def program(T: Any) -> Any:
        leaves = [
            T.ones(2, 3, dtype=T.float16, requires_grad=True),
            T.ones(3, dtype=T.float32, requires_grad=True),
            T.ones((), dtype=T.float64, requires_grad=True),
        ]
        a, b, c = leaves
        T.autograd.backward(((a * b - c) / (b + 2 * a)).sum())
        return [leaf.grad for leaf in leaves]

    assert_same(program, 1e-3)


def test_numbers_keep_float32_and_integers_become_floats():
    x = autokit.ones(2)
    for other in (2.0, np.float64(2.0), autokit.tensor(2.0, dtype=autokit.float64), True, 3):
        assert (x * other).dtype == (other + x).dtype == autokit.float32
    assert autokit.tensor([1, 2]).exp().dtype == autokit.float32
    assert autokit.tensor([250], dtype=autokit.uint8).add(10).item() == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda T: T.exp(), r"exp\(\) missing|exp\(\).*argument"),
        (lambda T: T.mul(T.ones(2)), "missing"),
        (lambda T: T.mul(T.ones(2), T.ones(2), T.ones(2)), "argument"),
        (lambda T: T.softmax(T.ones(2), 0, colour=3), "colour"),
        (lambda T: T.mul(T.ones(2), "x"), r"mul\(\).*other.*str"),
        (lambda T: T.exp([1.0]), r"exp\(\).*list"),
        (lambda T: T.cat([T.ones(2), 3]), "cat"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(call: Any, message: str):
    with pytest.raises(TypeError, match=message):
        call(autokit)


def test_a_rule_of_ones_own():
    cube = operation(
        "³", "{a}³", name="cube_of_the_test", a=derivative("3{a}²", lambda g, a, scale: 3 * scale * g * a**2)
    )(lambda a, /, scale=1.0: scale * a**3)
    try:
        x = autokit.tensor([1.0, 2.0], requires_grad=True)
        y = cube(x, scale=2.0)
        (slope,) = autokit.autograd.grad(y.sum(), x, create_graph=True)
        (curvature,) = autokit.autograd.grad(slope.sum(), x)
        assert (y.tolist(), slope.tolist(), curvature.tolist()) == ([2.0, 16.0], [6.0, 24.0], [12.0, 24.0])
        assert repr(y.grad_fn) == "<CubeOfTheTestBackward0>" and cube.operation.local("a") == "3{a}²"
        assert cube(3.0 * x, 1.0).dtype == autokit.float32 and cube.__name__ == "cube_of_the_test"
        with pytest.raises(TypeError, match="asks for"):
            operation("?", "?", a=derivative("?", lambda g, missing: g))(lambda a, /: a)
    finally:
        OPERATIONS.pop("cube_of_the_test")


def test_a_node_knows_the_line_that_recorded_it():
    x = autokit.ones(2, requires_grad=True)
    y = x.exp() * 3  # this line
    z = autokit.nn.functional.cross_entropy(x[None], autokit.tensor([1]))  # one of the learner's, not ours
    file, line, text = source_line(y.grad_fn.code, y.grad_fn.instruction)
    assert file == __file__ and "# this line" in text and line > 1
    assert "one of the learner's" in source_line(z.grad_fn.code, z.grad_fn.instruction)[2]
    assert source_line(None, 0) is None


class Count(Detour):
    def __init__(self) -> None:
        self.names: list[str] = []

    def apply(self, operation: Any, operands: Any, settings: Any, proceed: Any) -> Any:
        self.names.append(operation.name)
        return proceed(operands, settings)


class Negate(Detour):
    def apply(self, operation: Any, operands: Any, settings: Any, proceed: Any) -> Any:
        return -proceed(operands, settings) if operation.name == "mul" else proceed(operands, settings)


def test_detours_see_the_operations_of_their_block_and_thread_alone():
    x = autokit.ones(2, requires_grad=True)
    with Count() as outer, Negate(), Count() as inner:
        y = x * 3 + x.exp()
        other = threading.Thread(target=lambda: autokit.ones(2).sin())
        other.start()
        other.join()
    x.cos()
    assert inner.names == ["mul", "neg", "exp", "add"] or inner.names == ["mul", "exp", "add"]
    assert outer.names.count("neg") == 1 and not DETOURS and y[0].item() == pytest.approx(-3 + np.e)
    y.sum().backward()
    assert x.grad[0].item() == pytest.approx(-3 + np.e)
    with pytest.raises(KeyError), Count():
        raise KeyError
    assert not DETOURS
