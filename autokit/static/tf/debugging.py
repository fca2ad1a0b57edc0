"""Looking into a running graph of TensorFlow 1's: printing, assertions, checks, and Python's functions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.base.dtypes import BY_NUMPY
from autokit.static.errors import InvalidArgumentError
from autokit.static.tf.functions import equal, reduce_all
from autokit.static.tf.graph import Operation, Trace, as_operands, defines, get_default_graph
from autokit.static.tf.shapes import as_numpy
from autokit.static.tf.values import group

__all__ = [
    *("Assert", "Print", "add_check_numerics_ops", "assert_equal", "check_numerics", "py_func"),
]


def _text(value: Any, count: int | None) -> str:
    """A word, or the first ``count`` numbers of an array, by default three."""
    if isinstance(value, str):
        return value
    array, count = np.asarray(value), 3 if count is None else count
    shown = array if count < 0 or array.size <= count else array.reshape(-1)[:count]
    text = np.array2string(shown, formatter={"float_kind": "{:g}".format})
    return text if shown is array else f"{text[:-1]}...]"


@defines("Print", "input_")
def Print(
    trace: Trace, input_: Any, data: Any, message: str = "", first_n: int = -1, summarize: int | None = None
) -> Any:
    """``input_``; a run that needs it prints ``message`` and ``data``, at most ``first_n`` times."""
    left = [first_n]

    def write(*arrays: Any) -> None:
        left[0] -= 1
        if left[0] != -1:
            texts = [_text(each, summarize) for each in arrays]
            shown = [each if each[0] == "[" else f"[{each}]" for each in texts]
            print(message + "".join(shown), file=sys.stderr)

    trace.effect(write, *data)
    return input_


def print_(*inputs: Any, summarize: int = 3, name: str | None = None) -> Operation:
    """An operation that prints ``inputs``, tensors and words."""

    def write(*arrays: Any) -> None:
        print(*[_text(each, summarize) for each in arrays], file=sys.stderr)

    def compute(trace: Trace, *values: Any) -> None:
        trace.effect(write, *values)

    return get_default_graph().add("PrintV2", compute, *inputs, name=name, outputs=0)


def Assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> Operation:
    """An operation that stops a run in which ``condition`` is false, and shows ``data``."""

    def explain(*arrays: Any) -> Exception:
        texts = [_text(each, summarize) for each in arrays]
        return InvalidArgumentError("assertion failed: " + " ".join(texts))

    def compute(trace: Trace, condition: Any, *values: Any) -> None:
        trace.check(trace.traced(condition), explain, *values)

    graph = get_default_graph()
    return graph.add("Assert", compute, *as_operands(graph, [condition]), *data, name=name, outputs=0)


def assert_equal(
    x: Any, y: Any, data: Any = None, message: str = "", name: str = "assert_equal"
) -> Operation:
    """An operation that stops a run in which ``x`` and ``y`` differ."""
    words = [message, "Condition x == y did not hold element-wise: x =", x, "y =", y]
    return Assert(reduce_all(equal(x, y)), words[not message :] if data is None else data, name=name)


@defines("CheckNumerics", "tensor")
def check_numerics(trace: Trace, tensor: Any, message: str) -> Any:
    """``tensor``; a run in which it has an infinite number or NaN stops."""

    def explain(array: Any) -> Exception:
        kind = "NaN" if np.isnan(array).any() else "Inf"
        return InvalidArgumentError(f"{message} : Tensor had {kind} values")

    finite: Any = np.isfinite(trace.traced(tensor))  # type: ignore[call-overload]
    trace.check(finite.all(), explain, tensor)
    return tensor


def add_check_numerics_ops() -> Operation:
    """An operation that runs all operations there are, and checks their numbers, the first ones first."""
    tensors = [each for operation in get_default_graph().get_operations() for each in operation.outputs]
    floats = [each for each in tensors if each.dtype is not None and each.dtype.is_floating_point]
    return group(*[check_numerics(each, each.name) for each in floats if not each.is_variable])


def py_func(
    func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True, name: str | None = None
) -> Any:
    """The results of a function of Python's on arrays; no gradient flows through it."""
    dtypes = [as_numpy(each) for each in (Tout if isinstance(Tout, list | tuple) else [Tout])]

    def called(*arrays: Any) -> list[Any]:
        results = func(*arrays)
        several = results if len(dtypes) > 1 else [results]
        return [np.asarray(each, dtype) for each, dtype in zip(several, dtypes)]

    def compute(trace: Trace, *values: Any, dtype: Any) -> Any:
        # The trace calls it, to know the shapes; the first run, if it gives the same arrays, does not again.
        arrays = [np.array(trace.node(each).value) for each in values]
        first = [(arrays, called(*arrays))]

        def run(*arrays: Any) -> list[Any]:
            given, results = first.pop() if first else ((), ())
            same = results and all(map(np.array_equal, given, arrays))
            return list(results) if same else called(*arrays)

        return trace.noted("py_func", run, values, first[0][1], "effect")

    graph, dtype, count = get_default_graph(), BY_NUMPY[dtypes[0]], len(dtypes)
    operands = as_operands(graph, list(inp))
    made = graph.add("PyFunc", compute, *operands, name=name, outputs=count, at_once=False, dtype=dtype)
    return made.outputs if isinstance(Tout, list | tuple) else made.outputs[0]
