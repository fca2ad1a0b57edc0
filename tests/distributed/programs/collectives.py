"""Every collective on every rank, against NumPy, which knows what all ranks hold."""

import warnings
from itertools import product

import numpy as np

import autokit as torch
from autokit import distributed as dist
from tests.gpu import standin

SHAPES = [(), (0,), (1,), (7,), (3, 0, 2), (5, 3), (4099,)]
REDUCED = {
    dist.ReduceOp.SUM: np.add,
    dist.ReduceOp.PRODUCT: np.multiply,
    dist.ReduceOp.MIN: np.minimum,
    dist.ReduceOp.MAX: np.maximum,
    dist.ReduceOp.AVG: np.add,
}


def held(rank: int, shape: tuple[int, ...], dtype: str, part: int = 0) -> np.ndarray:
    """What a rank begins with."""
    return np.random.default_rng((rank, part)).integers(1, 9, shape).astype(dtype)


def reduced(op: dist.ReduceOp, shape: tuple[int, ...], dtype: str, part: int = 0) -> np.ndarray:
    """The numbers of all ranks as one."""
    rows = [held(rank, shape, dtype, part) for rank in range(size)]
    return REDUCED[op].reduce(rows) / (size if op is dist.ReduceOp.AVG else np.ones((), dtype))


def same(tensor: torch.Tensor, wanted: np.ndarray) -> None:
    np.testing.assert_array_equal(tensor.cpu().numpy(), wanted, strict=tensor.dim() > 0)


def check(shape: tuple[int, ...], dtype: str, device: str = "cpu") -> None:
    def mine(part: int = 0) -> torch.Tensor:
        return torch.from_numpy(held(rank, shape, dtype, part)).to(device)

    for op in REDUCED:
        if op is dist.ReduceOp.AVG and dtype == "int64":
            continue
        x, output = mine(), torch.zeros_like(mine())
        dist.all_reduce(x, op)
        same(x, reduced(op, shape, dtype).astype(dtype))
        dist.reduce_scatter(output, [mine(part) for part in range(size)], op)
        same(output, reduced(op, shape, dtype, rank).astype(dtype))
    for src in (0, size - 1):
        x = mine()
        dist.broadcast(x, src)
        same(x, held(src, shape, dtype))
    gathered = [torch.zeros_like(mine()) for _ in range(size)]
    dist.all_gather(gathered, mine())
    for other, each in enumerate(gathered):
        same(each, held(other, shape, dtype))
    right, left = (rank + 1) % size, (rank - 1) % size
    x = torch.zeros_like(mine())
    if rank % 2 == 0:
        dist.send(mine(), right)
        assert dist.recv(x, left) == left
    else:
        assert dist.recv(x) == left
        dist.send(mine(), right)
    same(x, held(left, shape, dtype))


def raises(kind: type[Exception], words: str, call: object, *given: object) -> None:
    """On every rank; the group works on afterwards."""
    try:
        call(*given)
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)
    dist.barrier()


if __name__ == "__main__":
    dist.init_process_group("mpi")
    rank, size = dist.get_rank(), dist.get_world_size()
    for shape, dtype in product(SHAPES, ("float32", "float64", "int64")):
        check(shape, dtype)
    with standin.installed(), warnings.catch_warnings(record=True) as told:
        check((5, 3), "float32", "cuda")
    assert [str(each.message).partition(" by way of ")[2] for each in told] == ["the host's memory"]
    table = torch.from_numpy(held(rank, (5, 3), "float32"))
    dist.all_reduce(table.t()[1:])  # a view, whose elements do not stand side by side
    same(table[:, 1:], reduced(dist.ReduceOp.SUM, (5, 3), "float32")[:, 1:])
    same(table[:, :1], held(rank, (5, 3), "float32")[:, :1])
    saved = (torch.ones(3, requires_grad=True) * 2).exp()
    dist.all_reduce(saved.detach())
    raises(RuntimeError, "modified by an inplace operation", saved.sum().backward)
    uneven = torch.ones(2 + (rank == size - 1))
    words = "rank 0: all_reduce(ReduceOp.SUM) of [2] float32"
    raises(RuntimeError, words, dist.all_reduce, uneven)
    raises(RuntimeError, "the ranks make different calls", dist.all_gather, [uneven] * size, uneven)
    raises(RuntimeError, "the ranks make different calls", dist.reduce_scatter, uneven, [uneven] * size)
    raises(RuntimeError, "the ranks make different calls", dist.broadcast, torch.ones(2), rank)
    mixed, whole = torch.ones(2, dtype=[torch.float, torch.int][rank % 2]), torch.ones(2).long()
    raises(RuntimeError, "different calls", dist.all_reduce, mixed)
    raises(RuntimeError, "for floating point numbers", dist.all_reduce, whole, dist.ReduceOp.AVG)
    raises(ValueError, "src is a rank, from 0 to", dist.broadcast, torch.ones(2), size)
    raises(ValueError, f"for each of the {size} ranks", dist.all_gather, [torch.ones(2)], torch.ones(2))
    raises(TypeError, "convert the tensor", dist.all_reduce, torch.ones(2).half())
    raises(TypeError, "sends tensors, and got ndarray", dist.all_reduce, np.ones(2))
    if rank == 0:
        dist.send(torch.ones(4), 1)
    elif rank == 1:
        try:
            dist.recv(torch.ones(3))
        except RuntimeError as error:
            assert "rank 0 sends a tensor of another shape or dtype, of 16 bytes" in str(error)
    dist.barrier()
    dist.destroy_process_group()
    print("all right")
