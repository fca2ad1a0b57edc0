"""Padding with a constant, the edge, a mirror image, or the other end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.oracle import compare, numbers, refused

CONSTANT = [(1, 2), (0, 1, 2, 0), (-1, 1), (1, -2, -1, 3), (0, 0, 1, 1, 2, 2), (), (-2, -1)]


@pytest.mark.parametrize("widths", CONSTANT)
def test_a_constant_around(widths: Any):
    compare(lambda torch, x: torch.nn.functional.pad(x, widths), numbers(2, 3, 4))
    compare(lambda torch, x: torch.nn.functional.pad(x, widths, value=7.5), numbers(2, 3, 4))
    compare(lambda torch, x: torch.nn.functional.pad(x, widths, value=7), np.arange(24).reshape(2, 3, 4))


def test_a_nan_is_copied_alone():
    x = np.array([[[1.0, np.nan, np.inf, 2.0]]])
    compare(lambda torch, x: torch.nn.functional.pad(x, (1, 2), "reflect"), x, gradients=False)


ERRORS = [
    (lambda torch, x: torch.nn.functional.pad(x, (1,)), "pair"),
    (lambda torch, x: torch.nn.functional.pad(x, (-3, -3)), "cuts off"),
    (lambda torch, x: torch.nn.functional.pad(x, (5, 0), "reflect"), "less than"),
    (lambda torch, x: torch.nn.functional.pad(x, (1, 1), "mirror"), "Unrecognised"),
]


test_what_errors_say = refused(ERRORS, numbers(2, 3, 5))
