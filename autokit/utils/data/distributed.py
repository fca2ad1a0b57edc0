"""The share of a dataset that one of several processes goes through."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized

from autokit import distributed
from autokit.ops.sampling import randperm
from autokit.random import Generator
from autokit.utils.data.sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Every ``num_replicas``-th index from ``rank`` on, so that all processes together see all samples.

    Parameters
    ----------
    dataset : sized
        What the indices are for.
    num_replicas, rank : int
        How many processes there are, and which of them this is; both must be given, as autokit computes
        in one process and knows of no others.
    shuffle : bool
        Draw the order anew from ``seed`` plus the epoch, the same in all processes; see :meth:`set_epoch`.
    drop_last : bool
        Leave out what does not fill all shares evenly, in place of beginning again.

    Raises
    ------
    RuntimeError
        If ``num_replicas`` or ``rank`` is left out.
    ValueError
        If there is no such rank.

    Examples
    --------
    >>> from autokit.utils.data.distributed import DistributedSampler
    >>> [list(DistributedSampler(range(5), 2, rank, shuffle=False)) for rank in (0, 1)]
    [[0, 2, 4], [1, 3, 0]]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            if not distributed.is_available():
                raise RuntimeError(
                    "Requires distributed package to be available: autokit computes in one process; give "
                    "num_replicas and rank, or use shuffle=True in place of this sampler"
                )
            num_replicas, rank = distributed.get_world_size(), distributed.get_rank()
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        each = len(dataset) / num_replicas
        self.num_samples = math.floor(each) if drop_last else math.ceil(each)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        order = list(range(len(self.dataset)))
        if self.shuffle:
            order = randperm(len(order), generator=Generator().manual_seed(self.seed + self.epoch)).tolist()
        if len(order) < self.total_size:
            order = (order * math.ceil(self.total_size / len(order)))[: self.total_size]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch begins, so that its order is another one."""
        self.epoch = epoch
