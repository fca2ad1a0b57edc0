"""Many calls of many functions, in processes of their own: a crash or a hang is a finding, not the end."""

from __future__ import annotations

import multiprocessing
import random
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from multiprocessing.connection import Connection, wait
from typing import Any

import torch

from tests.fuzz.calls import Call, draw_call
from tests.fuzz.compare import note_library, run
from tests.fuzz.differences import Finding, finding
from tests.fuzz.programs import draw_program
from tests.fuzz.signatures import Target

SECONDS_WITHOUT_A_WORD = 30
"""How long a process may stay at one call before it is ended; Python's own alarm rings long before that."""

_fork = multiprocessing.get_context("fork")


def call_of(target: Target, seed: int, number: int) -> Call:
    """The call of ``target`` that a seed and a number name, the same at any time and in any order."""
    draw = draw_program if target.home == "programs" else draw_call
    return draw(random.Random(f"{target} {seed} {number}"), target)


class Report:
    """What was found of one function: each different finding once, by its shortest call, and how often."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.best: dict[tuple[str, ...], Finding] = {}
        self.counts: Counter[tuple[str, ...]] = Counter()

    def add(self, found: Finding) -> None:
        key = found.key()
        self.counts[key] += 1
        if key not in self.best or len(str(found.call)) < len(str(self.best[key].call)):
            self.best[key] = found


class _Process:
    """Calls of one function from a number on; its findings arrive through a pipe."""

    def __init__(self, target: Target, first: int, examples: int, seed: int) -> None:
        self.target, self.examples, self.seed = target, examples, seed
        self.at = _fork.Value("i", first)
        self.library = _fork.Value("i", 0)
        self.receive, send = _fork.Pipe(duplex=False)
        self.process = _fork.Process(target=self._work, args=(send, first))
        self.process.start()
        send.close()
        self.seen, self.since = first, time.monotonic()

    def _work(self, send: Connection, first: int) -> None:
        note_library(self.library)
        for number in range(first, self.examples):
            self.at.value = number
            try:
                call = call_of(self.target, self.seed, number)
                found = finding(self.target.name, self.target.home, call)
            except Exception:  # of the fuzzer's own
                words = "the fuzzer itself: " + traceback.format_exc().replace("\n", " ")[-300:]
                found = Finding(
                    f"{self.target.home}.{self.target.name}", "crash", words, Call({}, str(number))
                )
            if found is not None:
                send.send(found)
        send.send(None)

    def is_stuck(self) -> bool:
        if self.at.value != self.seen:
            self.seen, self.since = self.at.value, time.monotonic()
        return time.monotonic() - self.since > SECONDS_WITHOUT_A_WORD

    def end(self, how: str) -> Finding | None:
        """End the process at its call; a finding where it was autokit that did not come back."""
        exit_code = self.process.exitcode
        self.process.kill()
        self.process.join()
        if not self.library.value:
            return None  # it was in PyTorch
        call = call_of(self.target, self.seed, self.at.value)
        return Finding(f"{self.target.home}.{self.target.name}", how, f"exit code {exit_code}", call)


def reports(targets: list[Target], examples: int, seed: int, jobs: int = 1) -> Iterator[Report]:
    """What ``examples`` calls of each of ``targets`` find, as the functions come to their end."""
    run(torch, Call({"a": "T.ones(1, requires_grad=True)"}, "a * 2"))  # imports what all processes need
    import_module("torch._dynamo")  # so does an optimizer, which the alarm may ring in
    torch.distributions.Distribution.set_default_validate_args(True)  # which that import switched off
    waiting = list(reversed(targets))
    at_work: dict[Any, tuple[_Process, Report]] = {}

    def start(report: Report, first: int) -> None:
        process = _Process(report.target, first, examples, seed)
        at_work[process.receive] = process, report

    while waiting or at_work:
        while waiting and len(at_work) < jobs:
            start(Report(waiting.pop()), 0)
        ready: list[Any] = wait(list(at_work), timeout=1)
        for receive in ready:
            process, report = at_work[receive]
            try:
                found = receive.recv()
            except EOFError:  # the interpreter itself came to an end
                process.process.join()
                found = process.end("crash")
                del at_work[receive]
                start(report, process.at.value + 1)
            if found is not None:
                report.add(found)
            elif receive in at_work:
                process.process.join()
                del at_work[receive]
                yield report
        for receive, (process, report) in list(at_work.items()):
            if receive not in ready and process.is_stuck():
                found = process.end("hang")
                if found is not None:
                    report.add(found)
                del at_work[receive]
                start(report, process.at.value + 1)
