"""A worker process sends batches to the program: the bytes of arrays travel beside the pickle.

Pickle's protocol 5 keeps the memory of arrays apart from all else.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


def packed(message: Any) -> tuple[bytes, list[memoryview]]:
    """``message`` as bytes and, apart from these, the memory of its arrays; raises what pickling raises."""
    buffers: list[pickle.PickleBuffer] = []
    body = pickle.dumps(message, protocol=5, buffer_callback=buffers.append)
    return body, [buffer.raw() for buffer in buffers]


def send(connection: Connection, message: tuple[bytes, list[memoryview]]) -> None:
    """Send what :func:`packed` gave."""
    body, arrays = message
    connection.send((body, [array.nbytes for array in arrays]))
    for array in arrays:
        connection.send_bytes(array)


def receive(connection: Connection) -> Any:
    """The message, whose arrays can be written; raises EOFError or OSError if the sender is gone."""
    body, sizes = connection.recv()
    arrays = [bytearray(size) for size in sizes]
    for array in arrays:
        connection.recv_bytes_into(array)
    return pickle.loads(body, buffers=arrays)
