"""Writing a file as a whole: until all of it is on the disk, the old one stays as it was."""

from __future__ import annotations

from os import PathLike

from autokit.base.files import replacing


def write(path: str | PathLike[str], content: str | bytes) -> None:
    """Put ``content`` into the file at ``path``, in the place of what stands there."""
    # Half a surrogate pair, which UTF-8 cannot hold, reads in JSON as \\ud800: just what this writes.
    raw = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    with replacing(path) as file:
        file.write(raw)
