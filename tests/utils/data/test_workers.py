"""Loading in parallel processes: the same batches in order, and a clean end whatever happens."""

from __future__ import annotations

import faulthandler
import gc
import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit as ak
from autokit.utils import data
from tests.support import require

ROOT = Path(__file__).parents[3]

if sys.platform != "linux":
    pytest.skip("needs Linux, where workers are forked", allow_module_level=True)


class Squares(data.Dataset):
    """``seen`` is called in the worker with each index."""

    def __init__(self, size: int = 10, seen: Callable[[int], Any] = lambda index: None) -> None:
        self.size, self.seen = size, seen

    def __getitem__(self, index: int) -> tuple[int, float]:
        self.seen(index)
        return index, float(index**2)

    def __len__(self) -> int:
        return self.size


def numbers(loader: Any) -> list[Any]:
    return [[part.tolist() for part in batch] for batch in loader]


def children() -> set[int]:
    """The processes that this one has started, zombies included."""
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def left() -> tuple[set[int], int, set[str]]:
    """Processes, open files and blocks of shared memory."""
    return children(), len(os.listdir("/proc/self/fd")), set(os.listdir("/dev/shm"))


@pytest.fixture(autouse=True)
def nothing_is_left():
    """No process, open file or shared memory block outlives a test."""
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # spawn leaves one running until the program ends
    before = left()
    yield
    if left() != before:
        gc.collect()
    assert left() == before


# ---------------------------------------------------------------- the same batches


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    size=st.integers(1, 30),
    batch_size=st.none() | st.integers(1, 9),
    workers=st.integers(1, 3),
    prefetch=st.integers(1, 3),
    shuffle=st.booleans(),
    generator=st.booleans(),
    persistent=st.booleans(),
)
def test_two_epochs_and_the_random_stream_after_them_are_pytorchs(
    seed: int,
    size: int,
    batch_size: int | None,
    workers: int,
    prefetch: int,
    shuffle: bool,
    generator: bool,
    persistent: bool,
):
    require("torch")
    import torch

    def epochs(module: Any, make: Any) -> list[Any]:
        module.manual_seed(seed)
        own = module.Generator().manual_seed(seed + 1) if generator else None
        loader = make(
            Squares(size),
            batch_size=batch_size,
            shuffle=shuffle,
            num_workers=workers,
            generator=own,
            prefetch_factor=prefetch,
            persistent_workers=persistent,
        )
        batches = [
            [part.tolist() if hasattr(part, "tolist") else part for part in batch]
            for _ in range(2)
            for batch in loader
        ]
        end = [] if own is None else module.rand(2, generator=own).tolist()
        return [batches, module.rand(2).tolist(), end]

    assert epochs(ak, data.DataLoader) == epochs(torch, torch.utils.data.DataLoader)


def test_each_worker_draws_from_pytorchs_seeds():
    require("torch")
    import random

    import torch

    class Draws(data.Dataset):
        def __init__(self, module: Any, info: Any) -> None:
            self.module, self.info = module, info

        def __getitem__(self, index: int) -> Any:
            drawn = self.module.rand(1).item(), random.random(), np.random.rand()
            return *drawn, self.info().seed, self.info().id, self.info().num_workers

        def __len__(self) -> int:
            return 6

    def epochs(module: Any, loading: Any, **options: Any) -> list[Any]:
        module.manual_seed(3)
        loader = loading.DataLoader(Draws(module, loading.get_worker_info), num_workers=2, **options)
        return [numbers(loader), numbers(loader)]

    for options in ({}, {"persistent_workers": True}):
        assert epochs(ak, data, **options) == epochs(torch, torch.utils.data, **options)
    assert data.get_worker_info() is None


class Stream(data.IterableDataset):
    """Of each worker's own numbers, as many as ``lengths`` says."""

    def __init__(self, lengths: list[int]) -> None:
        self.lengths = lengths

    def __iter__(self) -> Iterator[int]:
        worker = data.get_worker_info()
        assert worker is not None and worker.dataset is self
        return iter(range(100 * worker.id, 100 * worker.id + self.lengths[worker.id]))


def test_a_stream_is_shared_out_by_worker_info():
    def batches(**options: Any) -> list[Any]:
        return [b.tolist() for b in data.DataLoader(Stream([5, 2]), num_workers=2, **options)]

    assert batches(batch_size=2) == [[0, 1], [100, 101], [2, 3], [4]]
    assert batches(batch_size=2, drop_last=True) == [[0, 1], [100, 101], [2, 3]]
    assert [int(x) for x in data.DataLoader(Stream([2, 0]), batch_size=None, num_workers=2)] == [0, 1]
    loader = data.DataLoader(Stream([3, 4]), batch_size=2, num_workers=2, persistent_workers=True)
    assert (
        [b.tolist() for b in loader] == [b.tolist() for b in loader] == [[0, 1], [100, 101], [2], [102, 103]]
    )


def test_without_order_nobody_waits_for_a_slow_worker():
    import multiprocessing

    last_is_done = multiprocessing.get_context("fork").Event()

    def first_waits_for_last(index: int) -> None:
        if index == 0:
            last_is_done.wait(20)
        elif index == 5:
            last_is_done.set()

    loader = data.DataLoader(Squares(6, first_waits_for_last), num_workers=2, in_order=False)
    order = [batch[0].item() for batch in loader]
    assert order[:2] == [1, 3] and sorted(order) == list(range(6))


def test_workers_load_at_the_same_time():
    """Each waits until the other is at work too."""
    import multiprocessing

    here = [multiprocessing.get_context("fork").Event() for _ in range(2)]

    def meet(index: int) -> None:
        here[index].set()
        assert here[1 - index].wait(20)

    assert len(list(data.DataLoader(Squares(2, meet), num_workers=2))) == 2


def test_worker_init_fn_is_called_in_each_worker():
    def tell(worker_id: int) -> None:
        os.environ["AUTOKIT_TEST_WORKER"] = str(worker_id)

    class Told(Squares):
        def __getitem__(self, index: int) -> Any:
            return int(os.environ["AUTOKIT_TEST_WORKER"])

    told = data.DataLoader(Told(4), num_workers=2, worker_init_fn=tell)
    assert [batch.item() for batch in told] == [0, 1, 0, 1]
    assert "AUTOKIT_TEST_WORKER" not in os.environ


@pytest.mark.parametrize("size", [3, 5000, 300_000])
def test_arrays_of_any_size_and_kind_come_over_and_can_be_written(size: int):
    class Mixed(data.Dataset):
        def __getitem__(self, index: int) -> Any:
            half = ak.arange(size).to(ak.bfloat16 if size < 1000 else ak.float16)
            return {"a": ak.full((size,), float(index)), "b": [half, "text"], "c": ak.ones(2, 0)}

        def __len__(self) -> int:
            return 2

    require("ml_dtypes")
    here = list(data.DataLoader(Mixed(), batch_size=2))
    there = list(data.DataLoader(Mixed(), batch_size=2, num_workers=1))
    assert (there[0]["a"] == here[0]["a"]).all() and there[0]["a"].shape == (2, size)
    assert there[0]["b"][0].dtype == here[0]["b"][0].dtype and (there[0]["b"][0] == here[0]["b"][0]).all()
    assert there[0]["b"][1] == ["text", "text"] or there[0]["b"][1] == ("text", "text")
    assert there[0]["c"].shape == (2, 2, 0)
    there[0]["a"] += 1
    assert (there[0]["a"] == here[0]["a"] + 1).all()


def test_where_there_are_no_memory_files_the_pipe_does(monkeypatch: pytest.MonkeyPatch):
    from autokit.utils.data import transport

    monkeypatch.setattr(transport, "_HAS_FILES", False)
    dataset = data.TensorDataset(ak.arange(200_000.0).reshape(2, -1))
    (batch,) = next(iter(data.DataLoader(dataset, batch_size=2, num_workers=1)))
    batch += 1
    assert (batch == dataset.tensors[0] + 1).all()


def test_index_lists_larger_than_any_pipe_go_through():
    batches = [list(range(200_000))] * 6
    loader = data.DataLoader(
        data.TensorDataset(ak.arange(200_000)), batch_sampler=batches, num_workers=1, prefetch_factor=6
    )
    assert [batch[0].shape for batch in loader] == [(200_000,)] * 6


# ---------------------------------------------------------------- what goes wrong in a worker


class TwoPartError(Exception):
    def __init__(self, first: str, second: str) -> None:
        super().__init__(first, second)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("no such sample"), ValueError),
        (KeyError("cat"), KeyError),
        (TwoPartError("a", "b"), RuntimeError),
        (type("Local", (LookupError,), {})("gone"), LookupError),
    ],
    ids=["value", "key", "two parts", "local"],
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
    name = type(error).__name__
    assert text.startswith(
        f"Caught {name} in DataLoader worker process 1.\nOriginal Traceback (most recent call"
    )
    assert "in fail\n" in text and "raise error" in text


def test_errors_of_collate_init_and_streams_come_too():
    def fail(worker_id: int) -> None:
        raise OSError("no disk")

    with pytest.raises(OSError, match="no disk"):
        list(data.DataLoader(Squares(), num_workers=1, worker_init_fn=fail))
    with pytest.raises(RuntimeError, match=r"got \[1\] at entry 0 and \[2\] at entry 1"):
        list(data.DataLoader([ak.ones(1), ak.ones(2)], batch_size=2, num_workers=1))
    with pytest.raises(IndexError, match="process 1"):
        list(data.DataLoader(Stream([1]), num_workers=2))


def test_a_batch_that_cannot_be_pickled_says_so():
    with pytest.raises(Exception, match="is pickled on its way from a worker"):
        list(data.DataLoader(Squares(), num_workers=1, collate_fn=lambda samples: lambda: None))
    weight = ak.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"pickle its \.detach\(\)"):
        list(data.DataLoader([0], num_workers=1, collate_fn=lambda samples: weight * 2))


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


def test_locks_that_other_threads_hold_upset_no_worker():
    """Threads draw numbers, compute, log and write while workers are forked.

    They leave out products of matrices: OpenBLAS stops for good in a thread that multiplies while another
    forks, with `os.fork` alone too.
    """
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            (ak.rand(200, 200).exp() + 1).sum().item()
            logging.getLogger("autokit.tests").debug("busy")
            sys.stderr.write("")

    def compute() -> None:
        repr(ak.rand(99, 99) @ ak.rand(99, 99))
        logging.getLogger("autokit.tests").debug("in a worker")
        sys.stderr.write("")

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            loader = data.DataLoader(Squares(8, lambda index: compute()), num_workers=2, timeout=60)
            assert len(numbers(loader)) == 8
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_threads_of_operations_start_anew_in_a_worker():
    large = ak.rand(2048, 512)
    expected = large.softmax(1).sum().item()  # the program's own threads have started

    def compute(index: int) -> None:
        assert ak.get_num_threads() == 1  # several workers share the cores
        assert large.softmax(1).sum().item() == expected
        ak.set_num_threads(3)
        assert large.softmax(1).sum().item() == expected

    before = ak.get_num_threads()
    assert len(list(data.DataLoader(Squares(2, compute), num_workers=2, timeout=60))) == 2
    assert ak.get_num_threads() == before


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


def test_an_exception_from_a_worker_ends_the_loop_and_the_workers_though_its_traceback_is_kept():
    def fail(index: int) -> None:
        if index == 3:
            raise ValueError(index)

    before = children()
    with pytest.raises(ValueError, match="Caught") as caught:
        for _ in data.DataLoader(Squares(1000, fail), num_workers=2):
            pass
    assert children() == before and caught.tb is not None


def test_loaders_inside_each_other():
    outer = data.DataLoader(Squares(3), num_workers=1)
    pairs = [(a[0].item(), b[0].item()) for a in outer for b in data.DataLoader(Squares(2), num_workers=2)]
    assert pairs == [(a, b) for a in range(3) for b in range(2)]
    assert [(a[0].item(), b[0].item()) for a in outer for b in outer] == [
        (a, b) for a in range(3) for b in range(3)
    ]


def program(text: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text), *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # its processes form a group, which a terminal's Ctrl-C goes to
    )


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


# ---------------------------------------------------------------- without fork


def test_spawned_workers_load_the_same():
    loader = data.DataLoader(
        data.TensorDataset(ak.arange(6)), batch_size=2, num_workers=1, multiprocessing_context="spawn"
    )
    assert numbers(loader) == [[[0, 1]], [[2, 3]], [[4, 5]]]


def test_what_cannot_be_pickled_for_a_spawned_worker_says_what_to_do():
    loader = data.DataLoader(
        Squares(), num_workers=1, multiprocessing_context="spawn", collate_fn=lambda x: x
    )
    with pytest.raises(Exception) as caught:
        list(loader)
    assert "multiprocessing_context='fork'" in "".join(caught.value.__notes__)


def test_what_a_notebook_defines_is_not_known_to_a_spawned_worker():
    process = program("""
        from autokit.utils import data
        class Here(data.Dataset):
            def __getitem__(self, index):
                return index
            def __len__(self):
                return 3
        print([b.item() for b in data.DataLoader(Here(), num_workers=2, multiprocessing_context="fork")])
        try:
            list(data.DataLoader(Here(), num_workers=1, multiprocessing_context="spawn"))
        except AttributeError as error:
            print(error)
    """)
    output, errors = process.communicate(timeout=60)
    assert output.startswith("[0, 1, 2]\nCaught AttributeError in DataLoader worker process 0.")
    assert "Can't get attribute 'Here' on <module '__main__'" in output
    assert "move it to a .py file" in output
    assert not errors
