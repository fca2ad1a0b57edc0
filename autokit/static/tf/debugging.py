"""Looking into a running graph of TensorFlow 1's: printing, assertions, checks, and Python's functions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.base.dtypes import BY_NUMPY
from autokit.static.errors import InvalidArgumentError, failed
from autokit.static.tf.functions import equal, reduce_all
from autokit.static.tf.graph import Operation, Tensor, Trace, defines, get_default_graph
from autokit.static.tf.shapes import as_numpy
from autokit.static.tf.values import convert_to_tensor, group

__all__ = ["Assert", "Print", "add_check_numerics_ops", "assert_equal", "check_numerics", "py_func"]

_is_finite = defines("IsFinite", "x")(lambda x: x.isfinite())


def _watching(
    kind: str, function: Any, values: Any, name: str | None, through: Any = None, node: str = "effect"
) -> Any:
    """An operation in whose runs ``function`` is called with ``values``; its output is ``through``."""

    def compute(trace: Trace, through: Any, *values: Any) -> Any:
        trace.effect(function, *values, kind=node)
        return through

    outputs = int(through is not None)
    made = get_default_graph().add(kind, compute, through, *values, name=name, outputs=outputs)
    return made.outputs[0] if outputs else made


def Print(input_: Tensor, data: Any, message: str = "", name: str | None = None) -> Tensor:
    """``input_``; a run that needs it prints ``message`` and ``data``."""

    def write(*arrays: Any) -> None:
        print(message, *map(np.atleast_1d, arrays), sep="", file=sys.stderr)

    return _watching("Print", write, data, name, input_)


def print_(*inputs: Any, name: str | None = None) -> Operation:
    """An operation that prints ``inputs``, tensors and words."""
    return _watching("PrintV2", lambda *arrays: print(*arrays, file=sys.stderr), inputs, name)


def Assert(condition: Any, data: Any, name: str | None = None) -> Operation:
    """An operation that stops a run in which ``condition`` is false, and shows ``data``."""

    def explain(*arrays: Any) -> Exception:
        return InvalidArgumentError("assertion failed: " + " ".join(map(str, arrays)))

    return _watching("Assert", explain, [convert_to_tensor(condition), *data], name, node="check")


def assert_equal(x: Any, y: Any, message: str = "", name: str = "assert_equal") -> Operation:
    """An operation that stops a run in which ``x`` and ``y`` differ."""
    words = f"{message} Condition x == y did not hold element-wise: x ="
    return Assert(reduce_all(equal(x, y)), [words.strip(), x, "y =", y], name=name)


def check_numerics(tensor: Tensor, message: str, name: str | None = None) -> Tensor:
    """``tensor``; a run in which it has an infinite number or NaN stops."""

    def explain(array: Any) -> Exception:
        kind = "NaN" if np.isnan(array).any() else "Inf"
        return InvalidArgumentError(f"{message} : Tensor had {kind} values")

    finite = reduce_all(_is_finite(tensor))
    return _watching("CheckNumerics", explain, [finite, tensor], name, tensor, "check")


def add_check_numerics_ops() -> Operation:
    """An operation that runs all operations there are, and checks their numbers, the first ones first."""
    tensors = [each for operation in get_default_graph().get_operations() for each in operation.outputs]
    floats = [each for each in tensors if each.dtype is not None and each.dtype.is_floating_point]
    return group(*[check_numerics(each, each.name) for each in floats if not each.is_variable])


def py_func(func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True, name: Any = None) -> Any:
    """The results of a function of Python's on arrays; no gradient flows through it."""
    several = isinstance(Tout, list | tuple)
    dtypes = [as_numpy(each) for each in (Tout if several else [Tout])]

    def called(*arrays: Any) -> list[Any]:
        try:
            results = func(*arrays)
        except Exception as error:
            raise failed(error, made.line, made.name) from error
        return list(map(np.asarray, results if len(dtypes) > 1 else [results], dtypes))

    def compute(trace: Trace, *values: Any, dtype: Any) -> Any:
        if trace is graph.trace:
            raise InvalidArgumentError("only a run knows what it gives")
        # A trace calls it, to know the shapes; the run that follows, on the same arrays, does not again.
        arrays = [np.array(trace.traced(each).node.value) for each in values]
        first: dict[Any, Any] = {tuple(map(bytes, arrays)): called(*arrays)}

        def run(*arrays: Any) -> list[Any]:
            known = first.pop(tuple(map(bytes, arrays)), None) if first else None
            return known or called(*arrays)

        return trace.noted(run, values, *first.values())

    graph, dtype = get_default_graph(), BY_NUMPY[dtypes[0]]
    operands = list(map(convert_to_tensor, inp))
    made = graph.add("PyFunc", compute, *operands, name=name, outputs=len(dtypes), dtype=dtype)
    return made.outputs if several else made.outputs[0]
