"""What TensorFlow 1's face says: TensorFlow's first line, then the program's. And what looks into a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit.static as tf


def said(error: Any, first: str, program: str) -> None:
    """The error begins with ``first``, and then shows the line of this file."""
    lines = str(error.value).split("\n")
    assert lines[0].startswith(first), lines[0]
    assert "test_tf_errors.py, line" in lines[1] and program in lines[1], lines


def test_feeds() -> None:
    x = tf.placeholder(tf.float32, [None, 64], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    y, sess = tf.reduce_sum(x), tf.Session()
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        sess.run(y)
    first = "You must feed a value for placeholder tensor 'x' with dtype float and shape [?,64]"
    said(error, first, "x = tf.placeholder(tf.float32, [None, 64]")
    with pytest.raises(ValueError) as wrong:
        sess.run(y, feed_dict={x: np.zeros((4, 3))})
    first = "Cannot feed value of shape (4, 3) for Tensor 'x:0', which has shape '(?, 64)'"
    said(wrong, first, "x = tf.placeholder(")
    for kind, words, feeds in (
        (TypeError, r"The value of a feed cannot be a tf\.Tensor object", {x: tf.zeros([4, 64])}),
        (TypeError, "its tensor one such as x:0", {"x": np.zeros((4, 64))}),
        (TypeError, "takes integers, and is fed float64", {n: 1.5}),
        (KeyError, "The name 'z:0' refers to a Tensor which does not exist", {"z:0": 1}),
    ):
        with pytest.raises(kind, match=words):
            sess.run(y, feed_dict=feeds)
    with pytest.raises(TypeError, match=r"Fetch argument 3\.0 has invalid type"):
        sess.run(3.0)
    with pytest.raises(ValueError, match="No default session is registered"):
        y.eval()


def test_shapes_that_do_not_fit() -> None:
    x, t = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.float32, [None, 64])
    w = tf.Variable(tf.zeros([5, 10]))
    with pytest.raises(ValueError) as error:
        tf.matmul(x, w)
    first = (
        "Dimensions must be equal, but are 64 and 5 for 'MatMul' (op: 'MatMul') with input shapes: [?,64], ["
    )
    said(error, first, "tf.matmul(x, w)")
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 64 and 10"):
        x + tf.zeros([10])
    for value in (tf.zeros([10, 5]), tf.zeros([5, 10], tf.int32)):
        with pytest.raises(ValueError, match=r"Shapes and dtypes must be equal.*write tf\.reshape"):
            w.assign(value)
    for wrong in (lambda: x / x.shape[0], lambda: int(x.shape[0]), lambda: tf.zeros([x.shape[0], 2])):
        with pytest.raises(TypeError):
            wrong()
    assert int(x.shape[1]) * 2 == 128 and x.shape.as_list() == [None, 64]
    difference = x - t
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)sub was defined at .*difference = x - t"):
        tf.Session().run(difference, {x: np.zeros((3, 64)), t: np.zeros((4, 64))})


def test_uninitialized_variables() -> None:
    W = tf.Variable(tf.zeros([2]), name="W")
    y = W * 2.0
    init = tf.global_variables_initializer()
    late = tf.Variable(1.0, name="late")
    sess = tf.Session()
    for fetch in (y, W, W.assign_add([1.0, 1.0])):
        with pytest.raises(tf.errors.FailedPreconditionError) as error:
            sess.run(fetch)
        said(error, "Attempting to use uninitialized value W", "W = tf.Variable(tf.zeros([2]), name=")
    sess.run(init)
    np.testing.assert_array_equal(sess.run(y), [0, 0])
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value late"):
        sess.run(late)


def test_a_compiled_run_that_fails_names_the_operation_and_changes_nothing() -> None:
    w, i, n = tf.Variable([1.0, 2.0]), tf.placeholder(tf.int32, [1]), tf.placeholder(tf.int32, [])
    with tf.control_dependencies([w.assign_add([1.0, 1.0])]):
        chosen = tf.gather(w, i)
    hot = tf.one_hot(0, n)  # whose shape is computed: it stays eager
    sess = tf.Session()
    sess.run(w.initializer)
    assert [sess.run(chosen, {i: [0]})[0] for _ in range(5)] == [2, 3, 4, 5, 6]
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        sess.run(chosen, {i: [7]})
    said(error, "index 7 is out of bounds for dimension 0 with size 2", "chosen = tf.gather(w, i)")
    np.testing.assert_array_equal(sess.run(w), [6, 7])
    (source,) = [each.step.source for each in sess.programs.values() if each.runs > 3]
    assert "chosen = tf.gather(w, i)" in source
    assert [sess.run(hot, {n: run % 3}).shape for run in range(9)] == [(0,), (1,), (2,)] * 3


def test_a_tensor_is_no_number_yet() -> None:
    y = tf.constant(1.0) * 2.0
    with pytest.raises(RuntimeError) as error:
        if y > 0:
            pass
    said(error, "Using a `tf.Tensor` as a Python `bool` is not allowed.", "if y > 0:")
    assert "tf.where(condition, a, b) and tf.cond" in str(error.value)
    with pytest.raises(RuntimeError) as error:
        np.exp(y)
    said(error, "NumPy cannot compute with mul:0", "np.exp(y)")
    with pytest.raises(TypeError, match="'Tensor' object is not iterable"):
        list(y)
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        tf.Variable(1.0)
        tf.train.GradientDescentOptimizer(0.1).minimize(y)


def test_graphs_are_apart() -> None:
    a = tf.constant(1.0)
    with tf.Graph().as_default() as other:
        with pytest.raises(ValueError, match="is not an element of this graph"):
            a + 1.0
        b = tf.constant(2.0)
    assert b.graph is other and a.graph is tf.get_default_graph()
    with pytest.raises(TypeError, match="must be a string or Tensor of this graph"):
        tf.Session().run(b)
    assert tf.Session(graph=other).run(b) == 2.0


LEFT_OUT = {
    "contrib": "autokit leaves out tf.contrib: use tf.Variable",
    "keras": "autokit leaves out tf.keras: use",
    "estimator": "autokit leaves out tf.estimator",
    "FIFOQueue": "tf.FIFOQueue: use NumPy arrays, by feed_dict",
    "train.Coordinator": "tf.train.Coordinator: use NumPy arrays, by feed_dict",
    "GradientTape": "import autokit.static.v2 as tf",
    "placehoder": "did you mean 'placeholder'",
    "nn.rnn_cell": "use a for loop of Python's",
    "train.AdagradOptimizer": "leaves out tf.train.AdagradOptimizer: use AdamOptimizer",
    "get_collection": "use tf.Variable kept in Python's names and lists",
    "AUTO_REUSE": "use tf.Variable kept in Python's names and lists",
    "get_variable_scope": "use tf.Variable kept in Python's names and lists",
    "add_check_numerics_ops": "use tf.Assert and tf.check_numerics",
    "split": "use slices",
    "summary.scalar": "use print, and ak.plot for what session.run returns",
    "shape": "use x.shape, whose sizes",
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_names_that_are_left_out(name: str) -> None:
    space: Any = tf
    with pytest.raises(AttributeError) as error:
        for part in name.split("."):
            space = getattr(space, part)
    assert LEFT_OUT[name] in str(error.value)


# ---------------------------------------------------------------- looking into a run


def test_print_assert_and_checks_work_in_each_run_also_in_compiled_ones(capsys: Any) -> None:
    x, w = tf.placeholder(tf.float32, [None], name="x"), tf.Variable(1.0)
    positive = tf.Assert(tf.reduce_all(x > 0), ["not positive:", x])
    same = tf.assert_equal(tf.reduce_max(x), 2.0, message="two")
    with tf.control_dependencies([positive, w.assign_add(1.0), same]):
        y = tf.log(x)
    finite = tf.check_numerics(tf.log(x), "oops")
    with tf.control_dependencies([tf.print("sum", tf.reduce_sum(x))]):
        shown = tf.Print(finite, [x, tf.reduce_sum(x)], message="x is ")
    assert tf.Print(x, [x], "never") is not None
    sess = tf.Session()
    sess.run(w.initializer)
    for run in range(6):
        for fetch in (y, finite, shown):
            np.testing.assert_allclose(sess.run(fetch, {x: [1, 2]}), np.log([1, 2]))
        assert capsys.readouterr().err == "sum 3.0\nx is [1. 2.][3.]\n"
        for fetch, feed, first, line in (
            (y, [1, 3], "assertion failed: two Condition x == y did not hold", "same = tf.assert_equal("),
            (y, [1, -2], "assertion failed: not positive: [ 1. -2.]", "positive = tf.Assert("),
            (finite, [0], "oops : Tensor had Inf values", "finite = tf.check_numerics("),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError) as error:
                sess.run(fetch, {x: feed})
            said(error, first, line)
        assert sess.run(w) == run + 2  # where a check fails, nothing is assigned


def test_py_func_is_called_once_in_each_run() -> None:
    calls: list[Any] = []

    def double(a: np.ndarray) -> Any:
        calls.append(a)
        return 2 * a, a.sum() / (a.size > 0)

    x = tf.placeholder(tf.float32, [None])
    doubled, total = tf.py_func(double, [x], [tf.float32, tf.float64], name="no number")
    y = tf.reduce_sum(doubled) + total
    assert total.dtype is tf.float64
    assert not calls and repr(doubled) == "<tf.Tensor 'no number:0' shape=<unknown> dtype=float32>"
    sess = tf.Session()
    for run in range(6):
        assert sess.run(y, {x: [1, 2, run]}) == 3 * (3 + run)
        assert len(calls) == run + 1
    bad = tf.py_func(lambda a: [][0], [x], tf.float32, name="no number")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)no number.*bad = tf.py_func"):
        sess.run(bad, {x: []})


def test_any_node_of_a_graph_is_fetched() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.Variable([[1.0], [2.0], [3.0]], name="w")
    (slope,) = tf.gradients(tf.reduce_mean(tf.square(tf.matmul(x, w))), [w])
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    product = data @ [[1], [2], [3]]
    expected = {"x:0": data, "w:0": [[1], [2], [3]], "MatMul:0": product, "Square:0": product**2}
    expected |= {"Mean:0": (product**2).mean(), slope.name: data.T @ product}
    for name, value in expected.items():
        np.testing.assert_allclose(sess.run(name, {x: data}), value, rtol=1e-6)
    lines = [each.line for program in sess.programs.values() for each in program.operations]
    assert {file.rpartition("/")[2] for file, _ in lines} == {"test_tf_errors.py"}


def test_what_a_run_returns_is_its_own_and_of_its_place_in_the_program() -> None:
    x = tf.placeholder(tf.float32, [None])
    w, c = tf.Variable([1.0, 2.0]), tf.constant([3.0, 4.0])
    row = tf.reshape(w, [1, 2])
    update = w.assign_add(x)
    later = tf.reshape(w, [1, 2])
    sess = tf.Session()
    sess.run(w.initializer)
    fed = np.ones(2, np.float32)
    for run in range(6):
        out = sess.run([x, c, row, w, update, later], {x: fed})
        before = np.array([1.0, 2.0]) + run
        for value, expected in zip(out, (fed, [3, 4], [before], before + 1, before + 1, [before + 1])):
            np.testing.assert_array_equal(value, expected)
            value[...] = 99
    np.testing.assert_array_equal(fed, [1, 1])
