"""What a picture and an import cost."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile

import autokit as ak
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


def still_times() -> dict[str, float]:
    """Seconds for a still of 100 nodes: the first on a machine, the first of a process, and a later one."""
    first_ever = min(_first_still_with_an_empty_cache() for _ in range(5))
    first = min(_first_still(dict(os.environ)) for _ in range(5))
    scope: dict = {}
    exec(_HUNDRED_NODES, scope)
    later = best_times({"still": lambda: scope["draw"].html(scope["graph"])})["still"]
    return {"first ever": first_ever, "first of a process": first, "later": later}


def large_times() -> dict[str, float]:
    """Seconds to show 10,000 nodes, from tensor to notebook: of what repeats, and of what does not."""
    x = ak.ones(4, requires_grad=True)
    y = x
    for _ in range(3333):
        y = (y * x).tanh() + x
    lots = random.Random(0)
    values = [x, x + 1]
    while len(values) < 9_000:
        first, second = lots.choices(values[-30:], k=2)
        values.append(lots.choice((ak.mul, ak.add, ak.sub, ak.maximum))(first, second))
    ends = values[-30:]
    return best_times(
        {
            "repeating": lambda: ak.graph(y)._repr_mimebundle_(),
            "without repetition": lambda: ak.graph(*ends)._repr_mimebundle_(),
        }
    )


def _first_still_with_an_empty_cache() -> float:
    with tempfile.TemporaryDirectory() as cache:
        return _first_still({**os.environ, "XDG_CACHE_HOME": cache})


def _first_still(environment: dict[str, str]) -> float:
    timed = "started = time.perf_counter(); draw.html(graph); print(time.perf_counter() - started)"
    program = [sys.executable, "-c", _HUNDRED_NODES + timed]
    return float(subprocess.run(program, check=True, capture_output=True, text=True, env=environment).stdout)


def import_times() -> dict[str, float]:
    """Seconds from the start of a process to the end of the import, less those of an empty process."""
    # Without the end of the process, in which everything is taken apart again.
    programs = {"nothing": "pass", "numpy": "import numpy", "autokit": "import autokit"}
    programs = {name: f"import os; {program}; os._exit(0)" for name, program in programs.items()}
    times = best_process_times(programs, rounds=20)
    return {name: times[name] - times["nothing"] for name in ("numpy", "autokit")}
