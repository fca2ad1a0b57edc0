"""The debugger of sessions, by its terminal and as an object; and the one of generated code."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autokit as torch
import autokit.static as tf
from autokit.static.debugger import Run
from autokit.static.step import compile
from autokit.static.tf.graph import SESSIONS

Type = Callable[..., None]


@pytest.fixture(autouse=True)
def new_graph() -> Iterator[None]:
    tf.reset_default_graph()
    yield
    SESSIONS.clear()


@pytest.fixture
def type_(monkeypatch: pytest.MonkeyPatch) -> Type:
    """Let these lines be typed into the terminal."""
    return lambda *lines: monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))


def model() -> tuple[Any, ...]:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    weights = tf.Variable([[1.0], [2.0]], name="w")
    product = tf.matmul(x, weights, name="product")
    logarithm = tf.log(product, name="logarithm")
    loss = tf.reduce_sum(logarithm, name="loss")
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    return sess, x, weights, loss


def test_a_run_stops_before_each_node_and_writes_the_variables_at_its_end() -> None:
    sess, x, weights, loss = model()
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    before = sess.run(weights)

    def stepped(program: Any, feeds: Any) -> list[Any]:
        run, seen = Run(program, feeds), []
        while run.next is not None:
            assert run.next not in run.values or run.next.kind == "state"
            seen.append(run.next)
            assert run.step() is seen[-1] and seen[-1] in run.values
        assert seen == run.nodes and len(seen) > 5
        np.testing.assert_array_equal(run.values[run.named("w")], before)
        return run.finish()

    sess.execute = stepped
    assert sess.run([loss, train], {x: [[1, 1]]})[0] == pytest.approx(np.log(3))
    del sess.execute
    np.testing.assert_allclose(sess.run(weights), [[1 - 0.5 / 3], [2 - 0.5 / 3]], rtol=1e-6)


def test_the_terminal_steps_shows_and_stops_at_breakpoints(type_: Type, capsys: Any) -> None:
    sess, x, weights, loss = model()
    plain = sess.run([loss, weights], {x: [[1, 1]]})
    sess = sess.debug()
    type_("s", "s", "lt", "pt w", "cont loss", "ni logarithm", "pt loss", "pt other", "run", "pt loss", "run")
    results = sess.run([loss, weights], {x: [[1, 1]]})
    np.testing.assert_array_equal(results[0], plain[0])
    said = capsys.readouterr().out
    parts = said.split("tfdbg> ")
    assert "before any pass" in parts[0] and "before x: input" in parts[0]
    assert "before product:0 = matmul(x, w) float32[1, 1]" in parts[2]
    assert "test_debugger.py, line" in parts[2] and 'tf.matmul(x, weights, name="product")' in parts[2]
    assert parts[3].splitlines() == ["x: input float32[1, 2]", "w: state float32[2, 1]"]
    assert "[[1.]\n [2.]]" in parts[4]
    assert parts[5].startswith("before loss:0 = add.reduce(logarithm:0)")
    assert "reads product:0" in parts[6] and "is read by loss:0" in parts[6]
    assert "loss:0 has not run yet" in parts[7]
    assert "no node 'other'" in parts[8]
    assert "the run has ended" in parts[9] and str(plain[0])[:6] in parts[10]

    type_("break logarithm", "run", "exit")
    sess.run(loss, {x: [[1, 1]]})
    assert "before logarithm:0 = log(product:0)" in capsys.readouterr().out
    sess.run(loss, {x: [[1, 1]]})
    assert not capsys.readouterr().out


def test_a_filter_stops_in_the_first_run_and_at_the_first_node_that_passes(type_: Type, capsys: Any) -> None:
    sess, x, _, loss = model()
    sess = tf.debug.LocalCLIDebugWrapperSession(sess)
    sess.add_tensor_filter("large", lambda node, value: abs(value).max() > 100)
    type_("run -f unknown", "run -f has_inf_or_nan", "run", "run")
    assert np.isfinite(sess.run(loss, {x: [[1, 1]]}))
    said = capsys.readouterr().out
    assert "there is no filter 'unknown': there are has_inf_or_nan, large" in said
    assert "is true of" not in said
    assert sess.run(loss, {x: [[0, 0]]}) == -np.inf
    said = capsys.readouterr().out
    assert "is true of logarithm:0, defined at test_debugger.py, line" in said
    assert "[[-inf]]\nreads product:0 = matmul(x, w) float32[1, 1]\n[[0.]]" in said
    type_("run -f large", "run", "run")
    sess.run(loss, {x: [[1, 500]]})
    assert "large is true of x" in capsys.readouterr().out


def test_watched_values_are_kept_for_each_run(type_: Type, capsys: Any) -> None:
    sess, x, _, loss = model()
    sess = sess.debug()
    sess.watch("product")
    type_("watch loss", "run", "run", "run", "watch", "run")
    for number in (1, 2):
        sess.run(loss, {x: [[number, 0]]})
    assert [float(each.item()) for each in sess.watched["product"]] == [1, 2]
    np.testing.assert_allclose(sess.watched["loss"], [0, np.log(2)], rtol=1e-6)
    assert "product: [[1.]]\n" in capsys.readouterr().out


def test_what_fails_can_be_looked_at_before_it_is_raised(type_: Type, capsys: Any) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.check_numerics(tf.log(x, name="logarithm"), "after the logarithm") * 2
    sess = tf.Session().debug()
    type_("run", "pt logarithm", "run")
    with pytest.raises(tf.errors.InvalidArgumentError, match="after the logarithm : Tensor had Inf"):
        sess.run(y, {x: [1, 0]})
    said = capsys.readouterr().out
    assert "InvalidArgumentError: after the logarithm" in said and "[  0. -inf]" in said


def test_pdb_steps_through_generated_code(type_: Type, capsys: Any) -> None:
    weights = torch.ones(2, requires_grad=True)
    step = compile(lambda x: (weights * x).tanh().sum())
    x = torch.tensor([1.0, 2.0])
    expected = step(x)
    type_("n", "n", "l", "c")
    assert step.debug(x).item() == expected.item()
    said = capsys.readouterr().out
    lines = [line.strip() for line in step.source.splitlines() if line.startswith("    ")]
    assert "<autokit.static" in said
    assert sum(f"-> {line}" in said for line in lines) >= 2, said
