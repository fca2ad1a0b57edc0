"""What the live widgets cost in a real kernel: a move in the playground, and a step under the monitor."""

from __future__ import annotations

import json
from typing import Any

_PLAYGROUND = """
import time, json
import autokit as ak
def chain(a, b):
    y = a
    for _ in range(33):
        y = (y * b).tanh() + a
    return y
board = ak.playground(chain, a=(-1, 1), b=(-1, 1))
times = []
for k in range(60):
    began = time.perf_counter()
    board.a = -0.9 + k / 40
    times.append(time.perf_counter() - began)
times.sort()
print(json.dumps({"nodes": len(board._moment.graph), "best": times[0], "half": times[30], "most": times[-2]}))
"""

_MONITOR = """
import time, json
import autokit as torch
from autokit import nn, optim
x, y = torch.randn(128, 64), torch.randn(128, 1)
def steps(count, watched):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
    optimizer = optim.Adam(model.parameters())
    watch = torch.monitor(model, optimizer, total=count) if watched else None
    began = time.perf_counter()
    for _ in range(count):
        optimizer.zero_grad()
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        if watch is not None:
            watch.step(loss)
    took = (time.perf_counter() - began) / count
    if watch is not None:
        watch.close()
    return took
steps(200, True)
rounds = [(steps(400, False), steps(400, True)) for _ in range(16)]
plain, watched = (min(times) for times in zip(*rounds))
print(json.dumps({"plain": plain, "watched": watched, "ratios": sorted(w / p for p, w in rounds)}))
"""


def in_a_kernel(program: str) -> dict[str, Any]:
    """What ``program`` prints as JSON, run in a kernel of its own that sends its widgets' messages."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel()
    said: list[str] = []

    def hear(message: dict[str, Any]) -> None:
        content = message["content"]
        said.append(content.get("text", "") if message["msg_type"] == "stream" else "")
        if message["msg_type"] == "error":
            raise RuntimeError("\n".join(content["traceback"]))

    try:
        client.execute_interactive(program, timeout=300, output_hook=hear)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    found: dict[str, Any] = json.loads("".join(said))
    return found


def main() -> None:
    """Print what it costs."""
    found = in_a_kernel(_PLAYGROUND)
    times = ", ".join(f"{name} {found[name] * 1e3:.1f} ms" for name in ("best", "half", "most"))
    print(f"a move in a playground of {found['nodes']} nodes: {times}")
    found = in_a_kernel(_MONITOR)
    print(
        f"a training step of {found['plain'] * 1e3:.2f} ms under the monitor: "
        f"{100 * (found['watched'] / found['plain'] - 1):.1f} % more (half of the rounds "
        f"{100 * (found['ratios'][len(found['ratios']) // 2] - 1):.1f} % more)"
    )


if __name__ == "__main__":
    main()
