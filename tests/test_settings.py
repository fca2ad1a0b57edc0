"""Switches, devices and libraries that programs set and ask for, beside PyTorch."""

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
        library.set_num_threads(threads)


def answer(library, expression: str):
    try:
        return eval(expression, {"T": library})
    except Exception as error:
        return type(error)


@pytest.mark.parametrize(
    "program",
    [
        ["T.are_deterministic_algorithms_enabled()", "T.get_deterministic_debug_mode()"],
        ["T.use_deterministic_algorithms(True)", "T.are_deterministic_algorithms_enabled()"],
        ["T.use_deterministic_algorithms(True, warn_only=True)", "T.get_deterministic_debug_mode()"],
        ["T.use_deterministic_algorithms(False)", "T.is_deterministic_algorithms_warn_only_enabled()"],
        ["T.set_deterministic_debug_mode('error')", "T.get_deterministic_debug_mode()"],
        ["T.set_deterministic_debug_mode('x')", "T.set_deterministic_debug_mode(5)"],
        ["T.use_deterministic_algorithms('x')"],
        ["T.set_num_threads(3)", "T.get_num_threads()"],
        ["T.set_num_threads(0)", "T.set_num_threads('a')"],
        ["T.set_float32_matmul_precision('high')", "T.get_float32_matmul_precision()"],
        ["T.backends.cudnn.deterministic", "T.backends.cudnn.benchmark", "T.backends.cudnn.enabled"],
        ["T.backends.mps.is_available()", "T.backends.mps.is_built()"],
        ["T.backends.cuda.matmul.allow_tf32", "T.newaxis is None"],
        ["str(T.get_default_device())", "T.set_default_device('cpu')", "str(T.ones(2).device)"],
        ["str(T.device('cpu').__enter__())", "T.device('cpu').__exit__(None, None, None)"],
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
        "cuda.is_available()",
        "cuda.device_count()",
        "cuda.is_initialized()",
        "cuda.manual_seed(0)",
        "cuda.manual_seed_all(0)",
        "cuda.seed()",
        "cuda.seed_all()",
        "cuda.get_rng_state_all()",
        "cuda.set_rng_state_all([])",
        "cuda.empty_cache()",
        "cuda.memory_allocated()",
        "cuda.max_memory_allocated()",
        "cuda.max_memory_reserved()",
        "cuda.memory_stats()",
        "cuda.memory_reserved()",
        "accelerator.is_available()",
        "accelerator.current_accelerator()",
        "accelerator.device_count()",
        "backends.cuda.is_built()",
    ],
)
@pytest.mark.skipif(torch.cuda.is_available(), reason="PyTorch finds a GPU")
def test_without_a_gpu_the_answer_is_pytorchs(expression: str):
    assert answer(autokit, f"T.{expression}") == answer(torch, f"T.{expression}")


@no_gpu
@pytest.mark.parametrize(
    "call",
    [
        "cuda.synchronize()",
        "cuda.current_device()",
        "cuda.get_device_name(0)",
        "cuda.get_device_capability()",
        "cuda.mem_get_info()",
        "cuda.set_device(0)",
        "cuda.initial_seed()",
        "cuda.get_rng_state()",
        "cuda.set_rng_state(T.get_rng_state())",
        "accelerator.synchronize()",
        "accelerator.current_device_index()",
        "ones(2, device='cuda')",
        "nn.Linear(2, 2).to('cuda')",
    ],
)
def test_what_needs_a_gpu_says_how_to_get_one(call: str):
    with pytest.raises((AssertionError, RuntimeError), match=r"autokit-edu\[gpu\]|when none is available"):
        eval(f"T.{call}", {"T": autokit})


@no_gpu
@pytest.mark.skipif(torch.cuda.is_available(), reason="PyTorch finds a GPU")
@pytest.mark.parametrize("call", ["ones(2).cuda()", "ones(2).to('cuda')", "nn.Linear(2, 2).cuda()"])
def test_what_is_sent_to_no_gpu_raises_pytorchs_error(call: str):
    raised = []
    for T in (autokit, torch):
        with pytest.raises(Exception) as error:
            eval(f"T.{call}", {"T": T})
        raised.append(error.value)
    assert isinstance(raised[0], type(raised[1]))
    assert str(raised[0]).startswith(str(raised[1]))


def test_a_seed_for_gpus_leaves_the_cpus_numbers_alone():
    autokit.manual_seed(0)
    first = autokit.rand(2)
    autokit.manual_seed(0)
    autokit.cuda.manual_seed_all(7)
    assert autokit.equal(autokit.rand(2), first)


def test_an_unknown_precision_is_warned_of():
    with pytest.warns(UserWarning, match="foo is not one of 'highest'"):
        autokit.set_float32_matmul_precision("foo")
    assert autokit.get_float32_matmul_precision() == "highest"


@no_gpu
def test_new_tensors_go_where_the_default_says():
    autokit.set_default_device("cuda")
    with pytest.raises(RuntimeError, match="No CUDA GPU"):
        autokit.ones(2)
    with pytest.raises(RuntimeError, match="No CUDA GPU"):
        autokit.nn.Linear(1, 1)
    assert autokit.ones(2, device="cpu").tolist() == [1, 1]
    with autokit.device("cpu"):
        assert autokit.zeros_like(autokit.ones(2)).tolist() == [0, 0]
    assert autokit.get_default_device().type == "cuda"


def test_switches_can_be_set():
    for library in (torch, autokit):
        library.backends.cudnn.deterministic = True
        assert library.backends.cudnn.deterministic
        library.backends.cudnn.deterministic = False
