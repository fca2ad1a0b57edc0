"""Finding where NaN comes from: the first derivative that makes one stops the backward pass.

While the mode is on, each node remembers the lines of the program that made
it, and each gradient is looked at as soon as it is made.
"""

from __future__ import annotations

import traceback
import warnings
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from autokit.autograd.node import Node
from autokit.batches.batch import of_all_samples
from autokit.devices import to_numpy
from autokit.dtypes import DIFFERENTIABLE
from autokit.ops.custom import Parts
from autokit.ops.errors import describe
from autokit.ops.gpu.arrays import any_of
from autokit.ops.recording import OUR_FILES, source_line
from autokit.ops.sparse_array import SparseArray
from autokit.shown import by_type
from autokit.tensor import Tensor
from autokit.thread_state import thread

_STACKS: WeakKeyDictionary[Node, traceback.StackSummary] = WeakKeyDictionary()
"""The program's lines, outermost first, that made each node."""

_VALUES_SHOWN = 8

_CHECK = [True]
"""Whether gradients were last asked to be looked at."""


class set_detect_anomaly:
    """Look for NaN in every gradient, from here on or inside a ``with`` block.

    Parameters
    ----------
    mode : bool
        On or off.
    check_nan : bool
        Look at the values; without it only the lines of the program are remembered.

    Raises
    ------
    RuntimeError
        From ``backward()``, at the first derivative that makes a NaN: with the
        operation, its values, and the lines of the forward pass that ran it.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.tensor([1.0, 0.0], requires_grad=True)
    >>> with torch.autograd.set_detect_anomaly(True):
    ...     (x.sqrt() * torch.tensor([1.0, 0.0])).sum().backward()
    Traceback (most recent call last):
    ...
    RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output. ...
    """

    __repr__ = by_type

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        state = thread.state
        self._before = state.listener, state.watchers, _CHECK[0]
        _switch(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        state = thread.state
        state.listener, state.watchers, _CHECK[0] = self._before


class detect_anomaly:
    """As :class:`set_detect_anomaly`, for a ``with`` block; says that it costs time."""

    __repr__ = by_type

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
            "enabled for debugging.",
            UserWarning,
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._mode = set_detect_anomaly(True, self.check_nan)

    def __exit__(self, *error: object) -> None:
        self._mode.__exit__(*error)


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Switch :class:`set_detect_anomaly` on or off for all that follows."""
    _switch(mode, check_nan)
    _CHECK[0] = check_nan


def is_anomaly_enabled() -> bool:
    """Whether the lines of the forward pass are remembered."""
    return _remember in thread.state.watchers


def is_anomaly_check_nan_enabled() -> bool:
    """Whether gradients are looked at, where the mode is on."""
    return _CHECK[0]


def _switch(mode: Any, check_nan: Any) -> None:
    for place, (name, value) in enumerate((("enabled", mode), ("check_nan", check_nan)), 1):
        if value.__class__ is not bool:
            kind = type(value).__name__
            raise TypeError(
                f"set_anomaly_enabled(): argument '{name}' (position {place}) must be bool, not {kind}"
            )
    state = thread.state
    others = tuple([watch for watch in state.watchers if watch is not _remember])
    state.watchers = (*others, _remember) if mode else others
    state.listener = _look if mode and check_nan else None
    _CHECK[0] = check_nan


def _remember(node: Node) -> None:
    """Keep the lines of the program that are making ``node``."""
    stack = traceback.extract_stack()
    _STACKS[node] = traceback.StackSummary.from_list([f for f in stack if not OUR_FILES[f.filename]])


def _look(event: str, node: Any, *rest: Any) -> None:
    """Listen to the engine, and stop it at a gradient with a NaN."""
    if event != "contribution":
        return
    place, raw = rest[0], rest[1]
    for part in (raw.slots if isinstance(raw, Parts) else {0: raw}).values():
        array = _numbers(getattr(part, "array", part))
        if array.dtype.kind in DIFFERENTIABLE and any_of(array != array):
            raise RuntimeError(_message(node, place))


def _numbers(array: Any) -> Any:
    """All numbers of ``array``: of a sparse one those that it holds, of a batch those of all samples."""
    if array.__class__ is SparseArray:
        return array.values
    return of_all_samples(array)


def _message(node: Node, place: int) -> str:
    parts = [f"Function '{node.kind}' returned nan values in its {place}th output. It is the gradient of"]
    operands = [
        f"{_named(source, operand)}, whose values are {_summary(operand)}"
        for source, operand in zip(node.sources, node.operands)
    ]
    parts.append(operands[place] + ".")
    others = operands[:place] + operands[place + 1 :]
    if others:
        parts.append(f"Beside it stood {'; '.join(others)}.")
    result = node.result()
    parts.append(f"The forward pass had made {_summary(result)} of it.")
    return " ".join(parts) + "\n" + _where(node)


def _named(source: Any, operand: Tensor | None) -> str:
    if operand is None:
        return "a value"
    return describe(source if isinstance(source, Tensor) else operand)


def _summary(tensor: Tensor | None) -> str:
    """The values themselves where they are few, else what there is to know of them."""
    if tensor is None:
        return "not kept"
    array = to_numpy(_numbers(tensor.array))
    is_complex = array.dtype.kind == "c"
    array = array.astype(complex if is_complex else float)
    if array.size <= _VALUES_SHOWN:
        return np.array2string(array, separator=", ")
    finite = array[np.isfinite(array)]
    ends = "none finite"
    if finite.size:
        finite = np.abs(finite) if is_complex else finite
        ends = f"{'of sizes ' * is_complex}between {finite.min():.4g} and {finite.max():.4g}"
    odd = [(np.isnan(array), "nan"), (np.isinf(array), "infinite"), (array == 0, "zero")]
    counts = "".join(f", {count} of them {word}" for found, word in odd if (count := int(found.sum())))
    return f"{array.size} numbers {ends}{counts}"


def _where(node: Node) -> str:
    stack = _STACKS.get(node)
    if stack:
        return "Traceback of the forward call that made it:\n" + "".join(stack.format())
    line = source_line(node.code, node.instruction)
    return f"It was made before anomaly detection was on, in line {line[1]}: {line[2]}" if line else ""
