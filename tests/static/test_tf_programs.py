"""Programs of TensorFlow 1 courses, as courses write them; NumPy, eager autokit or a number checks each."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import autokit as ak
import autokit.static as tf
from autokit.datasets import Digits


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    data = Digits()
    images = np.stack([np.asarray(image, np.float32).reshape(-1) for image, _ in data])
    return images / images.max(), np.eye(10, dtype=np.float32)[[int(label) for _, label in data]]


def test_softmax_regression(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, Y = digits
    # MNIST for ML Beginners
    x = tf.placeholder(tf.float32, [None, 64])
    W = tf.Variable(tf.zeros([64, 10]))
    b = tf.Variable(tf.zeros([10]))
    y = tf.nn.softmax(tf.matmul(x, W) + b)
    y_ = tf.placeholder(tf.float32, [None, 10])
    cross_entropy = tf.reduce_mean(-tf.reduce_sum(y_ * tf.log(y), reduction_indices=[1]))
    train_step = tf.train.GradientDescentOptimizer(0.5).minimize(cross_entropy)

    sess = tf.InteractiveSession()
    tf.global_variables_initializer().run()
    rs = np.random.RandomState(0)
    batches = [rs.randint(0, 1200, 100) for _ in range(200)]
    for i in batches:
        sess.run(train_step, feed_dict={x: X[i], y_: Y[i]})

    correct_prediction = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
    accuracy = tf.reduce_mean(tf.cast(correct_prediction, tf.float32))
    found = sess.run(accuracy, feed_dict={x: X[1200:], y_: Y[1200:]})

    weight, bias = np.zeros((64, 10), np.float32), np.zeros(10, np.float32)
    for i in batches:
        e = np.exp(X[i] @ weight + bias)
        slope = (e / e.sum(1, keepdims=True) - Y[i]) / 100
        weight, bias = weight - 0.5 * X[i].T @ slope, bias - 0.5 * slope.sum(0)
    np.testing.assert_allclose(sess.run(W), weight, atol=1e-5)
    right = (X[1200:] @ weight + bias).argmax(1) == Y[1200:].argmax(1)
    assert found == accuracy.eval({x: X[1200:], y_: Y[1200:]}) == pytest.approx(right.mean()) and found > 0.85


def test_two_layers(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, Y = digits
    # aymericdamien/TensorFlow-Examples: multilayer_perceptron.py
    tf.set_random_seed(1)
    x, y = tf.placeholder("float", [None, 64]), tf.placeholder("float", [None, 10])
    weights = {
        "h1": tf.Variable(tf.random_normal([64, 32], stddev=0.1)),
        "out": tf.Variable(tf.random_normal([32, 10], stddev=0.1)),
    }
    biases = {"b1": tf.Variable(tf.zeros([32])), "out": tf.Variable(tf.zeros([10]))}
    layer_1 = tf.nn.relu(tf.add(tf.matmul(x, weights["h1"]), biases["b1"]))
    logits = tf.matmul(layer_1, weights["out"]) + biases["out"]
    loss_op = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits=logits, labels=y))
    train_op = tf.train.AdamOptimizer(learning_rate=0.01).minimize(loss_op)
    model = ak.nn.Sequential(ak.nn.Linear(64, 32), ak.nn.ReLU(), ak.nn.Linear(32, 10))
    optimizer = ak.optim.Adam(model.parameters(), lr=0.01)
    with tf.Session() as sess, ak.enable_grad():
        sess.run(tf.global_variables_initializer())
        values = sess.run([weights["h1"], biases["b1"], weights["out"], biases["out"]])
        model.load_state_dict({name: ak.tensor(value.T) for name, value in zip(model.state_dict(), values)})
        for step in range(20):
            batch = slice(step * 50, step * 50 + 50)
            _, c = sess.run([train_op, loss_op], feed_dict={x: X[batch], y: Y[batch]})
            loss = ak.nn.functional.cross_entropy(model(ak.tensor(X[batch])), ak.tensor(Y[batch].argmax(1)))
            assert loss.item() == pytest.approx(c, abs=2e-3)  # ε stands elsewhere in the formula
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert c < 1.5


def test_linear_regression_with_a_placeholder_of_unknown_shape() -> None:
    # aymericdamien/TensorFlow-Examples: linear_regression.py feeds numbers to train, and arrays to test
    train_X = np.random.RandomState(2).rand(17).astype(np.float32)
    train_Y = 2 * train_X + 1
    tf.Variable(0.0, name="of_a_cell_that_ran_before")
    X = tf.placeholder("float")
    Y = tf.placeholder("float")
    W = tf.Variable(0.3, name="weight")
    b = tf.Variable(0.7, name="bias")
    pred = tf.add(tf.multiply(X, W), b)
    cost = tf.reduce_sum(tf.pow(pred - Y, 2)) / (2 * 17)
    optimizer = tf.train.GradientDescentOptimizer(0.5).minimize(cost)
    weight, other = 0.3, 0.7
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(cost, feed_dict={X: train_X, Y: train_Y})
        assert before == pytest.approx(((0.3 * train_X + 0.7 - train_Y) ** 2).sum() / 34, rel=1e-5)
        for x, y in [*zip(train_X, train_Y)] * 100:
            sess.run(optimizer, feed_dict={X: x, Y: y})
            slope = (weight * x + other - y) / 17
            weight, other = weight - 0.5 * slope * x, other - 0.5 * slope
        assert sess.run([W, b]) == pytest.approx([weight, other], abs=1e-4)
        assert sess.run(cost, feed_dict={X: train_X, Y: train_Y}) < before / 10


def test_a_parabola() -> None:
    # deeplearning.ai, course 2, week 3
    w = tf.Variable(0, dtype=tf.float32)
    cost = tf.add(tf.add(w**2, tf.multiply(-10.0, w)), 25)
    train = tf.train.GradientDescentOptimizer(0.01).minimize(cost)
    init = tf.global_variables_initializer()
    session = tf.Session()
    session.run(init)
    assert session.run(w) == 0.0
    session.run(train)
    assert session.run(w) == pytest.approx(0.1)
    for _ in range(1000):
        session.run(train)
    assert session.run(w) == pytest.approx(4.99999, abs=1e-4)


def test_name_scopes_and_printed_tensors() -> None:
    # Stanford CS 20, lecture 2
    with tf.name_scope("data"):
        a = tf.constant([2, 2], name="vector_a")
        b = tf.constant([[0, 1], [2, 3]], name="vector_b")
    with tf.name_scope("compute"):
        x = tf.add(a, b, name="add")
    again = tf.add(a, b)
    with tf.name_scope("compute"):
        other = tf.add(a, b, name="add")
    assert repr(a) == "<tf.Tensor 'data/vector_a:0' shape=(2,) dtype=int32>"
    assert [x.name, again.op.name, other.name] == ["compute/add:0", "Add", "compute_1/add:0"]
    images = tf.placeholder(tf.float32, [None, 28, 28, 1], name="images")
    kernel = tf.Variable(tf.truncated_normal([5, 5, 1, 8], stddev=0.1), name="kernel")
    hidden = tf.nn.conv2d(images, kernel, [1, 1, 1, 1], "SAME")
    pooled = tf.nn.max_pool(hidden, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    flat = tf.reshape(pooled, [-1, int(np.prod(pooled.get_shape().as_list()[1:]))])
    assert repr(kernel) == "<tf.Variable 'kernel:0' shape=(5, 5, 1, 8) dtype=float32_ref>"
    assert str(pooled) == "<tf.Tensor 'MaxPool:0' shape=(?, 14, 14, 8) dtype=float32>"
    assert flat.get_shape().as_list() == [None, 1568] and pooled.shape[0].value is None
    out = tf.Session().run([x, {"again": again}])
    np.testing.assert_array_equal([out[0], out[1]["again"]], [[[2, 3], [4, 5]]] * 2)
    assert out[0].dtype == np.int32


def test_hello_constants_and_feeds_by_name_and_of_any_tensor() -> None:
    hello = tf.constant("Hello, TensorFlow!")
    a = tf.add(2, 5)
    b = tf.multiply(a, 3)
    x = tf.placeholder(tf.float32, shape=[3], name="x")
    c = tf.add(x, tf.constant([5, 5, 5], tf.float32), name="c")
    with tf.Session() as sess:
        assert sess.run(hello) == b"Hello, TensorFlow!"
        assert sess.run(b) == 21
        assert sess.run(b, feed_dict={a: 15}) == 45
        for key in (x, "x:0"):
            np.testing.assert_array_equal(sess.run("c:0", feed_dict={key: [1, 2, 3]}), [6, 7, 8])
        np.testing.assert_array_equal(c.eval({x: [1, 2, 3]}), [6, 7, 8])


def test_counters_and_control_dependencies() -> None:
    # MorvanZhou/Tensorflow-Tutorial: variables; CS 20: assign
    state = tf.Variable(0, name="counter")
    update = tf.assign(state, tf.add(state, tf.constant(1)))
    my_var = tf.Variable(2, name="my_var")
    my_var_times_two = my_var.assign(2 * my_var)
    step = tf.Variable(0.0)
    with tf.control_dependencies([tf.assign_add(step, 1.0)]):
        after = tf.identity(step)
        late = tf.Variable(5.0)
    both = tf.group(tf.assign_sub(step, 0.5), update)
    first, second = tf.Session(), tf.Session()
    for sess in (first, second):
        sess.run(tf.initialize_all_variables())
    assert [first.run(update) for _ in range(6)] == [1, 2, 3, 4, 5, 6]
    assert [first.run(my_var_times_two) for _ in range(3)] == [4, 8, 16]
    assert [first.run(after) for _ in range(6)] == [1, 2, 3, 4, 5, 6]
    assert first.run(both) is None
    assert first.run([state, step]) == [7, 5.5]
    assert second.run([state, my_var, step, late]) == [0, 2, 0.0, 5.0]  # each session owns its values


def test_gradients_of_first_and_second_order() -> None:
    x = tf.Variable(2.0)
    y = 2.0 * (x**3)
    z = 3.0 + y**2
    grad_z = tf.gradients(z, [x, y])
    unused = tf.gradients(y, [x, z, tf.stop_gradient(x)])
    (second,) = tf.gradients(grad_z[0], x)
    p = tf.placeholder(tf.float32, [None])
    (slope,) = tf.gradients(tf.exp(p) * x, p)
    with tf.Session() as sess:
        sess.run(x.initializer)
        assert sess.run(grad_z) == [768.0, 32.0]
        assert sess.run(second) == pytest.approx(120 * 2**4)
        assert unused[1:] == [None, None] and sess.run(unused[0]) == 24.0
        points = np.linspace(0, 3, 5, dtype=np.float32)
        np.testing.assert_allclose(sess.run(slope, {p: points}), 2 * np.exp(points), rtol=1e-6)


def test_while_loop_and_cond() -> None:
    i, n = tf.constant(0), tf.placeholder(tf.int32, [])
    _, total = tf.while_loop(
        lambda i, s: tf.less(i, n), lambda i, s: [tf.add(i, 1), s + i], [i, tf.constant(0)]
    )
    x, w = tf.placeholder(tf.float32, []), tf.Variable(3.0)
    chosen = tf.cond(x < 0.0, lambda: x * x, lambda: tf.log(x) * w)
    drawn = tf.cond(tf.constant(True), lambda: tf.random_normal([]), lambda: tf.constant(0.0))
    with tf.Session() as sess:
        sess.run(w.initializer)
        assert [sess.run(total, {n: count}) for count in (0, 1, 10)] == [0, 0, 45]
        for _ in range(5):
            assert sess.run(chosen, {x: -3.0}) == 9.0
            assert sess.run(chosen, {x: 2.0}) == pytest.approx(3 * np.log(2))
        assert len({float(sess.run(drawn)) for _ in range(6)}) == 6
    for result in (chosen, tf.while_loop(lambda s: s < 9.0, lambda s: s * s, [x])):
        with pytest.raises(NotImplementedError, match="have no gradient here"):
            tf.gradients(result, x)
    with pytest.raises(TypeError, match="keep types and shapes"):
        tf.cond(x < 0.0, lambda: x, lambda: tf.expand_dims(x, 0))
    with pytest.raises(RuntimeError, match=r"(?s)lambda: .*a branch or a loop holds no Assign"):
        tf.cond(x < 0.0, lambda: tf.assign_add(w, 1.0), lambda: x)
    root = tf.cond(x < 0.0, lambda: tf.py_func(math.sqrt, [x], tf.float32), lambda: x)
    assert tf.Session().run(root, {x: 4.0}) == 4.0
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"(?s)math domain error\n  PyFunc was def.*root ="
    ):
        tf.Session().run(root, {x: -4.0})


def test_a_saver_gives_another_session_the_values(tmp_path: Path) -> None:
    v1 = tf.Variable(tf.random_normal([3, 4]), name="v1")
    v2 = tf.Variable(tf.zeros([2], tf.float64), name="v2")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(v2.assign([1.0, 2.0]))
        save_path = saver.save(sess, str(tmp_path / "model.ckpt"), global_step=7)
        kept = sess.run([v1, v2])
    assert save_path.endswith("model.ckpt-7")
    with tf.Session() as sess:
        saver.restore(sess, save_path)
        for value, expected in zip(sess.run([v1, v2]), kept):
            np.testing.assert_array_equal(value, expected)
    tf.Variable(0.0, name="v3")
    with tf.Session() as sess, pytest.raises(tf.errors.NotFoundError, match="Key v3 not found in checkpoint"):
        tf.train.Saver().restore(sess, save_path)


def test_variable_scopes_name_variables_and_a_second_one_of_a_name_is_refused() -> None:
    def filled(shape, dtype):
        return tf.constant(3.0, dtype, shape)

    def layer(x, name):
        with tf.variable_scope(name):
            return tf.matmul(x, tf.get_variable("w", [2, 2], initializer=filled))

    with tf.variable_scope("net") as scope:
        two = layer(layer(tf.ones([1, 2]), "first"), "second")
    assert [v.name for v in tf.trainable_variables()] == ["net/first/w:0", "net/second/w:0"]
    words = r"(?s)Variable net/first/w already exists, disallowed\.\n.*test_tf_programs.py"
    for again in ("net", scope):
        with tf.variable_scope(again), pytest.raises(ValueError, match=words):
            layer(two, "first")
    given = [tf.get_variable(f"v{at}", initializer=value) for at, value in enumerate([0.0, np.ones(2)])]
    spread = tf.get_variable("spread", [30, 40])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(sess.run(two), [[36, 36]])
        assert sess.run(given)[0] == 0 and list(sess.run(given)[1]) == [1, 1]
        assert np.abs(sess.run(spread)).max() == pytest.approx(np.sqrt(6 / 70), rel=0.02)


def test_dropout_keeps_the_expected_value_and_seeds_repeat() -> None:
    tf.set_random_seed(3)
    keep_prob = tf.placeholder(tf.float32)
    x = tf.ones([1000])
    dropped = tf.nn.dropout(x, keep_prob)
    runs = []
    for compiled in (False, True):
        with tf.Session(compiled=compiled) as sess:
            runs.append([sess.run(dropped, {keep_prob: 0.8}) for _ in range(6)])
            np.testing.assert_array_equal(sess.run(dropped, {keep_prob: 1.0}), np.ones(1000))
        assert {bool(each.step.passes) for each in sess.programs.values() if each.runs > 3} == {compiled}
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0][4], runs[0][5])
    np.testing.assert_allclose(np.unique(runs[0]), [0, 1.25])
    assert np.mean(runs[0]) == pytest.approx(1, abs=0.03)


OPTIMIZERS = {
    "SGD": (tf.train.MomentumOptimizer(0.1, 0.9), {"momentum": 0.9}),
    "Adam": (tf.train.AdamOptimizer(0.1), {}),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_step_as_eager_ones(name: str) -> None:
    of_tf, settings = OPTIMIZERS[name]
    w, global_step = tf.Variable([1.0, -2.0, 3.0]), tf.Variable(0, trainable=False)
    pairs = of_tf.compute_gradients(tf.reduce_sum(w**2 + tf.exp(w)) / 2.0)
    train = of_tf.apply_gradients([(2.0 * slope, each) for slope, each in pairs], global_step)
    v = ak.tensor([1.0, -2.0, 3.0], requires_grad=True)
    optimizer = getattr(ak.optim, name)([v], 0.1, **settings)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(8):
            sess.run(train)
            optimizer.zero_grad()
            (v**2 + v.exp()).sum().backward()
            optimizer.step()
            np.testing.assert_allclose(sess.run(w), v.detach().numpy(), atol=2e-5)
            assert sess.run(global_step) == step + 1


def test_the_graph_is_written_as_a_page_and_shown(tmp_path: Path) -> None:
    # CS 20, lecture 2: with TensorBoard
    with tf.name_scope("layer"):
        x = tf.placeholder(tf.float32, name="x")
        w = tf.Variable(2.0, name="w")
        y = tf.multiply(x, w, name="y")
    tf.train.AdamOptimizer().minimize(y)
    with tf.Session() as sess:
        writer = tf.summary.FileWriter(str(tmp_path / "graphs"), sess.graph)
        with pytest.raises(NotImplementedError, match=r"what session\.run returns"):
            writer.add_summary("summary", 0)
    writer.close()
    page = (tmp_path / "graphs" / "graph.html").read_text(encoding="utf-8")
    assert all(name in page for name in ("layer/x", "layer/w", "layer/y", "gradients", "Adam"))
    shown = y._repr_mimebundle_()
    assert "Adam" not in shown["text/html"] and shown["text/plain"].split().count("layer/y") == 1
    assert "Adam" in tf.get_default_graph()._repr_mimebundle_()["text/html"]
