"""A file is downloaded completely and with the right checksum, or an error is raised."""

from __future__ import annotations

import hashlib
import urllib.request
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path

from autokit.base.files import replacing

_AT_ONCE = 1 << 16
_PATIENCE = 30  # seconds in which a server must say something


def download(urls: Sequence[str], path: Path, checksum: str) -> None:
    """Get ``path`` from the first of the ``urls`` that gives it with this checksum.

    An interrupted download leaves nothing.

    Raises
    ------
    RuntimeError
        If none gives it; says what each answered, and where to put a file got elsewhere.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    answers = []
    for url in urls:
        try:
            _fetch(url, path, checksum)
            return
        except (OSError, HTTPException, ValueError) as error:
            answers.append(f"  {url}: {error}")
    raise RuntimeError(
        f"Error downloading {path.name}:\n" + "\n".join(answers) + f"\nWithout a network, put {path.name} "
        f"into the folder {path.parent}, from wherever you have it; its MD5 checksum is {checksum}."
    )


def _fetch(url: str, path: Path, checksum: str) -> None:
    request = urllib.request.Request(url, headers={"User-Agent": "autokit"})
    print(f"Downloading {url}")
    digest, arrived = hashlib.md5(usedforsecurity=False), 0
    with replacing(path) as file, urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
        promised = int(answer.headers.get("Content-Length") or 0)
        while piece := answer.read(_AT_ONCE):
            file.write(piece)
            digest.update(piece)
            arrived += len(piece)
        if arrived < promised:
            raise ValueError(f"broke off after {arrived} of {promised} bytes")
        if digest.hexdigest() != checksum:
            raise ValueError(f"sent another file: its MD5 checksum is {digest.hexdigest()}")
