"""The debugger of sessions, by its terminal and as an object; and the one of generated code."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit as torch
import autokit.static as tf
from autokit.static.debugger import LocalCLIDebugWrapperSession, Run
from autokit.static.step import compile

Type = Callable[..., Callable[[], str]]


@pytest.fixture
def type_(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Type:
    """Let lines be typed into the terminal; the result tells what it said since."""

    def type_(*lines: str) -> Callable[[], str]:
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
        return lambda: capsys.readouterr().out

    return type_


def model() -> tuple[Any, ...]:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    weights = tf.Variable([[1.0], [2.0]], name="w")
    product = tf.matmul(x, weights, name="product")
    loss = tf.reduce_sum(tf.log(product, name="logarithm"), name="loss")
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    return sess, x, weights, loss


def test_a_run_stops_before_each_node_and_writes_the_variables_at_its_end() -> None:
    sess, x, weights, loss = model()
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    before = sess.run(weights)
    run, seen = Run(sess.debug(), *sess.prepare([loss, train], {x: [[1, 1]]})), []
    while run.next is not None:
        seen.append(run.next)
        assert run.step() is seen[-1] and seen[-1] in run.values
    assert seen == run.nodes and np.array_equal(sess.run(weights), before)
    assert run.finish()[0] == pytest.approx(np.log(3))
    np.testing.assert_allclose(sess.run(weights), before - 0.5 / 3, rtol=1e-6)


def test_the_terminal_steps_shows_and_stops_at_breakpoints(type_: Type) -> None:
    sess, x, weights, loss = model()
    sess = sess.debug()
    script = [
        ("s", "x = Placeholder() float32[?, 2]\n[[1. 1.]]\nbefore w = VariableV2()"),
        ("s", "before product = MatMul(x, w) float32[?, 1]"),
        ("lt", "x = Placeholder() float32[?, 2]\nw = VariableV2() float32[2, 1]\n"),
        ("cont loss", "before loss = Sum(logarithm)"),
        ("ni logarithm", "\n  reads product = MatMul(x, w) float32[?, 1]\n  is read by loss"),
        ("pt loss", "has not run yet"),
        ("pt other", "no node 'other'"),
        ("run", "the run has ended"),
        ("run", ""),
    ]
    said = type_(*[command for command, _ in script])
    assert sess.run([loss, weights], {x: [[1, 1]]})[0] == np.log(np.float32(3))
    for part, (command, words) in zip(said().split("tfdbg> ")[1:], script):
        assert words in part, command
    said = type_("break logarithm", "run", "exit")
    sess.run(loss, {x: [[1, 1]]})
    assert "before logarithm = Log(product)" in said()
    sess.run(loss, {x: [[1, 1]]})
    assert not said()


def test_a_filter_stops_in_the_first_run_and_at_the_first_node_that_passes(type_: Type) -> None:
    sess, x, _, loss = model()
    sess = LocalCLIDebugWrapperSession(sess)
    sess.add_tensor_filter("large", lambda node, value: abs(value).max() > 100)
    said = type_("run -f unknown", "run -f has_inf_or_nan", "watch product", "run", "run -f large", "run")
    assert np.isfinite(sess.run(loss, {x: [[1, 1]]}))
    assert "there is no filter 'unknown': there are has_inf_or_nan, large" in said()
    assert sess.run(loss, {x: [[0, 0]]}) == -np.inf
    words = said()
    assert "has_inf_or_nan is true of logarithm, defined at test_debugger.py, line" in words
    assert "[[-inf]]\nproduct = MatMul(x, w) float32[?, 1]\n[[0.]]" in words
    sess.run(loss, {x: [[1, 500]]})
    assert "large is true of x" in said()
    assert [each.item() for each in sess.watched["product"]] == [0, 1001]


def test_what_fails_can_be_looked_at_before_it_is_raised(type_: Type) -> None:
    sess, x, _, loss = model()
    y = tf.check_numerics(loss, "after the logarithm") * 2
    said = type_("run", "pt logarithm", "run")
    with pytest.raises(tf.errors.InvalidArgumentError, match="after the logarithm : Tensor had Inf"):
        sess.debug().run(y, {x: [[0, 0]]})
    words = said()
    assert "InvalidArgumentError: after the logarithm" in words and "[[-inf]]" in words


def test_pdb_steps_through_generated_code(type_: Type) -> None:
    weights = torch.ones(2, requires_grad=True)
    step = compile(lambda x: (weights * x).tanh().sum())
    x = torch.tensor([1.0, 2.0])
    said = type_("n", "n", "l", "c")
    assert step(x).item() == step.debug(x).item()
    words = said()
    assert sum(f"-> {line.strip()}" in words for line in step.source.splitlines() if line[:4] == "    ") > 1
