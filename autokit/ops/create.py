"""Making tensors: from data, filled and counted; ``sampling`` draws them at random."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.devices import module_for
from autokit.ops.names import Names
from autokit.ops.operands import common_dtype
from autokit.tensor import Size, Tensor, new_tensor

Dtype = dtypes.dtype | None


def _finished(array: Any, requires_grad: bool, device: Any = None) -> Tensor:
    module = module_for(device)
    result = new_tensor(array if module is np else module.asarray(array))
    if requires_grad:
        result.requires_grad = True
    return result


def _chosen(dtype: Any) -> np.dtype:
    return (dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)).numpy


def tensor(data: Any, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A new tensor with a copy of ``data``.

    Parameters
    ----------
    data : number, nested sequence, numpy.ndarray or Tensor
    dtype : dtype, optional
        Without it: floats become the default dtype, integers int64, bools
        bool; an array keeps its own.
    device : optional
    requires_grad : bool
        Record what is computed from it.

    Raises
    ------
    ValueError
        If the sequences are ragged.
    TypeError, RuntimeError
        If something in them is no number, or integers are to require grad.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.tensor([[1, 2], [3, 4]]).dtype, torch.tensor(1.5)
    (torch.int64, tensor(1.5000))
    """
    if isinstance(data, Tensor):
        array = np.array(data.array) if isinstance(data.array, np.ndarray) else data.array.copy()
        return _finished(array if dtype is None else array.astype(_chosen(dtype)), requires_grad, device)
    return _finished(_array_of(data, dtype), requires_grad, device)


def _array_of(data: Any, dtype: Any) -> np.ndarray:
    """A fresh array with the elements of ``data``."""
    if isinstance(data, np.ndarray | np.generic):
        _refuse_array(data)
        return np.array(data, dtype=dtypes.as_dtype(data.dtype if dtype is None else dtype).numpy)
    _refuse_ragged(data)
    if (
        isinstance(data, Sequence)
        and not isinstance(data, str)
        and any(isinstance(item, Tensor) for item in data)
    ):
        data = [item.tolist() if isinstance(item, Tensor) else item for item in data]
    try:
        array = np.array(data)
    except (ValueError, TypeError, RuntimeError) as error:
        raise TypeError(
            f"a tensor is made from numbers, and this is {type(data).__name__}: {error}"
        ) from error
    if array.dtype.kind == "O" and array.size and isinstance(array.flat[0], int):
        raise ValueError("Overflow when unpacking long long: an integer does not fit into int64")
    if array.dtype.kind not in "biufc":
        kind = type(next(iter(array.flat), data)).__name__
        if kind not in ("str", "str_", "bytes"):
            raise RuntimeError(f"Could not infer dtype of {kind}: a tensor is made from numbers and bools")
        raise TypeError(
            f"new(): invalid data type 'str': a tensor is made from numbers and bools, not {kind}"
        )
    if dtype is not None:
        return array.astype(_chosen(dtype))
    if array.dtype.kind == "f" and not _has_numpy_scalars(data):
        return array.astype(_chosen(None))
    if array.dtype.kind == "c":
        return array.astype(np.complex64 if dtypes.get_default_dtype().itemsize == 4 else np.complex128)
    return array


def _has_numpy_scalars(data: Any) -> bool:
    """Whether the first element is NumPy's own, which keeps its dtype as in PyTorch."""
    while isinstance(data, list | tuple) and data:
        data = data[0]
    return isinstance(data, np.ndarray | np.generic)


def _refuse_ragged(data: Any) -> None:
    """Raise PyTorch's error where sequences of one level differ in length."""
    level, depth = [data], 0
    while level and isinstance(level[0], list | tuple):
        lengths = [len(item) if isinstance(item, list | tuple) else None for item in level]
        if len(set(lengths)) > 1:
            odd = next(place for place, length in enumerate(lengths) if length != lengths[0])
            if lengths[odd] is None:
                raise TypeError(
                    f"a tensor is made from numbers in even rows: entry {odd} at depth {depth} is "
                    f"{type(level[odd]).__name__}, where entry 0 has {lengths[0]} elements"
                )
            raise ValueError(
                f"expected sequence of length {lengths[0]} at dim {depth} (got {lengths[odd]}): "
                f"row {odd} is not as long as row 0"
            )
        level, depth = [item for row in level for item in row], depth + 1


def legacy_array(data: tuple[Any, ...]) -> np.ndarray:
    """What ``Tensor(...)`` holds: sizes make an unfilled tensor, a sequence its elements."""
    if len(data) == 1 and not isinstance(data[0], int | Size):
        if isinstance(data[0], float):
            raise TypeError(
                f"new(): data must be a sequence (got float); write tensor({data[0]}) for a single number"
            )
        if isinstance(data[0], Tensor):
            return data[0].array
        return _array_of(data[0], dtypes.get_default_dtype())
    return np.zeros(_shape(data) if data else (0,), _chosen(None))


def as_tensor(data: Any, dtype: Dtype = None, device: Any = None) -> Tensor:
    """``data`` as a tensor, without a copy where it is one already, or an array of that dtype."""
    if isinstance(data, Tensor):
        return data if dtype is None or data.dtype == dtype else data.to(dtype)
    if isinstance(data, np.ndarray) and (dtype is None or data.dtype == _chosen(dtype)):
        return from_numpy(data)
    return tensor(data, dtype=dtype, device=device)


def from_numpy(array: Any) -> Tensor:
    """A tensor that shares the memory of ``array``.

    Raises
    ------
    TypeError
        If it is no array, or of a dtype that tensors do not have.
    ValueError
        If it is read backwards (a negative stride), or has another machine's byte order.
    """
    if not isinstance(array, np.ndarray):
        kind = type(array)
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
        raise TypeError(f"expected np.ndarray (got {name})")
    if not array.flags.writeable:
        warnings.warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. Here "
            "the tensor refuses changes in place: give it array.copy() to change it.",
            UserWarning,
            stacklevel=2,
        )
    return from_array(array)


def from_array(array: Any) -> Tensor:
    """:func:`from_numpy` for any array that may be a tensor's, without its warning."""
    _refuse_array(array)
    return new_tensor(array.view(np.ndarray) if isinstance(array, np.ndarray) else array)


def _refuse_array(array: Any) -> None:
    """Raise PyTorch's error where a tensor cannot hold ``array`` as it is."""
    dtype = array.dtype
    if not dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte "
            "orders is currently not supported: use array.astype(array.dtype.newbyteorder('='))"
        )
    if dtype not in dtypes.BY_NUMPY:
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{dtype.type.__name__}. The only supported types are: "
            f"{', '.join(each.name for each in dict.fromkeys(dtypes.BY_NAME.values()))}. Convert it first, "
            "for example with array.astype('float32')."
        )
    if any(stride < 0 for stride in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are "
            "not currently supported. (You can probably work around this by making a copy of your array  "
            "with array.copy().) "
        )
    if any(stride % dtype.itemsize for stride in array.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to "
            "reallocate the memory."
        )


# ---------------------------------------------------------------- filled


def _shape(sizes: tuple[Any, ...], size: Any = None) -> tuple[int, ...]:
    """The sizes, given one by one, as one sequence, or as that under its name."""
    if size is not None:
        sizes = tuple(size)
    elif len(sizes) == 1 and isinstance(sizes[0], tuple | list):
        sizes = tuple(sizes[0])
    shape = []
    for one in sizes:
        if isinstance(one, bool | float | str) or not hasattr(one, "__index__"):
            raise TypeError(f"a size must be int, and {one!r} is {type(one).__name__}")
        shape.append(int(one))
    if any(one < 0 for one in shape):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {shape}")
    return tuple(shape)


def zeros(
    *sizes: Any, size: Any = None, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of zeros: ``zeros(2, 3)`` or ``zeros((2, 3))``."""
    return _finished(np.zeros(_shape(sizes, size), _chosen(dtype)), requires_grad, device)


def ones(
    *sizes: Any, size: Any = None, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of ones: ``ones(2, 3)`` or ``ones((2, 3))``."""
    return _finished(np.ones(_shape(sizes, size), _chosen(dtype)), requires_grad, device)


def empty(
    *sizes: Any, size: Any = None, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor to be filled.  Its elements are zeros, where PyTorch's are whatever was in memory."""
    return zeros(*sizes, size=size, dtype=dtype, device=device, requires_grad=requires_grad)


def full(
    size: Any, fill_value: Any, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor in which each element is ``fill_value``, of its dtype unless another is given."""
    value = fill_value.array if isinstance(fill_value, Tensor) else fill_value
    kind = common_dtype([fill_value]) if dtype is None else _chosen(dtype)
    return _finished(np.full(_shape((size,)), value, kind), requires_grad, device)


def eye(
    n: int, m: int | None = None, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The identity matrix of ``n`` rows (and ``m`` columns)."""
    n, m = _shape((n, n if m is None else m))
    return _finished(np.eye(n, m, dtype=_chosen(dtype)), requires_grad, device)


def zeros_like(
    input: Tensor, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Zeros in the shape and dtype of ``input``."""
    return _finished(np.zeros(input.array.shape, _like(input, dtype)), requires_grad, device)


def ones_like(
    input: Tensor, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Ones in the shape and dtype of ``input``."""
    return _finished(np.ones(input.array.shape, _like(input, dtype)), requires_grad, device)


def empty_like(
    input: Tensor, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor to be filled, in the shape and dtype of ``input``."""
    return zeros_like(input, dtype=dtype, device=device, requires_grad=requires_grad)


def full_like(
    input: Tensor, fill_value: Any, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Each element ``fill_value``, in the shape and dtype of ``input``."""
    return _finished(np.full(input.array.shape, fill_value, _like(input, dtype)), requires_grad, device)


def _like(input: Tensor, dtype: Any) -> np.dtype:
    return input.array.dtype if dtype is None else _chosen(dtype)


# ---------------------------------------------------------------- counted


def arange(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: Dtype = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The numbers from ``start`` (0 if only an end is given) to before ``end``, ``step`` apart.

    Raises
    ------
    RuntimeError
        If ``step`` is 0, or leads away from ``end``.
    """
    if end is None:
        start, end = 0, start
    start, end, step = (
        each.item() if isinstance(each, Tensor | np.generic) else each for each in (start, end, step)
    )
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"upper bound and lower bound inconsistent with step sign: from {start} to {end} by {step}"
        )
    kind = common_dtype([start, end, step]) if dtype is None else _chosen(dtype)
    if kind.kind in "ui":
        return _finished(np.arange(int(start), int(end), int(step)).astype(kind), requires_grad, device)
    # Each number from its own place, so that rounding does not add up.
    count = int(np.ceil((end - start) / step))
    return _finished((start + step * np.arange(count)).astype(kind), requires_grad, device)


def linspace(
    start: Any, end: Any, steps: int, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``steps`` numbers at even distances, both ends included."""
    start, end = (each.item() if isinstance(each, Tensor) else each for each in (start, end))
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative, and it is {steps}")
    return _finished(np.linspace(start, end, steps).astype(_chosen(dtype)), requires_grad, device)


NAMES = Names(
    functions="arange as_tensor empty empty_like eye from_numpy full full_like linspace ones ones_like "
    "tensor zeros zeros_like",
    numpy={
        np.zeros_like: lambda a, shape=None: zeros(a.shape if shape is None else shape, dtype=a.dtype),
        np.ones_like: lambda a: ones_like(a),
    },
)
