"""Pieces of an operation on several threads: the same numbers, the same errors, and nothing left behind."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import autokit as torch
from autokit import threads
from autokit.ops import blocks
from tests.support import printed_by

F = torch.nn.functional


@pytest.fixture(autouse=True)
def own_threads() -> Iterator[None]:
    before = threads.get_count()
    yield
    threads.set_count(before)


def test_each_piece_is_done_once_on_up_to_so_many_threads():
    threads.set_count(3)
    seen: list[tuple[int, int]] = []
    threads.each(lambda piece: seen.append((piece, threading.get_ident())), range(500))
    assert sorted(piece for piece, _ in seen) == list(range(500))
    assert len({thread for _, thread in seen}) <= 3


def test_the_pieces_do_run_on_other_threads():
    threads.set_count(2)
    barrier = threading.Barrier(2, timeout=30)  # passed only by two threads that are here at once
    arrived = []

    def work(piece: int) -> None:
        if piece < 2:
            arrived.append(barrier.wait())

    threads.each(work, range(threads.FEWEST))
    assert sorted(arrived) == [0, 1]


@pytest.mark.parametrize("count", [1, 4])
def test_what_a_piece_raises_is_raised(count: int):
    threads.set_count(count)

    def work(piece: int) -> None:
        if piece == 7:
            raise ValueError("piece 7")

    with pytest.raises(ValueError, match="piece 7"):
        threads.each(work, range(100))
    done: list[int] = []
    threads.each(done.append, range(10))
    assert sorted(done) == list(range(10))


LARGE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sigmoid": lambda x: x.sigmoid(),
    "relu": lambda x: x.relu(),
    "gelu": F.gelu,
    "pow": lambda x: x.abs() ** 1.7,
    "softmax": lambda x: x.softmax(1),
    "cross-entropy": lambda x: F.cross_entropy(x, torch.arange(len(x)) % 500),
    "layer_norm": lambda x: F.layer_norm(x, (500,), torch.ones(500), torch.ones(500)),
    "cumsum": lambda x: x.cumsum(1),
    "var": lambda x: x.var(),
    "sum": lambda x: x.sum(),
    "sum of rows": lambda x: x.sum(1),
    "sum of columns": lambda x: x.mean(0, keepdim=True),
    "rows of a view": lambda x: x.view(-1, 250).relu(),
    "x + x": lambda x: x + x,
    "x · x": lambda x: x * x / (x + 9) - x,
    "mse_loss": lambda x: F.mse_loss(x, 2 * x.detach()),
}


@pytest.mark.parametrize("name", LARGE)
def test_the_numbers_do_not_depend_on_the_threads(name: str, loops: str):
    rows = (threads.FEWEST + 1) * blocks.BLOCKS_OF_THREADS * blocks.BLOCK // 500
    array = np.random.RandomState(0).standard_normal((rows, 500)).astype(np.float32)

    def made(count: int) -> tuple[bytes, bytes]:
        torch.set_num_threads(count)
        assert torch.get_num_threads() == count
        x = torch.from_numpy(array).requires_grad_()
        y = LARGE[name](x)
        y.backward(torch.ones_like(y))
        return y.detach().numpy().tobytes(), x.grad.numpy().tobytes()

    alone = made(1)
    assert made(2) == made(5) == alone


def test_two_programs_threads_may_ask_at_once():
    threads.set_count(4)
    x = torch.linspace(-4, 4, (threads.FEWEST + 1) * blocks.BLOCKS_OF_THREADS * blocks.BLOCK)
    expected = x.sigmoid().numpy()
    results: list[np.ndarray] = []
    asking = [threading.Thread(target=lambda: results.append(x.sigmoid().numpy())) for _ in range(4)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert len(results) == 4
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_numpys_settings_of_the_asking_thread_hold_in_all():
    threads.set_count(4)
    kept: list[str] = []
    with np.errstate(over="raise"):
        threads.each(lambda piece: kept.append(np.geterr()["over"]), range(64))
    assert set(kept) == {"raise"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork, which this system has not")
def test_a_forked_process_starts_threads_of_its_own_and_compiles_other_loops(loops: str):
    program = f"""
import os
import autokit as torch
torch.backends.numba.enabled = {loops == "compiled"}
torch.set_num_threads(4)
x = torch.linspace(-4, 4, 1_200_000)
before = x.sigmoid()
child = os.fork()
if not child:
    os._exit(0 if torch.equal(x.sigmoid(), before) and x.relu().min() == 0 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("both done")
"""
    assert printed_by(program, PYTHONWARNINGS="ignore") == "both done\n"


def test_no_thread_is_started_before_one_is_needed():
    program = (
        "import threading, autokit as torch; torch.ones(1000).sigmoid(); print(threading.active_count())"
    )
    assert printed_by(program) == "1\n"


def test_a_pool_that_closes_while_it_is_asked_leaves_no_piece_undone(monkeypatch: pytest.MonkeyPatch):
    threads.set_count(4)
    threads.each(lambda piece: None, range(8))
    begun = threading.Event()
    submit = threads._started().submit
    given: list[object] = []

    def once(*task: object) -> object:
        if given:
            raise RuntimeError("cannot schedule new futures after shutdown")
        given.append(task)
        made = submit(*task)
        assert begun.wait(30)
        return made

    monkeypatch.setattr(threads._started(), "submit", once)
    done: list[int] = []

    def work(piece: int) -> None:
        begun.set()
        if piece == 0:  # taken by the one helper, while the asking thread does the rest
            while len(done) < 7:
                pass
        done.append(piece)

    threads.each(work, range(8))
    assert sorted(done) == list(range(8))
