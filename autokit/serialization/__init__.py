"""Saving and loading: PyTorch's ``.pt`` files, and ``.safetensors``.

What is in a ``.pt`` file
-------------------------
It is a plain zip archive whose records are stored without compression, so
``unzip -l model.pt`` lists it.  All of them lie in one folder, ``archive`` or the name of the file:

``data.pkl``
    The object without the elements of its tensors: a pickle, which is a little
    program for a machine with a stack.  ``python -m pickletools data.pkl``
    prints it.  :mod:`autokit.serialization.writing` makes that program,
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
Here, as with PyTorch's ``weights_only=True``, the machine knows tensors,
numbers, text and containers, and refuses every other name.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from autokit.devices import device
from autokit.missing import names_of
from autokit.serialization import safetensors_files
from autokit.serialization.archive import Archive, replacing, write_archive
from autokit.serialization.memory import Storages, UntypedStorage
from autokit.serialization.reading import run
from autokit.serialization.writing import PROTOCOLS, Program

File = str | os.PathLike[str] | IO[bytes]
MapLocation = str | device | dict[str, str] | Callable[[UntypedStorage, str], UntypedStorage | None] | None
MAP_LOCATION = MapLocation  # PyTorch's name of it


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
    pickle_module : None
        Only there for PyTorch's sake.
    pickle_protocol : int
        The protocol that ``data.pkl`` declares; PyTorch reads 2 without a warning.

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
    if pickle_module is not None and getattr(pickle_module, "__name__", "") != "pickle":
        raise RuntimeError("autokit writes its pickles itself: leave pickle_module out")
    if not _use_new_zipfile_serialization:
        raise ValueError(
            "autokit writes PyTorch's zip files only, which PyTorch reads since version 1.6: "
            "leave _use_new_zipfile_serialization out"
        )
    if type(pickle_protocol) is not int or pickle_protocol not in PROTOCOLS:
        raise ValueError(f"pickle_protocol must be one of 2, 3, 4, 5, and not {pickle_protocol!r}")
    if isinstance(f, str | os.PathLike) and safetensors_files.is_name(f):
        contents = safetensors_files.contents(obj)
        with replacing(f) as file:
            file.write(contents)
        return
    program = Program(obj, pickle_protocol)  # all of it before a byte is written
    if isinstance(f, str | os.PathLike):
        with replacing(f) as file:
            write_archive(file, Path(f).stem, program.code, program.storages)
    elif hasattr(f, "write"):
        write_archive(f, "archive", program.code, program.storages)
    else:
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )


def load(
    f: File,
    map_location: MapLocation = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
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
    pickle_module : None
        Only there for PyTorch's sake.
    weights_only : bool, optional
        Always True in effect.  PyTorch's ``weights_only=False`` runs whatever code the file
        names; autokit reads such a file the safe way, or refuses it.
    mmap : bool, optional
        Read the elements of tensors when they are first used; changes stay in memory.

    Raises
    ------
    pickle.UnpicklingError
        If the file holds something else than tensors, numbers, text and containers; names it.
    RuntimeError
        If the file is damaged or cut off, holds tensors that do not fit their memory, comes from
        PyTorch before 1.6, or has tensors of a device that is not there.

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
    if pickle_module is not None:
        raise RuntimeError(
            "Can not safely load weights when explicit pickle_module is specified: autokit reads pickles "
            "itself, and runs no code from a file"
        )
    if unknown := set(pickle_load_args) - {"encoding", "errors", "fix_imports", "buffers"}:
        raise TypeError(f"load() got an unexpected keyword argument '{min(unknown)}'")
    if pickle_load_args:
        warnings.warn("pickle_load_args only works if `weights_only=False`.", stacklevel=2)
    if isinstance(f, str | os.PathLike):
        if safetensors_files.is_name(f):
            return safetensors_files.load(f, map_location)
        with open(f, "rb") as file:
            return _load(file, map_location, bool(mmap))
    if mmap:
        raise ValueError("f must be a file path in order to use the mmap argument")
    if not all(hasattr(f, needed) for needed in ("read", "seek", "tell")):
        raise AttributeError(
            f"'{type(f).__name__}' object has no attribute 'seek'. You can only torch.load from a file that "
            "is seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it "
            "instead."
        )
    return _load(f, map_location, mapped=False)


def _load(file: IO[bytes], map_location: MapLocation, mapped: bool) -> Any:
    archive = Archive(file)
    return run(archive.read("data.pkl"), Storages(archive, map_location, mapped))


__all__ = ["UntypedStorage", "load", "save"]


__getattr__ = names_of("torch.serialization")
