"""A training on any number of ranks, in its parts: gradients, steps, accumulation, buffers, a checkpoint."""

import sys
import time

import numpy as np

import autokit as torch
from autokit import distributed as dist
from autokit import nn
from autokit.nn.parallel import DistributedDataParallel
from tests.gpu import standin


def network(seed: int, width: int = 16) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, width), nn.Tanh(), nn.Linear(width, 8), nn.Tanh(), nn.Linear(8, 3))


def batches(count: int, size: int = 32) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The same large batches on every rank."""
    generator = torch.Generator().manual_seed(5)
    return [
        (torch.randn(size, 6, generator=generator), torch.randint(3, (size,), generator=generator))
        for _ in range(count)
    ]


def share(batch: tuple[torch.Tensor, torch.Tensor]) -> list[torch.Tensor]:
    return [each[rank::size] for each in batch]


def loss_of(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(model(x), y)


def near(one: nn.Module, other: nn.Module, what: str) -> None:
    for (name, a), b in zip(one.named_parameters(), other.parameters()):
        difference = np.abs(getattr(a, what).numpy(force=True) - getattr(b, what).numpy(force=True)).max()
        assert difference < 1e-6, (name, what, difference)


def the_mean_is_the_large_batchs_gradient(device: str = "cpu") -> None:
    alone, mine = network(0, 9000), network(rank, 9000).to(device)  # one gradient is large, others small
    together = DistributedDataParallel(mine, bucket_cap_mb=2e-4)
    assert len(together._buckets) > 2, "several buckets, to be sent one after the other"
    near(alone, together.module, "data")
    (batch,) = batches(1)
    loss_of(alone, *batch).backward()
    loss_of(together, *[each.to(device) for each in share(batch)]).backward()
    near(alone, together.module, "grad")


def buckets_are_sent_while_the_backward_pass_runs() -> None:
    model = DistributedDataParallel(network(0), bucket_cap_mb=2e-4)
    sent_before = []
    first = model.module[0].weight
    first.register_hook(
        lambda gradient: sent_before.append(sum(b.request is not None for b in model._buckets))
    )
    loss_of(model, *share(batches(1)[0])).backward()
    assert len(model._buckets) == 4
    assert sent_before == [2 if size > 1 else 0], "those of the layers behind are on their way"


def small_batches_add_up() -> None:
    alone, together = network(0), DistributedDataParallel(network(0))
    for batch in batches(3):
        (loss_of(alone, *batch) / 3).backward()
    *early, last = batches(3)
    with together.no_sync():
        for batch in early:
            (loss_of(together, *share(batch)) / 3).backward()
    (loss_of(together, *share(last)) / 3).backward()
    near(alone, together.module, "grad")


def buffers_are_those_of_rank_0() -> None:
    model = DistributedDataParallel(nn.BatchNorm1d(2, momentum=1.0))
    for step in range(2):
        model(torch.full((4, 2), 10.0 * step + rank) + torch.randn(4, 2) * 0)
    model.eval()
    model(torch.ones(4, 2))
    assert model.module.running_mean.tolist() == [10.0, 10.0]


def twenty_steps() -> np.ndarray:
    model = DistributedDataParallel(network(3), bucket_cap_mb=5e-4)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for batch in batches(20):
        optimizer.zero_grad()
        loss_of(model, *share(batch)).backward()
        optimizer.step()
    if rank == 0 and len(sys.argv) > 2:
        torch.save(model.module.state_dict(), sys.argv[2])
    dist.barrier()
    return np.concatenate([each.numpy(force=True).ravel() for each in model.parameters()])


def the_monitor_shows_all_ranks() -> None:
    model = DistributedDataParallel(network(0))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with torch.monitor(model, optimizer, total=8, every=5) as watch:
        for batch in batches(8):
            optimizer.zero_grad()
            loss = loss_of(model, *share(batch))
            if rank == size - 1:
                time.sleep(0.05)
            loss.backward()
            optimizer.step()
            watch.step(loss)
    rows = watch.ranks
    assert len(rows) == size and rows[rank][0] == watch.loss
    told = watch.still()["text/plain"] if rank == 0 else ""
    if size > 1:
        assert rows[-1][1] == max(row[1] for row in rows) > 0.4 and rows[0][2] > 0.2, rows
        assert rank or size > 2 or "Rank 1 computes longest: the others wait for it." in told, told
    else:
        assert "Ranks" not in told


if __name__ == "__main__":
    dist.init_process_group("mpi")
    rank, size = dist.get_rank(), dist.get_world_size()
    the_mean_is_the_large_batchs_gradient()
    with standin.installed():
        the_mean_is_the_large_batchs_gradient("cuda")
    buckets_are_sent_while_the_backward_pass_runs()
    small_batches_add_up()
    buffers_are_those_of_rank_0()
    the_monitor_shows_all_ranks()
    parameters = twenty_steps()
    if rank == 0:
        np.save(sys.argv[1], parameters)
    dist.destroy_process_group()
