"""The zip archive that holds a pickle and its storages is written and read here."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Sequence
from pickle import UnpicklingError
from types import SimpleNamespace
from typing import IO, Any
from zipfile import ZIP64_LIMIT, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np

ALIGNMENT = 64
"""Each storage starts at a multiple of this many bytes, so that it can be used where it lies."""

_VERSIONS = [b"%d\n" % number for number in range(1, 11)]
"""The versions of the format that PyTorch 2.13 reads, as a file has them."""

_ZIP = b"PK\x03\x04"
"""How a zip archive begins, and each record in it."""

_LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""How files of PyTorch before 1.6 begin: a pickle of a magic number."""


_WRONG = (BadZipFile, NotImplementedError, RuntimeError, ValueError, OverflowError, OSError, struct.error)
"""What Python's reader of zip archives raises where one is damaged."""

_AT_ONCE = 1 << 24


def damaged(what: str) -> RuntimeError:
    """The error for an archive that is not as it should be."""
    return RuntimeError(
        f"PytorchStreamReader failed {what}. The file is damaged: it was not saved or copied to its end, or "
        "was changed afterwards. Save or copy it again."
    )


def write_archive(file: IO[bytes], name: str, program: bytes, storages: Sequence[np.ndarray]) -> None:
    """Write an archive with the folder ``name`` into ``file``; each storage is an array of bytes."""
    records: list[tuple[str, Any]] = [
        ("data.pkl", program),
        (".format_version", b"1"),
        (".storage_alignment", str(ALIGNMENT).encode()),
        ("byteorder", sys.byteorder.encode()),
        *((f"data/{key}", storage.data) for key, storage in enumerate(storages)),
        ("version", b"3\n"),
    ]
    stream: Any = SimpleNamespace(write=file.write, flush=getattr(file, "flush", lambda: None))  # no seeking
    with ZipFile(stream, "w", ZIP_STORED) as archive:
        for record, data in records:
            info = ZipInfo(f"{name}/{record}")
            info.create_system = 0
            info.file_size = len(data)
            large = info.file_size * 1.05 > ZIP64_LIMIT
            header = 30 + len(info.filename.encode()) + 20 * large + 4
            filling = -(archive.start_dir + header) % ALIGNMENT
            info.extra = struct.pack("<2sH", b"FB", filling) + b"Z" * filling
            with archive.open(info, "w", force_zip64=large) as place:
                place.write(data)


class Archive:
    """The records of an archive that starts where ``file`` stands.

    Nothing is ever unpacked into the file system, and no record is larger than
    the file: they are read only where they are stored uncompressed.

    Raises
    ------
    RuntimeError
        If it is damaged, made by PyTorch before 1.6, or a TorchScript program.
    pickle.UnpicklingError
        If it is no archive at all.
    """

    def __init__(self, file: IO[bytes]) -> None:
        start = file.tell()
        _check_beginning(file.read(len(_LEGACY)))
        end = file.seek(0, os.SEEK_END)
        try:
            self.zip = ZipFile(file)
        except _WRONG as error:
            raise damaged("reading zip archive: failed finding central directory") from error
        entries = self.zip.infolist()
        self.entries = {entry.filename: entry for entry in entries}
        if (
            not entries
            or len(self.entries) < len(entries)
            or min(entry.header_offset for entry in entries) != start
            or sum(entry.file_size for entry in entries) > end - start
        ):
            raise damaged(
                "reading zip archive: invalid header or archive is corrupted; or several were written into "
                "one file, which should be one list or dict"
            )
        self.folder = entries[0].filename.partition("/")[0]
        if "constants.pkl" in self:
            raise RuntimeError(
                "This file is a TorchScript archive, a program of torch.jit.save, and torch.load reads none: "
                "in PyTorch, save torch.jit.load(file).state_dict()"
            )
        version = self.read("version")
        if version not in _VERSIONS:
            raise RuntimeError(f"a PyTorch file with version {bytes(version[:20])!r}, and not 1 to 10")
        self.byteorder = str(self.read("byteorder"), "latin-1") if "byteorder" in self else "little"
        if self.byteorder not in ("little", "big"):
            raise ValueError(f"Unknown endianness type: {self.byteorder[:40]}")

    def __contains__(self, record: str) -> bool:
        return f"{self.folder}/{record}" in self.entries

    def read(self, record: str) -> bytearray:
        """The bytes of ``record``, whose checksum is right."""
        entry = self.entries.get(f"{self.folder}/{record}")
        if entry is None:
            raise damaged(f"locating file {record[:80]}: file not found")
        if entry.compress_type != ZIP_STORED or entry.compress_size != entry.file_size:
            raise RuntimeError(
                f"The record {entry.filename[:80]!r} is compressed, which torch.save never does: autokit "
                "reads no such records, since a small file could then fill all memory."
            )
        contents = bytearray(entry.file_size)
        memory, filled = memoryview(contents), 0
        try:
            stream: Any
            with self.zip.open(entry) as stream:
                while count := stream.readinto(memory[filled : filled + _AT_ONCE]):
                    filled += count
        except (*_WRONG, EOFError) as error:
            raise damaged(f"reading file {record[:80]}: {error}") from error
        if filled < len(contents):
            raise damaged(f"reading file {record[:80]}: it ends too early")
        return contents


def _check_beginning(beginning: bytes | str) -> None:
    """Raise unless a file that begins like this is a zip archive."""
    if isinstance(beginning, str):
        raise TypeError('the file is open as text: open it with open(path, "rb")')
    if not beginning:
        raise EOFError("Ran out of input: the file is empty, or was read to its end; file.seek(0) goes back")
    if beginning == _LEGACY:
        raise RuntimeError(
            "This file has the format of PyTorch before 1.6, which is no zip archive. Save it anew in "
            "PyTorch: torch.save(torch.load(path), path)"
        )
    if beginning[:4] != _ZIP:
        raise UnpicklingError(
            f"Weights only load failed: this is no file of torch.save. It begins with {beginning[:8]!r}, "
            f"and a zip archive with {_ZIP!r}"
        )
