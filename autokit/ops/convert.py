"""The same values in another dtype or on another device."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit import dtypes
from autokit.devices import device, module_for, to_numpy
from autokit.ops.names import Names
from autokit.ops.operation import derivative, operation
from autokit.tensor import Tensor, new_tensor


@operation(
    "→",
    "{a}",
    a=derivative("1", lambda g: g),
    name="cast",
    backward="ToCopyBackward0",
)
def plain_cast(a, /, dtype):
    """See :func:`cast`."""
    return a.astype(dtype)


def cast(input: Tensor, dtype: np.dtype) -> Tensor:
    """The same values in another dtype; integers and bools have no gradient."""
    if dtype.kind in "fc":
        return plain_cast(input, dtype=dtype)
    return new_tensor(input.array.astype(dtype))


def to(
    input: Tensor, *target: Any, dtype: Any = None, device: Any = None, copy: bool = False, **ignored: Any
) -> Tensor:
    """``input`` with another dtype or on another device; itself where nothing changes.

    Parameters
    ----------
    *target
        A dtype, a device, both, or a tensor to be like.
    dtype, device : optional
        The same by keyword.
    copy : bool
        Copy even where nothing changes.

    Raises
    ------
    RuntimeError
        If the device is not there.
    """
    for one in target:
        if isinstance(one, Tensor):
            dtype, device = one.dtype, one.device
        elif isinstance(one, dtypes.dtype | type):
            dtype = one
        elif not isinstance(one, bool):
            device = one
    result = input
    if device is not None and _device(device).type != input.device.type:
        result = move(result, device=_device(device))
    if dtype is not None and dtypes.as_dtype(dtype).numpy != result.array.dtype:
        result = cast(result, dtype=dtypes.as_dtype(dtype).numpy)
    return result.clone() if copy and result is input else result


def _device(name: Any) -> device:
    return device(name) if not isinstance(name, int) else device("cuda", name)


@operation("→", "{a} on another device", a=derivative("1", lambda g: move(g)), backward="ToCopyBackward0")
def move(a, /, device=None):
    """The same values on ``device``."""
    module = module_for(device)
    return to_numpy(a) if module.__name__ == "numpy" else module.asarray(a)


def _as(name: str) -> Any:
    def convert(input: Tensor) -> Tensor:
        return to(input, dtypes.BY_NAME[name])

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"The elements as {dtypes.BY_NAME[name].name}."
    return convert


CONVERSIONS = {name: _as(name) for name in ("float", "double", "half", "long", "int", "short", "bool")}
"""``x.float()`` and the like."""


def cpu(input: Tensor) -> Tensor:
    """The tensor on the CPU."""
    return to(input, device="cpu")


def cuda(input: Tensor, device: Any = "cuda", non_blocking: bool = False) -> Tensor:
    """The tensor on a GPU."""
    return to(input, device=device)


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements in the dtype of ``other``."""
    return to(input, other.dtype)


NAMES = Names(methods="cpu cuda to type_as", other_methods=CONVERSIONS)
