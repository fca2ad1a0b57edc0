"""New tensors: from data, filled with one number, numbers in a range, and by the old constructors."""

from __future__ import annotations

import builtins
import math
import warnings
from collections.abc import Callable
from functools import reduce
from typing import Any, TypedDict, Unpack

import numpy as np

from autokit.base import dtypes
from autokit.base.devices import CPU, device_of, get_default_device, module_of, on_a_gpu, put_on
from autokit.base.errors import require_tensor, sizes_of
from autokit.base.generator import Generator
from autokit.base.size import Size
from autokit.engine.detours import DETOURS, new_array
from autokit.engine.operands import common_dtype, dtype_of_number
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.names import Names

Generator.tensor_of = staticmethod(new_tensor)


class Options(TypedDict, total=False):
    """The keywords of every function that creates a tensor.

    Attributes
    ----------
    dtype : dtype, optional
        By default ``torch.get_default_dtype()``, which is float32.
    device : optional
        By default ``torch.get_default_device()``, which is the CPU.
    requires_grad : bool
        Record what is computed from the tensor.
    """

    dtype: Any
    device: Any
    requires_grad: bool


def created(
    array_of: Callable[[np.dtype[Any]], Any],
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of the array that ``array_of`` gives for NumPy's ``dtype``, on the ``device``."""
    array = array_of(numpy_dtype(dtype))
    if DETOURS:
        array = new_array(array)
    where = get_default_device() if device is None else device
    result = new_tensor(array if where is CPU else put_on(array, where))
    if requires_grad:
        result.requires_grad = True
    return result


def like(tensor: Tensor, options: Any) -> Any:
    """The ``options``, with the dtype and the device of ``tensor`` where they name none."""
    given = {name: value for name, value in options.items() if value is not None}
    return {"dtype": tensor.dtype, "device": tensor.device, **given}


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """NumPy's dtype for ``dtype``, or for the default one where it is None."""
    return (dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)).numpy


def shape_of(name: str, sizes: tuple[Any, ...], size: Any = None) -> tuple[int, ...]:
    """The sizes given to the function ``name``, one by one, as one sequence, or as ``size=``."""
    shape = sizes_of(sizes if size is None else (size,), name)
    if shape and min(shape) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    return shape


# ---------------------------------------------------------------- from data


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A new tensor with a copy of ``data``.

    Parameters
    ----------
    data : number, nested sequence, numpy.ndarray or Tensor
    dtype, device, requires_grad : optional
        See :class:`Options`.  Without a dtype floats become the default one, integers int64, bools bool; an
        array keeps its dtype.

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
        warnings.warn(
            "To copy a tensor, use x.detach().clone() or x.detach().clone().requires_grad_(True), rather "
            "than torch.tensor(x).",
            stacklevel=2,
        )
        data, device = data.array, data.device if device is None else device
    if isinstance(data, np.ndarray | np.generic) or on_a_gpu(data):
        kind = data.dtype if dtype is None else dtype
        device = device or (device_of(data) if on_a_gpu(data) else None)
        return created(lambda kind: module_of(data).array(data, kind), kind, device, requires_grad)
    array = _array_of(data, dtype)
    return created(lambda kind: array, array.dtype, device, requires_grad)


def _array_of(data: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """A new array of a number, or of nested sequences of numbers, tensors and arrays."""
    found: set[np.dtype[Any]] = set()
    data = _plain(data, found)
    kind = numpy_dtype(dtype) if dtype is not None or not found else reduce(dtypes.promote, found)
    try:
        return np.array(data, kind)
    except OverflowError as error:
        raise RuntimeError(f"value cannot be converted to type {kind} without overflow: {error}") from None
    except ValueError:
        raise _ragged(data) from None


def _plain(item: Any, found: set[np.dtype[Any]]) -> Any:
    """``item`` as nested lists of Python numbers; the dtypes of what is in it go to ``found``."""
    if isinstance(item, Tensor | np.ndarray | np.generic):
        if isinstance(item, Tensor) and item.array.size != 1:
            raise ValueError(
                "only one element tensors can be converted to Python scalars: this one has shape "
                f"{list(item.shape)}; torch.stack([...]) puts tensors side by side"
            )
        found.add(dtypes.as_dtype(item.dtype).numpy)
        return item.item() if isinstance(item, Tensor) else item.tolist()
    if isinstance(item, bool | int | float):
        found.add(dtype_of_number(item))
        return item
    if isinstance(item, str | bytes | dict):
        raise TypeError(f"new(): invalid data type '{type(item).__name__}': a tensor holds numbers and bools")
    if hasattr(item, "__len__") and hasattr(item, "__getitem__"):
        kinds = set(map(type, item))
        if kinds <= {bool, int, float}:  # nothing to convert
            found |= {dtype_of_number(kind()) for kind in kinds}
            return list(item)
        return [_plain(one, found) for one in item]
    raise RuntimeError(
        f"Could not infer dtype of {type(item).__name__}: a tensor holds real numbers and bools"
    )


def _ragged(data: Any) -> Exception:
    """The error for nested lists of which those of one level differ in length."""
    level, dim = [data], 0
    while True:
        lengths = [len(row) if isinstance(row, list) else 0 for row in level]
        for row, length in enumerate(lengths):
            if length != lengths[0]:
                return ValueError(
                    f"expected sequence of length {lengths[0]} at dim {dim} (got {length}): row {row} is not "
                    "as long as row 0"
                )
        level, dim = [item for row in level for item in row], dim + 1


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """``data`` as a tensor, without a copy where it is one already, or an array of that dtype."""
    if isinstance(data, Tensor):
        return data if dtype is None and device is None else data.to(device=device, dtype=dtype)
    if isinstance(data, np.ndarray) or on_a_gpu(data):
        shared = new_tensor(data) if on_a_gpu(data) else from_numpy(data)
        return as_tensor(shared, dtype, device)
    return tensor(data, dtype=dtype, device=device)


def from_numpy(array: Any) -> Tensor:
    """A tensor that shares the memory of ``array``.

    Raises
    ------
    TypeError
        If it is no array, or of a dtype that tensors do not have.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    if not array.dtype.isnative:
        raise ValueError(
            "the array has another machine's byte order: use array.astype(array.dtype.newbyteorder('='))"
        )
    dtypes.as_dtype(array.dtype)
    array = array.view(np.ndarray)
    return new_tensor(new_array(array) if DETOURS else array)


# ---------------------------------------------------------------- filled with one number


def zeros(*sizes: Any, size: Any = None, **options: Unpack[Options]) -> Tensor:
    """A tensor of zeros: ``zeros(2, 3)`` or ``zeros((2, 3))``."""
    return full(shape_of("zeros", sizes, size), 0.0, **options)


def ones(*sizes: Any, size: Any = None, **options: Unpack[Options]) -> Tensor:
    """A tensor of ones: ``ones(2, 3)`` or ``ones((2, 3))``."""
    return full(shape_of("ones", sizes, size), 1.0, **options)


def empty(*sizes: Any, size: Any = None, **options: Unpack[Options]) -> Tensor:
    """A tensor that is to be filled; until then its elements are zeros."""
    return full(shape_of("empty", sizes, size), 0.0, **options)


def full(size: Any, fill_value: Any, **options: Unpack[Options]) -> Tensor:
    """A tensor in which each element is ``fill_value``, of its dtype unless another is given."""
    if not isinstance(size, tuple | list):
        raise TypeError(
            f"full(): argument 'size' (position 1) must be tuple of ints: write full(({size},), …)"
        )
    if options.get("dtype") is None:
        options["dtype"] = common_dtype([fill_value])
    shape, value = shape_of("full", (size,)), number(fill_value)
    return created(lambda kind: np.full(shape, value, kind), **options)


def number(value: Any) -> Any:
    """``value`` as a Python number: it may be a tensor, or one of NumPy's."""
    return value.item() if isinstance(value, Tensor | np.generic | np.ndarray) else value


def scalar_tensor(s: Any, **options: Unpack[Options]) -> Tensor:
    """A number as a tensor without dimensions, of the default dtype unless another is given."""
    return tensor(float(s), **options)


def eye(n: int, m: int | None = None, **options: Unpack[Options]) -> Tensor:
    """The identity matrix of ``n`` rows (and ``m`` columns)."""
    rows, columns = shape_of("eye", (n, n if m is None else m))
    return created(lambda kind: np.eye(rows, columns, dtype=kind), **options)


def full_like(input: Tensor, fill_value: Any, **options: Unpack[Options]) -> Tensor:
    """Each element ``fill_value``, in the shape and dtype of ``input``."""
    require_tensor("full_like", input)
    value = number(fill_value)
    return created(lambda kind: np.full_like(input.array, value, dtype=kind), **like(input, options))


def zeros_like(input: Tensor, **options: Unpack[Options]) -> Tensor:
    """Zeros in the shape and dtype of ``input``."""
    return full_like(input, 0, **options)


def ones_like(input: Tensor, **options: Unpack[Options]) -> Tensor:
    """Ones in the shape and dtype of ``input``."""
    return full_like(input, 1, **options)


def empty_like(input: Tensor, **options: Unpack[Options]) -> Tensor:
    """A tensor that is to be filled, in the shape and dtype of ``input``."""
    return full_like(input, 0, **options)


def _new(create: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The method ``x.new_zeros(...)`` of ``zeros``, and so on: dtype and device are those of ``x``."""

    def method(self: Tensor, *arguments: Any, **options: Any) -> Tensor:
        return create(*arguments, **like(self, options))

    method.__name__ = method.__qualname__ = f"new_{create.__name__}"
    method.__doc__ = f"As :func:`{create.__name__}`, in the dtype and on the device of this tensor."
    return method


# ---------------------------------------------------------------- counted


def _check_range(start: Any, end: Any, step: Any) -> tuple[Any, Any, Any]:
    """Beginning, end and step as numbers; ``start`` is the end where no other end is given."""
    start, end, step = (0, number(start), number(step)) if end is None else map(number, (start, end, step))
    if step == 0 or step != step:
        raise RuntimeError("step must be nonzero")
    if not math.isfinite(end - start):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"upper bound and lower bound inconsistent with step sign: from {start} to {end} by {step}"
        )
    return start, end, step


def arange(start: Any = None, end: Any = None, step: Any = 1, **options: Unpack[Options]) -> Tensor:
    """The numbers from ``start`` (0 if only an end is given) to before ``end``, ``step`` apart.

    Raises
    ------
    RuntimeError
        If ``step`` is 0, or leads away from ``end``.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.arange(3), torch.arange(0, 1, 0.25)
    (tensor([0, 1, 2]), tensor([0.0000, 0.2500, 0.5000, 0.7500]))
    """
    start = 0 if start is None and end is not None else start
    if options.get("dtype") is None:
        options["dtype"] = common_dtype([start, step] if end is None else [start, end, step])
    start, end, step = _check_range(start, end, step)
    # Each number is computed from its index, so that rounding errors do not add up.
    numbers = start + step * np.arange(math.ceil((end - start) / step))
    return created(numbers.astype, **options)


def range(start: Any, end: Any = None, step: Any = 1, **options: Unpack[Options]) -> Tensor:
    """As :func:`arange`, but with ``end`` included, unlike Python's ``range``: an old function."""
    warnings.warn("torch.range is deprecated: use torch.arange, which leaves out the end.", stacklevel=2)
    start, end, step = _check_range(start, end, step)
    numbers = start + step * np.arange(math.floor((end - start) / step) + 1)
    return created(numbers.astype, **options)


def linspace(start: Any, end: Any, steps: int, **options: Unpack[Options]) -> Tensor:
    """``steps`` numbers at even distances, both ends included.

    >>> import autokit as torch
    >>> torch.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    return created(lambda kind: _between(start, end, steps, kind).astype(kind), **options)


def _between(start: Any, end: Any, steps: int, kind: np.dtype[Any]) -> Any:
    """Numbers at even distances: the first half is counted from the one end, the other half from the other.

    So they lie symmetrically, and the middle of -1 to 1 is 0.
    """
    (steps,) = shape_of("linspace", (steps,))
    narrow = kind.type if kind.kind == "f" else np.float64
    start, end = narrow(number(start)), narrow(number(end))
    half = steps // 2 if steps > 1 else steps
    step = np.longdouble((end - start) / narrow(max(steps - 1, 1)))
    first = start + step * np.arange(half)
    last = end - step * np.arange(steps - 1 - half, -1, -1)
    return np.concatenate([first, last]).astype(narrow)


def logspace(start: Any, end: Any, steps: int, base: float = 10.0, **options: Unpack[Options]) -> Tensor:
    """``steps`` powers of ``base``, their exponents at even distances from ``start`` to ``end``."""
    powers = float(base) ** _between(start, end, steps, np.dtype(np.float64))
    return created(powers.astype, **options)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """The coordinates of a grid: for each vector a tensor in which it varies along its dimension alone.

    With ``indexing="xy"`` the first vector varies along the columns, as in plots.

    >>> import autokit as torch
    >>> torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")[0]
    tensor([[0, 0, 0],
            [1, 1, 1]])
    """
    vectors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    dims = list(builtins.range(len(vectors)))  # along which each vector varies
    if indexing == "xy":
        dims[:2] = dims[1::-1]
    for place, vector in enumerate(vectors):
        require_tensor("meshgrid", vector, "tensors", place)
        if vector.ndim > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the list but got: {vector.ndim}D"
            )
    shape = [vectors[place].numel() for place in dims]
    columns = [vector.reshape(-1, *[1] * (len(dims) - 1 - dim)) for dim, vector in zip(dims, vectors)]
    return tuple([column.expand(shape) for column in columns])


# ---------------------------------------------------------------- the old constructors


def legacy(data: tuple[Any, ...], **options: Unpack[Options]) -> Tensor:
    """The tensor of ``FloatTensor(...)`` or ``x.new(...)``: sizes give zeros, a sequence its elements."""
    if len(data) == 1 and not isinstance(data[0], int | Size):
        if isinstance(data[0], float):
            raise TypeError(f"new(): data must be a sequence (got float); write tensor({data[0]})")
        return tensor(getattr(data[0], "array", data[0]), **options)
    return zeros(*data or (0,), **options)


class TensorType(type):
    """The class of ``FloatTensor`` and the like, which create tensors of one dtype and recognize them."""

    dtype: dtypes.dtype

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype

    def __call__(cls, *data: Any) -> Tensor:
        """A tensor of this dtype: of the elements of a sequence, or of zeros in the sizes that are given."""
        return legacy(data, dtype=cls.dtype)

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


TYPES = {
    name: TensorType(
        name,
        (),
        {"dtype": dtypes.BY_NAME[kind], "__module__": "torch", "__doc__": f"Tensors of {kind}, as a type."},
    )
    for kind, name in dtypes.TENSOR_TYPES.items()
}
"""``FloatTensor``, ``LongTensor`` and so on, by their names; ``autokit`` exports them all."""


def new(self: Tensor, *data: Any) -> Tensor:
    """As ``Tensor(...)``, but in the dtype of this tensor: the old form of ``new_tensor``."""
    return legacy(data, dtype=self.dtype, device=self.device)


NAMES = Names(
    functions="arange as_tensor empty empty_like eye from_numpy full full_like linspace logspace meshgrid "
    "ones ones_like range scalar_tensor tensor zeros zeros_like",
    methods="new",
    aliases={"asarray": "as_tensor"},
    other_methods={f"new_{create.__name__}": _new(create) for create in (empty, full, ones, tensor, zeros)},
    numpy={
        np.zeros_like: lambda a, shape=None: zeros(
            a.shape if shape is None else shape, dtype=a.dtype, device=a.device
        ),
        np.ones_like: lambda a: ones_like(a),
        np.full_like: lambda a, fill_value: full_like(a, fill_value),
    },
)
