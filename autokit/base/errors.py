"""Errors that teach: PyTorch's type of error, and one sentence that says what was given and what is needed.

Most functions here return the error, and the caller raises it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from operator import index
from types import FrameType
from typing import Any


def is_tensor(value: Any) -> bool:
    """Whether ``value`` is a tensor: its class has the attribute ``grad_fn``."""
    return hasattr(value.__class__, "grad_fn")


def describe(tensor: Any) -> str:
    """A tensor in an error: its name in the learner's program where it has one, its dtype and its shape.

    >>> import autokit as torch
    >>> describe(torch.zeros(2, 3))
    'a tensor (float32, shape [2, 3])'
    """
    name = getattr(tensor, "name", "") or name_in_program(tensor) or "a tensor"
    return f"{name} ({tensor.dtype.name}, shape {list(tensor.shape)})"


def name_in_program(tensor: Any) -> str:
    """The variable that holds ``tensor`` in the innermost frame that has one, or an empty string.

    A parameter that no variable holds has its name in the module that computes.
    """
    frame: FrameType | None = sys._getframe(1)
    in_module = ""
    while frame is not None:
        variables = frame.f_locals
        if not frame.f_globals.get("__name__", "").startswith("autokit."):
            for name, value in variables.items():
                if value is tensor and name.isidentifier() and not name.startswith("_"):
                    return name
        parameters = getattr(variables.get("self"), "_parameters", None)
        if not in_module and isinstance(parameters, dict):
            in_module = next((name for name, value in parameters.items() if value is tensor), "")
        frame = frame.f_back
    return in_module


def way_to_a_tensor(value: Any) -> str:
    """Words for an error: how ``value``, which is no tensor, becomes one, or why it is none."""
    if isinstance(value, type) or hasattr(value, "named_parameters"):
        name = value.__name__ if isinstance(value, type) else type(value).__name__
        return f"a layer is made first and then called, as in {name.lower()} = {name}(...); {name.lower()}(x)"
    if isinstance(value, list) and value and is_tensor(value[0]):
        return "torch.stack(...) makes one tensor of several"
    if isinstance(value, tuple) and value and is_tensor(value[0]):
        return "take a tensor out of it: what returns several, as an LSTM does, gives the output at [0]"
    return {
        "ndarray": "make one with torch.from_numpy(...)",
        "NoneType": "a function without a return, or a .grad before backward(), gives None",
    }.get(type(value).__name__, "make one with torch.tensor(...)")


def not_a_tensor(function_name: str, value: Any, place: int = 0, argument: str = "input") -> TypeError:
    """The error for an operand that is no tensor; ``place`` counts the arguments from 0."""
    return TypeError(
        f"{function_name}(): argument '{argument}' (position {place + 1}) must be Tensor, not "
        f"{type(value).__name__}; {way_to_a_tensor(value)}"
    )


def shown_file(file: str) -> str:
    """The name of a program's file: a notebook's cells lie in files whose names change from run to run."""
    name = os.path.basename(file)
    return "notebook" if name.removesuffix(".py").isdigit() or name.startswith("<") else name


def require(holds: Any, explain: Callable[..., Exception], *values: Any) -> None:
    """Raise the error ``explain(*values)`` unless the condition ``holds``.

    Where the condition is an array that records NumPy's calls, and has no value yet, it notes the check,
    which then belongs to what it records.
    """
    check = getattr(holds, "check", None)
    if check is not None:
        check(explain, values)
    elif not holds:
        raise explain(*values)


def expected(holds: Any) -> bool:
    """Whether a condition ``holds`` under which a shorter computation gives the same.

    What records NumPy's calls goes by its example, and checks in each run that the condition holds there too.
    """
    decide = getattr(holds, "expected", None)
    return bool(holds) if decide is None else decide()


def require_tensor(name: str, value: Any, argument: str = "input", place: int = 0) -> None:
    """Raise unless ``value``, an argument of the function ``name``, is a tensor."""
    if not is_tensor(value):
        raise not_a_tensor(name, value, place, argument)


def require_floats(name: str, array: Any) -> None:
    """Raise unless ``array``, an operand of the function ``name``, holds floating point numbers."""
    if array.dtype.kind != "f":
        raise NotImplementedError(
            f'"{name}" not implemented for {array.dtype.name}, as it needs floating point numbers: '
            "convert with .float()"
        )


def dimension_error(dim: int, ndim: int) -> IndexError:
    """The error for a dimension that a tensor of ``ndim`` dimensions does not have."""
    low, high = -max(ndim, 1), max(ndim, 1) - 1
    return IndexError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})")


def one_dim(dim: Any, ndim: int) -> int:
    """``dim`` counted from the front, in a tensor of ``ndim`` dimensions; without dimensions 0 is allowed.

    >>> one_dim(-1, 3)
    2
    """
    if dim.__class__ is not int:
        dim = _whole(dim, "dim")
    count = ndim or 1
    if not -count <= dim < count:
        raise dimension_error(dim, ndim)
    return dim % count


def dims_of(dim: Any, ndim: int) -> tuple[int, ...]:
    """One dimension or several, all of them for None, counted from the front.

    In a tensor without dimensions 0 is allowed as a dimension, and the result is ``()``.

    >>> dims_of(None, 3), dims_of(-1, 3), dims_of([0, -2], 3)
    ((0, 1, 2), (2,), (0, 1))
    """
    if dim is None:
        return tuple(range(ndim))
    dims = tuple([one_dim(one, ndim) for one in (dim if isinstance(dim, tuple | list) else (dim,))])
    if len({*dims}) < len(dims):
        raise RuntimeError(f"dim {max(dims, key=dims.count)} appears multiple times in the list of dims")
    return dims if ndim else ()


def sizes_of(args: tuple[Any, ...], name: str) -> tuple[int, ...]:
    """The sizes given to the function ``name``, one by one, ``(2, 3)``, or as one sequence, ``((2, 3),)``."""
    if len(args) == 1 and isinstance(args[0], tuple | list):
        args = tuple(args[0])
    return tuple([size if size.__class__ is int else _whole(size, "size", name) for size in args])


def _whole(value: Any, argument: str, name: str = "") -> int:
    """``value``, an integer of Python's or NumPy's or a tensor of one integer, as an int."""
    try:
        if value is True or value is False:
            raise TypeError
        return index(value)
    except TypeError:
        function = f"{name}(): " if name else ""
        raise TypeError(f"{function}argument '{argument}' must be int, not {type(value).__name__}") from None


def broadcast_error(shapes: list[tuple[int, ...]], described: str = "") -> RuntimeError:
    """The error for ``shapes`` that do not broadcast: where two of them differ, and neither size is 1."""
    listed = " and ".join(str(list(shape)) for shape in shapes)
    said = f"shapes {listed} do not broadcast" + (f". Got {described}" if described else "")
    longest = max(map(len, shapes), default=0)
    padded = [(1,) * (longest - len(shape)) + tuple(shape) for shape in shapes]
    for dim in reversed(range(longest)):
        sizes = [shape[dim] for shape in padded]
        different = list(dict.fromkeys(size for size in sizes if size != 1))
        if len(different) > 1:
            a, b = different[:2]
            return RuntimeError(
                f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton "
                f"dimension {dim}: {said}"
            )
    return RuntimeError(said)


def two_devices(name: str, tensors: list[Any]) -> RuntimeError:
    """The error for tensors of the function ``name`` that are on two devices."""
    places = ", ".join([f"{describe(each)} on {each.device}" for each in tensors])
    return RuntimeError(
        f"{name}: Expected all tensors to be on the same device, but found at least two devices: {places}; "
        "move one with .to(device)"
    )
