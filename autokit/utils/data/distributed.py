"""Each rank its share of a dataset: the indices of one random order, dealt out in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sized

from autokit.base import doors
from autokit.base.generator import Generator
from autokit.ops.draw import randperm
from autokit.utils.data.sampler import Sampler


class DistributedSampler(Sampler[int]):
    """The indices of this rank: of every ``num_replicas`` in a common order one, so that all have as many.

    Parameters
    ----------
    dataset : sized
    num_replicas, rank : int, optional
        How many shares there are, and which one this is; as the process group says.
    shuffle : bool
        Deal out a random order, which depends on ``seed`` and the epoch alone.
    seed : int
        The same on every rank.
    drop_last : bool
        Leave out what is too much for equal shares; else the first indices come again at the end.

    Raises
    ------
    ValueError
        For a rank that there is not, and without a process group where one is needed.

    Examples
    --------
    >>> list(DistributedSampler(range(10), num_replicas=4, rank=1, shuffle=False))
    [1, 5, 9]
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
        ranks = doors.distributed
        self.num_replicas = ranks("get_world_size")() if num_replicas is None else num_replicas
        self.rank = ranks("get_rank")() if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise ValueError(
                f"Invalid rank {self.rank}, rank should be in the interval [0, {self.num_replicas - 1}]"
            )
        self.dataset, self.shuffle, self.seed, self.drop_last = dataset, shuffle, seed, drop_last
        self.epoch = 0
        left_over = 0 if drop_last else self.num_replicas - 1
        self.num_samples = (len(dataset) + left_over) // self.num_replicas
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        order = list(range(count))
        if self.shuffle:
            order = randperm(count, generator=Generator().manual_seed(self.seed + self.epoch)).tolist()
        return iter([order[at % count] for at in range(self.rank, self.total_size, self.num_replicas)])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch begins: the next order is another one, and the same on every rank."""
        self.epoch = epoch
