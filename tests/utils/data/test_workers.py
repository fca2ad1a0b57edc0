"""Loading in parallel processes: the same batches in the same order, by forked workers and by others."""

from __future__ import annotations

import multiprocessing
import random
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit as ak
from autokit.utils import data
from tests.beside import assert_same
from tests.utils.data.processes import Squares, Stream, numbers, program

if sys.platform != "linux":
    pytest.skip("needs Linux, where workers are forked", allow_module_level=True)

pytestmark = pytest.mark.usefixtures("nothing_is_left")


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    size=st.integers(1, 30),
    batch_size=st.none() | st.integers(1, 9),
    workers=st.integers(1, 3),
    prefetch=st.integers(1, 3),
    shuffle=st.booleans(),
    own=st.booleans(),
    persistent=st.booleans(),
)
def test_two_epochs_and_the_random_stream_after_them_are_pytorchs(
    seed: int, size: int, batch_size: int | None, workers: int, prefetch: int, **chosen: bool
):
    def run(T: Any) -> Any:
        T.manual_seed(seed)
        loader = T.utils.data.DataLoader(
            Squares(size),
            batch_size=batch_size,
            shuffle=chosen["shuffle"],
            num_workers=workers,
            generator=T.Generator().manual_seed(seed + 1) if chosen["own"] else None,
            prefetch_factor=prefetch,
            persistent_workers=chosen["persistent"],
        )
        batches = [
            [part.tolist() if hasattr(part, "tolist") else part for part in batch]
            for _ in range(2)
            for batch in loader
        ]
        return batches, T.rand(2).tolist()

    assert_same(run)


class Draws(Squares):
    def __init__(self, T: Any) -> None:
        super().__init__(6)
        self.T = T

    def __getitem__(self, index: int) -> Any:
        worker = self.T.utils.data.get_worker_info()
        drawn = self.T.rand(1).item(), random.random(), np.random.rand()
        return *drawn, worker.seed, worker.id, worker.num_workers


def test_each_worker_draws_from_pytorchs_seeds():
    def run(T: Any) -> Any:
        T.manual_seed(3)
        loader = T.utils.data.DataLoader(Draws(T), num_workers=2)
        return numbers(loader), numbers(loader)

    assert_same(run)
    assert data.get_worker_info() is None


def test_a_stream_is_shared_out_by_worker_info():
    def batches(**options: Any) -> list[Any]:
        loader = data.DataLoader(Stream([5, 2]), num_workers=2, **options)
        return [batch.tolist() for batch in loader] + [batch.tolist() for batch in loader]

    assert batches(batch_size=2) == [[0, 1], [100, 101], [2, 3], [4]] * 2
    assert batches(batch_size=2, drop_last=True) == [[0, 1], [100, 101], [2, 3]] * 2
    assert batches(batch_size=2, persistent_workers=True) == [[0, 1], [100, 101], [2, 3], [4]] * 2
    assert [int(x) for x in data.DataLoader(Stream([2, 0]), batch_size=None, num_workers=2)] == [0, 1]


def test_without_order_nobody_waits_for_a_slow_worker():
    last_is_done = multiprocessing.get_context("fork").Event()
    waiting = {0: lambda: last_is_done.wait(20), 5: last_is_done.set}
    dataset = Squares(6, lambda index: waiting.get(index, int)())
    order = [batch[0].item() for batch in data.DataLoader(dataset, num_workers=2, in_order=False)]
    assert order[:2] == [1, 3] and sorted(order) == list(range(6))


def test_worker_init_fn_is_called_in_each_worker():
    told: list[int] = []
    options: Any = {"num_workers": 2, "worker_init_fn": told.append, "collate_fn": lambda samples: told[0]}
    assert list(data.DataLoader(Squares(4), **options)) == [0, 1, 0, 1] and told == []


@pytest.mark.parametrize("size", [3, 300_000])
def test_arrays_of_any_size_and_kind_come_over_and_can_be_written(size: int):
    class Mixed(Squares):
        def __getitem__(self, index: int) -> Any:
            row = ak.full((size,), float(index))
            return {"a": row, "b": [row.half(), "text"], "c": ak.ones(2, 0)}

    (here,), (there,) = (data.DataLoader(Mixed(2), batch_size=2, num_workers=count) for count in (0, 1))
    assert repr(there) == repr(here) and (there["a"] == here["a"]).all()
    there["a"] += 1
    assert (there["a"] == here["a"] + 1).all()


def test_index_lists_larger_than_any_pipe_go_through():
    batches = [list(range(200_000))] * 6
    loader = data.DataLoader(
        data.TensorDataset(ak.arange(200_000)), batch_sampler=batches, num_workers=1, prefetch_factor=6
    )
    assert [batch[0].shape for batch in loader] == [(200_000,)] * 6


def test_spawned_workers_load_the_same_or_say_what_to_do():
    dataset = data.TensorDataset(ak.arange(6))
    options: Any = {"num_workers": 1, "multiprocessing_context": "spawn"}
    assert numbers(data.DataLoader(dataset, batch_size=2, **options)) == [[[0, 1]], [[2, 3]], [[4, 5]]]
    with pytest.raises(Exception) as caught:
        list(data.DataLoader(dataset, collate_fn=lambda x: x, **options))
    assert "multiprocessing_context='fork'" in "".join(caught.value.__notes__)


def test_a_spawned_worker_does_not_find_what_a_notebook_defines():
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
    assert "move it to a .py file" in output
    assert not errors
