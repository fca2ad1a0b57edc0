"""Training steps on a GPU beside PyTorch's on the same one, and operations beside its memory's speed.

``python -m tests.benchmarks gpu`` prints the table. It needs a GPU that CuPy can use, and for the ratios
PyTorch built for CUDA. Each row is measured in a process of its own: what fails is told in its place, and
ends nothing else. Times are those of CUDA's events, around some steps at once, so that the program may run
ahead of the GPU as it does in training.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autokit
from tests.benchmarks.measure import Job, in_a_process, in_each
from tests.benchmarks.training import lenet, perceptron, transformer

ELEMENTS, OPERATIONS = 10_000_000, 100


def chain(torch: Any) -> Job:
    """Elementwise operations on many numbers, which the memory's speed bounds."""
    x = torch.ones(ELEMENTS)

    def run() -> Any:
        y = x
        for _ in range(OPERATIONS // 2):
            y = y * 1.0001 + 0.0001
        return y

    return run


def copies(torch: Any) -> Job:
    """As many copies of the same numbers: each moves as many bytes as an operation."""
    x = torch.ones(ELEMENTS)
    return lambda: [x.clone() for _ in range(OPERATIONS)][-1]


ROWS: dict[str, tuple[Callable[[Any], Job], float]] = {
    "an SGD step of a 4096-4096-10 network, batch of 1024": (perceptron(4096, 4096, 1024), 1.2),
    "an SGD step of a 64-32-10 network, batch of 32": (perceptron(64, 32, 32), 2),
    "a step of LeNet on 28×28 pixels, batch of 256, momentum": (lenet(256), 2),
    "a step of a causal transformer of 4 layers, width 512, batch of 16, AdamW": (transformer(512), 1.5),
    f"{OPERATIONS} elementwise operations on {ELEMENTS:,} numbers": (chain, 1.3),
    f"{OPERATIONS} copies of {ELEMENTS:,} numbers": (copies, 1.3),
}
"""By title what is timed, and the ratio that is wanted."""


def milliseconds(torch: Any, work: Job, times: int) -> float:
    """How long the GPU takes for ``work``, of so many in a row."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(times):
        work()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / times


def line(title: str, rounds: int = 10, times: int = 20) -> str:
    """The row of the table: the shortest time of each library, which take turns."""
    make, wanted = ROWS[title]

    def on_the_gpu(torch: Any) -> Job:
        if not torch.cuda.is_available():
            raise ImportError(f"{torch.__name__} finds no GPU")
        with torch.device("cuda"):
            job = make(torch)
        best = float("inf")

        def measured() -> float:
            nonlocal best
            best = min(best, milliseconds(torch, job, times))
            return best

        milliseconds(torch, job, times)  # compiles kernels
        return measured

    jobs = in_each(on_the_gpu)
    for _ in range(rounds):
        best: dict[str, Any] = {name: job() for name, job in jobs.items()}
    ratio = f"{best['autokit'] / best['PyTorch']:.2f} of PyTorch" if "PyTorch" in best else ""
    return f"| {title} | {best['autokit']:.3f} ms | {ratio} | {wanted} |"


def main(title: str = "") -> None:
    """Print the table, or the row of this title."""
    if title:
        print(line(title))
        return
    if not autokit.cuda.is_available():
        raise SystemExit("autokit finds no GPU here: `autokit doctor` says why")
    print(f"{autokit.cuda.get_device_name()}\n\n| what | autokit | beside | wanted |\n|---|---|---|---|")
    for each in ROWS:
        print("\n".join(in_a_process("-m", "tests.benchmarks", "gpu", each)), flush=True)
