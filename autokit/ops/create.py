"""Making tensors from data; ``filled`` makes them of one number, ``series`` counts, ``sampling`` draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit import dtypes
from autokit.current_gpu import computing_beside
from autokit.devices import CPU, get_default_device, module_of, on_a_gpu, put_on
from autokit.meta_array import META, MetaArray, is_meta
from autokit.ops.dims import sizes_of
from autokit.ops.names import Names
from autokit.ops.operands import common_dtype
from autokit.ops.warn import warn
from autokit.tensor import Size, Tensor, new_tensor

Dtype = dtypes.dtype | None


def finished(array: Any, requires_grad: bool, device: Any = None) -> Tensor:
    if requires_grad is not False and not isinstance(requires_grad, bool | np.bool_ | None):
        raise TypeError(f"argument 'requires_grad' must be bool, not {type(requires_grad).__name__}")
    if requires_grad and array.dtype.kind not in dtypes.DIFFERENTIABLE:
        raise RuntimeError(
            "Only Tensors of floating point and complex dtype can require gradients: this one is "
            f"{array.dtype.name}; write 1.0 in place of 1, or give it dtype=torch.float32"
        )
    where = get_default_device() if device is None else device
    result = new_tensor(array if where is CPU else put_on(where, array))
    if requires_grad:
        result.requires_grad = True
    return result


def numpy_dtype(dtype: Any) -> np.dtype:
    return (dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)).numpy


def shape_of_sizes(sizes: tuple[Any, ...], size: Any = None, name: str = "new") -> tuple[int, ...]:
    """The sizes, given one by one, as one sequence, or as that under its name."""
    shape = sizes_of(sizes if size is None else (size,), name)
    for one in shape:
        if one < 0:
            raise RuntimeError(
                f"{name}: Dimension size must be non-negative. Trying to create tensor with negative "
                f"dimension {one}: {list(shape)}"
            )
    return shape


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
        warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
        )
        data = data.array
        if isinstance(data, np.ndarray):
            data = np.array(data)
        elif is_meta(data) and device is None:
            device = META
        if isinstance(data, np.ndarray | MetaArray):
            return finished(data if dtype is None else data.astype(numpy_dtype(dtype)), requires_grad, device)
    if on_a_gpu(data):
        module_of(data)
        with computing_beside(data):
            made = data.astype(data.dtype if dtype is None else numpy_dtype(dtype))
        return finished(made, requires_grad, device)
    return finished(_array_of(data, dtype), requires_grad, device)


def _array_of(data: Any, dtype: Any) -> np.ndarray:
    """A fresh array with the elements of ``data``."""
    if isinstance(data, np.ndarray | np.generic):
        _refuse_array(data)
        if data.ndim or dtype is None:
            return np.array(data, dtype=dtypes.as_dtype(data.dtype if dtype is None else dtype).numpy)
        data = data.item()
    if not isinstance(data, list | tuple):
        data = _one_element(data, None if dtype is None else numpy_dtype(dtype))
    kinds: set[type] = set()
    _collect_kinds(data if isinstance(data, list | tuple) else (data,), kinds)
    chosen = None if dtype is None else numpy_dtype(dtype)
    if not kinds <= _PLAIN:
        data, found = _plain(data, kinds, chosen)
        chosen = chosen or found
    _refuse_ragged(data)
    try:
        array = np.array(data)
    except (ValueError, TypeError) as error:
        raise TypeError(f"a tensor is made from numbers in even rows: {error}") from error
    if (array.dtype.kind == "O" or array.dtype == np.uint64) and (chosen is None or chosen.kind in "ui"):
        raise ValueError("Overflow when unpacking long long: an integer does not fit into int64")
    if chosen is not None:
        if array.dtype.kind == "c" and chosen.kind not in "cb":
            raise TypeError(f"must be real number, not complex: {chosen.name} has no imaginary part")
        _refuse_overflow(array, chosen)
        return array.astype(chosen)
    if array.dtype.kind in dtypes.FLOATS:
        return array.astype(numpy_dtype(None))
    if array.dtype.kind == "c":
        return array.astype(dtypes.get_default_dtype().to_complex().numpy)
    return array


_PLAIN = {bool, int, float, complex, list, tuple}
"""What NumPy turns into an array as PyTorch turns it into a tensor."""


def _one_element(data: Any, chosen: np.dtype | None = None) -> Any:
    """``data``, which is no list, as a list, or a number; refused if it is neither.

    Where a dtype was ``chosen``, PyTorch says that it wants a number, else that it can infer no dtype.
    """
    if isinstance(data, bool | int | float | complex):
        return data
    if isinstance(data, str | bytes):
        raise TypeError(
            f"new(): invalid data type '{type(data).__name__}': a tensor is made from numbers and bools"
        )
    if isinstance(data, Sequence) or (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
        if not isinstance(data, dict):
            return list(data)
    elif hasattr(data, "__index__"):
        return data.__index__()
    if chosen is not None:
        raise _not_of_dtype(data, chosen)
    raise RuntimeError(
        f"Could not infer dtype of {type(data).__name__}: a tensor is made from numbers and bools"
    )


def _not_of_dtype(data: Any, chosen: np.dtype) -> TypeError:
    """What to raise where no number of the chosen dtype can be made of ``data``."""
    kind = type(data).__name__
    if chosen.kind in "uib":
        said = f"'{kind}' object cannot be interpreted as an integer"
    else:
        said = f"must be real number, not {kind}"
    return TypeError(f"{said}: a tensor is made from numbers and bools")


def _collect_kinds(row: Any, kinds: set[type]) -> None:
    """Put the types of all elements, at any depth, into ``kinds``."""
    here = set(map(type, row))
    kinds |= here
    for kind in here:
        if issubclass(kind, list | tuple):
            for item in row:
                if isinstance(item, kind):
                    _collect_kinds(item, kinds)


def _plain(data: Any, kinds: set[type], chosen: np.dtype | None = None) -> tuple[Any, np.dtype]:
    """Nested lists of Python numbers in place of lists that also hold tensors, arrays and NumPy's numbers.

    And the dtype that all elements meet in, each at its own width.
    """
    if any(issubclass(kind, np.ndarray) for kind in kinds):
        warn(
            "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting "
            "the list to a single numpy.ndarray with numpy.array() before converting to a tensor.",
        )
    found: set[np.dtype] = set()
    first = data
    while isinstance(first, list | tuple) and first:
        first = first[0]

    def plain(item: Any) -> Any:
        if isinstance(item, list | tuple):
            return [plain(each) for each in item]
        if isinstance(item, Tensor):
            if item.array.size != 1:
                if item.array.dtype.kind in "bui":
                    raise TypeError(
                        "only integer tensors of a single element can be converted to an index: this one is "
                        f"of shape {tuple(item.shape)}; torch.stack([...]) puts tensors side by side"
                    )
                raise ValueError(
                    "only one element tensors can be converted to Python scalars: this one is of shape "
                    f"{tuple(item.shape)}; torch.stack([...]) puts tensors side by side"
                )
            found.add(item.array.dtype)
            return item.array.item()
        if isinstance(item, np.ndarray | np.generic):
            _refuse_array(item)
            found.add(item.dtype)
            return item.tolist()
        if isinstance(item, str):
            if isinstance(first, str):  # PyTorch looks for the dimensions in what comes first
                raise ValueError("too many dimensions 'str': a tensor is made from numbers and bools")
            if chosen is not None:
                raise _not_of_dtype(item, chosen)
            raise TypeError("new(): invalid data type 'str': a tensor is made from numbers and bools")
        found.add(
            common_dtype([item := _one_element(item, chosen)])
            if not isinstance(item, range)
            else np.dtype(int)
        )
        return item

    data = plain(data)
    common = found.pop() if found else numpy_dtype(None)
    for each in found:
        common = dtypes.promote(common, each)
    return data, common


def _refuse_overflow(array: np.ndarray, chosen: np.dtype) -> None:
    """Raise where a number does not fit into the dtype that was asked for."""
    if chosen.kind not in "ui" or array.dtype.kind not in "uif" or not array.size:
        return
    limits = np.iinfo(chosen)
    wraps = chosen.kind == "u" and array.dtype.kind != "f"  # as -1 for the largest, but not -1.0
    least = -limits.max if wraps else limits.min
    low, high = array.min(), array.max()
    if not (least <= low and high <= limits.max):  # said so that nan is refused too
        raise RuntimeError(
            f"value cannot be converted to type {chosen.name} without overflow: the elements go from {low} "
            f"to {high}, and {chosen.name} from {limits.min} to {limits.max}"
        )


def _refuse_ragged(data: Any) -> None:
    """Raise PyTorch's error where sequences of one level differ in length."""
    level, depth = [data], 0
    while level and isinstance(level[0], list | tuple):
        lengths = [len(item) if isinstance(item, list | tuple) else None for item in level]
        if len(set(lengths)) > 1:
            odd = next(place for place, length in enumerate(lengths) if length != lengths[0])
            if lengths[odd] is None:
                raise TypeError(
                    f"not a sequence: entry {odd} at depth {depth} is {type(level[odd]).__name__}, where "
                    f"entry 0 has {lengths[0]} elements"
                )
            raise ValueError(
                f"expected sequence of length {lengths[0]} at dim {depth} (got {lengths[odd]}): "
                f"row {odd} is not as long as row 0"
            )
        level, depth = [item for row in level for item in row], depth + 1
    for item in level:
        if isinstance(item, list | tuple):
            raise TypeError(
                f"'{type(item).__name__}' object cannot be interpreted as "
                f"{'an integer' if isinstance(level[0], int) else 'a number'}: an entry at depth {depth} is "
                "a sequence, where entry 0 is a number"
            )


def legacy_array(data: tuple[Any, ...], dtype: Dtype = None) -> np.ndarray:
    """What ``Tensor(...)`` holds: sizes make an unfilled tensor, a sequence its elements.

    ``dtype`` is that of ``FloatTensor(...)`` and its kin, which take no tensor of another one.
    """
    data = tuple([int(each) if isinstance(each, np.integer) else each for each in data])
    if any(isinstance(each, list | tuple | str) for each in data[1:]) or (
        len(data) > 1 and not isinstance(data[0], int)
    ):
        raise TypeError(
            "new() received an invalid combination of arguments - got "
            f"({', '.join(type(each).__name__ for each in data)}): it takes sizes, or one sequence"
        )
    if len(data) == 1 and (isinstance(data[0], bool) or not isinstance(data[0], int | Size)):
        if isinstance(data[0], float | bool | np.generic):
            raise TypeError(
                f"new(): data must be a sequence (got {type(data[0]).__name__}); write tensor({data[0]}) for "
                "a single number"
            )
        if not hasattr(data[0], "__getitem__") or isinstance(data[0], dict):
            raise TypeError(f"new(): data must be a sequence (got {type(data[0]).__name__})")
        if isinstance(data[0], Tensor):
            if dtype is not None and data[0].dtype != dtype:
                raise TypeError(
                    f"expected a tensor of {dtype.name} (got one of {data[0].dtype.name}): convert it with "
                    f".to({dtype!r})"
                )
            return data[0].array
        return _array_of(data[0], dtype or dtypes.get_default_dtype())
    return np.zeros(shape_of_sizes(data) if data else (0,), numpy_dtype(dtype))


def as_tensor(data: Any, dtype: Dtype = None, device: Any = None) -> Tensor:
    """``data`` as a tensor, without a copy where it is one already, or an array of that dtype."""
    if isinstance(data, Tensor):
        return data if dtype is None or data.dtype == dtype else data.to(dtype)
    if isinstance(data, np.ndarray) and (dtype is None or data.dtype == numpy_dtype(dtype)):
        return from_numpy(data)
    if on_a_gpu(data):
        return new_tensor(data if dtype is None else data.astype(numpy_dtype(dtype), copy=False))
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
        warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. Here "
            "the tensor refuses changes in place: give it array.copy() to change it.",
        )
    return from_array(array)


def from_array(array: Any) -> Tensor:
    """:func:`from_numpy` for any array that may be a tensor's, without its warning."""
    _refuse_array(array)
    if not isinstance(array, np.ndarray):
        return new_tensor(array)
    base = array.base
    if isinstance(base, np.ndarray) and base.nbytes != array.nbytes:
        owner = np.asarray(_Memory(array))
        return new_tensor(np.ndarray(array.shape, array.dtype, owner, 0, array.strides))
    return new_tensor(array.view(np.ndarray))


class _Memory:
    """The memory of a part of an array, as a whole: to a tensor it begins there, as in PyTorch."""

    def __init__(self, array: np.ndarray) -> None:
        low, high = np.lib.array_utils.byte_bounds(array)
        self.array = array  # which keeps it
        self.__array_interface__ = {
            "shape": (high - low,),
            "typestr": "|u1",
            "data": (low, not array.flags.writeable),
            "version": 3,
        }


def _refuse_array(array: Any) -> None:
    """Raise PyTorch's error where a tensor cannot hold ``array`` as it is."""
    dtype = array.dtype
    if not dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte "
            "orders is currently not supported: use array.astype(array.dtype.newbyteorder('='))"
        )
    if dtype not in dtypes.BY_NUMPY or not dtypes.BY_NUMPY[dtype]:
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


NAMES = Names(functions="as_tensor from_numpy tensor")
