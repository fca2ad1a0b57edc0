"""Training steps on a GPU beside PyTorch's on the same one, and operations beside its memory's speed.

``python -m tests.benchmarks gpu`` prints the table; it needs a GPU that both
CuPy and PyTorch can use.  ``python -m tests.benchmarks gpu FILE`` first runs
the tests of ``tests/gpu`` on that GPU, and writes into FILE how they went and
the table.  Times are those of CUDA's own events, around some
steps at once, so that the program may run ahead of the GPU as it does in
training.  The libraries take turns; the shortest time of each counts.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.benchmarks.training import lenet, perceptron, transformer

ROOT = Path(__file__).parents[2]


class Row(NamedTuple):
    """A row: its title, ``make(torch, nn)``, which gives a step to call, and the ratio that is wanted."""

    title: str
    make: Callable[[Any, Any], Callable[[], Any]]
    wanted: float


class Chain(NamedTuple):
    """A chain of elementwise operations, and the ratio to the memory's speed that is wanted."""

    operations: int
    elements: int
    wanted: float


ROWS = (
    Row("an SGD step of a 4096-4096-10 network, batch of 1024", perceptron(4096, 4096, 1024), 1.2),
    Row("an SGD step of a 64-32-10 network, batch of 32", perceptron(64, 32, 32), 2),
    Row("a step of LeNet on 28×28 pixels, batch of 256, momentum", lenet(256), 2),
    Row("a step of a causal transformer of 4 layers, width 512, batch of 16, AdamW", transformer(512), 1.5),
)
CHAIN = Chain(100, 10_000_000, 1.3)


def milliseconds(torch: Any, work: Callable[[], Any], times: int) -> float:
    """How long the GPU takes for ``work``, of so many in a row."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(times):
        work()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / times


def shortest(jobs: dict[str, Callable[[], Any]], rounds: int, times: int) -> dict[str, float]:
    """The shortest time of each library's job, in milliseconds; they take turns."""
    libraries = {name: importlib.import_module(name) for name in jobs}
    best = dict.fromkeys(jobs, float("inf"))
    for number in range(rounds + 1):  # the first round compiles kernels, and does not count
        for name, job in jobs.items():
            time = milliseconds(libraries[name], job, times)
            best[name] = min(best[name], time) if number else best[name]
    return best


def made(library: str, row: Row) -> Callable[[], Any]:
    """The row's step, of a model made by this library on the GPU."""
    torch, nn = importlib.import_module(library), importlib.import_module(f"{library}.nn")
    importlib.import_module(f"{library}.optim")
    torch.manual_seed(0)
    with torch.device("cuda"):
        return row.make(torch, nn)


def chain_of(library: str, chain: Chain) -> dict[str, Callable[[], Any]]:
    """The chain's work, and a plain copy, which moves as many bytes as one operation."""
    torch = importlib.import_module(library)
    x = torch.ones(chain.elements, device="cuda")

    def work() -> Any:
        y = x
        for _ in range(chain.operations // 2):
            y = y * 1.0001 + 0.0001
        return y

    return {"chain": work, "copy": x.clone}


def rows(
    chosen: tuple[Row, ...] = ROWS,
    chain: Chain = CHAIN,
    libraries: tuple[str, ...] = ("autokit", "torch"),
    rounds: int = 10,
    times: int = 20,
) -> Iterator[str]:
    """The table's lines in Markdown."""
    yield "| what | autokit | of PyTorch | wanted |"
    yield "|---|---|---|---|"
    for row in chosen:
        best = shortest({library: made(library, row) for library in libraries}, rounds, times)
        yield _line(row.title, best, row.wanted)
    parts = {library: chain_of(library, chain) for library in libraries}
    best = shortest({library: each["chain"] for library, each in parts.items()}, rounds, times)
    title = f"a chain of {chain.operations} elementwise operations on {chain.elements:,} numbers"
    yield _line(title, best, None)
    copy = shortest({"autokit": parts["autokit"]["copy"]}, rounds, times)["autokit"]
    slower = best["autokit"] / chain.operations / copy
    yield f"| the same beside as many copies in its memory | {slower:.2f} of their time | | {chain.wanted} |"


def _line(title: str, best: dict[str, float], wanted: float | None) -> str:
    ratio = f"{best['autokit'] / best['torch']:.2f}" if "torch" in best else ""
    return f"| {title} | {best['autokit']:.3f} ms | {ratio} | {wanted or ''} |"


def machine() -> str:
    """The GPU, its driver, and the versions that were measured."""
    import cupy

    driver = cupy.cuda.runtime.driverGetVersion()
    name = importlib.import_module("autokit").cuda.get_device_name()
    versions = ", ".join(f"{each} {importlib.import_module(each).__version__}" for each in ("cupy", "torch"))
    return f"{name}, CUDA {driver // 1000}.{driver % 1000 // 10} by its driver, {versions}"


def tested() -> str:
    """How the tests of ``tests/gpu`` went on this machine: the failures, and the line that counts."""
    command = [sys.executable, "-m", "pytest", "tests/gpu", "-q", "--tb=line", "-o", "addopts="]
    said = subprocess.run(
        [*command, "--import-mode=importlib"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    lines = said.stdout.strip().splitlines() or said.stderr.strip().splitlines()
    return "\n".join([line for line in lines if line.startswith(("FAILED", "ERROR"))] + lines[-1:])


def main(file: str | None = None, **settings: Any) -> None:
    """Print the table, or say what is missing for it; with ``file`` also test, and write both there.

    The settings are those of :func:`rows`.
    """
    for library in ("autokit", "torch"):
        if not importlib.import_module(library).cuda.is_available():
            raise SystemExit(f"{library} finds no GPU here: `autokit doctor` says why")
    told = [machine(), ""]
    if file is not None:
        told += ["```", tested(), "```", ""]
    print(*told, sep="\n", flush=True)
    for row in rows(**settings):
        told.append(row)
        print(row, flush=True)
        if file is not None:  # after each row: what was measured stays, whatever comes
            Path(file).write_text("\n".join(told) + "\n", "utf-8")
