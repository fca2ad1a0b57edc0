"""No crash, no hang, no silent wrong answer, no other error: random calls of every function, beside PyTorch.

Each run here makes the same few calls; ``python -m tests.fuzz`` makes thousands.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from tests.support import require

require("torch")
import torch  # noqa: E402

from tests.fuzz.calls import read_call  # noqa: E402
from tests.fuzz.checks import CHECKS  # noqa: E402
from tests.fuzz.compare import difference  # noqa: E402
from tests.fuzz.differences import DIFFERENCES, Difference, finding  # noqa: E402
from tests.fuzz.mistakes import mistakes, working_call  # noqa: E402
from tests.fuzz.programs import program_targets  # noqa: E402
from tests.fuzz.running import call_of  # noqa: E402
from tests.fuzz.signatures import Target, targets  # noqa: E402

SEED = 2026
CALLS = 6
"""How many calls of each function are made here."""
MISTAKES = 4
"""How many mistakes are made in one call of each function."""
PROGRAMS = 3
"""How many programs of each kind."""
MENDED = Path(__file__).with_name("mended.txt").read_text("utf-8").splitlines()
"""Calls that once came to another result than in PyTorch, or to another error, each after its function."""


@pytest.fixture(autouse=True)
def one_thread():
    """Of several threads of PyTorch's, chance tells which is the last to write to a place."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def values_are_looked_at():
    """PyTorch's compiler, once another test has loaded it, switches its distributions' checks off."""
    torch.distributions.Distribution.set_default_validate_args(True)


@pytest.mark.parametrize("target", targets(), ids=lambda target: f"{target.home}.{target.name}")
def test_random_calls_answer_as_in_pytorch(target: Target):
    for number in range(CALLS):
        found = finding(target.name, target.home, call_of(target, SEED, number))
        assert found is None, f"{found.kind}: {found.words}\n{found.call}"


@pytest.mark.parametrize("target", targets(), ids=lambda target: f"{target.home}.{target.name}")
def test_mistakes_answer_as_in_pytorch(target: Target):
    call = working_call(target, SEED)
    every = [] if call is None else [*mistakes(call)]
    for wrong in random.Random(f"{target}").sample(every, min(MISTAKES, len(every))):
        found = finding(target.name, target.home, wrong)
        assert found is None, f"{found.kind}: {found.words}\n{found.call}"


@pytest.mark.parametrize("target", program_targets(), ids=lambda target: target.name)
def test_random_programs_answer_as_in_pytorch(target: Target):
    for number in range(PROGRAMS):
        found = finding(target.name, target.home, call_of(target, SEED, number))
        assert found is None, f"{found.kind}: {found.words}\n{found.call}"


@pytest.mark.parametrize("line", MENDED)
def test_what_was_mended_answers_as_in_pytorch(line: str):
    function, call = line.split(": ", 1)
    assert difference(function.partition(".")[2], read_call(call)) is None


@pytest.mark.parametrize("known", DIFFERENCES, ids=lambda known: known.shown_by)
def test_a_known_difference_still_occurs(known: Difference):
    name, call = known.call()
    found = difference(name, call)
    assert found is not None, f"{name} answers as in PyTorch now: {known.reason} Take it off the table."
    assert known.covers(name, *found, call), found


@pytest.mark.parametrize("known", DIFFERENCES, ids=lambda known: known.shown_by)
def test_another_value_than_pytorch_is_shown_to_be_right(known: Difference):
    assert {each.strip() for each in known.check.split("|") if each} <= CHECKS.keys()
    told = re.fullmatch(r"\^.*\$", known.words) is not None  # the words themselves say all of it
    assert known.check or told or not {"result", "gradient", "operand"} & {*known.kind.split("|")}
