"""The charts: what they draw are the numbers, on the caller's axes, and the same on every run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autokit as torch
from autokit import nn
from autokit.plot.figures import INK, SERIES, figure_svg
from autokit.plot.landscape import directions
from tests.support import require

require("matplotlib")
import matplotlib  # noqa: E402

matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    pyplot.close("all")


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))


def axes() -> Any:
    return Figure().subplots()


def test_gradient_flow_draws_the_gradients() -> None:
    model = network()
    model(torch.randn(4, 3)).pow(2).mean().backward()
    model[3].bias.grad = None
    given = axes()
    assert torch.plot.gradient_flow(model, ax=given) is given
    expected = {n: np.abs(p.grad.numpy()) for n, p in model.named_parameters() if p.grad is not None}
    assert [text.get_text() for text in given.get_xticklabels()] == [*expected]
    np.testing.assert_allclose(
        [bar.get_height() for bar in given.patches], [e.mean() for e in expected.values()]
    )
    np.testing.assert_allclose(given.lines[0].get_ydata(), [e.max() for e in expected.values()])
    assert any("without a gradient: 3.bias" in text.get_text() for text in given.texts)


def test_gradient_flow_needs_gradients() -> None:
    with pytest.raises(RuntimeError, match=r"call loss\.backward\(\) before"):
        torch.plot.gradient_flow(network())
    with pytest.raises(TypeError, match="must be a Module, not int"):
        torch.plot.gradient_flow(3)


def test_activations_draw_each_layer() -> None:
    model, x = network(), torch.randn(16, 3)
    drawn = torch.plot.activations(model, x)
    assert [ax.get_title() for ax in drawn] == ["0 · Linear", "1 · BatchNorm1d", "2 · ReLU", "3 · Linear"]
    first = drawn[0].patches[0].get_data()
    expected = model[0](x).detach().numpy()
    counts, edges = np.histogram(expected, 24)
    np.testing.assert_array_equal(first.values, counts)
    np.testing.assert_allclose(first.edges, edges, rtol=1e-5)
    assert "% are 0" in drawn[2].get_xlabel() and model.training
    given = [axes() for _ in range(4)]
    assert torch.plot.activation_gradients(model, x, axes=given) == given
    with pytest.raises(ValueError, match="4 layers to draw, and 1 axes"):
        torch.plot.activations(model, x, axes=given[:1])


def test_directions_have_the_length_of_the_models_filters() -> None:
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.Flatten(), nn.Linear(12, 2))
    for direction in directions(model, 2, seed=0):
        for parameter, way in zip(model.parameters(), direction):
            if parameter.ndim < 2:
                assert not way.any()
                continue
            lengths = [np.linalg.norm(each) for each in way]
            np.testing.assert_allclose(
                lengths, [np.linalg.norm(each) for each in parameter.detach().numpy()], rtol=1e-5
            )


def test_a_landscape_is_the_loss_at_moved_weights() -> None:
    model, x = network(), torch.randn(16, 3)
    before = {name: each.clone() for name, each in model.state_dict().items()}
    model.eval()
    given = axes()
    torch.plot.loss_landscape(model, lambda: model(x).pow(2).mean(), given, dimensions=1, points=5, seed=3)
    values = given.lines[0].get_ydata()
    (way,) = directions(model, 1, seed=3)
    for place, amount in enumerate(np.linspace(-1, 1, 5)):
        with torch.no_grad():
            for (name, parameter), move in zip(model.named_parameters(), way):
                parameter.copy_(before[name] + torch.tensor(amount * move, dtype=torch.float32))
        np.testing.assert_allclose(values[place], model(x).pow(2).mean().item(), rtol=1e-5)


def test_a_landscape_leaves_the_model_and_the_generator() -> None:
    model, x = network(), torch.randn(16, 3)
    before, drawn = {name: each.clone() for name, each in model.state_dict().items()}, torch.get_rng_state()

    def loss() -> torch.Tensor:
        return model(x).pow(2).mean()

    one = torch.plot.loss_landscape(model, loss, axes(), points=5, seed=1)
    two = torch.plot.loss_landscape(model, loss, axes(), points=5, seed=1)
    for path, other in zip(one.collections[0].get_paths(), two.collections[0].get_paths()):
        np.testing.assert_array_equal(path.vertices, other.vertices)
    assert torch.equal(torch.get_rng_state(), drawn)
    for name, each in model.state_dict().items():
        assert torch.equal(each, before[name]), name

    def failing() -> torch.Tensor:
        raise KeyError("stop")

    with pytest.raises(KeyError):
        torch.plot.loss_landscape(model, failing, axes(), points=5)
    assert torch.equal(model[0].weight, before["0.weight"])


@pytest.mark.parametrize(
    ("options", "words"),
    [({"dimensions": 3}, "1 or 2"), ({"reach": 0}, "above 0"), ({"points": 4}, "an odd number, 3 or more")],
)
def test_a_landscape_that_cannot_be_drawn_is_told(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        torch.plot.loss_landscape(network(), lambda: torch.tensor(0.0), **options)
    with pytest.raises(ValueError, match="no weights of two or more dimensions"):
        torch.plot.loss_landscape(nn.BatchNorm1d(3), lambda: torch.tensor(0.0))


def test_a_heatmap_has_zero_in_the_middle_and_writes_small_numbers() -> None:
    given = axes()
    values = torch.tensor([[1.0, -4.0], [0.0, float("nan")]])
    assert torch.plot.heatmap(values, given, title="w") is given
    image = given.images[0]
    assert (image.norm.vmin, image.norm.vmax) == (-4.0, 4.0)
    assert sorted(text.get_text() for text in given.texts) == sorted(["1", "−4", "0", "×"])
    cells = image.cmap(image.norm([-4.0, -1.0, 1.0, 2.0]))
    np.testing.assert_allclose(cells[:, 3], [1, 0.25, 0.25, 0.5], atol=0.01, err_msg="as strong as its size")
    assert tuple(cells[0, :3]) == tuple(cells[1, :3]) != tuple(cells[2, :3]) == tuple(cells[3, :3])
    assert torch.plot.heatmap(np.arange(3), axes()).images[0].get_array().shape == (1, 3)
    for wrong in (torch.zeros(2, 2, 2), torch.zeros(0)):
        with pytest.raises(ValueError, match="numbers in one or two dimensions"):
            torch.plot.heatmap(wrong, axes())


def test_new_axes_are_a_figure_that_a_notebook_shows() -> None:
    drawn = torch.plot.heatmap(torch.eye(2))
    assert drawn.figure.number in pyplot.get_fignums()


def test_a_chart_of_ones_own_follows_the_page() -> None:
    chart = torch.plot.axes()
    chart.plot([1.0, 2.0], label="loss")
    chart.legend()
    drawn = figure_svg(chart.figure)
    text = drawn[drawn.index('id="legend_1"') :]
    assert f"fill: {INK}" in text and f"stroke: {SERIES[0]}" in text


def heights(*axes: Any) -> list[float]:
    """Of what is seen of these axes, once the figure is laid out."""
    axes[0].figure.canvas.draw()
    return [round(each.get_window_extent().height, 1) for each in axes]


@pytest.mark.parametrize("shape", [(2, 9), (12, 3), (40, 40), (6,)])
def test_the_scale_of_colours_is_as_tall_as_the_map_and_nothing_is_cut(shape: tuple[int, ...]) -> None:
    drawn = torch.plot.heatmap(torch.randn(shape))
    (bar,) = drawn.child_axes
    map_height, bar_height = heights(drawn, bar)
    assert map_height == bar_height
    paper, cells = drawn.figure.bbox, drawn.get_tightbbox()
    assert paper.x0 <= cells.x0 and cells.x1 <= paper.x1 and paper.y0 <= cells.y0 and cells.y1 <= paper.y1
    least, most = (label.get_text() for label in bar.get_yticklabels()[:: len(bar.get_yticklabels()) - 1])
    assert least == f"−{most}"


def test_heatmaps_share_one_scale_in_a_grid() -> None:
    weights = torch.randn(10, 3, 4)
    drawn = torch.plot.heatmaps(weights, columns=4)
    assert len({*heights(*drawn)}) == 1 and [ax.get_title() for ax in drawn][-1] == "9"
    assert len({round(ax.get_position().x0, 6) for ax in drawn}) == 4
    most = float(weights.abs().max().item())
    for ax, each in zip(drawn, weights):
        np.testing.assert_array_equal(ax.images[0].get_array(), each.numpy())
        assert ax.images[0].get_clim() == (-most, most)
    with pytest.raises(ValueError, match="10 matrices, 1 titles"):
        torch.plot.heatmaps(weights, titles=["w"])
    with pytest.raises(ValueError, match="one or two dimensions"):
        torch.plot.heatmaps(torch.zeros(2, 2, 2, 2))


def test_attention_has_a_row_for_each_token_and_axes_for_each_head() -> None:
    hidden = torch.ones(5, 5).triu(1).bool()
    weights = torch.randn(2, 5, 5).masked_fill(hidden, -torch.inf).softmax(-1)
    drawn = torch.plot.attention(weights, "to be")
    assert [ax.get_title() for ax in drawn] == ["head 0", "head 1"]
    for ax, each in zip(drawn, weights):
        assert [t.get_text() for t in ax.get_yticklabels()] == ["t", "o", "␣", "b", "e"]
        shares = np.array([float(text.get_text()) for text in ax.texts])
        assert len(shares) == 15, "what is masked stays empty"
        np.testing.assert_allclose(shares, each.numpy()[~hidden.numpy()], atol=0.006)
    assert len(torch.plot.attention(weights[0, :2], "to be", asking=["I", "ask"])) == 1
    with pytest.raises(ValueError, match=r"each of 3 tokens .* got weights of shape \(2, 5, 5\)"):
        torch.plot.attention(weights, "abc")


def test_nudges_show_the_v_of_truncation_and_rounding() -> None:
    ax = torch.plot.nudges(torch.exp, 1.0)
    (steps, one_sided), (_, central) = (line.get_data() for line in ax.lines[:2])
    far = steps > 1e-2
    slopes = [np.polyfit(np.log(steps[far]), np.log(errors[far]), 1)[0] for errors in (one_sided, central)]
    np.testing.assert_allclose(slopes, [1, 2], atol=0.1)
    assert 1e-9 < steps[np.argmin(one_sided)] < 1e-7 and 1e-6 < steps[np.argmin(central)] < 1e-4
    assert min(one_sided[0], central[0]) > 0.1, "rounding has eaten the smallest step"
    single = torch.plot.nudges(torch.exp, 1.0, axes(), dtype=torch.float32).lines[1].get_data()
    assert single[0][np.argmin(single[1])] > 1e-4
    with pytest.raises(TypeError, match="should give a Tensor"):
        torch.plot.nudges(float, 1.0)


def test_memory_piles_up_forward_and_is_freed_backward() -> None:
    x = torch.ones(1000, requires_grad=True)
    bands = torch.plot.memory((x.exp() + x.tanh()).sum(), given := axes()).patches
    ground, saved, gradients = (band.get_data().values - band.get_data().baseline for band in bands)
    assert set(ground) == {4000}
    # exp and tanh save their results; + and the sum save nothing
    assert saved.tolist() == [4000, 8000, 8000, 8000, 8000, 8000, 8000, 4000]
    assert gradients.tolist() == [0, 0, 0, 0, 4004, 12000, 12000, 8000]
    assert given.get_title() == "At most 24.0 kB are alive"
    loss = x.exp().view(10, 100).T.pow(2).sum()
    held = torch.plot.memory(loss, axes()).patches[1].get_data()
    assert (held.values - held.baseline)[3] == 4004, "a view keeps no memory; the exponent 4 bytes"
    loss.backward()
    with pytest.raises(RuntimeError, match="before backward"):
        torch.plot.memory(loss)
