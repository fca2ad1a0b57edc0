"""Random calls of the public functions beside PyTorch: ``python -m tests.fuzz [--calls 100000] [WORD ...]``.

With words, only the rows that hold one of them are drawn from. Each kind of difference of a row is told once,
with the smallest call that shows it.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import torch

from tests.fuzz.calls import AGREED, Call, difference, drawn
from tests.fuzz.rows import ROWS


def main() -> None:
    """Make the calls, and tell what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    rows = [
        row for row in ROWS.strip().split("\n") if not chosen.words or any(w in row for w in chosen.words)
    ]
    found: dict[tuple[str, str], tuple[int, str, Call]] = {}
    counts: Counter[tuple[str, str]] = Counter()
    began = time.monotonic()
    for place in range(chosen.calls):
        row = rows[place % len(rows)]
        one = drawn(row, chosen.seed * 10_000_019 + place)
        differs = difference(one.call, one.strided)
        if differs not in (None, AGREED):
            kind, words = differs
            size = sum(array.size for array in one.call.operands.values())
            counts[row, kind] += 1
            if (row, kind) not in found or size < found[row, kind][0]:
                found[row, kind] = size, words, one.call
    for (row, kind), (_, words, call) in found.items():
        print(f"{kind} ({counts[row, kind]} times)\n  {call}\n  {words}")
    print(f"{chosen.calls} calls, {len(found)} kinds of differences, {time.monotonic() - began:.0f} s")


main()
