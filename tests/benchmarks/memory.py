"""How much memory a graph takes: the bytes of a node in a long chain, and the peak of a training step."""

from __future__ import annotations

from tests.support import printed_by

_CHAIN = """
import importlib, sys
torch = importlib.import_module({module!r})

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

x = torch.ones(1, requires_grad=True)
y = x * 1
before = resident()
for _ in range({nodes}):
    y = y + x
print((resident() - before) / {nodes})
"""

_STEP = """
import tracemalloc
import numpy as np
import autokit as torch
from autokit import nn

layers, batch, width = 50, 4096, 64
model = nn.Sequential(*[layer for _ in range(layers) for layer in (nn.Linear(width, width), nn.Tanh())])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.rand(batch, width)
saved = (layers + 1) * batch * width * 4 + layers * width * width * 4

def step():
    optimizer.zero_grad()
    model(x).mean().backward()
    optimizer.step()

step()
tracemalloc.start()
held = x.array.nbytes + sum(p.array.nbytes for p in model.parameters())
step()
print((tracemalloc.get_traced_memory()[1] + held) / saved)
"""


def bytes_per_node(module: str, nodes: int = 1_000_000) -> float:
    """What one addition in a chain of ``nodes`` adds to the memory of the process (Linux only)."""
    return float(printed_by(_CHAIN.format(module=module, nodes=nodes)))


def peak_of_a_step() -> float:
    """The peak memory of a training step of 50 tanh layers, over the size of the arrays that it saves."""
    return float(printed_by(_STEP))
