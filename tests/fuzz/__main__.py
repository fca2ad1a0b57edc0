"""Fuzz the public functions beside PyTorch: ``python -m tests.fuzz --examples 2000 [NAME ...]``.

Prints each different finding once, with the shortest call that shows it, and how many calls were made.

Of ``functional.*``, 116 functions, 3,000 calls of each were made under each of the seeds 13, 14 and 15, which
is 348,000 a seed: 26, 11 and 9 findings, after 505 in 300 calls of each at first.  They were mended,
or have their reason in ``differences.txt``; of one, results of millions of elements, the time was the test's.

Seeds 1 to 5 made 4,500 calls of each of the 505 functions of ``torch``, ``torch.linalg`` and
``torch.special``, 2,272,500 in all.  What they found was mended, or ``differences.txt`` tells it, but
for what is as rare as the last of it: the 757,500 calls of seed 5 came to no crash, no hang, two other
results and 31 other errors or gradients, 12 of which are left.
"""

from __future__ import annotations

import argparse
import fnmatch
from collections import Counter
from pathlib import Path

import torch

from tests.fuzz.programs import program_targets
from tests.fuzz.running import Report, reports
from tests.fuzz.signatures import targets

ORDER = ("hang", "crash", "result", "gradient", "operand", "backward", "refused", "accepted", "type", "words")
"""Kinds of findings, the most damaging first."""


def _lines(report: Report, kinds: list[str]) -> list[str]:
    best = sorted(report.best.items(), key=lambda each: ORDER.index(each[1].kind))
    return [
        f"[{found.kind} ×{report.counts[key]}] {found.name}: {found.words}\n    {found.call}"
        for key, found in best
        if found.kind in kinds
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz autokit beside PyTorch.")
    parser.add_argument("names", nargs="*", default=["*"], help="patterns such as functions.sum or linalg.*")
    parser.add_argument("--examples", type=int, default=2000, help="calls for each function")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="functions at a time, each in its own process")
    parser.add_argument("--kinds", default=",".join(ORDER), help="the kinds of findings to print")
    parser.add_argument("--write", type=Path, help="a file for the findings too, and for the summary")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    asked = [
        target
        for target in [*targets(), *program_targets()]
        if any(fnmatch.fnmatchcase(f"{target.home}.{target.name}", each) for each in chosen.names)
    ]
    kinds: Counter[str] = Counter()
    written: list[str] = []
    for report in reports(asked, chosen.examples, chosen.seed, chosen.jobs):
        kinds.update(found.kind for found in report.best.values())
        lines = _lines(report, chosen.kinds.split(","))
        written += lines
        for line in lines:
            print(line, flush=True)
    summary = (
        f"{len(asked)} functions, {chosen.examples} calls of each, {len(asked) * chosen.examples} calls, "
        f"seed {chosen.seed}; findings: "
        + (", ".join(f"{kind} {kinds[kind]}" for kind in ORDER if kinds[kind]) or "none")
    )
    print(summary)
    if chosen.write:
        chosen.write.write_text("\n".join([*written, summary, ""]), "utf-8")


if __name__ == "__main__":
    main()
