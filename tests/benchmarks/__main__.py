"""Print a table of all rows, each measured in a process of its own; with names, of these rows alone.

``gpu`` prints another table, of a GPU, ``static`` one of compiled steps, ``ranks`` one of several processes;
see the files of these names.
"""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata

from tests.benchmarks import costs, gpu, operations, ranks, static, training
from tests.benchmarks.measure import in_a_process


def main() -> None:
    """Print the tables in Markdown."""
    found = [f"{name} {metadata.version(name)}" for name in ("numpy", "torch") if _is_installed(name)]
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    print(f"{', '.join([machine, *found])}, {_kernels()}\n")
    print("| what | autokit | beside | wanted |\n|---|---|---|---|", flush=True)
    # The threads that a library started for one row wait beside those of the next.
    for name in (*operations.ROWS, *training.TRAININGS, "loader"):
        print("\n".join(in_a_process("-m", "tests.benchmarks", "row", name)), flush=True)
    for line in costs.lines():
        print(line, flush=True)
    print()
    for line in operations.large_lines():
        print(line, flush=True)


def _is_installed(name: str) -> bool:
    try:
        return bool(metadata.version(name))
    except metadata.PackageNotFoundError:
        return False


def _kernels() -> str:
    """For which processors NumPy's products are, which the environment may say: it halves or doubles them."""
    from threadpoolctl import threadpool_info

    kinds = [each["architecture"] for each in threadpool_info() if each.get("internal_api") == "openblas"]
    return f"OpenBLAS' kernels for {', '.join(kinds)}" if kinds else "no OpenBLAS"


def rows(names: list[str]) -> None:
    """Print these rows alone."""
    for name in names:
        print(operations.line(name) if name in operations.ROWS else training.line(name), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["gpu"]:
        gpu.main(*sys.argv[2:])
    elif sys.argv[1:2] == ["static"]:
        static.main(*sys.argv[2:])
    elif sys.argv[1:2] == ["ranks"]:
        ranks.main()
    elif sys.argv[1:2] == ["static row"]:
        print(static.line(sys.argv[2]), flush=True)
    elif sys.argv[1:2] == ["row"]:
        rows(sys.argv[2:])
    else:
        main()
