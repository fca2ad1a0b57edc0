"""The oracle: one program run with autokit and with PyTorch, and all that a learner could see compared.

``compare(lambda torch, x: x.exp().sum(), array)`` checks the value, the dtype and the shape of the result,
the gradients of all floating inputs, and their gradients once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import autokit
from tests.beside import compare_errors
from tests.support import require

require("torch")
import torch as pytorch  # noqa: E402 - a machine may lack it

TOLERANCES = {"float64": 1e-9, "float32": 2e-5, "float16": 4e-3}


def numbers(*shape: int, seed: int = 0, low: float = -2.0, high: float = 2.0) -> np.ndarray:
    """Random float64 numbers between ``low`` and ``high``."""
    return np.random.RandomState(seed).uniform(low, high, shape)


def compare(
    program: Callable[..., Any],
    *inputs: Any,
    gradients: bool = True,
    second: bool = True,
    tolerance: float | None = None,
) -> None:
    """Run ``program(torch, *tensors)`` with both libraries and assert that nothing visible differs.

    Parameters
    ----------
    program
        Takes the library and a tensor for each input; returns a tensor, or a tuple of tensors and numbers.
    *inputs
        NumPy arrays; those of floats require gradients.
    gradients, second : bool
        Whether to compare the gradients of a weighted sum of all results, and their gradients.
    tolerance : float, optional
        Relative and absolute, in place of what the dtype allows.
    """
    ours = _run(autokit, program, inputs, gradients, second)
    theirs = _run(pytorch, program, inputs, gradients, second)
    assert [name for name, _ in ours] == [name for name, _ in theirs]
    for (name, mine), (_, wanted) in zip(ours, theirs):
        _assert_same(name, mine, wanted, tolerance)


def functional(name: str, *settings: Any, **named: Any) -> Callable[..., Any]:
    """The program that calls a function of ``torch.nn.functional`` on its operands, with these settings."""
    return lambda torch, *operands: getattr(torch.nn.functional, name)(*operands, *settings, **named)


def agreeing(cases: Iterable[Any], **options: Any) -> Any:
    """A test of each program of ``cases``, whose operands have the shapes beside it: see :func:`compare`."""

    @pytest.mark.parametrize("case", cases)
    def test(case: Any) -> None:
        program, *shapes = case
        compare(program, *[numbers(*shape, seed=place) for place, shape in enumerate(shapes)], **options)

    return test


def elementwise(names: str, points: np.ndarray, **options: Any) -> Any:
    """A test of functions of one tensor: as functions and methods, in place, of each kind of dtype."""

    @pytest.mark.parametrize("name", names.split())
    def test(name: str) -> None:
        compare(lambda torch, a: getattr(torch, name)(a), points, tolerance=1e-7, **options)
        compare(lambda torch, a: getattr(a * 1, name + "_")(), points, tolerance=1e-7, **options)
        compare(lambda torch, a: getattr(a, name)(), points.astype(np.float32), second=False, tolerance=1e-4)
        compare(lambda torch, a: getattr(torch, name)(a), points.astype(np.float16), gradients=False)
        compare(lambda torch, a: getattr(torch, name)(a), np.array([0, 1, -1]), tolerance=1e-6)

    return test


def refused(wrong: Iterable[tuple[Callable[..., Any], str]], *inputs: Any) -> Any:
    """A test of each program of ``wrong``: both libraries refuse it, and autokit's error has the words."""

    @pytest.mark.parametrize(("program", "words"), wrong)
    def test(program: Callable[..., Any], words: str) -> None:
        assert words in compare_errors(program, *inputs)

    return test


def _run(torch: Any, program: Any, inputs: Any, gradients: bool, second: bool) -> list[tuple[str, Any]]:
    tensors = [torch.tensor(each) for each in inputs]
    learning = [each.requires_grad_() for each in tensors if each.is_floating_point()] if gradients else []
    results = _flat(program(torch, *tensors))
    seen = [(f"result {place}", each) for place, each in enumerate(results)]
    totals = [_weighed(torch, each) for each in results if getattr(each, "requires_grad", False)]
    seen.append(("how many results require grad", len(totals)))
    if not learning or not totals:
        return seen
    total = sum(totals[1:], totals[0])
    firsts = torch.autograd.grad(total, learning, create_graph=second, allow_unused=True)
    seen += [(f"gradient {place}", each) for place, each in enumerate(firsts)]
    total = [(each * each).sum() for each in firsts if each is not None and each.requires_grad]
    if second and total:
        seconds = torch.autograd.grad(sum(total[1:], total[0]), learning, allow_unused=True)
        zeros = [torch.zeros_like(each) if g is None else g for g, each in zip(seconds, learning)]
        seen += [(f"second gradient {place}", each) for place, each in enumerate(zeros)]
    return seen


def _flat(result: Any) -> list[Any]:
    if isinstance(result, tuple | list):
        return [one for each in result for one in _flat(each)]
    return [result]


def _weighed(torch: Any, result: Any) -> Any:
    weights = np.random.RandomState(7).uniform(0.5, 1.5, tuple(result.shape))
    return (result * torch.tensor(weights, dtype=result.dtype)).sum()


def _assert_same(name: str, mine: Any, wanted: Any, tolerance: float | None) -> None:
    if not hasattr(wanted, "dtype"):
        assert mine == wanted or (mine != mine and wanted != wanted), name
        return
    assert str(mine.dtype) == str(wanted.dtype), name
    assert tuple(mine.shape) == tuple(wanted.shape), name
    near = tolerance or TOLERANCES.get(str(wanted.dtype).removeprefix("torch."), 0)
    np.testing.assert_allclose(
        mine.detach().numpy(), wanted.detach().numpy(force=True), rtol=near, atol=near, err_msg=name
    )
