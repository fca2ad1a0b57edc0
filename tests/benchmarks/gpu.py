"""Training steps on a GPU beside PyTorch's on the same one, and operations beside its memory's speed.

``python -m tests.benchmarks gpu`` prints the table; ``python -m tests.benchmarks
gpu FILE`` also writes it into FILE, and then how the tests of ``tests/gpu`` went
on that GPU.  It needs a GPU that CuPy can use, and for the ratios PyTorch built
for CUDA.  Each row is measured and each file tested in a process of its own, and
written as soon as it is known: what fails is told in its place, and ends nothing
else.  Times are those of CUDA's own events, around some steps at once, so that
the program may run ahead of the GPU as it does in training.  The libraries take
turns; the shortest time of each counts.
"""

from __future__ import annotations

import importlib
import platform
import re
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


def shortest(
    jobs: dict[str, Callable[[], Any]], rounds: int, times: int, failed: dict[str, str]
) -> dict[str, float]:
    """The shortest time of each library's job, in milliseconds; they take turns.

    A library that fails is left out, and ``failed`` says why.
    """
    best = dict.fromkeys(jobs, float("inf"))
    for number in range(rounds + 1):  # the first round compiles kernels, and does not count
        for name in [*best]:
            try:
                time = milliseconds(importlib.import_module(name), jobs[name], times)
            except Exception as error:
                failed[name] = _short(error)
                del best[name]
            else:
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


COLUMNS = ("| what | autokit | of PyTorch | wanted |", "|---|---|---|---|")


def measured(
    number: int,
    chosen: tuple[Row, ...] = ROWS,
    chain: Chain = CHAIN,
    rounds: int = 10,
    times: int = 20,
) -> Iterator[str]:
    """The lines of row ``number`` in Markdown; after those of ``chosen`` comes the chain."""
    failed: dict[str, str] = {}
    if number < len(chosen):
        row = chosen[number]
        jobs = _jobs(lambda library: made(library, row), failed)
        yield _line(row.title, shortest(jobs, rounds, times, failed), row.wanted, failed)
        return
    parts = _jobs(lambda library: chain_of(library, chain), failed)
    best = shortest({name: each["chain"] for name, each in parts.items()}, rounds, times, failed)
    title = f"a chain of {chain.operations} elementwise operations on {chain.elements:,} numbers"
    yield _line(title, best, None, failed)
    copy = shortest({"autokit": parts["autokit"]["copy"]}, rounds, times, failed)["autokit"]
    slower = best["autokit"] / chain.operations / copy  # without these the process ends, and that is told
    yield f"| the same beside as many copies in its memory | {slower:.2f} of their time | | {chain.wanted} |"


def _jobs(make: Callable[[str], Any], failed: dict[str, str]) -> dict[str, Any]:
    """What each library makes, as far as it can; why not is in ``failed``."""
    jobs = {}
    for library in ("autokit", "torch"):
        try:
            if importlib.import_module(library).cuda.is_available():
                jobs[library] = make(library)
            else:
                failed[library] = "finds no GPU"
        except Exception as error:
            failed[library] = _short(error)
    return jobs


def _line(title: str, best: dict[str, float], wanted: float | None, failed: dict[str, str]) -> str:
    own = f"{best['autokit']:.3f} ms" if "autokit" in best else f"failed: {failed.get('autokit')}"
    if "torch" in failed:
        ratio = f"PyTorch failed: {failed['torch']}"
    else:
        ratio = f"{best['autokit'] / best['torch']:.2f}" if "autokit" in best else f"{best['torch']:.3f} ms"
    return f"| {title} | {own} | {ratio} | {wanted or ''} |"


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip()[:200]}".replace("\n", " ").replace("|", "/")


def machine() -> str:
    """The GPU, its driver, and the versions that were measured."""
    told = []
    for name, ask in (("GPU", _gpu), ("cupy", _version_of), ("torch", _version_of), ("numpy", _version_of)):
        try:
            told.append(ask(name))
        except Exception as error:
            told.append(f"{name}: {_short(error)}")
    return ", ".join(told)


def _gpu(name: str) -> str:
    import cupy

    runtime = cupy.cuda.runtime
    driver, made_for = runtime.driverGetVersion(), runtime.runtimeGetVersion()
    gpu = importlib.import_module("autokit").cuda.get_device_name()
    cudas = [f"CUDA {each // 1000}.{each % 1000 // 10}" for each in (driver, made_for)]
    return f"{gpu}, {cudas[0]} by its driver, {cudas[1]} by CuPy, Python {platform.python_version()}"


def _version_of(name: str) -> str:
    return f"{name} {importlib.import_module(name).__version__}"


# ---------------------------------------------------------------- each in a process of its own

PATIENCE = 1800
"""The seconds after which a process is stopped."""


def in_a_process(*arguments: str) -> list[str]:
    """The lines that ``python -m`` with these arguments printed; if it failed its last words too."""
    command = [sys.executable, "-m", *arguments]
    try:
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return [f"stopped after {PATIENCE} seconds"]
    lines = ran.stdout.strip().splitlines()
    if ran.returncode:
        lines += [*ran.stderr.strip().splitlines()[-3:], f"it ended with {ran.returncode}"]
    return lines


def table() -> Iterator[str]:
    """The table's lines, as they come."""
    yield from COLUMNS
    titles = [*(row.title for row in ROWS), "a chain of elementwise operations"]
    for number, title in enumerate(titles):
        lines = in_a_process("tests.benchmarks", "gpu", "--row", str(number))
        rows = [line for line in lines if line.startswith("|")]
        yield from rows or [f"| {title} | failed: {' '.join(lines)[-300:].replace('|', '/')} | | |"]


def tested() -> Iterator[str]:
    """How each file of ``tests/gpu`` went on this machine: the failures, and the line that counts."""
    settings = ["-q", "--tb=line", "-o", "addopts=", "--import-mode=importlib", "-k", "not stand-in"]
    for path in sorted((ROOT / "tests/gpu").glob("test_*.py"), key=lambda path: path.stat().st_size):
        lines = in_a_process("pytest", str(path.relative_to(ROOT)), *settings)
        counts = [line for line in lines if re.search(r"\d+ (passed|failed|error|skipped)", line)]
        wrong = [line for line in lines if line.startswith(("FAILED", "ERROR", "E  ", "Fatal", "it ended"))]
        yield "\n".join([f"{path.name}: {(counts or lines)[-1]}", *wrong])


def main(file: str | None = None, number: str | None = None) -> None:
    """Print the table, with ``file`` also the tests; or with ``--row`` and a number that row alone."""
    if file == "--row" and number is not None:
        for line in measured(int(number)):
            print(line, flush=True)
        return
    if not importlib.import_module("autokit").cuda.is_available():
        raise SystemExit("autokit finds no GPU here: `autokit doctor` says why")
    told: list[str] = []
    for part in (iter([machine(), ""]), table(), iter([""]) if file else (), tested() if file else ()):
        for line in part:
            told.append(line)
            print(line, flush=True)
            if file is not None:  # after each line: what was measured stays, whatever comes
                Path(file).write_text("\n".join(told) + "\n", "utf-8")
