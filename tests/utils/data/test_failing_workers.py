"""Workers that fail, hang or are killed, and loops and programs that end early: an error, and a clean end."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import time

import pytest

import autokit as ak
from autokit.utils import data
from tests.utils.data.processes import Squares, children, program

if sys.platform != "linux":
    pytest.skip("needs Linux, where workers are forked", allow_module_level=True)

pytestmark = pytest.mark.usefixtures("nothing_is_left")


# ---------------------------------------------------------------- what goes wrong in a worker


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("no such sample"), ValueError),
        (KeyError("cat"), KeyError),
        (UnicodeDecodeError("utf-8", b"x", 0, 1, "five arguments"), RuntimeError),
        (type("Local", (LookupError,), {})("gone"), LookupError),
    ],
    ids=["value", "key", "several arguments", "local"],
)
def test_an_exception_comes_with_the_workers_traceback(error: Exception, expected: type[Exception]):
    def fail(index: int) -> None:
        if index == 3:
            raise error

    received = []
    with pytest.raises(expected) as caught:
        for batch in data.DataLoader(Squares(6, fail), num_workers=2):
            received.append(batch[0].item())
    assert received == [0, 1, 2]
    text = str(caught.value)
    assert text.startswith(
        f"Caught {type(error).__name__} in DataLoader worker process 1.\nOriginal Traceback"
    )
    assert "in fail\n" in text and "raise error" in text


def test_errors_of_collate_and_init_come_too():
    with pytest.raises(ZeroDivisionError):
        list(data.DataLoader(Squares(), num_workers=1, worker_init_fn=lambda worker_id: 1 / 0))
    with pytest.raises(RuntimeError, match=r"got \[1\] at entry 0 and \[2\] at entry 1"):
        list(data.DataLoader([ak.ones(1), ak.ones(2)], batch_size=2, num_workers=1))


def test_a_batch_that_cannot_be_pickled_says_so():
    with pytest.raises(Exception, match="is pickled on its way from a worker"):
        list(data.DataLoader(Squares(), num_workers=1, collate_fn=lambda samples: lambda: None))


def test_persistent_workers_go_on_after_an_exception_and_a_break():
    def fail(index: int) -> None:
        if index == 3:
            raise ValueError(os.getpid())

    loader = data.DataLoader(Squares(6, fail), num_workers=2, persistent_workers=True)
    next(iter(loader))
    running = children()
    for _ in range(2):
        received = []
        with pytest.raises(ValueError, match="Caught"):
            for batch in loader:
                received.append(batch[0].item())
        assert received == [0, 1, 2]
    assert children() == running
    first = iter(loader)
    next(iter(loader))
    with pytest.raises(RuntimeError, match="persistent workers serve one at a time"):
        next(first)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_worker_killed_by_a_signal(number: signal.Signals):
    def die(index: int) -> None:
        if index == 2:
            faulthandler.disable()  # which pytest has set up to write a page
            os.kill(os.getpid(), number)

    before = children()
    loader = data.DataLoader(Squares(40, die), num_workers=2, persistent_workers=True)
    with pytest.raises(RuntimeError, match=rf"is killed by signal: {signal.strsignal(number)}"):
        list(loader)
    assert children() == before  # the other one is ended too
    loader.dataset.seen = lambda index: None
    assert len(list(loader)) == 40  # with new workers


def test_a_worker_that_exits():
    with pytest.raises(RuntimeError, match=r"\(pid\(s\) \d+\) exited unexpectedly with exit code 3"):
        list(data.DataLoader(Squares(4, lambda index: os._exit(3)), num_workers=1))
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(data.DataLoader(Squares(4, lambda index: sys.exit()), num_workers=1))


def test_a_worker_that_hangs_is_given_up_after_the_timeout():
    def hang(index: int) -> None:
        if index == 1:
            time.sleep(600)

    began = time.monotonic()
    received = []
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.3 seconds"):
        for batch in data.DataLoader(Squares(4, hang), num_workers=2, timeout=0.3):
            received.append(batch[0].item())
    assert received == [0]
    assert time.monotonic() - began < 60


# ---------------------------------------------------------------- the end of a loop, and of the program


def test_a_break_ends_the_workers():
    before = children()
    for _ in data.DataLoader(Squares(1000), num_workers=2):
        assert len(children() - before) == 2
        break
    assert children() == before
    iter(data.DataLoader(Squares(1000), num_workers=2))  # never begun
    assert children() == before
    with pytest.raises(ZeroDivisionError):
        for _ in data.DataLoader(Squares(1000), num_workers=2):
            1 / 0  # noqa: B018
    assert children() == before


def test_loaders_inside_each_other():
    outer = data.DataLoader(Squares(3), num_workers=1)
    pairs = [(a[0].item(), b[0].item()) for a in outer for b in outer]
    assert pairs == [(a, b) for a in range(3) for b in range(3)]


PROGRAM = """
    import os, sys, time
    from autokit.utils import data

    class Slow(data.Dataset):
        def __getitem__(self, index):
            if index >= 4:
                time.sleep(600)
            return index
        def __len__(self):
            return 100

    loader = iter(data.DataLoader(Slow(), num_workers=2))
    print(next(loader), flush=True)
    how = sys.argv[1]
    if how == "wait":
        for _ in loader:
            pass
    elif how == "exception":
        raise ValueError("in the loop")
    elif how == "hold":
        print("held", flush=True)
        time.sleep(600)
"""


def group_is_gone(group: int) -> bool:
    """Whether no process of the group is left, after a while."""
    for _ in range(300):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("whom", ["group", "program"])
def test_an_interrupt_ends_program_and_workers(whom: str):
    process = program(PROGRAM, "wait")
    assert process.stdout.readline() == "tensor([0])\n"
    time.sleep(0.3)
    (os.killpg if whom == "group" else os.kill)(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert errors.count("Traceback") == 1 and errors.rstrip().endswith("KeyboardInterrupt")
    assert group_is_gone(process.pid)


@pytest.mark.parametrize(("how", "code"), [("end", 0), ("exception", 1)])
def test_the_end_of_the_program_ends_the_workers(how: str, code: int):
    process = program(PROGRAM, how)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == code
    assert errors.count("Traceback") == code and ("in the loop" in errors) == bool(code)
    assert group_is_gone(process.pid)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_of_a_killed_program_end_by_themselves(number: signal.Signals):
    process = program(PROGRAM, "hold")
    assert process.stdout.readline() and process.stdout.readline() == "held\n"
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == -number
    assert group_is_gone(process.pid)
