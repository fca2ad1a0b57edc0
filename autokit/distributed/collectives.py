"""Collective operations: each rank calls the same one, and arrays go from rank to rank by MPI's buffers.

They are PyTorch's: results are written into the tensors that are given, and no gradient flows through them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from enum import Enum
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np

from autokit.base.devices import beside, on_a_gpu, to_numpy
from autokit.base.errors import describe
from autokit.distributed.group import Group, current
from autokit.engine.inplace import mark_changed
from autokit.engine.tensor import Tensor

_CARRIED = frozenset(["float32", "float64", "int64", "int32", "int16", "int8", "uint8"])


class ReduceOp(Enum):
    """How the numbers of several ranks become one."""

    SUM = "SUM"
    PRODUCT = "PROD"
    MIN = "MIN"
    MAX = "MAX"
    AVG = "AVG"


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM) -> None:
    """Put into ``tensor``, on every rank, the sum of all ranks' tensors, element by element.

    Parameters
    ----------
    tensor : Tensor
        Of the same shape and dtype on every rank; it is overwritten.
    op : ReduceOp
        ``SUM``, ``PRODUCT``, ``MIN``, ``MAX``, or ``AVG``, the mean, of floating point numbers alone.

    Raises
    ------
    RuntimeError
        On every rank, if shapes, dtypes or operations differ.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit import distributed as dist
    >>> dist.init_process_group("mpi")
    >>> x = torch.tensor([1.0, 2.0])
    >>> dist.all_reduce(x, op=dist.ReduceOp.MAX)
    >>> dist.destroy_process_group()
    """
    call = f"all_reduce({op}) of {_told(tensor)}"
    ranks = _begin(call, tensor)
    operation, buffer = _operation(op, tensor, ranks), _host(tensor)
    ranks.wait(ranks.data.Iallreduce(ranks.mpi.IN_PLACE, buffer, operation), call)
    _write(tensor, _mean(buffer, op, ranks))


def broadcast(tensor: Tensor, src: int) -> None:
    """Put into ``tensor``, on every rank, that of rank ``src``."""
    call = f"broadcast(src={src}) of {_told(tensor)}"
    ranks = _begin(call, tensor)
    _refuse_rank("src", src, ranks)
    buffer = _host(tensor)
    ranks.wait(ranks.data.Ibcast(buffer, src), call)
    _write(tensor, buffer)


def all_gather(tensor_list: Sequence[Tensor], tensor: Tensor) -> None:
    """Put into ``tensor_list``, on every rank, the tensors of all ranks: one for each, of the same shape."""
    call = f"all_gather of {_told(tensor)} into {_told(*tensor_list)}"
    ranks = _begin(call, tensor, *tensor_list)
    _refuse_list("tensor_list", tensor_list, tensor, ranks)
    sent = _host(tensor)
    arrived = np.empty((ranks.size, *sent.shape), sent.dtype)
    ranks.wait(ranks.data.Iallgather(sent, arrived), call)
    for each, array in zip(tensor_list, arrived):
        _write(each, array)


def reduce_scatter(output: Tensor, input_list: Sequence[Tensor], op: ReduceOp = ReduceOp.SUM) -> None:
    """Put into ``output``, on rank ``r``, the sum over all ranks of their ``input_list[r]``."""
    call = f"reduce_scatter({op}) of {_told(*input_list)} into {_told(output)}"
    ranks = _begin(call, output, *input_list)
    _refuse_list("input_list", input_list, output, ranks)
    operation = _operation(op, output, ranks)
    sent, arrived = np.stack([_host(each) for each in input_list]), _host(output)
    ranks.wait(ranks.data.Ireduce_scatter_block(sent, arrived, operation), call)
    _write(output, _mean(arrived, op, ranks))


def send(tensor: Tensor, dst: int) -> None:
    """Send ``tensor`` to rank ``dst``, which calls :func:`recv`."""
    call = f"send(dst={dst}) of {_told(tensor)}"
    ranks = _checked(call, tensor)
    _refuse_rank("dst", dst, ranks)
    sent = _host(tensor)
    for request in [ranks.data.Isend(_head(tensor), dst), ranks.data.Isend(sent, dst)]:
        ranks.wait(request, call)


def recv(tensor: Tensor, src: int | None = None) -> int:
    """Put into ``tensor`` what rank ``src`` sends, or whoever sends first; return who it was.

    Raises
    ------
    RuntimeError
        If the tensor that comes has another shape or dtype.
    """
    call = f"recv(src={src}) of {_told(tensor)}"
    ranks = _checked(call, tensor)
    if src is not None:
        _refuse_rank("src", src, ranks)
    head, status = np.empty_like(_head(tensor)), ranks.mpi.Status()
    ranks.wait(ranks.data.Irecv(head, ranks.mpi.ANY_SOURCE if src is None else src), call, status)
    fits, source = (head == _head(tensor)).all(), status.Get_source()
    arrived = np.empty_like(_host(tensor)) if fits else np.empty(head[1], np.uint8)
    ranks.wait(ranks.data.Irecv(arrived, source), call)
    if not fits:
        raise RuntimeError(
            f"{call}: rank {source} sends a tensor of another shape or dtype, of {head[1]:,} bytes; "
            "send() and recv() need tensors that are alike"
        )
    _write(tensor, arrived)
    return int(source)


def _told(*tensors: Tensor) -> str:
    """Shapes and dtypes in words, alike ones once."""
    for each in tensors:
        if not isinstance(each, Tensor):
            raise TypeError(f"torch.distributed sends tensors, and got {type(each).__name__}")
    kinds = dict.fromkeys(f"{list(each.shape)} {each.array.dtype}" for each in tensors)
    return ("" if len(tensors) == 1 else f"{len(tensors)} × ") + ", ".join(kinds)


def _begin(call: str, *tensors: Tensor) -> Group:
    """The ranks, when all have come to this call."""
    current(call).agree(call)
    return _checked(call, *tensors)


def _checked(call: str, *tensors: Tensor) -> Group:
    for tensor in tensors:
        if tensor.array.dtype.name not in _CARRIED:
            raise TypeError(f"{call}: MPI has no such numbers; convert the tensor, as by .float()")
    return current(call)


def _operation(op: ReduceOp, tensor: Tensor, ranks: Group) -> Any:
    """MPI's operation."""
    if not isinstance(op, ReduceOp):
        raise TypeError(f"op is one of ReduceOp, as ReduceOp.SUM, and not {op!r}")
    if op is not ReduceOp.AVG:
        return getattr(ranks.mpi, op.value)
    if tensor.array.dtype.kind != "f":
        raise RuntimeError(f"ReduceOp.AVG is for floating point numbers, not for {_told(tensor)}")
    return ranks.mpi.SUM


def _mean(sums: np.ndarray, op: ReduceOp, ranks: Group) -> np.ndarray:
    """What ``op`` makes of the sums of all ranks."""
    return np.divide(sums, ranks.size, out=sums) if op is ReduceOp.AVG else sums


def _refuse_rank(name: str, rank: int, ranks: Group) -> None:
    if not 0 <= rank < ranks.size:
        raise ValueError(f"{name} is a rank, from 0 to {ranks.size - 1}, and not {rank}")


def _refuse_list(name: str, tensors: Sequence[Tensor], like: Tensor, ranks: Group) -> None:
    if len(tensors) != ranks.size or _told(*tensors[:1]) != _told(like) or len({*map(_told, tensors)}) > 1:
        raise ValueError(
            f"{name} has a tensor like {describe(like)} for each of the {ranks.size} ranks, and not "
            f"{_told(*tensors)}"
        )


def _head(tensor: Tensor) -> np.ndarray:
    """What goes before a tensor, to be compared with the one that waits for it."""
    return np.array([crc32(_told(tensor).encode()), tensor.array.nbytes], np.int64)


def _host(tensor: Tensor) -> np.ndarray:
    """The elements, one after the other in the host's memory: the tensor's own where they lie so."""
    if on_a_gpu(tensor.array):
        _say_how_gpus_send()
    return np.asarray(to_numpy(tensor.array), order="C")


@cache
def _say_how_gpus_send() -> None:
    warnings.warn("torch.distributed sends tensors on a GPU by way of the host's memory", stacklevel=5)


def _write(tensor: Tensor, array: np.ndarray) -> None:
    if array is not tensor.array:
        tensor.array[...] = beside(array, tensor.array)
    mark_changed(tensor)
