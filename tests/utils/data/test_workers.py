"""Loading in parallel processes: the same batches in the same order, by forked workers and by others."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit as ak
from autokit.utils import data
from tests.support import require
from tests.utils.data.processes import Squares, Stream, numbers, program

if sys.platform != "linux":
    pytest.skip("needs Linux, where workers are forked", allow_module_level=True)

pytestmark = pytest.mark.usefixtures("nothing_is_left")


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
