"""Errors that teach: PyTorch's type and wording, then the shapes, the names and what to do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import combinations
from operator import index
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit.devices import OutOfMemoryError

if TYPE_CHECKING:
    from autokit.ops.rules import Operation
    from autokit.tensor import Tensor


class ChangedSince(RuntimeError):
    """A value that a derivative needs was changed in place after it was saved."""


# A traceback calls it what PyTorch raises.
ChangedSince.__name__ = ChangedSince.__qualname__ = "RuntimeError"
ChangedSince.__module__ = "builtins"


def not_a_tensor(operation: Operation, value: Any, place: int) -> TypeError:
    """The error for an operand that is no tensor."""
    return TypeError(
        f"{operation.name}(): argument '{_keyword(place)}' (position {place + 1}) must be Tensor, not "
        f"{type(value).__name__}; {way_to_a_tensor(value)}"
    )


def way_to_a_tensor(value: Any) -> str:
    """How ``value``, which is no tensor, becomes one, or why it is none."""
    if isinstance(value, type) or hasattr(value, "named_parameters"):
        name = value.__name__ if isinstance(value, type) else type(value).__name__
        return f"a layer is made first and then called, as in {name.lower()} = {name}(...); {name.lower()}(x)"
    if isinstance(value, list) and value and hasattr(value[0], "grad_fn"):
        return "torch.stack(...) makes one tensor of several"
    if isinstance(value, tuple) and value and hasattr(value[0], "grad_fn"):
        return "take a tensor out of it: what returns several, as an LSTM does, gives the output at [0]"
    return {
        "ndarray": "make one with torch.from_numpy(...)",
        "NoneType": "a function without a return, or a .grad before backward(), gives None",
    }.get(type(value).__name__, "make one with torch.tensor(...)")


def require_tensor(name: str, other: Any, argument: str = "other", position: int = 2) -> None:
    """Raise unless ``other``, an argument of the function ``name``, is a tensor."""
    if not hasattr(type(other), "grad_fn"):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be Tensor, not "
            f"{type(other).__name__}; {way_to_a_tensor(other)}"
        )


def require_all_tensors(values: Sequence[Any], call: str) -> None:
    """Raise unless all ``values`` are tensors, which are given one by one as ``call`` shows."""
    for place, value in enumerate(values):
        if not hasattr(type(value), "grad_fn"):
            raise TypeError(
                f"expected Tensor as element {place} in argument 0, but got {type(value).__name__}: "
                f"call it as {call}"
            )


_KINDS = {
    "float64": "Double",
    "float32": "Float",
    "float16": "Half",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "bfloat16": "BFloat16",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}


def kind_of(a: Any) -> str:
    """PyTorch's word for the dtype of ``a``, a tensor or an array, in errors: as Float or Int."""
    return _KINDS.get(a.dtype.name, a.dtype.name.capitalize())


def require_floats(name: str, a: Any) -> None:
    """Raise unless the array ``a`` holds floating point numbers; ``name`` is PyTorch's of what computes."""
    if a.dtype.kind in "bui":
        raise NotImplementedError(f"\"{name}\" not implemented for '{kind_of(a)}': convert with .float()")


def refuse_bools_in(name: str, a: Any) -> None:
    """Raise where the array ``a`` holds bools; ``name`` is PyTorch's of what computes."""
    if a.dtype.kind == "b":
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool': convert with .int()")


def _keyword(place: int) -> str:
    return ("input", "other")[place] if place < 2 else f"tensor {place}"


def explain(
    operation: Operation, operands: tuple[Tensor, ...], settings: dict[str, Any], error: Exception
) -> Exception:
    """What PyTorch would raise where NumPy raised ``error``, with shapes and names added."""
    if isinstance(error, MemoryError):
        return full(operands, error)
    shapes = [tuple(operand.shape) for operand in operands]
    described = ", ".join(describe(operand) for operand in operands)
    if isinstance(error, np.exceptions.AxisError):
        return dimension_error(
            settings.get("dim", error.axis), max((len(s) for s in shapes), default=0), described
        )
    if operation.elementwise or "broadcast" in str(error):
        for a, b in combinations(shapes, 2):
            if any(m != n and 1 not in (m, n) for m, n in zip(reversed(a), reversed(b))):
                return RuntimeError(f"{broadcast_message(a, b)}. Got {described}")
    if isinstance(error, TypeError) and (
        "numpy" in type(error).__module__ or any(words in str(error) for words in _NO_LOOP)
    ):
        kinds = sorted({operand.dtype.name for operand in operands})
        if kinds == ["bool"] and operation.name in _OF_NUMBERS_ONLY:
            return RuntimeError(f"{_OF_NUMBERS_ONLY[operation.name]}. Got {described}")
        hint = (
            "; the operators of bools are & | ^ ~, and .int() makes numbers of them"
            if "bool" in kinds
            else ""
        )
        return NotImplementedError(
            f'"{operation.name}" not implemented for {" and ".join(kinds)}: {described}{hint}'
        )
    if type(error).__module__ != "numpy.exceptions" and isinstance(
        error, IndexError | TypeError | RuntimeError
    ):
        kind: type[Exception] = type(error)
    else:
        kind = RuntimeError
    return kind(f"{error} [{operation.name}: {described}]" if described else str(error))


def full(tensors: Sequence[Tensor], error: MemoryError) -> Exception:
    """``error``; where a GPU is full PyTorch's, with what the graph of ``tensors`` keeps."""
    if not any([tensor.is_cuda for tensor in tensors]):
        return error
    held = sum(array.nbytes for array in arrays_behind(tensors).values())
    return OutOfMemoryError(
        f"CUDA out of memory. {error}. The graph behind {', '.join(map(describe, tensors[:3]))} holds "
        f"{held / 2**20:,.1f} MiB. Smaller batches, `with torch.no_grad():` where nothing is learned, and "
        "utils.checkpoint need less; del loss and outputs of earlier steps frees their graphs"
    )


def arrays_behind(tensors: Sequence[Tensor]) -> dict[int, Any]:
    """The arrays that the graph of ``tensors`` keeps alive, leaves and results, each once."""
    found: dict[int, Any] = {}
    seen: set[Any] = set()
    stack: list[Any] = [tensor._node or tensor for tensor in tensors]
    while stack:
        one = stack.pop()
        if one is None or one in seen:
            continue
        seen.add(one)
        array = one.array if hasattr(one, "array") else one.output
        if array is not None:
            found[id(array)] = array
        stack += getattr(one, "sources", ())
    return found


_NO_LOOP = ("not supported", "Wrong type", "cupy boolean")
"""What stands in NumPy's errors and CuPy's where a ufunc does not compute with the dtypes it was given."""

_OF_NUMBERS_ONLY = {
    "sub": "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
    "`logical_xor()` operator instead",
    "neg": "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
    "mask, use the `~` or `logical_not()` operator instead",
}
"""What PyTorch says where bools meet an operation on numbers."""


def describe(tensor: Tensor) -> str:
    """A tensor in an error: its name in the learner's program where it has one, and its shape and dtype."""
    shape = "×".join(map(str, tensor.shape)) or "no dimensions"
    return f"{name_in_program(tensor) or 'a tensor'} ({shape}, {tensor.dtype.name})"


def name_in_program(tensor: Any) -> str:
    """The variable that holds ``tensor`` in the innermost frame that has one, or an empty string.

    A parameter that no variable holds has its name in the module that computes.
    """
    frame: FrameType | None = sys._getframe(1)
    own = ""
    while frame is not None:
        held = frame.f_locals
        if not frame.f_globals.get("__name__", "").startswith("autokit."):
            for name, value in held.items():
                if value is tensor and not name.startswith("_"):
                    return name
        parameters = getattr(held.get("self"), "_parameters", None) if not own else None
        if isinstance(parameters, dict):
            own = next((name for name, value in parameters.items() if value is tensor), "")
        frame = frame.f_back
    return own


def broadcast_message(a: tuple[int, ...], b: tuple[int, ...]) -> str:
    """PyTorch's sentence on two shapes that do not broadcast."""
    longest = max(len(a), len(b))
    left, right = (1,) * (longest - len(a)) + tuple(a), (1,) * (longest - len(b)) + tuple(b)
    for place in reversed(range(longest)):
        if left[place] != right[place] and 1 not in (left[place], right[place]):
            return (
                f"The size of tensor a ({left[place]}) must match the size of tensor b ({right[place]}) "
                f"at non-singleton dimension {place}"
            )
    return f"shapes {a} and {b} do not broadcast"


def broadcast_shape(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """What these shapes broadcast to, or None."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def flag(name: str, value: Any) -> bool:
    """A setting of the engine that is on or off: a whole number of a byte says so too, nothing else does."""
    if value.__class__ is bool:
        return value
    try:
        return bool(index(value).to_bytes(1, "big")[0])
    except (TypeError, OverflowError) as error:
        raise type(error)(f"{error}: {name} is True or False") from None


def dimension_error(dim: Any, ndim: int, described: str = "") -> IndexError:
    """PyTorch's error for a dimension that a tensor does not have."""
    low, high = -max(ndim, 1), max(ndim, 1) - 1
    dims = dim if isinstance(dim, tuple | list) else (dim,)
    wrong = next((d for d in dims if isinstance(d, int) and not low <= d <= high), dim)
    return IndexError(
        f"Dimension out of range (expected to be in range of [{low}, {high}], but got {wrong})"
        + (f" for {described}" if described else "")
    )
