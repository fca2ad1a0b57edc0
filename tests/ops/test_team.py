"""Compiled loops on several threads: every piece once, nothing lost, nobody left waiting."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import autokit as torch
from autokit import threads
from tests.support import require

require("numba")

from autokit.ops import shared_loops, team  # noqa: E402
from autokit.ops.shared_loops import Shared, let_others  # noqa: E402


def count_up(into):
    for i in range(into.size):
        into[i] += 1


def meet(into, everyone):
    """Wait a while until a second piece has begun, which only another thread can begin."""
    into[0] = 1
    for _ in range(20_000):
        if everyone.sum() > 1:
            break
        let_others()
    into[0] = min(everyone.sum(), 2)


def fail_at_seven(a, into):
    for i in range(a.size):
        if a[i] == 7:
            raise ValueError
        into[i] = a[i]


@pytest.fixture(autouse=True)
def own_threads() -> Iterator[None]:
    before = threads.get_count()
    yield
    threads.set_count(before)


def until(holds: Callable[[], bool]) -> bool:
    """Whether it came to hold within half a minute."""
    end = time.monotonic() + 30
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.001)
    return found  # asked again it might hold no more


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("length", [1, 7, 64, 1001])
@pytest.mark.parametrize("step", [1, 8, 5000])
def test_each_place_is_done_once(count: int, length: int, step: int):
    threads.set_count(count)
    into = np.zeros(length)
    loop = Shared(count_up, (into,), (0,))
    for _ in range(20):
        team.share(loop, -(-length // step), step, (into,))
    assert (into == 20).all()


def test_the_pieces_do_run_on_other_threads():
    threads.set_count(2)
    loop = Shared(meet, (np.zeros(4), np.zeros(4)), (0,))

    def shared() -> bool:
        into = np.zeros(4)
        team.share(loop, 4, 1, (into, into))
        return bool(into[0] == 2)

    assert until(shared)  # not each time: a helper that comes late is not waited for


def test_a_piece_that_fails_is_told_on_whichever_thread_and_the_next_job_goes_well():
    threads.set_count(3)
    a, into = np.arange(16.0), np.zeros(16)
    loop = Shared(fail_at_seven, (a, into), (0, 1))
    for _ in range(50):
        with pytest.raises(MemoryError, match="fail_at_seven"):
            team.share(loop, 16, 1, (a, into))
        team.share(loop, 16, 1, (-a, into))
        np.testing.assert_array_equal(into, -a)


def test_jobs_of_several_threads_do_not_disturb_each_other():
    threads.set_count(3)
    loop = Shared(count_up, (np.zeros(1),), (0,))
    arrays = [np.zeros(1000 + place) for place in range(4)]

    def ask(into: np.ndarray) -> None:
        for _ in range(300):
            team.share(loop, 100, 11, (into,))

    asking = [threading.Thread(target=ask, args=(into,)) for into in arrays]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join(60)
        assert not thread.is_alive()
    for into in arrays:
        assert (into == 300).all()


def test_a_shared_piece_of_python_may_ask_for_a_loop_itself():
    threads.set_count(3)
    x = torch.linspace(-4, 4, 600_000)
    expected = x.sigmoid().numpy()
    results: list[np.ndarray] = []
    threads.each(lambda piece: results.append(x.sigmoid().numpy()), range(12))
    assert len(results) == 12
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_helpers_fall_asleep_and_are_woken():
    threads.set_count(3)
    into = np.zeros(100)
    loop = Shared(count_up, (into,), (0,))
    for _ in range(3):
        team.share(loop, 100, 1, (into,))
        current = team._Current.team
        assert current is not None and len(current.helpers) == 2
        assert until(lambda: len(current.asleep) == 2)
    assert (into == 3).all()


def test_another_number_of_threads_sends_those_before_home():
    into = np.zeros(100)
    loop = Shared(count_up, (into,), (0,))
    threads.set_count(4)
    team.share(loop, 100, 1, (into,))
    before = team._Current.team
    assert before is not None
    threads.set_count(2)
    team.share(loop, 100, 1, (into,))
    assert not any(helper.is_alive() for helper in before.helpers)
    before.run(loop, 1, (into,), 3)  # of a thread that still had it
    assert (into == 3).all()


def test_arguments_are_given_back():
    """A helper keeps no array of the last job: its memory is free as soon as the program lets go of it."""
    threads.set_count(2)
    into = np.zeros(100)
    team.share(Shared(count_up, (into,), (0,)), 100, 1, (into,))
    there = weakref.ref(into)
    del into
    assert there() is None


def test_numbers_of_each_kind_and_arrays_that_refuse_to_be_written_arrive():
    def written(a, into, whole, fraction, single, flag):
        for i in range(into.size):
            into[i] = a[i] + whole + fraction + single if flag else -a[i]

    threads.set_count(2)
    a = np.arange(12.0)
    a.flags.writeable = False
    into = np.zeros(12)
    arguments = (a, into, 3, 0.25, np.float32(0.5), True)
    team.share(Shared(written, arguments, (0, 1)), 12, 1, arguments)
    np.testing.assert_array_equal(into, a + 3.75)
    team.share(Shared(written, arguments, (0, 1)), 12, 1, (*arguments[:-1], False))
    np.testing.assert_array_equal(into, -a)


@pytest.mark.parametrize("pause", ["", "import time; time.sleep(0.05)"], ids=["looking", "asleep"])
def test_a_program_ends_while_helpers_wait(pause: str):
    program = f"""
import autokit as torch
torch.set_num_threads(3)
x = torch.ones(1_000_000, requires_grad=True)
x.sigmoid().sum().backward()
{pause}
print(float(x.grad[0]))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("0.196")


def test_what_is_kept_on_disk_bears_the_version_of_the_file_that_made_it():
    loop = Shared(count_up, (np.zeros(1),), (0,))
    assert loop.function.__name__ == f"count_up_{shared_loops.VERSION}"
