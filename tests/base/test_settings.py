"""Switches that programs set and ask for, beside PyTorch; the faces of backends, of cuda and of random."""

from __future__ import annotations

import pytest

import autokit
from tests.support import gpu_works, require

require("torch")
import torch  # noqa: E402

no_gpu = pytest.mark.skipif(gpu_works(), reason="there is a GPU here")


@pytest.fixture(autouse=True)
def _as_it_was():
    before = [library.get_num_threads() for library in (torch, autokit)]
    yield
    for library, threads in zip((torch, autokit), before):
        library.use_deterministic_algorithms(False)
        library.set_float32_matmul_precision("highest")
        library.set_default_device(None)
        library.set_default_dtype(library.float32)
        library.set_num_threads(threads)


def answer(library, expression: str):
    try:
        return eval(expression, {"T": library})
    except Exception as error:
        return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "program",
    [
        ["T.use_deterministic_algorithms(True)", "T.are_deterministic_algorithms_enabled()"],
        ["T.set_num_threads(3)", "T.get_num_threads()", "T.set_num_threads(0)"],
        ["T.set_float32_matmul_precision('high')", "T.get_float32_matmul_precision()"],
        ["T.backends.cudnn.deterministic", "T.backends.cudnn.benchmark", "T.backends.cudnn.enabled"],
        ["T.backends.mps.is_available()", "T.backends.mps.is_built()"],
        ["str(T.get_default_device())", "T.set_default_device('cpu')", "str(T.ones(2).device)"],
        ["T.set_default_tensor_type('torch.DoubleTensor')", "str(T.ones(2).dtype)"],
        ["T.set_default_dtype(T.float64)", "str(T.tensor(1.5).dtype)", "T.set_default_dtype(T.int8)"],
        ["T.random.manual_seed(3).initial_seed()", "T.initial_seed()", "T.random.initial_seed()"],
    ],
    ids=lambda program: program[0],
)
def test_a_switch_answers_as_pytorchs(program: list[str]):
    ours, theirs = ([answer(library, line) for line in program] for library in (autokit, torch))
    assert ours == theirs


@no_gpu
@pytest.mark.parametrize(
    "expression",
    [
        *("cuda.is_available()", "cuda.device_count()", "cuda.manual_seed(0)", "cuda.manual_seed_all(0)"),
        *("cuda.memory_allocated()", "cuda.max_memory_allocated()", "cuda.empty_cache()"),
        *("cuda.synchronize()", "cuda.current_device()", "cuda.get_device_name(0)", "ones(2).cuda()"),
        *("ones(2, device='cuda')", "ones(2).to('cuda:0')", "cuda.Stream()"),
    ],
)
def test_a_machine_without_a_gpu_says_so(expression: str):
    ours, theirs = answer(autokit, f"T.{expression}"), answer(torch, f"T.{expression}")
    assert ours == theirs or {ours, theirs} <= {AssertionError, RuntimeError}
