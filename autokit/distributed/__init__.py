"""``torch.distributed``: a training in several processes, which exchange arrays over MPI.

Each process is a *rank*; all run the same program, each on its share of the data, and together they compute
what one would on all of it. ``mpiexec -n 4 python train.py`` starts four of them; in a notebook,
:func:`autokit.cluster` does.

>>> import autokit as torch
>>> from autokit import distributed as dist
>>> dist.init_process_group("mpi")
>>> x = torch.full((2,), float(dist.get_rank() + 1))
>>> dist.all_reduce(x)  # each rank has the sum over all ranks now; here there is but one
>>> x
tensor([1., 1.])
>>> dist.destroy_process_group()
"""

from autokit.base.missing import absent
from autokit.distributed.collectives import (
    ReduceOp,
    all_gather,
    all_reduce,
    broadcast,
    recv,
    reduce_scatter,
    send,
)
from autokit.distributed.data_parallel import DistributedDataParallel
from autokit.distributed.group import (
    barrier,
    destroy_process_group,
    get_rank,
    get_world_size,
    init_process_group,
    is_available,
    is_initialized,
)

__getattr__ = absent("torch.distributed")

__all__ = [
    "DistributedDataParallel",
    "ReduceOp",
    "all_gather",
    "all_reduce",
    "barrier",
    "broadcast",
    "destroy_process_group",
    "get_rank",
    "get_world_size",
    "init_process_group",
    "is_available",
    "is_initialized",
    "recv",
    "reduce_scatter",
    "send",
]
