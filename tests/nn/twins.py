"""The same module here and in PyTorch, from the same seed: compared from its state to its gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit
from tests.beside import compare_errors

pytorch = pytest.importorskip("torch", reason="PyTorch is the oracle: pip install torch==2.13.0")

BOTH = (autokit, pytorch)


def twins(build: Callable[[Any], Any] | str, seed: int = 0) -> tuple[Any, Any]:
    """What ``build(torch)``, or an expression such as ``"nn.Linear(2, 3)"``, gives in both libraries."""
    modules = []
    for torch in BOTH:
        torch.manual_seed(seed)
        if isinstance(build, str):
            modules.append(eval(build, {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}))
        else:
            modules.append(build(torch))
    return modules[0], modules[1]


def flat(value: Any) -> list[Any]:
    """The tensors in nested tuples and lists."""
    if isinstance(value, tuple | list):
        return [one for part in value for one in flat(part)]
    return [value] if hasattr(value, "dtype") else []


def assert_close(ours: Any, theirs: Any, what: str = "", rtol: float = 1e-5, atol: float = 2e-6) -> None:
    assert str(ours.dtype) == str(theirs.dtype), what
    assert tuple(ours.shape) == tuple(theirs.shape), what
    if "float64" in str(ours.dtype):
        rtol, atol = 1e-10, 1e-12
    np.testing.assert_allclose(
        ours.detach().numpy(), theirs.detach().numpy(), rtol=rtol, atol=atol, err_msg=what
    )


def assert_both(run: Callable[..., Any], layer: str = "None", rtol: float = 1e-4) -> None:
    """Compare a module with its twin: text, and the tensors that ``run(torch, module)`` gives."""
    ours, theirs = twins(layer)
    assert repr(ours) == repr(theirs)
    results = flat(run(autokit, ours)), flat(run(pytorch, theirs))
    for place, (mine, wanted) in enumerate(zip(*results, strict=True)):
        assert_close(mine, wanted, str(place), rtol, 1e-5)


def assert_same_state(ours: Any, theirs: Any, exactly: bool = True) -> None:
    """Parameters and buffers by name, shape, dtype and value."""
    state, other = ours.state_dict(), theirs.state_dict()
    assert list(state) == list(other)
    for name, tensor in state.items():
        if exactly:
            assert str(tensor.dtype) == str(other[name].dtype), name
            np.testing.assert_array_equal(tensor.numpy(), other[name].numpy(), err_msg=name)
        else:
            assert_close(tensor, other[name], name)


def assert_alike(build: Callable[[Any], Any] | str, inputs: Callable[[Any], Any], seed: int = 0) -> None:
    """Compare a module with its twin: text, state, outputs, the state after, and all gradients.

    ``inputs(torch)`` gives the tuple of its arguments; floating ones are to be trained.
    """
    ours, theirs = twins(build, seed)
    assert repr(ours) == repr(theirs)
    assert_same_state(ours, theirs)
    assert [name for name, _ in ours.named_parameters()] == [name for name, _ in theirs.named_parameters()]
    runs = [_run(torch, module, inputs, seed + 1) for torch, module in zip(BOTH, (ours, theirs))]
    assert [name for name, _ in runs[0]] == [name for name, _ in runs[1]]
    for (name, mine), (_, wanted) in zip(*runs):
        assert (mine is None) == (wanted is None), name
        if mine is not None:
            assert mine.requires_grad == wanted.requires_grad, name
            assert_close(mine, wanted, name, 1e-4, 1e-5)
    assert_same_state(ours, theirs, exactly=False)


def _run(torch: Any, module: Any, inputs: Callable[[Any], Any], seed: int) -> list[tuple[str, Any]]:
    torch.manual_seed(seed)
    arguments = inputs(torch)
    leaves = [each for each in flat(arguments) if each.is_floating_point() and each.is_leaf]
    for leaf in leaves:
        leaf.requires_grad_()

    def passed(value: Any) -> Any:
        # A layer that works in place may not change a leaf.
        if isinstance(value, tuple):
            return tuple(passed(each) for each in value)
        return value * 1 if any(value is leaf for leaf in leaves) else value

    outputs = flat(module(*passed(arguments)))
    total = sum(
        (out * torch.linspace(0.5, 1.5, out.numel()).reshape(out.shape)).sum()
        for out in outputs
        if out.is_floating_point()
    )
    if total.requires_grad:
        total.backward()
    seen = [(f"output {place}", out) for place, out in enumerate(outputs)]
    seen += [(f"gradient of input {place}", leaf.grad) for place, leaf in enumerate(leaves)]
    return seen + [(f"gradient of {name}", each.grad) for name, each in module.named_parameters()]


def assert_same_error(text: str) -> str:
    """Assert that an expression raises the same type in both libraries; return autokit's sentence."""
    return compare_errors(
        lambda T: eval(text, {"torch": T, "nn": T.nn, "F": T.nn.functional, "rnn": T.nn.utils.rnn})
    )
