"""Training on several ranks, as ratios in one run: ``python -m tests.benchmarks ranks``.

The last table is on paper: a step for many ranks, by the time that a ring needs. Each of n ranks sends
2(n − 1) messages of 1/n of the bytes, and adds n − 1 of them to its own. So an all-reduce of m bytes takes
2(n − 1)·α + 2(n − 1)/n · m/β + (n − 1)/n · m·γ, with the latency α of a message, the bandwidth β while all
send at once, and the time γ to add a byte, each measured here. Ranks that share a core take turns.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import autokit as torch
from autokit import distributed as dist
from autokit import nn
from tests.benchmarks.measure import threads
from tests.benchmarks.training import classes, images
from tests.distributed.ranks import run

MEGABYTES = 10_000_000
GRADIENTS = 4 * (784 * 512 + 512 + 512 * 10 + 10)
"""Bytes of the gradients of 784-512-10."""


def main() -> None:
    """Print the rows in Markdown."""
    one, two, four = (
        json.loads(run(count, __file__, limit=600).stdout.strip().splitlines()[-1]) for count in (1, 2, 4)
    )
    print("| what | measured | wanted |\n|---|---|---|")
    print(f"| DDP on one rank, of a plain step of 784-512-10 | {one['together'] / one['alone']:.2f} | 1.10 |")
    speedup = one["together"] / two["together"]
    print(f"| 2 ranks with 256 samples each, of twice the throughput of 1 | {speedup:.2f} | at least 0.75 |")
    print(f"| all-reduce of 10 MB, of bare mpi4py's, 2 ranks | {two['ours'] / two['bare']:.2f} | 1.30 |")
    print(f"| 24 trials on 2 engines, of one after the other | {trials():.2f} | 0.60 |")
    costs = two["latency"], two["bandwidth"], two["adding"]
    told = "\nα = {:.1f} µs, β = {:.1f} GB/s, γ = {:.3f} ns, a step of one rank {:.2f} ms\n"
    print(told.format(costs[0] * 1e6, costs[1] / 1e9, costs[2] * 1e9, one["together"] * 1e3))
    print("| ranks | all-reduce of 10 MB | by the model | a step of 784-512-10 |\n|---|---|---|---|")
    measured = {2: two, 4: four}
    for count in (2, 4, 64, 1024):
        turns = max(1, count / (os.cpu_count() or 1)) if count in measured else 1
        found = f"{measured[count]['ours'] * 1e3:.2f} ms" if count in measured else "–"
        ideal = turns * ring(count, MEGABYTES, *costs)
        step = turns * (one["together"] + ring(count, GRADIENTS, *costs))
        also = f", measured {measured[count]['together'] * 1e3:.2f}" if count in measured else ""
        print(f"| {count} | {found} | {ideal * 1e3:.2f} ms | {step * 1e3:.2f} ms{also} |")


def train(trial: int) -> float:
    """A trial of about a third of a second."""
    step = step_of(lambda model: model)
    for _ in range(60):
        step()
    return trial


def trials() -> float:
    """The time of a sweep on two engines that are up, of that of its trials here, with one thread each."""
    with torch.cluster(2) as cluster, threads(1):
        torch.sweep(train, {"trial": range(2)}, cluster=cluster)  # loads autokit there
        began = time.perf_counter()
        torch.sweep(train, {"trial": range(24)}, cluster=cluster)
        there = time.perf_counter() - began
        for trial in range(24):
            train(trial)
    return there / (time.perf_counter() - began - there)


def ring(count: int, size: int, latency: float, bandwidth: float, adding: float) -> float:
    """Seconds that an all-reduce of ``size`` bytes takes by a ring of ``count`` ranks."""
    part = size / count
    return (count - 1) * (2 * (latency + part / bandwidth) + part * adding)


def least(*jobs: Callable[[], object]) -> list[float]:
    """The shortest time of each job, in turns; all ranks begin a job together, and the slowest counts."""
    times = torch.empty(40, len(jobs), dtype=torch.float64)
    for turn in range(len(times)):
        for column, job in enumerate(jobs):
            dist.barrier()
            began = time.perf_counter()
            job()
            times[turn, column] = time.perf_counter() - began
    dist.all_reduce(times, dist.ReduceOp.MAX)
    return times[2:].amin(0).tolist()


def step_of(wrap: Callable[[nn.Module], nn.Module]) -> Callable[[], Any]:
    """A step of training of 784-512-10 with 256 samples."""
    model = wrap(nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.from_numpy(images(256, 784)), torch.from_numpy(classes(10, 256))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def on_a_rank() -> dict[str, float]:
    """What a rank measures."""
    dist.init_process_group("mpi")
    from mpi4py import MPI

    world, rank = MPI.COMM_WORLD, dist.get_rank()
    tensor = torch.zeros(MEGABYTES // 4)
    array, other = tensor.numpy(), np.zeros(MEGABYTES // 4, np.float32)
    alone, together = step_of(lambda model: model), step_of(nn.parallel.DistributedDataParallel)

    def exchange(sent: np.ndarray, arrives: np.ndarray) -> None:
        world.Sendrecv(sent, 1 - rank, recvbuf=arrives, source=1 - rank)

    steps = least(alone, together)
    calls = least(lambda: dist.all_reduce(tensor), lambda: world.Allreduce(MPI.IN_PLACE, array))
    adding = least(lambda: np.add(array, other, out=array))[0] / MEGABYTES
    found = dict(zip(["alone", "together", "ours", "bare", "adding"], [*steps, *calls, adding]))
    if dist.get_world_size() == 2:
        latency = least(lambda: [exchange(array[:1], other[:1]) for _ in range(100)])[0] / 100
        found |= {"latency": latency, "bandwidth": MEGABYTES / least(lambda: exchange(array, other))[0]}
    dist.destroy_process_group()
    return found


if __name__ == "__main__":
    figures = on_a_rank()
    sys.stdout.write(json.dumps(figures) + "\n")
