"""Fuzz the public functions beside PyTorch: ``python -m tests.fuzz --examples 2000 [NAME ...]``.

Prints each different finding once, with the shortest call that shows it, and how many calls were made.
"""

from __future__ import annotations

import argparse
import fnmatch
import multiprocessing
import random
from collections import Counter

import torch

from tests.fuzz.calls import Call, draw_call
from tests.fuzz.compare import Finding, finding
from tests.fuzz.signatures import Target, targets

ORDER = ("hang", "result", "gradient", "operand", "crash", "backward", "refused", "accepted", "type", "words")
"""Kinds of findings, the most damaging first."""


def _in_a_process_of_its_own(target: Target, examples: int, seed: int) -> list[Finding]:
    """The findings of ``target``; a crash of the interpreter ends that process alone, and is a finding."""
    fork = multiprocessing.get_context("fork")
    receive, send = fork.Pipe(duplex=False)

    def work() -> None:
        found = []
        for number in range(examples):
            call = draw_call(random.Random(f"{target} {seed} {number}"), target)
            each = finding(target.name, target.home, call)
            if each is not None:
                found.append(each)
        send.send(found)

    process = fork.Process(target=work)
    process.start()
    send.close()
    try:
        found = receive.recv()
    except EOFError:
        process.join()
        return [Finding(f"{target.home}.{target.name}", "crash", f"exit {process.exitcode}", Call({}, ""))]
    process.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz autokit beside PyTorch.")
    parser.add_argument("names", nargs="*", default=["*"], help="patterns such as functions.sum or linalg.*")
    parser.add_argument("--examples", type=int, default=2000, help="calls for each function")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(ORDER), help="the kinds of findings to print")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    kinds: Counter[str] = Counter()
    calls = 0
    for target in targets():
        if not any(fnmatch.fnmatchcase(f"{target.home}.{target.name}", each) for each in chosen.names):
            continue
        best: dict[tuple[str, ...], Finding] = {}
        counts: Counter[tuple[str, ...]] = Counter()
        for found in _in_a_process_of_its_own(target, chosen.examples, chosen.seed):
            key = found.key()
            counts[key] += 1
            if key not in best or len(str(found.call)) < len(str(best[key].call)):
                best[key] = found
        calls += chosen.examples
        for key, found in sorted(best.items(), key=lambda each: ORDER.index(each[1].kind)):
            kinds[found.kind] += 1
            if found.kind in chosen.kinds.split(","):
                print(
                    f"[{found.kind} ×{counts[key]}] {found.name}: {found.words}\n    {found.call}", flush=True
                )
    print(f"{calls} calls; findings: {dict(kinds)}")


if __name__ == "__main__":
    main()
