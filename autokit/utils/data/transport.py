"""From a worker process to the program: large arrays go through memory, not through a pipe.

Pickle's protocol 5 keeps the bytes of arrays apart from all else.  Where the
system has anonymous memory files (Linux), a worker writes these bytes into one
and hands its descriptor over; the program maps it, so that nothing is copied
on its side.  Such a file has no name, so none can be left behind, and it needs
no room in ``/dev/shm``.  Elsewhere the bytes go through the pipe.

Measured on batches of 0.2, 3 and 39 MB, this takes half the time of a pipe, and
less than blocks of ``multiprocessing.shared_memory``.
"""

from __future__ import annotations

import mmap
import os
import pickle
import socket
from io import BytesIO
from itertools import accumulate
from multiprocessing.connection import Connection
from typing import Any

from autokit.tensor import Tensor

_BY_FILE_FROM = 16_384  # bytes of arrays from which on a file is faster than the pipe
_ALIGNMENT = 64  # of arrays in the file, as processors like it
_HAS_FILES = hasattr(os, "memfd_create") and hasattr(socket, "send_fds")


def packed(message: Any) -> tuple[bytes, list[pickle.PickleBuffer]]:
    """``message`` as bytes and, apart from these, the memory of its arrays; raises what pickling raises."""
    buffers: list[pickle.PickleBuffer] = []
    content = BytesIO()
    _Pickler(content, protocol=5, buffer_callback=buffers.append).dump(message)
    return content.getvalue(), buffers


class _Pickler(pickle.Pickler):
    """Pickles for another process, where no graph goes on."""

    def reducer_override(self, value: Any) -> Any:
        """Refuse a tensor that a graph made."""
        if isinstance(value, Tensor) and value._node is not None:
            raise RuntimeError(
                "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not "
                "support crossing process boundaries. If you just want to transfer the data, call detach() "
                "on the tensor before serializing (e.g., putting it on the queue)."
            )
        return NotImplemented


def send(connection: Connection, message: tuple[bytes, list[pickle.PickleBuffer]]) -> None:
    """Send what :func:`packed` gave."""
    body, buffers = message
    arrays = [buffer.raw() for buffer in buffers]
    sizes = [array.nbytes for array in arrays]
    if not _HAS_FILES or sum(sizes) < _BY_FILE_FROM:
        connection.send((body, [bytearray(array) for array in arrays], None))
        return
    file = os.memfd_create("autokit")
    try:
        for start, array in zip(_starts(sizes), arrays, strict=True):
            while array.nbytes:  # one call writes no more than 2 GiB
                written = os.pwrite(file, array, start)
                start, array = start + written, array[written:]
        connection.send((body, [], sizes))
        with _socket_of(connection) as ours:
            socket.send_fds(ours, [b"."], [file])
    finally:
        os.close(file)


def receive(connection: Connection) -> Any:
    """The message; its arrays are the receiver's own, to read and to write.

    Raises
    ------
    EOFError, OSError
        If the sender is gone.
    """
    body, arrays, sizes = connection.recv()
    if sizes is None:
        return pickle.loads(body, buffers=arrays)
    with _socket_of(connection) as ours:
        _, files, _, _ = socket.recv_fds(ours, 1, 1)
    if not files:
        raise EOFError
    try:
        # A private copy, made page by page where somebody writes.
        memory = memoryview(mmap.mmap(files[0], 0, access=mmap.ACCESS_COPY))
    finally:
        os.close(files[0])
    parts = [memory[start : start + size] for start, size in zip(_starts(sizes), sizes, strict=True)]
    return pickle.loads(body, buffers=parts)


def _starts(sizes: list[int]) -> list[int]:
    return [0, *accumulate(-(-size // _ALIGNMENT) * _ALIGNMENT for size in sizes)][:-1]


def _socket_of(connection: Connection) -> socket.socket:
    return socket.socket(fileno=os.dup(connection.fileno()))
