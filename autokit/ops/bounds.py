"""Whether an index names places that are there, and what is said where it does not."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from autokit.ops.errors import describe
from autokit.ops.gpu.bounds import refuse_outside
from autokit.tensor import Tensor


def index_error(tensor: Tensor, entries: tuple[Any, ...], error: Exception) -> IndexError:
    used = sum(1 for entry in entries if entry is not None and entry is not Ellipsis)
    if used > tensor.array.ndim:
        if not tensor.array.ndim:
            return IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python to convert a 0-dim tensor to "
                "a number"
            )
        return IndexError(f"too many indices for tensor of dimension {tensor.array.ndim}: {describe(tensor)}")
    if "boolean" in str(error):
        mask = next(entry for entry in entries if hasattr(entry, "dtype") and entry.dtype.kind == "b")
        return IndexError(
            f"The shape of the mask {list(mask.shape)} at index {_odd_dim(tensor, entries, mask)} does not "
            f"match the shape of the indexed tensor {list(tensor.array.shape)} at index "
            f"{_odd_dim(tensor, entries, mask, True)}: {describe(tensor)}"
        )
    if "could not be broadcast" in str(error):
        arrays = [entry for entry in entries if hasattr(entry, "dtype")]
        return IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes "
            + ", ".join(
                str(list(each.shape if each.dtype.kind != "b" else (int(each.sum()),))) for each in arrays
            )
        )
    try:
        check_bounds(tensor.array.shape, entries)
    except IndexError as wrong:
        return wrong
    said = re.sub(r" \[index:.*", "", str(error)).replace(" axis ", " dimension ")
    return IndexError(said.replace("Index ", "index ", 1))  # CuPy begins with a capital


def _odd_dim(tensor: Tensor, entries: tuple[Any, ...], mask: Any, of_tensor: bool = False) -> int:
    """Where the shape of a mask differs from the dimensions that it stands for."""
    before = 0
    for entry in entries:
        if entry is mask:
            break
        before += _dims_read(entry)
    sizes = tensor.array.shape[before:]
    place = next((n for n, (a, b) in enumerate(zip(mask.shape, sizes)) if a != b), 0)
    return place + before * of_tensor


def check_bounds(shape: tuple[int, ...], index: tuple[Any, ...], reads: bool = False) -> None:
    """Raise where an index array names a place that is not there, unless nothing would be read anyway."""
    used = sum([_dims_read(entry) for entry in index])
    nothing = leaves_nothing(shape, index)
    dim = 0
    for entry in index:
        if entry is Ellipsis:
            dim += len(shape) - used
            continue
        if _names_places(entry) and entry.size and dim < len(shape):
            size = shape[dim]
            if size == 0 or not nothing:
                error = partial(out_of_bounds, dim=dim, size=size)
                refuse_outside(entry, -size, size, error, waits=not reads)
        dim += _dims_read(entry)


def out_of_bounds(index: int, dim: int, size: int, kind: type[Exception] = IndexError) -> Exception:
    """PyTorch's error for a place that is not there."""
    return kind(f"index {index} is out of bounds for dimension {dim} with size {size}")


def _dims_read(entry: Any) -> int:
    """How many dimensions of the tensor one entry of an index is about."""
    if entry is None or entry is Ellipsis or isinstance(entry, bool):
        return 0
    return entry.ndim if hasattr(entry, "dtype") and entry.dtype.kind == "b" else 1


def leaves_nothing(shape: tuple[int, ...], index: tuple[Any, ...]) -> bool:
    """Whether nothing is left of a dimension that no array reads: no place matters then, there or not."""
    rest = len(shape) - sum([_dims_read(entry) for entry in index])
    dim = 0
    for entry in index:
        count = rest if entry is Ellipsis else _dims_read(entry)
        sizes = shape[dim : dim + count]
        if entry is Ellipsis and 0 in sizes or isinstance(entry, slice) and not _length(entry, *sizes):
            return True
        dim += count
    return rest >= 0 and 0 in shape[dim:]


def _length(part: slice, size: int = 1) -> int:
    return len(range(*part.indices(size)))


def at_first_places(index: tuple[Any, ...]) -> tuple[Any, ...]:
    """``index`` with 0 for each place that an array names: it reads what has the same shape."""
    return tuple([entry * 0 if _names_places(entry) else entry for entry in index])


def _names_places(entry: Any) -> bool:
    return hasattr(entry, "dtype") and entry.dtype.kind != "b"
