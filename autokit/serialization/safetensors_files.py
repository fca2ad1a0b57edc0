"""Files of the safetensors format: a table of names, dtypes and shapes, then the bare elements.

It has no pickle in it and so nothing that could run, and it holds a dict of tensors and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from autokit import dtypes
from autokit.devices import device, module_of, to_numpy
from autokit.serialization.archive import damaged
from autokit.serialization.memory import memory_of, on_device
from autokit.tensor import Tensor, new_tensor

if TYPE_CHECKING:
    from autokit.serialization import MapLocation

_CODES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
    "complex64": "C64",
}
"""How the format names each dtype; it has no complex128."""

_NAMES = {code: name for name, code in _CODES.items()}


def is_name(f: Any) -> bool:
    """Whether ``f`` is a path that says it is of this format."""
    return isinstance(f, str | os.PathLike) and os.fspath(f).endswith(".safetensors")


def _package() -> Any:
    try:
        import safetensors.numpy
    except ImportError as error:
        raise RuntimeError(
            "Attempting to use a safetensors file but safetensors is not installed. It comes with "
            'pip install "autokit-edu[safetensors]"; files that end in .pt need nothing.'
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
            "file "
            "holds named tensors; a .pt file holds everything else"
        )
    arrays = dict[str, np.ndarray]()
    sharing = dict[int, tuple[Any, list[str]]]()  # the names of tensors in the memory of one owner
    for name, tensor in state.items():
        if not isinstance(name, str):
            raise TypeError(f"a .safetensors file names its tensors, and {name!r:.60} is no string")
        if not isinstance(tensor, Tensor):
            raise ValueError(
                f"Key `{name:.60}` is invalid, expected torch.Tensor but received {type(tensor).__name__}: a "
                ".safetensors file holds nothing but tensors; save the rest in a .pt file"
            )
        if tensor.dtype.name not in _CODES:
            raise ValueError(
                f"a .safetensors file holds no {tensor.dtype}, which `{name:.60}` is: use a .pt file"
            )
        if not tensor.is_contiguous():
            raise ValueError(
                f"You are trying to save a non contiguous tensor: `{name:.60}` which is not allowed, since a "
                ".safetensors file has no strides. Save its .contiguous()"
            )
        array = tensor.array
        owner = memory_of(tensor)[0]
        _, others = sharing.setdefault(id(owner), (owner, []))
        other = next((o for o in others if module_of(array).may_share_memory(array, state[o].array)), None)
        if other is not None:
            raise RuntimeError(
                f"Some tensors share memory, this will lead to duplicate memory on disk and potential "
                f"differences when loading them again: `{other:.60}` and `{name:.60}`. Leave one out, or "
                "save its "
                ".clone(); a .pt file keeps what is shared"
            )
        others.append(name)
        arrays[name] = to_numpy(array)
    return package.numpy.save(arrays)


def load(path: Any, map_location: MapLocation) -> dict[str, Tensor]:
    """The tensors in the file at ``path``."""
    package = _package()
    if isinstance(map_location, dict) or callable(map_location):
        kind = "dict" if isinstance(map_location, dict) else "callable"
        raise RuntimeError(
            f"Loading safetensors file with {kind} map_location is not supported. Use a device string or "
            "torch.device instead."
        )
    with open(path, "rb") as file:
        data = file.read()
    try:
        found = package.deserialize(data)
    except package.SafetensorError as error:
        raise damaged(f"reading safetensors file: {error}") from error
    return {name: _tensor(name, entry, device(map_location or "cpu")) for name, entry in found}


def _tensor(name: str, entry: Mapping[str, Any], where: device) -> Tensor:
    if entry["dtype"] not in _NAMES:
        raise RuntimeError(f"`{name:.60}` is {entry['dtype']}, and autokit has no such dtype")
    kind = dtypes.BY_NAME[_NAMES[entry["dtype"]]].numpy
    array = np.empty(entry["shape"], kind)
    little = np.frombuffer(entry["data"], kind.newbyteorder("<") if kind.kind != "V" else kind)
    array.reshape(-1)[:] = little
    return new_tensor(on_device(array, where))
