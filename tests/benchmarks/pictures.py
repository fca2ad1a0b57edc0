"""What a picture and an import cost."""

from __future__ import annotations

from tests.benchmarks.measure import best_process_times, best_times

_HUNDRED_NODES = """
import time
import autokit as ak
from autokit import draw
x = ak.ones(4, requires_grad=True)
y = x
for place in range(33):
    y = (y * x).tanh() + x
graph = ak.graph(y)
assert len(graph) == 100, len(graph)
"""


def still_times() -> tuple[float, float]:
    """Seconds for a still of 100 nodes: the first of a process, and a later one."""
    import subprocess
    import sys

    program = _HUNDRED_NODES + "started = time.perf_counter(); draw.html(graph); print(time.perf_counter() - started)"
    first = min(
        float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)
        for _ in range(5)
    )
    scope: dict = {}
    exec(_HUNDRED_NODES, scope)
    later = best_times({"still": lambda: scope["draw"].html(scope["graph"])})["still"]
    return first, later


def import_times() -> dict[str, float]:
    """Seconds from the start of a process to the end of the import, less those of an empty process."""
    times = best_process_times({"nothing": "pass", "numpy": "import numpy", "autokit": "import autokit"})
    return {name: times[name] - times["nothing"] for name in ("numpy", "autokit")}
