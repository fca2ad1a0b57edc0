"""Atomic saves: a file is replaced as a whole, and a save that fails leaves the old file as it was.

And the user's folders for what autokit keeps.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import IO

_FOLDERS = {
    "cache": ("~/Library/Caches", "~/.cache"),
    "data": ("~/Library/Application Support", "~/.local/share"),
}
_HOST = f"{zlib.crc32(platform.node().encode()):08x}"
"""Tells this computer from others that may share a folder with it."""

_PART = re.compile(rf"\..*\.{_HOST}-(\d+)-[0-9a-f]{{16}}\.part")
"""The name of a file that a process of this computer has begun to write, with the process's number."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A new binary file that takes the place of ``path`` once all of it is written and on the disk.

    Until then, and after any error, the old file is as it was.  Unfinished files in its folder, of processes
    that were killed while they saved, are removed.

    Raises
    ------
    RuntimeError
        If the folder does not exist.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "notes.txt")
    >>> with replacing(path) as file:
    ...     _ = file.write(b"all of it")
    >>> open(path).read()
    'all of it'
    """
    path = os.path.realpath(path)  # what a link points to is replaced, not the link
    folder, name = os.path.split(path)
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device; a folder is an error
        with open(path, "wb") as file:
            yield file
        return
    clear_parts(folder)
    part = os.path.join(folder, f".{name[:40]}.{_HOST}-{os.getpid()}-{token_hex(8)}.part")
    try:
        with open(part, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(path):
            os.chmod(part, os.stat(path).st_mode & 0o7777)
        os.replace(part, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(part)
        raise
    if os.name == "posix":  # the new name is on the disk once the folder is
        entry = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(entry)
        finally:
            os.close(entry)


def clear_parts(folder: str) -> None:
    """Remove the unfinished files that dead processes of this computer have left in ``folder``."""
    for name in os.listdir(folder):
        found = _PART.fullmatch(name)
        if found and not _is_alive(int(found[1])):
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))


def _is_alive(process: int) -> bool:
    if os.name != "posix":
        return process == os.getpid()  # Windows does not remove a file that another process has open
    try:
        os.kill(process, 0)  # sends nothing, and asks whether it could
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def user_folder(kind: str) -> str:
    """The user's folder for autokit's ``data``, or its ``cache``: what can be computed again."""
    given = f"XDG_{kind.upper()}_HOME"
    if given in os.environ:
        folder = os.environ[given]
    elif sys.platform == "win32":
        folder = os.environ.get("LOCALAPPDATA", tempfile.gettempdir())
    else:
        mac, linux = _FOLDERS[kind]
        folder = os.path.expanduser(mac if sys.platform == "darwin" else linux)
    return os.path.join(folder, "autokit")
