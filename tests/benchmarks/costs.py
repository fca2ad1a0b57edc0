"""What else costs: the import, the first backward pass, the memory of a graph and of a step, pictures."""

from __future__ import annotations

import random
from collections.abc import Iterator

import autokit as ak
from tests.benchmarks.measure import best_times, numbers_of

_IMPORTS = """
import time
started = time.process_time()
import numpy
numpy_is_here = time.process_time()
import autokit as torch
autokit_is_here = time.process_time()
x = torch.tensor([1.0, 2.0], requires_grad=True)
((x * x + x) ** 2).sum().backward()
ended = time.process_time()
print(numpy_is_here - started, autokit_is_here - started, ended - autokit_is_here)
"""

_NODES = """
import importlib
torch = importlib.import_module({module!r})

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

x = torch.ones(1, requires_grad=True)
y = x * 1
before = resident()
for _ in range(1_000_000):
    y = y + 0.0
print((resident() - before) / 1_000_000)
"""

_STEP = """
import tracemalloc
import autokit as torch
from autokit import nn, optim

layers, batch, width = 50, 4096, 64
model = nn.Sequential(*[layer for _ in range(layers) for layer in (nn.Linear(width, width), nn.Tanh())])
optimizer = optim.SGD(model.parameters(), lr=0.01)
x = torch.rand(batch, width)
saved = (layers + 1) * batch * width * 4 + layers * width * width * 4

def step():
    optimizer.zero_grad()
    model(x).mean().backward()
    optimizer.step()

step()
tracemalloc.start()
held = x.array.nbytes + sum([p.array.nbytes for p in model.parameters()])
step()
print((tracemalloc.get_traced_memory()[1] + held) / saved)
"""


def lines() -> Iterator[str]:
    """The rows of the table."""
    beside, own, first = numbers_of(_IMPORTS, 20)
    yield f"| `import autokit` | {own * 1e3:.0f} ms | {own / beside:.2f} of `import numpy` | 1.5 |"
    yield f"| the first small `backward()` after it | {first * 1e3:.1f} ms | | 10 ms |"
    (own,) = numbers_of(_NODES.format(module="autokit"), 1)
    try:
        (other,) = numbers_of(_NODES.format(module="torch"), 1)
        ratio = f"{own / other:.2f} of PyTorch"
    except (ValueError, IndexError):  # it is not installed
        ratio = ""
    yield f"| a node in a chain of a million, `y = y + 0.0` | {own:.0f} bytes | {ratio} | 450 bytes |"
    (peak,) = numbers_of(_STEP, 1)
    yield f"| peak memory of a step of 50 tanh layers | {peak:.2f} | of the arrays that it saves | |"
    yield from _pictures()


def _pictures() -> Iterator[str]:
    """From tensor to notebook: a hundred nodes, and ten thousand that repeat, and that do not."""
    x = ak.ones(4, requires_grad=True)
    y = few = x
    for turn in range(3333):
        y = (y * x).tanh() + x
        few = y if turn == 32 else few
    draw = random.Random(0)
    values = [x, x + 1]
    while len(values) < 9_000:
        first, second = draw.choices(values[-30:], k=2)
        values.append(draw.choice((ak.mul, ak.add, ak.sub, ak.maximum))(first, second))
    found = best_times(
        {
            "a still of 100 nodes": lambda: ak.graph(few)._repr_mimebundle_(),
            "a still of 10,000 nodes, folded to a page": lambda: ak.graph(y)._repr_mimebundle_(),
            "a still of 9,000 nodes without repetition": lambda: ak.graph(*values[-30:])._repr_mimebundle_(),
        },
        rounds=5,
    )
    for title, time in found.items():
        yield f"| {title} | {time * 1e3:.0f} ms | | |"
