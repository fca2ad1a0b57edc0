"""The story of forward mode: its tangents are those of ``jvp``, and the sums that it tells add up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import autokit as ak
from autokit.graphs.capture import capture
from autokit.graphs.summary import summarize
from tests.graphs.programs import programs


def leaves_of(end):
    return [origin for origin in capture(end).origins if getattr(origin, "requires_grad", False)]


@settings(max_examples=60, deadline=None)
@given(programs())
def test_the_tangent_of_the_output_is_the_gradient_along_the_direction(end):
    for leaf in (each for each in leaves_of(end) if isinstance(each, ak.Tensor)):
        (gradient,) = ak.autograd.grad(end, leaf, retain_graph=True)
        timeline = ak.record(end, mode="forward", wrt=leaf)
        (output,) = timeline.graph.outputs
        found = timeline.graph.nodes[output].gradient.values
        assert found == pytest.approx((float(gradient.sum()),), rel=1e-4, abs=1e-5)
        assert timeline.state(-1)[f"n{output}"]["gradient"] == timeline.graph.nodes[output].gradient.text
        assert all(step.phase == "forward" and "collects" not in step.sentence for step in timeline.steps)
        assert max(step.sentence.count("changes with") for step in timeline.steps) == 1


@settings(max_examples=30, deadline=None)
@given(programs())
def test_each_tangent_is_the_sum_of_what_came(end):
    timeline = ak.record(end, mode="forward")
    state, nodes = timeline.state(-1), timeline.graph.nodes
    learning = [node for node in nodes if node.requires_grad]
    assert all(state[node.element]["gradient"] == node.gradient.text for node in learning)
    for step in timeline.steps:
        if step.kind == "product" and " = " in step.numbers:
            factors, result = step.numbers.replace("−", "-").split(" = ")
            slope, tangent = (float(each.strip("()")) for each in factors.split(" · "))
            assert slope * tangent == pytest.approx(float(result), rel=1e-2, abs=1e-3)


def test_the_story_of_a_square_is_told_with_its_numbers_before_and_after_backward():
    x, b = ak.tensor(3.0, requires_grad=True), ak.tensor(5.0, requires_grad=True)
    y, x.name = x * x + b, "x"

    def told(wrt):
        steps = ak.record(y, mode="forward", wrt=wrt).steps
        return [(step.kind, step.numbers) for step in steps if step.kind in ("seed", "product", "sum")]

    wanted = [("seed", "= 1.0"), ("product", "3.0 · 1.0 = 3.0"), ("product", "3.0 · 1.0 = 3.0")]
    wanted += [("sum", "= 3.0 + 3.0 = 6.0"), ("sum", "= 0"), ("product", "1.0 · 6.0 = 6.0"), ("sum", "= 6.0")]
    assert told(None) == told(x) == told("x") == wanted
    y.backward()
    assert told("x") == wanted and x.grad == 6.0 and b.grad == 1.0
    assert [numbers for kind, numbers in told(b) if kind == "sum"] == ["= 0", "= 0", "= 1.0"]


def test_a_direction_several_results_and_a_learners_own_operation():
    class Double(ak.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = ak.tensor([3.0, 1.0, 2.0], requires_grad=True)
    values, _ = Double.apply(x).sort()
    low, high = values[0], ak.stack(ak.unbind(x * x))[2]
    end, direction = low * high, ak.tensor([1.0, 10.0, 100.0])
    found = ak.record(end, direction, mode="forward").graph
    _, wanted = ak.func.jvp(lambda x: (2 * x).sort()[0][0] * x[2] ** 2, (x.detach(),), (direction,))
    assert found.nodes[found.outputs[0]].gradient.values == pytest.approx((float(wanted),))


def test_a_long_chain_is_told_in_short_and_a_picture_says_tangent():
    x = ak.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(120):
        y = y * 1.01
    timeline = ak.record(y, mode="forward")
    assert {step.kind for step in timeline.steps} == {"input", "seed", "value", "product", "sum", "finish"}
    text = summarize(np.float32(1.01**120)).text
    assert timeline.state(-1)[f"n{timeline.graph.outputs[0]}"]["gradient"][:5] == text[:5]
    assert "tangent" in repr(timeline) and "gradient" not in repr(timeline).splitlines()[0]


def test_what_cannot_move_is_refused():
    x = ak.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 2).sum()
    for wrt in ("z", ak.tensor(1.0)):
        with pytest.raises(ValueError, match="wrt= is none of the leaves x"):
            ak.record(y, mode="forward", wrt=wrt)
    with pytest.raises(ValueError, match="mode is 'backward' or 'forward', got 'sideways'"):
        ak.record(y, mode="sideways")
    with pytest.raises(ValueError, match="wrt= is for mode"):
        ak.record(y, wrt=x)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        ak.record(y, ak.ones(3), mode="forward")
    with pytest.raises(RuntimeError, match="no computation"):
        ak.record(ak.ones(3), mode="forward")
