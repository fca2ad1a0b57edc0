"""Anomaly detection: the backward pass stops with an error at the first derivative that computes a NaN.

While the mode is on, each node remembers the lines of the program that recorded it, and each gradient is
checked as soon as it is computed.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from threading import get_ident
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from autokit.base.devices import to_numpy
from autokit.base.errors import describe
from autokit.engine.detours import DETOURS, Detour
from autokit.engine.modes import thread
from autokit.engine.node import NAMES, Gradients, Node
from autokit.engine.observed import kept
from autokit.engine.record import OUR_FILES, source_line
from autokit.engine.tensor import Tensor
from autokit.graphs.run import operand_of

_STACKS: WeakKeyDictionary[Node, traceback.StackSummary] = WeakKeyDictionary()
"""The program's lines, outermost first, that recorded each node."""

_VALUES_SHOWN = 8

_CHECK = [True]
"""Whether gradients were last asked to be looked at."""


class _Remembering(Detour):
    """Keeps for each new node the lines of the program that are running."""

    def apply(self, operation: Any, operands: Any, settings: Any, proceed: Callable[..., Any]) -> Any:
        results = proceed(operands, settings)
        for each in results if isinstance(results, tuple) else (results,):
            if each._node is not None and each._node.owner not in _STACKS:
                stack = [frame for frame in traceback.extract_stack() if not OUR_FILES[frame.filename]]
                _STACKS[each._node.owner] = traceback.StackSummary.from_list(stack)
        return results


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
        From ``backward()``, at the first derivative that computes a NaN: with the
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

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = is_anomaly_enabled(), _CHECK[0]
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        set_anomaly_enabled(*self._before)


class detect_anomaly(set_detect_anomaly):
    """As :class:`set_detect_anomaly`, for a ``with`` block; says that it costs time."""

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
            "enabled for debugging.",
            UserWarning,
            stacklevel=3,  # the line of the program, behind the door
        )

    def __enter__(self) -> None:
        super().__init__(True, self.check_nan)


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Switch :class:`set_detect_anomaly` on or off for all that follows in this thread."""
    for name, value in (("mode", mode), ("check_nan", check_nan)):
        if value.__class__ is not bool:
            raise TypeError(f"set_anomaly_enabled(): {name} must be bool, not {type(value).__name__}")
    for each in _remembering():
        each.__exit__()
    if mode:
        _Remembering().__enter__()
    thread.state.listener = _look if mode and check_nan else None
    _CHECK[0] = check_nan


def is_anomaly_enabled() -> bool:
    """Whether the lines of the forward pass are remembered."""
    return bool(_remembering())


def is_anomaly_check_nan_enabled() -> bool:
    """Whether gradients are looked at, where the mode is on."""
    return _CHECK[0]


def _remembering() -> list[Detour]:
    return [each for each in DETOURS if isinstance(each, _Remembering) and each.thread == get_ident()]


def _look(event: str, node: Any, *rest: Any) -> None:
    """Listen to the backward pass, and stop it at a gradient with a NaN."""
    if event == "contribution" and not isinstance(rest[1], Gradients):
        array = getattr(rest[1], "array", rest[1])
        if array.dtype.kind == "f" and bool((array != array).any()):
            raise RuntimeError(_message(node, rest[0]))


def _message(node: Node, place: int) -> str:
    parts = [f"Function '{node.kind}' returned nan values in its {place}th output. It is the gradient of"]
    operands = [
        f"{_named(source, operand_of(node, at))}, whose values are {_summary(operand_of(node, at))}"
        for at, source in enumerate(node.sources)
    ]
    parts.append(operands[place] + ".")
    others = operands[:place] + operands[place + 1 :]
    if others:
        parts.append(f"Beside it stood {'; '.join(others)}.")
    parts.append(f"The forward pass had computed {_summary(kept(node))} from it.")
    return " ".join(parts) + "\n" + _where(node)


def _named(source: Any, operand: Any) -> str:
    if not isinstance(operand, Tensor):
        return "a value" if operand is None else "a number"
    if isinstance(source, Node) and source in NAMES:
        operand.name = NAMES[source]
    return describe(operand)


def _summary(value: Any) -> str:
    """The values themselves where they are few, else what there is to know of them."""
    if value is None:
        return "not kept"
    array = to_numpy(getattr(value, "array", value)).astype(float)
    if array.size <= _VALUES_SHOWN:
        return np.array2string(array, separator=", ")
    finite = array[np.isfinite(array)]
    ends = f"between {finite.min():.4g} and {finite.max():.4g}" if finite.size else "none finite"
    odd = [(np.isnan(array), "nan"), (np.isinf(array), "infinite"), (array == 0, "zero")]
    counts = "".join(f", {count} of them {word}" for found, word in odd if (count := int(found.sum())))
    return f"{array.size} numbers {ends}{counts}"


def _where(node: Node) -> str:
    stack = _STACKS.get(node)
    if stack:
        return "Traceback of the forward call that recorded it:\n" + "".join(stack.format())
    line = source_line(node.code, node.instruction)
    return f"It was recorded by line {line[1]}: {line[2]}" if line else ""
