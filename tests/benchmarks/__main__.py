"""Run all benchmarks and print two tables: of the library, and of single operations on large tensors.

With the argument ``gpu`` it prints another table, of a GPU; see ``gpu.py``.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from importlib import metadata

from tests.benchmarks import (
    chain,
    convolution,
    elementwise,
    gpu,
    indexing,
    memory,
    pictures,
    random_graph,
    training,
)
from tests.benchmarks.measure import Job, best_times, row, threads

ROWS: dict[str, Callable[[], dict[str, Job]]] = {
    "200 elementwise operations on 4 elements, forward and backward": chain.jobs,
    "a random graph of 1,000 operations on 8 elements, both ways": random_graph.jobs,
    "100,000 indices into 1,000 numbers, both ways": lambda: indexing.jobs(0),
    "100,000 indices into 1,000 rows of 64, both ways": lambda: indexing.jobs(64),
    "a 3×3 convolution, 16 to 32 channels, 32 images of 28×28, both ways": convolution.jobs,
    "the maxima of 2×2 pixels of 32×16×28×28, both ways": convolution.pooling_jobs,
}
"""The first rows of the table, and what each times."""


def main() -> None:
    """Print the tables in Markdown, as the README shows them."""
    packages = ("numpy", "numba", "torch", "mygrad", "autograd", "jax")
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    print(f"{machine}, {_versions(packages)}, {_kernels()}")
    print()
    print("| what | autokit | beside |")
    print("|---|---|---|", flush=True)
    # The threads that a library started for one row wait beside those of the next: LeNet's step takes up to
    # 1.4 times as long after other rows as alone.
    programs = [("tests.benchmarks", "--row", title) for title in ROWS]
    programs += [("tests.benchmarks.training", name) for name in (*training.TRAININGS, "loader")]
    for program in programs:
        print(gpu.in_a_process(*program)[-1], flush=True)
    own, beside = (memory.bytes_per_node(name) for name in ("autokit", "torch"))
    print(f"| a node in a chain of a million | {own:.0f} bytes | {own / beside:.2f} of PyTorch |")
    peak = memory.peak_of_a_step()
    print(f"| peak memory of a training step of 50 tanh layers | {peak:.2f} | of the arrays that it saves |")
    imports = pictures.import_times()
    ratio = imports["autokit"] / imports["numpy"]
    print(f"| `import autokit` | {imports['autokit'] * 1e3:.0f} ms | {ratio:.2f} of `import numpy` |")
    stills = pictures.still_times()
    later = stills.pop("later")
    rest = "; ".join(f"the {name} {time * 1e3:.0f} ms" for name, time in stills.items())
    print(f"| a still of 100 nodes | {later * 1e3:.0f} ms | {rest} |")
    large = pictures.large_times()
    own = large.pop("repeating")
    rest = "; ".join(f"{name} {time * 1e3:.0f} ms" for name, time in large.items())
    print(f"| a still of 10,000 nodes, folded to a page | {own * 1e3:.0f} ms | {rest} |")
    print()
    print("\n".join(elementwise.lines()))


def _versions(packages: tuple[str, ...]) -> str:
    found = []
    for package in packages:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    return ", ".join(found)


def _kernels() -> str:
    """For which processors NumPy's products are, which the environment may say: it halves or doubles them."""
    from threadpoolctl import threadpool_info

    found = [each["architecture"] for each in threadpool_info() if each.get("internal_api") == "openblas"]
    chosen = os.environ.get("OPENBLAS_CORETYPE")
    said = f" (as OPENBLAS_CORETYPE={chosen} says)" if chosen else ""
    return f"OpenBLAS' kernels for {', '.join(found)}{said}" if found else "no OpenBLAS"


if __name__ == "__main__":
    if sys.argv[1:2] == ["gpu"]:
        gpu.main(*sys.argv[2:4])
    elif sys.argv[1:2] == ["--row"]:
        with threads(2):
            print(row(sys.argv[2], best_times(ROWS[sys.argv[2]]())))
    else:
        main()
