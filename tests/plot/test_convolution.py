"""The columns of a convolution: what they draw are PyTorch's numbers, forward and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit as ak
from tests.support import require

require("matplotlib")
import matplotlib  # noqa: E402

matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402


@pytest.fixture(autouse=True)
def closed() -> Any:
    yield
    pyplot.close("all")


def drawn(axes: list[Any], row: int, columns: int) -> list[np.ndarray]:
    return [np.asarray(ax.images[0].get_array()) for ax in axes[row * columns : (row + 1) * columns]]


@pytest.mark.parametrize(("stride", "padding"), [(1, 0), (2, 0), (1, 1), (2, 1)])
def test_the_last_column_has_the_result_and_the_gradients(stride: int, padding: int) -> None:
    ak.manual_seed(0)
    x, kernel = ak.randn(5, 4, requires_grad=True), ak.randn(3, 2, requires_grad=True)
    y = ak.nn.functional.conv2d(x[None, None], kernel[None, None], stride=stride, padding=padding)
    g = ak.randn(*y.shape)
    y.backward(g)
    axes = ak.plot.convolution(x.detach()[None, None], kernel, g, stride, padding, columns=4)
    columns = len(axes) // 5
    assert columns == min(4, y.numel())
    inside = slice(padding, -padding or None)
    wanted = [np.pad(x.detach().numpy(), padding), y.detach().numpy()[0, 0], None, kernel.grad.numpy()]
    for row, table in enumerate(wanted):
        if table is not None:
            assert drawn(axes, row, columns)[-1] == pytest.approx(table, rel=1e-5, abs=1e-6)
    assert drawn(axes, 4, columns)[-1][inside, inside] == pytest.approx(x.grad.numpy(), rel=1e-5, abs=1e-6)


def test_contributions_of_all_places_add_up_and_the_window_moves() -> None:
    x, kernel = ak.arange(9.0).reshape(3, 3), ak.tensor([[1.0, 0.0], [0.0, -2.0]])
    axes = ak.plot.convolution(x, kernel)
    sent, total = drawn(axes, 2, 4), drawn(axes, 3, 4)
    for place in range(4):
        assert total[place].tolist() == sum(sent[: place + 1]).tolist()
    corners = [ax.patches[0].get_xy() for ax in axes[:4]]
    assert corners == [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)]
    assert [ax.get_title() for ax in axes[:2]] == ["place 1 of 4: −8", "place 2 of 4: −9"]
    assert [text.get_text() for text in axes[4].texts] == ["−8", "—", "—", "—"]
    assert "×−2" in [text.get_text() for text in axes[0].texts]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ((ak.ones(2, 2), ak.ones(3, 3)), "larger than input"),
        ((ak.ones(2, 3, 3), ak.ones(2, 2)), "one or two dimensions"),
        ((ak.ones(3, 3), ak.ones(2, 2), ak.ones(3, 3)), "broadcast"),
    ],
)
def test_what_does_not_fit_is_refused(wrong: tuple[Any, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ak.plot.convolution(*wrong)
