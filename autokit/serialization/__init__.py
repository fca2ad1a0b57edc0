"""Saving and loading: PyTorch's ``.pt`` files, and ``.safetensors``.

What is in a ``.pt`` file
-------------------------
It is a plain zip archive whose records are stored without compression, so
``unzip -l model.pt`` lists it.  All of them lie in one folder, ``archive`` or the name of the file:

``data.pkl``
    The object without the elements of its tensors: a pickle, which is a little
    program for a machine with a stack.  ``python -m pickletools data.pkl``
    prints it.  :mod:`autokit.serialization.writing` writes that program,
    :mod:`autokit.serialization.reading` runs it.
``data/0``, ``data/1``, …
    The storages: the bare elements of the tensors.  A tensor in ``data.pkl``
    is a call of ``_rebuild_tensor_v2`` with a storage, the place of the first
    element, a shape and strides; so two views of one storage stay views of one
    storage.
``byteorder``
    ``little`` or ``big``: which byte of a number comes first.
``version``, ``.format_version``, ``.storage_alignment``
    The version of the format, and that each storage starts at a multiple of 64 bytes.

Why loading is safe
-------------------
A pickle may name any function of any package and have it called; Python's
``pickle.load`` does so, and a file from a stranger can therefore do anything.
Here, as with PyTorch's ``weights_only=True``, the machine has tensors,
numbers, text and containers, and refuses every other name.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from autokit.base.devices import device
from autokit.base.files import replacing
from autokit.base.missing import absent
from autokit.serialization import safetensors_files
from autokit.serialization.archive import Archive, write_archive
from autokit.serialization.reading import run
from autokit.serialization.storages import Storages, UntypedStorage
from autokit.serialization.writing import Program

File = str | os.PathLike[str] | IO[bytes]
MapLocation = str | device | dict[str, str] | Callable[[UntypedStorage, str], UntypedStorage | None] | None

__all__ = ["UntypedStorage", "load", "save"]

__getattr__ = absent("torch.serialization")


def save(
    obj: Any,
    f: File,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write ``obj`` into a file that :func:`load` reads again, and PyTorch too.

    A file at a path is replaced as a whole, once all of the new one is on the
    disk: whatever goes wrong before, the old file is still there.

    Parameters
    ----------
    obj : object
        Tensors, parameters, numbers, strings, bytes, None, sizes, dtypes,
        devices, and dicts, lists, tuples and sets of them: such as
        ``model.state_dict()``, or a dict with that, an optimizer's and the epoch.
    f : str, path or binary file
        Where to; a path that ends in ``.safetensors`` makes a file of that
        format, which holds a dict of tensors and nothing else.
    pickle_module, pickle_protocol, _use_new_zipfile_serialization
        Without effect: autokit writes its pickles itself, in protocol 2, into a zip file.

    Raises
    ------
    pickle.PicklingError
        If ``obj`` holds something that could not be loaded without running its code, such as a
        whole module; says where in ``obj`` it is.
    RuntimeError
        If the folder does not exist, or tensors of several dtypes share one memory.

    Notes
    -----
    A tensor is saved with all of its storage.  ``x[:2]`` of a long ``x`` makes a
    long file; ``x[:2].clone()`` a short one.

    Examples
    --------
    >>> import autokit as torch, io
    >>> file = io.BytesIO()
    >>> torch.save({"weight": torch.ones(2), "epoch": 3}, file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    {'weight': tensor([1., 1.]), 'epoch': 3}
    """
    if safetensors_files.is_name(f):
        contents = safetensors_files.contents(obj)
        with replacing(f) as file:
            file.write(contents)
        return
    program = Program(obj)  # all of it before a byte is written
    if isinstance(f, str | os.PathLike):
        with replacing(f) as file:
            write_archive(file, Path(f).stem, program.code, program.storages)
    else:
        write_archive(f, "archive", program.code, program.storages)


def load(
    f: File,
    map_location: MapLocation = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    encoding: str = "utf-8",
) -> Any:
    """Read what :func:`save`, or ``torch.save`` of PyTorch 1.6 and later, has written.

    Nothing in the file is ever run as code, so a file from a stranger can
    disappoint but do no harm.

    Parameters
    ----------
    f : str, path or binary file
        A file object is read from where it stands; a path that ends in
        ``.safetensors`` is read as that format.
    map_location : str, device, dict or callable, optional
        On which device the tensors are to be; the one that they were saved from by
        default.  A dict gives the new device for each old one, and a callable gets
        a storage and its device, and returns the storage where it is to be, or None.
    weights_only : bool, optional
        Always True in effect.  PyTorch's ``weights_only=False`` runs whatever code the file
        names; autokit reads such a file the safe way, or refuses it.
    pickle_module, mmap, encoding
        Without effect: autokit reads pickles itself, and a file as a whole.

    Raises
    ------
    pickle.UnpicklingError
        If the file holds something else than tensors, numbers, text and containers; names it.
    RuntimeError
        If the file is damaged or cut off, holds tensors that do not fit their memory, comes from
        PyTorch before 1.6, or has tensors of a device that is not there.

    Notes
    -----
    Tensors of ``bfloat16`` become ``float32``, which holds the same numbers, and a warning says so.

    Examples
    --------
    >>> import autokit as torch, io
    >>> file = io.BytesIO()
    >>> row = torch.arange(4)
    >>> torch.save([row, row.view(2, 2)], file)
    >>> _ = file.seek(0)
    >>> row, square = torch.load(file, map_location="cpu")
    >>> _ = row.fill_(7)  # one storage, as before
    >>> square
    tensor([[7, 7],
            [7, 7]])
    """
    if safetensors_files.is_name(f):
        loaded, has_bfloat16 = safetensors_files.load(f, map_location)
    elif isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            loaded, has_bfloat16 = _load(file, map_location)
    else:
        loaded, has_bfloat16 = _load(f, map_location)
    if has_bfloat16:
        warnings.warn(
            "the file holds tensors of bfloat16, in which autokit does not compute: they are float32 now, "
            "with the same numbers",
            stacklevel=2,
        )
    return loaded


def _load(file: IO[bytes], map_location: MapLocation) -> tuple[Any, bool]:
    """The object in ``file``, and whether tensors of bfloat16 were in it."""
    archive = Archive(file)
    storages = Storages(archive, map_location)
    return run(bytes(archive.read("data.pkl")), storages), storages.has_bfloat16
