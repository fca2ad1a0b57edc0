"""The zip archive around a pickle and its storages, and how a file is replaced as a whole."""

from __future__ import annotations

import os
import struct
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pickle import UnpicklingError
from secrets import token_hex
from typing import IO, Any
from zipfile import ZIP64_LIMIT, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np

ALIGNMENT = 64
"""Each storage starts at a multiple of this many bytes, so that it can be used where it lies."""

_NEWEST_VERSION = 10
"""The newest version of the format that PyTorch 2.13 reads."""

_LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""How files of PyTorch before 1.6 begin: a pickle of a magic number."""

_DAMAGED = (
    "The file is damaged: it was not saved or copied to its end, or was changed afterwards. "
    "Save or copy it again."
)


def damaged(what: str) -> RuntimeError:
    """The error for an archive that is not as it should be."""
    return RuntimeError(f"PytorchStreamReader failed {what}. {_DAMAGED}")


# ---------------------------------------------------------------- writing


class _Counting:
    """A file that is only written to, from wherever it stands."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.written = 0

    def write(self, data: Any) -> int:
        self.file.write(data)
        self.written += len(data)
        return len(data)

    def flush(self) -> None:
        if hasattr(self.file, "flush"):
            self.file.flush()


def write_archive(file: IO[bytes], name: str, program: bytes, storages: Sequence[np.ndarray]) -> None:
    """Write an archive with the folder ``name`` into ``file``; each storage is an array of bytes."""
    out = _Counting(file)
    records: list[tuple[str, Any]] = [
        ("data.pkl", program),
        (".format_version", b"1"),
        (".storage_alignment", str(ALIGNMENT).encode()),
        ("byteorder", sys.byteorder.encode()),
        *((f"data/{key}", storage.data) for key, storage in enumerate(storages)),
        ("version", b"3\n"),
    ]
    with ZipFile(out, "w", ZIP_STORED) as archive:  # type: ignore[call-overload]
        for record, data in records:
            info = ZipInfo(f"{name}/{record}")
            info.create_system = 0
            info.file_size = len(data)
            large = info.file_size * 1.05 > ZIP64_LIMIT
            header = 30 + len(info.filename.encode()) + 20 * large + 4
            filling = -(out.written + header) % ALIGNMENT
            info.extra = struct.pack("<2sH", b"FB", filling) + b"Z" * filling
            with archive.open(info, "w", force_zip64=large) as place:
                place.write(data)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A new file that takes the place of ``path`` once all is written and on the disk.

    Until then, and after any error, the old file is as it was.
    """
    path = os.path.realpath(path)  # what a link points to is replaced, not the link
    folder, name = os.path.split(path)
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device; a folder is an error
        with open(path, "wb") as file:
            yield file
        return
    beside = os.path.join(folder, f".{name[:80]}.{token_hex(8)}.part")
    try:
        with open(beside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(path):
            os.chmod(beside, os.stat(path).st_mode & 0o7777)
        os.replace(beside, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        raise
    if os.name == "posix":  # the folder too must know the new name
        entry = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(entry)
        finally:
            os.close(entry)


# ---------------------------------------------------------------- reading


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
        self.file = file
        start = file.tell()
        _check_beginning(file.read(len(_LEGACY)))
        self.end = file.seek(0, os.SEEK_END)
        try:
            entries = ZipFile(file).infolist()
        except (BadZipFile, NotImplementedError, ValueError, OverflowError, OSError, struct.error) as error:
            raise damaged("reading zip archive: failed finding central directory") from error
        self.entries = {entry.filename: entry for entry in entries}
        if (
            not entries
            or len(self.entries) < len(entries)
            or min(entry.header_offset for entry in entries) != start
            or sum(entry.file_size for entry in entries) > self.end - start
        ):
            raise damaged(
                "reading zip archive: invalid header or archive is corrupted; or several were written into "
                "one file, which should be one list or dict"
            )
        self.folder = entries[0].filename.partition("/")[0]
        if "constants.pkl" in self:
            raise RuntimeError(
                "Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``. This "
                "file "
                "is a program of torch.jit.save; in PyTorch, save torch.jit.load(file).state_dict()"
            )
        if "version" not in self:
            raise damaged("locating file version: file not found")
        self._check_version(self.read("version"))
        self.byteorder = self.read("byteorder").decode("latin-1") if "byteorder" in self else "little"
        if self.byteorder not in ("little", "big"):
            raise ValueError(f"Unknown endianness type: {self.byteorder[:40]}")

    def _check_version(self, written: bytes) -> None:
        try:
            version = int(written[:20])
        except ValueError:
            raise damaged("reading the version of the file") from None
        if version > _NEWEST_VERSION:
            raise RuntimeError(
                f"Attempted to read a PyTorch file with version {version}, but the maximum supported version "
                f"for reading is {_NEWEST_VERSION}."
            )

    def __contains__(self, record: str) -> bool:
        return f"{self.folder}/{record}" in self.entries

    def place(self, record: str) -> tuple[int, int]:
        """Where in the file the bytes of ``record`` start, and how many they are."""
        entry = self.entries.get(f"{self.folder}/{record}")
        if entry is None:
            raise damaged(f"locating file {record[:80]}: file not found")
        stored = entry.compress_type == ZIP_STORED and entry.compress_size == entry.file_size
        if not stored or entry.flag_bits & 1:  # a flag for encrypted records
            raise RuntimeError(
                f"The record {entry.filename[:80]!r} is compressed or encrypted, which torch.save never "
                "does: "
                "autokit reads no such records, since a small file could then fill all memory."
            )
        self.file.seek(entry.header_offset)
        header = self.file.read(30)
        if len(header) < 30 or header[:4] != b"PK\x03\x04":
            raise damaged(f"reading file {record[:80]}")
        start = entry.header_offset + 30 + sum(struct.unpack("<HH", header[26:]))
        if start + entry.file_size > self.end:
            raise damaged(f"reading file {record[:80]}: it ends behind the end of the file")
        return start, entry.file_size

    def read(self, record: str) -> bytes:
        """The bytes of ``record``."""
        array = np.empty(self.place(record)[1], np.uint8)
        self.read_into(record, array)
        return array.tobytes()

    def read_into(self, record: str, array: np.ndarray) -> None:
        """Fill ``array``, which is as many bytes as ``record``."""
        start, _ = self.place(record)
        self.file.seek(start)
        filled, memory = 0, array.data
        while filled < len(memory):
            part = self.file.read(min(len(memory) - filled, 1 << 24))
            if not part:
                raise damaged(f"reading file {record[:80]}")
            memory[filled : filled + len(part)] = part
            filled += len(part)
        if zlib.crc32(memory) != self.entries[f"{self.folder}/{record}"].CRC:
            raise damaged(f"reading file {record[:80]}: its bytes do not give its checksum (CRC-32)")


def _check_beginning(beginning: bytes | str) -> None:
    """Raise unless a file that begins like this is a zip archive."""
    if isinstance(beginning, str):
        raise TypeError('the file is open as text: open it with open(path, "rb")')
    if not beginning:
        raise EOFError("Ran out of input: the file is empty, or was read to its end; file.seek(0) goes back")
    if beginning == _LEGACY:
        raise RuntimeError(
            "This file has the format of PyTorch before 1.6, which is no zip archive. Save it anew in "
            "PyTorch: "
            "torch.save(torch.load(path), path)"
        )
    if beginning[:4] != b"PK\x03\x04":
        raise UnpicklingError(
            f"Weights only load failed: this is no file of torch.save. It begins with {beginning[:8]!r}, "
            "and a "
            "zip archive with b'PK\\x03\\x04'"
        )
