"""Files of the safetensors format: a table of names, dtypes and shapes, then the bare elements.

It has no pickle in it and so nothing that could run, and it holds a dict of tensors and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np

from autokit.base.devices import device, to_numpy
from autokit.engine.tensor import Tensor, new_tensor
from autokit.serialization.archive import damaged
from autokit.serialization.storages import from_bfloat16, on_device

_DTYPES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "F16": "float16",
    "BF16": "uint16",
    "F32": "float32",
    "F64": "float64",
}
"""NumPy's dtype for each of the format's; bfloat16 is read as bits."""


def is_name(f: Any) -> TypeGuard[str | os.PathLike[str]]:
    """Whether ``f`` is a path that says it is of this format."""
    return isinstance(f, str | os.PathLike) and str(os.fspath(f)).endswith(".safetensors")


def _package() -> Any:
    try:
        import safetensors.numpy
    except ImportError as error:
        raise RuntimeError(
            "Attempting to use a safetensors file but safetensors is not installed. It comes with "
            'pip install ".[safetensors]"; files that end in .pt need nothing.'
        ) from error
    return safetensors


def contents(state: Any) -> bytes:
    """The bytes of a file that holds ``state``.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        If the format cannot hold it; says what can be done.
    """
    package = _package()
    if not isinstance(state, Mapping):
        raise ValueError(
            f"Expected a dict of [str, torch.Tensor] but received {type(state).__name__}: a .safetensors "
            "file holds named tensors; a .pt file holds everything else"
        )
    arrays: dict[str, np.ndarray] = {}
    for name, tensor in state.items():
        if not isinstance(name, str):
            raise TypeError(f"a .safetensors file names its tensors, and {name!r:.60} is no string")
        if not isinstance(tensor, Tensor):
            raise ValueError(
                f"Key `{name:.60}` is invalid, expected torch.Tensor but received {type(tensor).__name__}: a "
                ".safetensors file holds nothing but tensors; save the rest in a .pt file"
            )
        array = to_numpy(tensor.array)
        other = next((other for other in arrays if np.may_share_memory(array, arrays[other])), None)
        if other is not None:
            raise RuntimeError(
                "Some tensors share memory, this will lead to duplicate memory on disk and potential "
                f"differences when loading them again: `{other:.60}` and `{name:.60}`. Leave one out, or "
                "save its .clone(); a .pt file keeps what is shared"
            )
        arrays[name] = array
    return package.numpy.save({name: np.asarray(array, order="C") for name, array in arrays.items()})


def load(path: Any, where: Any) -> tuple[dict[str, Tensor], bool]:
    """The tensors in the file at ``path`` on the device ``where``, and whether some were of bfloat16."""
    package = _package()
    if not isinstance(where, str | device | None):
        raise RuntimeError(f"the map_location of a .safetensors file is a device, not {type(where).__name__}")
    with open(path, "rb") as file:
        data = file.read()
    try:
        found = package.deserialize(data)
    except package.SafetensorError as error:
        raise damaged(f"reading safetensors file: {error}") from error
    tensors = {name: new_tensor(on_device(_array(name, entry), where)) for name, entry in found}
    return tensors, any(entry["dtype"] == "BF16" for _, entry in found)


def _array(name: str, entry: Mapping[str, Any]) -> np.ndarray:
    if entry["dtype"] not in _DTYPES:
        raise RuntimeError(f"`{name:.60}` is {entry['dtype']}, and autokit has no such dtype")
    little = np.frombuffer(entry["data"], np.dtype(_DTYPES[entry["dtype"]]).newbyteorder("<"))
    array = little.astype(little.dtype.newbyteorder("=")).reshape(entry["shape"])
    return from_bfloat16(array) if entry["dtype"] == "BF16" else array
