"""The story: its numbers are the engine's, its chapters tile it, and telling it changes nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings

import autokit as ak
from autokit.graphs.summary import number, summarize
from tests.graphs.programs import programs

KINDS = {
    *("input", "operands", "value", "turn", "seed", "select", "upstream"),
    *("local", "product", "unbroadcast", "travel", "accumulate", "leaf", "finish"),
}


def product() -> ak.Tensor:
    a = ak.tensor(15.0, requires_grad=True)
    b = ak.tensor(20.0, requires_grad=True)
    a.name, b.name = "a", "b"
    c = a * b
    c.name = "c"
    return c


def sentences(timeline, kind):
    return [step.sentence for step in timeline.steps if step.kind == kind]


@settings(max_examples=60, deadline=None)
@given(programs())
def test_the_last_state_shows_the_engines_gradients(end):
    timeline = ak.record(end)
    state = timeline.state(-1)
    leaves = [n for n in timeline.graph.nodes if n.kind == "leaf"]
    tensors = {t.name: t for t in _leaves(end)}
    expected = ak.autograd.grad(end, [tensors[n.label] for n in leaves], retain_graph=True)
    assert [state[n.element]["gradient"] for n in leaves] == [summarize(g.array).text for g in expected]
    assert all(state[n.element]["status"] == "final" for n in timeline.graph.nodes if n.requires_grad)
    assert all(state[n.element]["status"] == "dim" for n in timeline.graph.nodes if not n.requires_grad)
    assert all(state[n.element]["value"] == n.value.text for n in timeline.graph.nodes)


@settings(max_examples=60, deadline=None)
@given(programs())
def test_the_check_by_central_differences_agrees(end):
    from autokit.graphs.capture import capture
    from autokit.graphs.check import central_differences

    leaves = _leaves(end)
    slopes = central_differences(capture(end), end.grad_fn, np.ones(()))
    gradients = ak.autograd.grad(end, leaves, retain_graph=True)
    kinked = {node.operation for node in ak.graph(end).nodes} & {"relu", "maximum"}
    for leaf, gradient in zip(leaves, gradients):
        if not kinked:
            assert slopes[leaf] == pytest.approx(gradient.numpy(), rel=1e-3, abs=1e-3)


@settings(max_examples=30, deadline=None)
@given(programs())
def test_chapters_tile_the_steps_and_every_step_is_known(end):
    timeline = ak.record(end)
    assert {step.kind for step in timeline} <= KINDS
    assert [c.first for c in timeline.chapters] == [0, *(c.last + 1 for c in timeline.chapters[:-1])]
    assert timeline.chapters[-1].last == len(timeline) - 1
    for place, chapter in enumerate(timeline.chapters):
        assert all(step.chapter == place for step in timeline.steps[chapter.first : chapter.last + 1])
        assert chapter.sentence
    assert all(step.sentence for step in timeline)
    phases = [step.phase for step in timeline]
    assert phases == sorted(phases, key=["forward", "turn", "backward"].index)
    json.loads(timeline.to_json())


@settings(max_examples=30, deadline=None)
@given(programs())
def test_telling_changes_nothing_and_is_the_same_before_and_after_backward(end):
    leaves = _leaves(end)
    before = ak.record(end)
    assert all(leaf.grad is None for leaf in leaves)
    end.backward()
    gradients = [leaf.grad for leaf in leaves]
    copies = [None if g is None else g.clone() for g in gradients]
    after = ak.record(end)
    assert [step.sentence for step in after] == [step.sentence for step in before]
    assert all(leaf.grad is gradient for leaf, gradient in zip(leaves, gradients))
    assert all(c is None or ak.equal(c, g) for c, g in zip(copies, gradients))
    with pytest.raises(RuntimeError, match="second time"):
        (end * end).backward()


def _leaves(end):
    found, stack, seen = [], [end.grad_fn], set()
    while stack:
        for target in stack.pop().targets:
            if target is None or target in seen:
                continue
            seen.add(target)
            found.append(target) if isinstance(target, ak.Tensor) else stack.append(target)
    return found


def test_the_product_is_told_with_its_numbers():
    timeline = ak.record(product())
    assert sentences(timeline, "seed") == ["The way back begins with a seed: ∂c/∂c = 1.0."]
    assert sentences(timeline, "local") == [
        "How c changes with a: b = 20.0.",
        "How c changes with b: a = 15.0.",
    ]
    assert sentences(timeline, "product") == [
        "Upstream times local: 1.0 · 20.0 = 20.0 is what c sends to a.",
        "Upstream times local: 1.0 · 15.0 = 15.0 is what c sends to b.",
    ]
    assert sentences(timeline, "leaf") == [
        "a is a leaf: its .grad is 20.0.",
        "b is a leaf: its .grad is 15.0.",
    ]
    assert sentences(timeline, "finish") == [
        "Done: a.grad = 20.0; by central differences 20.0; b.grad = 15.0; by central differences 15.0."
    ]


def test_accumulation_says_what_an_assignment_would_lose():
    a = ak.tensor(3.0, requires_grad=True)
    timeline = ak.record(a * 2 + a * 5)
    second = [step for step in timeline if step.kind == "accumulate"][-1]
    assert second.numbers == "5.0 + 2.0 = 7.0"
    assert second.note == "With = in place of +=, ∂v5/∂a would be 2.0, and 5.0 would be lost."
    waiting = [step.note for step in timeline if step.kind == "select" and "Why not a?" in step.note]
    assert waiting == ["Why not a? It has 1 contribution, and 1 more is to come."]


def test_trouble_is_traced_to_the_operation_where_it_began():
    x = ak.tensor(0.0, requires_grad=True)
    y = x**2
    z = y.sqrt()
    note = ak.record(z).steps[-1].note
    assert note == "The first NaN is made by ^ (pow), on the way to x."
    w = ak.tensor(-1.0, requires_grad=True)
    h = ak.relu(w)
    assert (
        ak.record(h * 3).steps[-1].note
        == "No gradient passes through h: relu is silent on this batch, 0 for every element."
    )


def test_a_vanishing_gradient_is_traced_to_the_operation_where_it_began():
    x = ak.tensor(1.0, requires_grad=True)
    x.name, h = "x", x * 1.0
    h.name = "start"
    for place in range(8):
        h = h.sigmoid()
        h.name = f"h{place}"
    timeline = ak.record(h * 1.0)
    (trouble,) = timeline.troubles
    h.backward()
    assert trouble.kind == "vanishing" and timeline.graph.nodes[trouble.node].label == "h7"
    assert f"{number(x.grad.item())} of it arrives" in trouble.sentence
    assert trouble.sentence in timeline.steps[-1].note
    assert ak.record(x.sigmoid()).troubles == ()


def test_a_repeated_operand_shows_what_is_summed():
    w = ak.tensor([1.0, 2.0], requires_grad=True)
    x = ak.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    timeline = ak.record((w * x).sum())
    (step,) = [step for step in timeline if step.kind == "unbroadcast"]
    assert (step.collapse.shape, step.collapse.to, step.collapse.axes) == ((3, 2), (2,), (0,))
    before = np.reshape(step.collapse.values, (3, 2))
    assert before.sum(0).tolist() == list(step.collapse.sums) == [9.0, 12.0]
    assert "summed over dimension 0" in step.sentence
    assert ["(2) is repeated to (3×2)" in s for s in sentences(timeline, "operands")] == [True, False]


def test_a_large_graph_is_told_in_short():
    x = ak.tensor(1.0, requires_grad=True)
    total = x * 1.0
    for place in range(2, 301):
        total = total + x * float(place)
    timeline = ak.record(total)
    assert len(timeline) < 2500
    total.backward()
    assert timeline.state(-1)["n0"] == {
        "status": "final", "value": "1.0", "gradient": number(x.grad.item()), "pending": None
    }  # fmt: skip
    assert timeline.accounts[0].gradient == "45150.0" and len(timeline.accounts[0].edges) == 300


def test_large_tensors_before_backward_and_after():
    x = ak.ones(50, 50, requires_grad=True)
    y = x * 2
    loss = (y * y).sum()
    assert ak.record(loss).steps[-1].kind == "finish"
    loss.backward()
    with pytest.raises(RuntimeError, match="recording"):
        ak.record(loss)
    with ak.recording():
        loss = (x * x).sum()
    loss.backward()
    assert ak.record(loss).steps[-1].kind == "finish"


def test_what_has_no_story_is_refused():
    with pytest.raises(RuntimeError, match="does not require grad"):
        ak.record(ak.ones(1))
    with pytest.raises(RuntimeError, match="scalar outputs"):
        ak.record(ak.ones(2, requires_grad=True) * 2)
    with pytest.raises(TypeError, match="float"):
        ak.record(2.0)
    y = x = ak.tensor(0.0, requires_grad=True)
    for _ in range(1500):
        y = y + x
    with pytest.raises(RuntimeError, match="1,000 operations"):
        ak.record(y)


def test_hostile_names_are_data_like_any_other():
    x = ak.tensor(1.0, requires_grad=True)
    x.name = "<script>alert(1)</script>{}{0}%s"
    timeline = ak.record(x * 2)
    assert any(x.name in step.sentence for step in timeline)
    assert "<script>" not in ak.draw.svg(timeline)
    assert "<script>" not in ak.draw.html(timeline)


@pytest.mark.parametrize(("start", "differ"), [(0.0, True), (1.0, False), (-1.0, False)])
def test_a_difference_at_a_kink_is_explained(start, differ):
    x = ak.tensor(start, requires_grad=True)
    finish = ak.record(x.relu()).steps[-1]
    assert finish.sentence.endswith("by central differences 0.5. See why they differ.") == differ
    assert ("the rule chooses one" in finish.note) == differ


def test_after_an_optimizers_step_the_story_says_when_to_ask_for_it():
    model = ak.nn.Sequential(ak.nn.Linear(2, 3), ak.nn.Tanh(), ak.nn.Linear(3, 1))
    optimizer = ak.optim.SGD(model.parameters(), lr=0.1)
    loss = model(ak.ones(4, 2)).sum()
    loss.backward()
    optimizer.step()
    with pytest.raises(RuntimeError, match=r"animate\(\) before optimizer\.step\(\)"):
        ak.record(loss)


def test_the_check_tells_nothing_of_a_decomposition_that_it_cannot_run_again():
    x = ak.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
    (account,) = ak.record(ak.linalg.eigh(x)[0][0]).accounts
    assert (account.difference, account.agrees) == ("", None)


def test_a_histogram_counts_numbers_that_are_almost_0():
    counts = summarize(np.linspace(0, 24e-310, 2401)).histogram
    assert sum(counts) == 2401 and max(counts) <= 102
