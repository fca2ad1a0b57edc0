"""The same module here and in PyTorch, from the same seed: held to each other from state to gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autokit as ak


def twins(build: Callable[[Any], Any], seed: int = 0) -> tuple[Any, Any]:
    """What ``build`` makes of this library and of PyTorch."""
    import torch

    ak.manual_seed(seed)
    torch.manual_seed(seed)
    return build(ak), build(torch)


def flat(value: Any) -> list[Any]:
    """The tensors in nested tuples and lists."""
    if isinstance(value, tuple | list):
        return [each for part in value for each in flat(part)]
    return [] if value is None else [value]


def assert_close(ours: Any, theirs: Any, what: str = "", rtol: float = 1e-5, atol: float = 2e-6) -> None:
    assert str(ours.dtype) == str(theirs.dtype), what
    assert tuple(ours.shape) == tuple(theirs.shape), what
    if "float64" in str(ours.dtype):
        rtol, atol = 1e-10, 1e-12
    np.testing.assert_allclose(
        ours.detach().numpy(), theirs.detach().numpy(), rtol=rtol, atol=atol, err_msg=what
    )


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


def assert_alike(build: Callable[[Any], Any], inputs: Callable[[Any], Any], seed: int = 0) -> None:
    """Hold a module to its twin: text, state, outputs, the state after, and all gradients.

    ``build(torch)`` makes the module, ``inputs(torch)`` the tuple of its
    arguments; both run with the same seed in both libraries.
    """
    import torch

    pair = twins(build, seed)
    ours, theirs = pair
    assert repr(ours) == repr(theirs)
    assert_same_state(ours, theirs)
    assert [name for name, _ in ours.named_parameters()] == [name for name, _ in theirs.named_parameters()]
    given, outputs = [], []
    for library, module in zip((ak, torch), pair):
        library.manual_seed(seed + 1)
        arguments = inputs(library)
        learning = [each for each in flat(arguments) if hasattr(each, "is_floating_point")]
        learning = [each for each in learning if each.is_floating_point() and each.is_leaf]
        for each in learning:
            each.requires_grad_()
        # An in-place layer may not change a leaf.
        given.append(learning)
        out = flat(
            module(*[each * 1 if any(each is one for one in learning) else each for each in arguments])
        )
        outputs.append(out)
        total = sum((each * library.linspace(0.5, 1.5, each.numel()).reshape(each.shape)).sum()
                    for each in out if each.is_floating_point())  # fmt: skip
        if total.requires_grad:
            total.backward()
    assert len(outputs[0]) == len(outputs[1])
    for place, (our, their) in enumerate(zip(*outputs)):
        assert_close(our, their, f"output {place}")
        assert our.requires_grad == their.requires_grad
    assert_same_state(ours, theirs, exactly=False)
    for (name, our), (_, their) in zip(ours.named_parameters(), theirs.named_parameters()):
        assert (our.grad is None) == (their.grad is None), name
        if our.grad is not None:
            assert_close(our.grad, their.grad, f"gradient of {name}", 1e-4, 1e-5)
    for place, (our, their) in enumerate(zip(*given)):
        assert (our.grad is None) == (their.grad is None), place
        if our.grad is not None:
            assert_close(our.grad, their.grad, f"gradient of input {place}", 1e-4, 1e-5)
