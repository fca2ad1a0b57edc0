"""Looking into a running graph of TensorFlow 1's: printing, assertions, checks, and Python's functions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from autokit.base.errors import require
from autokit.engine.tensor import Tensor as Value
from autokit.engine.tensor import new_tensor
from autokit.static.errors import InvalidArgumentError
from autokit.static.tf.functions import equal, reduce_all
from autokit.static.tf.graph import Evaluation, Operation, Tensor, get_default_graph
from autokit.static.tf.shapes import as_numpy
from autokit.static.tf.values import convert_to_tensor

__all__ = ["Assert", "Print", "assert_equal", "check_numerics", "py_func"]


def _watching(kind: str, look: Any, values: Any, name: str | None, through: Any = None) -> Any:
    """An operation whose runs call ``look`` with the arrays of ``values``; its output is ``through``."""

    def function(run: Evaluation, through: Any, *values: Any) -> Any:
        if run.session:
            look(*[each.clone().array if isinstance(each, Value) else each for each in values])
        return through

    outputs = 0 if through is None else None
    return get_default_graph().add(kind, function, through, *values, name=name, outputs=outputs)


def Print(input_: Tensor, data: Any, message: str = "", name: Any = None) -> Tensor:
    """``input_``; a run that needs it prints ``message`` and ``data``."""

    def write(*arrays: Any) -> None:
        print(message, *map(np.atleast_1d, arrays), sep="", file=sys.stderr)

    return _watching("Print", write, data, name, input_)


def print_(*inputs: Any, name: Any = None) -> Operation:
    """An operation that prints ``inputs``, tensors and words."""
    return _watching("PrintV2", lambda *arrays: print(*arrays, file=sys.stderr), inputs, name)


def Assert(condition: Any, data: Any, name: Any = None) -> Operation:
    """An operation that stops a run in which ``condition`` is false, and shows ``data``."""

    def explain(*arrays: Any) -> Exception:
        return InvalidArgumentError("assertion failed: " + " ".join(map(str, arrays)))

    operands = [convert_to_tensor(condition), *data]
    return _watching("Assert", lambda holds, *arrays: require(holds, explain, *arrays), operands, name)


def assert_equal(x: Any, y: Any, message: str = "", name: str = "assert_equal") -> Operation:
    """An operation that stops a run in which ``x`` and ``y`` differ."""
    words = f"{message} Condition x == y did not hold element-wise: x ="
    return Assert(reduce_all(equal(x, y)), [words.strip(), x, "y =", y], name=name)


def check_numerics(tensor: Tensor, message: str, name: Any = None) -> Tensor:
    """``tensor``; a run in which it has an infinite number or NaN stops."""

    def explain(array: Any) -> Exception:
        kind = "NaN" if np.isnan(array).any() else "Inf"
        return InvalidArgumentError(f"{message} : Tensor had {kind} values")

    def check(array: Any) -> None:
        require(np.isfinite(array).all(), explain, array)

    return _watching("CheckNumerics", check, [tensor], name, tensor)


def py_func(func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True, name: Any = None) -> Any:
    """The results of a function of Python's on arrays; no gradient flows through it."""
    several = isinstance(Tout, list | tuple)
    dtypes = [as_numpy(each) for each in (Tout if several else [Tout])]

    def called(run: Evaluation, *values: Any, dtype: list[Any]) -> Any:
        if run.session is None:
            raise InvalidArgumentError("only a run knows what it gives")
        results = func(*[each.array.copy() for each in values])
        arrays = map(np.asarray, results if len(dtype) > 1 else [results], dtype)
        return list(map(new_tensor, arrays))

    operands, outputs = list(map(convert_to_tensor, inp)), len(dtypes) if several else None
    graph = get_default_graph()
    return graph.add("PyFunc", called, *operands, name=name, outputs=outputs, dtype=dtypes)
