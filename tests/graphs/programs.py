"""Random small programs, whose graphs and stories the tests of ``autokit.graphs`` examine."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

import autokit as ak

UNARY = ("tanh", "sigmoid", "exp", "neg", "sin", "relu")
BINARY = ("add", "sub", "mul", "maximum")
SHAPES = ((), (1,), (3,), (2, 3), (2, 1))


@st.composite
def programs(draw: Any) -> ak.Tensor:
    """A tensor of one element, computed from leaves and constants of several shapes by random operations."""
    numbers = st.floats(-1, 1, width=32).filter(lambda x: abs(x) > 0.01)
    values = []
    for place in range(draw(st.integers(1, 3))):
        shape = draw(st.sampled_from(SHAPES))
        data = draw(st.lists(numbers, min_size=6, max_size=6))
        tensor = ak.tensor(data[: max(1, _count(shape))]).reshape(shape).detach().clone()
        tensor.name = f"x{place}"
        values.append(tensor.requires_grad_(place == 0 or draw(st.booleans())))
    for _ in range(draw(st.integers(1, 8))):
        first = draw(st.sampled_from(values))
        if draw(st.booleans()):
            values.append(getattr(ak, draw(st.sampled_from(UNARY)))(first))
            continue
        second = draw(st.sampled_from([v for v in values if _fit(v.shape, first.shape)]))
        values.append(getattr(ak, draw(st.sampled_from(BINARY)))(first, second))
    end = values[0].sum() * 0.5
    for value in values[1:]:
        end = end + value.sum()
    return end


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _fit(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(1 in (i, j) or i == j for i, j in zip(reversed(a), reversed(b)))
