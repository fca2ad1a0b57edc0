"""Gradients, measured as the slopes of a forward function.

``numerically``: where autokit's gradients are not PyTorch's, they are the slopes of PyTorch's own forward
function in float64, where there are any.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import autokit
from tests.fuzz.calls import Call
from tests.fuzz.compare import TOLERANCE, Outcome, TimedOut, limited, names_for, random_seed, run
from tests.fuzz.limits import numbers
from tests.fuzz.rewrites import as_float64, default_dtype
from tests.ops.case import flat

SLOPE_TOLERANCE = {"float64": 1e-4, "float32": 2e-3, "float16": 3e-2, "complex128": 1e-4, "complex64": 2e-3}
"""How far a gradient may be from the difference quotient of a forward function in float64."""
LARGEST_SLOPE = 100
"""What is steeper is taken for a jump."""
LARGEST_VALUE = 1e8
"""Of what is larger, or no number, the roundings are no smaller than the steps."""
MANY = 600
"""Elements of which no difference quotients are taken."""


def numerically(_: str, call: Call) -> bool:
    """Whether each gradient that differs is the slope of the forward function."""
    ours = run(autokit, call)
    if ours.error is not None or ours.backward_error is not None:
        return False
    learners = [name for name, tensor in ours.tensors.items() if tensor.requires_grad]
    gradients = dict(zip(learners, ours.gradients))
    if sum(ours.tensors[name].numel() for name in gradients) > MANY:
        return False
    theirs = run(torch, call).gradients or [None] * len(gradients)
    try:
        with limited(torch), torch.no_grad(), default_dtype(torch.float64):
            forward = _Forward(call, ours)
            return all(
                _are_slopes(gradient, other, ours.tensors[name], forward, name)
                for (name, gradient), other in zip(gradients.items(), theirs)
            )
    except (Exception, TimedOut):
        return False


class _Forward:
    """PyTorch's own forward function in float64, weighted as on the way back."""

    def __init__(self, call: Call, ours: Outcome) -> None:
        ends = [end for end in flat(ours.results) if isinstance(end, autokit.Tensor)]
        self.learning = [n for n, end in enumerate(ends) if end.requires_grad]
        self.weights = [random_seed(n, ends[place]) for n, place in enumerate(self.learning)]
        self.names = names_for(torch)
        self.tensors = {name: eval(as_float64(each), self.names) for name, each in call.tensors.items()}
        self.of_halves = "float16" in str(call)
        self.expression = compile(as_float64(call.expression, rounded=False), "<call>", "eval")

    def terms(self, changed: str, place: int, step: float) -> np.ndarray:
        """The elements of all results, where one element of an operand is changed by ``step``."""
        given = {name: tensor.clone() for name, tensor in self.tensors.items()}
        _parts(given[changed]).view(-1)[place] += step
        torch.default_generator.manual_seed(0)
        results = [
            e for e in flat(eval(self.expression, {**self.names, **given})) if isinstance(e, torch.Tensor)
        ]
        ends = [
            (results[n].resolve_conj().numpy() * weight.conj()).real
            for n, weight in zip(self.learning, self.weights)
        ]
        return np.concatenate([np.zeros(0), *(end.reshape(-1) for end in ends)])

    def slopes(self, name: str, place: int, element: float, step: float) -> tuple[float, float]:
        """The slopes to both sides of an element of an operand; no numbers where none can be measured."""
        step *= max(1.0, abs(element))
        before, at, after = (self.terms(name, place, each) for each in (-step, 0.0, step))
        if not (np.abs([element, *before, *at, *after]) < LARGEST_VALUE).all():
            return float("nan"), float("nan")
        return float(((at - before) / step).sum()), float(((after - at) / step).sum())


def _parts(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself, or the real and the imaginary parts of its elements beside each other."""
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


def _parts_of(gradient: Any) -> np.ndarray:
    found = np.ascontiguousarray(numbers(gradient)).reshape(-1)
    if found.dtype.kind != "c":
        return found
    return found.view(np.float64 if found.dtype == np.complex128 else np.float32)


def _are_slopes(gradient: Any, other: Any, operand: Any, forward: _Forward, name: str) -> bool:
    """Whether ``gradient`` is the slope wherever it is not PyTorch's, and there is one to be measured."""
    elements = _parts(forward.tensors[name]).reshape(-1).tolist()
    mine = np.zeros(len(elements)) if gradient is None else _parts_of(gradient)
    others = np.full(len(elements), np.nan) if other is None else _parts_of(other)
    dtype = operand.dtype.name
    tolerance = SLOPE_TOLERANCE["float16" if forward.of_halves else dtype]
    shared = np.isclose(mine, others, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    for place, element in enumerate(elements):
        if 0 < abs(element) < 1e-3 or shared[place]:
            continue
        slopes, others = (forward.slopes(name, place, element, step) for step in (1e-5, 4e-6))
        near = tolerance * max(1.0, *map(abs, slopes))
        if not max(map(abs, slopes)) < LARGEST_SLOPE or not np.allclose(slopes, others, rtol=0, atol=near):
            continue
        if not min(slopes) - near <= mine[place] <= max(slopes) + near:  # anything between them at a kink
            return False
    return True
