"""Looking into a running graph of TensorFlow 1's: printing, assertions, checks, and Python's functions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.engine.tensor import new_tensor
from autokit.static.errors import InvalidArgumentError
from autokit.static.tf.functions import equal, reduce_all
from autokit.static.tf.graph import Operation, Tensor, Trace, as_operands, get_default_graph
from autokit.static.tf.shapes import as_numpy
from autokit.static.tf.values import group

__all__ = [
    *("Assert", "Print", "add_check_numerics_ops", "assert_equal", "check_numerics", "py_func"),
]


def _text(array: Any, count: int | None) -> str:
    """The first ``count`` numbers of an array, by default three."""
    array, count = np.asarray(array), 3 if count is None else count
    short = array.ndim == 0 or count < 0 or array.size <= count
    shown = array if short else array.reshape(-1)[:count]
    text = np.array2string(shown, formatter={"float_kind": "{:g}".format})
    return text if short else f"{text[:-1]}...]"


def _writing(
    name: str, write: Callable[..., None], operands: tuple[Any, ...], given: str | None
) -> Operation:
    """An operation that writes its operands in each run that needs it; its output is the first operand."""

    def compute(trace: Trace, *values: Any) -> Any:
        nodes = [trace.node(each) if hasattr(each, "array") else each for each in values]
        trace.tape.add("effect", name, write, tuple(nodes))
        return values[0] if outputs else None

    outputs = int(name == "Print")
    return get_default_graph().add(name, compute, operands, name=given, outputs=outputs)


def Print(
    input_: Any,
    data: Any,
    message: str = "",
    first_n: int = -1,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """``input_``; a run that needs it prints ``message`` and ``data``, at most ``first_n`` times."""
    left = [first_n]

    def write(_: Any, *arrays: Any) -> None:
        left[0] -= 1
        if left[0] != -1:
            texts = [_text(each, summarize) for each in arrays]
            print(
                message + "".join([f"[{each}]" if each[0] != "[" else each for each in texts]),
                file=sys.stderr,
            )

    operands = as_operands(get_default_graph(), (input_, *data))
    return _writing("Print", write, operands, name).outputs[0]


def print_(
    *inputs: Any, summarize: int = 3, name: str | None = None, output_stream: Any = None, **_: Any
) -> Operation:
    """An operation that prints ``inputs``, tensors and words."""

    def write(*arrays: Any) -> None:
        texts = [each if isinstance(each, str) else _text(each, summarize) for each in arrays]
        print(*texts, file=output_stream or sys.stderr)

    return _writing("PrintV2", write, inputs, name)


def Assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> Operation:
    """An operation that stops a run in which ``condition`` is false, and shows ``data``."""

    def explain(*arrays: Any) -> Exception:
        texts = [each if isinstance(each, str) else _text(each, summarize) for each in arrays]
        return InvalidArgumentError("assertion failed: " + " ".join(texts))

    def compute(trace: Trace, condition: Any, *values: Any) -> None:
        trace.check(trace.traced(condition), explain, *values)

    graph = get_default_graph()
    (condition,) = as_operands(graph, (condition,))
    return graph.add("Assert", compute, (condition, *data), name=name, outputs=0)


def assert_equal(
    x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str = "", name: str | None = None
) -> Operation:
    """An operation that stops a run in which ``x`` and ``y`` differ."""
    words = [*([message] if message else []), "Condition x == y did not hold element-wise: x =", x, "y =", y]
    holds = reduce_all(equal(x, y))
    return Assert(holds, words if data is None else data, summarize, name or "assert_equal")


def check_numerics(tensor: Tensor, message: str, name: str | None = None) -> Tensor:
    """``tensor``; a run in which it has an infinite number or NaN stops."""

    def explain(array: Any) -> Exception:
        kind = "NaN" if np.isnan(array).any() else "Inf"
        return InvalidArgumentError(f"{message} : Tensor had {kind} values")

    def compute(trace: Trace, value: Any) -> Any:
        finite: Any = np.isfinite(trace.traced(value))  # type: ignore[call-overload]
        trace.check(finite.all(), explain, value)
        return value

    return get_default_graph().add("CheckNumerics", compute, (tensor,), name=name).outputs[0]


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

    def called(*arrays: Any) -> tuple[Any, ...]:
        results = func(*arrays)
        several = results if isinstance(results, tuple | list) and len(dtypes) > 1 else [results]
        return tuple([np.asarray(each, dtype) for each, dtype in zip(several, dtypes)])

    def compute(trace: Trace, *values: Any, dtype: Any) -> Any:
        arrays = tuple([trace.traced(each) for each in values])
        parts = trace.tape.call("py_func", _OnceForTheTrace(called), arrays, kind="effect")
        return [new_tensor(each) for each in parts]

    graph = get_default_graph()
    operation = graph.add(
        "PyFunc",
        compute,
        as_operands(graph, tuple(inp)),
        {"dtype": dtypes[0]},
        name=name,
        outputs=len(dtypes),
        at_once=False,
    )
    return operation.outputs if isinstance(Tout, list | tuple) else operation.outputs[0]


class _OnceForTheTrace:
    """A function that is called once for the trace and the first run, if both give it the same arrays.

    The trace of a session computes with what is fed, so as to know the shape of the result.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.traced: Any = None

    def __call__(self, *arrays: Any) -> Any:
        if self.traced is None:
            self.traced = [np.array(each) for each in arrays], self.function(*arrays)
            return self.traced[1]
        traced, self.traced = self.traced, ()
        if traced and all(map(np.array_equal, traced[0], arrays)):
            return traced[1]
        return self.function(*arrays)
