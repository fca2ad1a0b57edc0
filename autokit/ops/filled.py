"""Making tensors of a shape, filled with one number, or with nothing yet."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit import dtypes
from autokit.meta_array import MetaArray, zeros_for
from autokit.ops.convert import in_format
from autokit.ops.create import Dtype, finished, legacy_array, numpy_dtype, shape_of_sizes, tensor
from autokit.ops.dims import sizes_of, whole
from autokit.ops.errors import way_to_a_tensor
from autokit.ops.names import Names
from autokit.ops.operands import common_dtype, fitting
from autokit.tensor import Tensor


def zeros(
    *sizes: Any, size: Any = None, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of zeros: ``zeros(2, 3)`` or ``zeros((2, 3))``."""
    return finished(np.zeros(shape_of_sizes(sizes, size, "zeros"), numpy_dtype(dtype)), requires_grad, device)


def ones(
    *sizes: Any, size: Any = None, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of ones: ``ones(2, 3)`` or ``ones((2, 3))``."""
    return finished(np.ones(shape_of_sizes(sizes, size, "ones"), numpy_dtype(dtype)), requires_grad, device)


def empty(
    *sizes: Any,
    size: Any = None,
    dtype: Dtype = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor to be filled.  Its elements are zeros, where PyTorch's are whatever was in memory."""
    array = np.zeros(shape_of_sizes(sizes, size, "empty"), numpy_dtype(dtype))
    if memory_format is not None:
        array = in_format(Tensor(array), memory_format, copy=False).array
    return finished(array, requires_grad, device)


def empty_strided(
    size: Any, stride: Any, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor to be filled, whose dimensions take steps of these ``stride`` through memory."""
    from autokit.ops.strides import strided

    shape = shape_of_sizes((size,), None, "empty_strided")
    steps = sizes_of((stride,), "empty_strided", "stride")
    if len(shape) != len(steps):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(steps)})"
        )
    if 0 not in shape and any(step < 0 for step in steps):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(steps)}: none "
            "may be negative"
        )
    last = 0 if 0 in shape else sum((n - 1) * step for n, step in zip(shape, steps))
    memory = np.zeros(1 + last, numpy_dtype(dtype))
    array = strided(memory, shape, tuple([step * memory.itemsize for step in steps]))
    return finished(array, requires_grad, device)


def empty_permuted(
    size: Any, physical_layout: Any, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor to be filled, whose dimensions lie in memory in the order ``physical_layout``.

    Raises
    ------
    RuntimeError
        If that does not name each dimension once.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.empty_permuted((2, 3, 5), (0, 2, 1)).stride()
    (15, 1, 3)
    """
    from autokit.ops.strides import row_major

    shape = shape_of_sizes((size,), None, "empty_permuted")
    order = sizes_of((physical_layout,), "empty_permuted", "physical_layout")
    if len(shape) != len(order):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    for place, dim in enumerate(order):
        if not 0 <= dim < len(shape):
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {len(shape) - 1}, but got {dim} at "
                f"index {place}): count dimensions from the front"
            )
    if len(set(order)) < len(order):
        raise RuntimeError(f"Duplicate dim not allowed: the layout {list(order)} names one twice")
    steps = row_major(tuple([shape[dim] for dim in order]))
    stride = [steps[order.index(dim)] for dim in range(len(shape))]
    return empty_strided(shape, stride, dtype=dtype, device=device, requires_grad=requires_grad)


def number(value: Any, name: str, argument: str, place: int) -> Any:
    """``value`` as a Python number; ``name`` is the function whose ``argument`` it is."""
    if isinstance(value, Tensor) and not value.array.ndim or isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, bool | int | float | complex):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {place}) must be Number, not {type(value).__name__}"
        )
    return value


def full(
    size: Any, fill_value: Any, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor in which each element is ``fill_value``, of its dtype unless another is given."""
    if not isinstance(size, tuple | list):
        raise TypeError(
            f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}; write "
            f"full(({size},), ...)"
        )
    value = number(fill_value, "full", "fill_value", 2)
    kind = common_dtype([fill_value]) if dtype is None else numpy_dtype(dtype)
    return finished(
        np.full(shape_of_sizes((size,), None, "full"), fitting(value, kind), kind), requires_grad, device
    )


def scalar_tensor(s: Any, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A number as a tensor without dimensions, of the default dtype unless another is given."""
    return full((), s, dtype=dtype or dtypes.get_default_dtype(), device=device, requires_grad=requires_grad)


def eye(
    n: int, m: int | None = None, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The identity matrix of ``n`` rows (and ``m`` columns)."""
    rows = whole(n, "n", "eye")
    columns = rows if m is None else whole(m, "m", "eye")
    for name, size in (("n", rows), ("m", columns)):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    return finished(np.eye(rows, columns, dtype=numpy_dtype(dtype)), requires_grad, device)


def zeros_like(
    input: Tensor, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Zeros in the shape and dtype of ``input``."""
    return finished(_filled_like("zeros_like", input, 0, dtype), requires_grad, device or input.device)


def ones_like(
    input: Tensor, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Ones in the shape and dtype of ``input``."""
    return finished(_filled_like("ones_like", input, 1, dtype), requires_grad, device or input.device)


def empty_like(
    input: Tensor, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor to be filled, in the shape and dtype of ``input``."""
    return zeros_like(input, dtype=dtype, device=device, requires_grad=requires_grad)


def full_like(
    input: Tensor, fill_value: Any, *, dtype: Dtype = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Each element ``fill_value``, in the shape and dtype of ``input``."""
    value = number(fill_value, "full_like", "fill_value", 2)
    return finished(_filled_like("full_like", input, value, dtype), requires_grad, device or input.device)


def like_dtype(input: Tensor, dtype: Any) -> np.dtype:
    return input.array.dtype if dtype is None else numpy_dtype(dtype)


def _filled_like(name: str, input: Tensor, value: Any, dtype: Any) -> Any:
    """An array like that of ``input``, in the same order in memory, filled with ``value``."""
    if not isinstance(input, Tensor):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}; "
            f"{way_to_a_tensor(input)}"
        )
    array = input.array
    kind = like_dtype(input, dtype)
    if array.__class__ is MetaArray:
        array = zeros_for(array)
    return np.full_like(array, fitting(value, kind), dtype=kind, order="C" if 0 in array.strides else "K")


# ---------------------------------------------------------------- of the dtype of another tensor


def _new(make: Any) -> Any:
    """The method ``new_...`` of a function that makes a tensor: its dtype and device are the tensor's."""

    def apply(
        self: Tensor, *arguments: Any, dtype: Any = None, device: Any = None, **settings: Any
    ) -> Tensor:
        return make(*arguments, dtype=dtype or self.dtype, device=device or self.device, **settings)

    apply.__name__ = apply.__qualname__ = f"new_{make.__name__}"
    apply.__doc__ = f"As :func:`{make.__name__}`, in the dtype and on the device of this tensor."
    return apply


new_zeros, new_ones, new_empty, new_full, new_tensor_like = map(_new, (zeros, ones, empty, full, tensor))
new_empty_strided = _new(empty_strided)


def new(self: Tensor, *data: Any) -> Tensor:
    """What ``Tensor(...)`` makes, in the dtype of this tensor: the old way to say :func:`new_tensor`."""
    return finished(legacy_array(data).astype(self.array.dtype), False, self.device)


NAMES = Names(
    functions="empty empty_like empty_permuted empty_strided eye full full_like ones ones_like scalar_tensor "
    "zeros zeros_like",
    methods="new new_empty new_empty_strided new_full new_ones new_zeros",
    other_methods={"new_tensor": new_tensor_like},
    numpy={
        np.zeros_like: lambda a, shape=None: zeros(a.shape if shape is None else shape, dtype=a.dtype),
        np.ones_like: lambda a: ones_like(a),
    },
)
