"""TensorFlow 2's face: variables, tapes, functions; and one model in four styles gives the same losses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autokit as ak
import autokit.static as tf1
import autokit.static.v2 as tf

RANDOM = np.random.RandomState(0)
X = RANDOM.rand(32, 5).astype(np.float32)
T = RANDOM.randint(0, 3, 32)
W1, W2 = [RANDOM.randn(*shape).astype(np.float32) * 0.5 for shape in ((5, 8), (8, 3))]


def pytorch(hybridized: bool = False) -> Iterator[float]:
    model = ak.nn.Sequential(ak.nn.Linear(5, 8, bias=False), ak.nn.ReLU(), ak.nn.Linear(8, 3, bias=False))
    model.load_state_dict({"0.weight": ak.tensor(W1.T.copy()), "2.weight": ak.tensor(W2.T.copy())})
    if hybridized:  # as MXNet's Gluon does
        model.hybridize()
    optimizer = ak.optim.SGD(model.parameters(), lr=0.5)
    while True:
        loss = ak.nn.functional.cross_entropy(model(ak.tensor(X)), ak.tensor(T))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def tensorflow_1() -> Iterator[float]:
    with tf1.Graph().as_default():
        x, t = tf1.placeholder(tf1.float32, [None, 5]), tf1.placeholder(tf1.int64, [None])
        w1, w2 = tf1.Variable(W1), tf1.Variable(W2)
        logits = tf1.matmul(tf1.nn.relu(tf1.matmul(x, w1)), w2)
        rows = tf1.nn.sparse_softmax_cross_entropy_with_logits(labels=t, logits=logits)
        loss = tf1.reduce_mean(rows)
        train = tf1.train.GradientDescentOptimizer(0.5).minimize(loss)
        sess = tf1.Session()
        sess.run(tf1.global_variables_initializer())
    while True:
        yield sess.run([train, loss], feed_dict={x: X, t: T})[1]


def tensorflow_2(decorate: Callable[..., Any]) -> Iterator[float]:
    w1, w2 = tf.Variable(W1), tf.Variable(W2)

    @decorate
    def train_step(x, t):
        with tf.GradientTape() as tape:
            logits = tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=t, logits=logits))
        for variable, gradient in zip((w1, w2), tape.gradient(loss, [w1, w2])):
            variable.assign_sub(0.5 * gradient)
        return loss

    while True:
        yield train_step(X, T).numpy()


STYLES: dict[str, Callable[[], Iterator[float]]] = {
    "TensorFlow 1": tensorflow_1,
    "TensorFlow 2": lambda: tensorflow_2(lambda function: function),
    "TensorFlow 2, a function": lambda: tensorflow_2(tf.function),
    "Gluon, hybridized": lambda: pytorch(hybridized=True),
}


@pytest.mark.parametrize("style", STYLES)
def test_one_model_in_four_styles(style: str) -> None:
    for step, one, other in zip(range(20), pytorch(), STYLES[style]()):
        assert one == pytest.approx(other, abs=1e-6), step


def test_a_persistent_tape_and_one_that_is_not() -> None:
    x, c, frozen = tf.Variable(3.0), tf.constant(3.0), tf.Variable(2.0, trainable=False)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(c)
        y = x * c
        z = y * y * frozen
    outside = y * x
    assert tape.gradient(z, [x, c, frozen]) == [108.0, 108.0, None]
    assert tape.gradient(z, {"x": y}) == {"x": 36.0} and tape.gradient(outside, x) is None
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x).numpy() == 6
    with pytest.raises(RuntimeError, match="A non-persistent GradientTape can only be used to compute one"):
        tape.gradient(y, x)
    assert repr(x) == "<tf.Variable: shape=(), dtype=float32, numpy=3.0>"
    assert repr(y) == "<tf.Tensor: shape=(), dtype=float32, numpy=9.0>"


def test_nested_tapes_give_second_derivatives() -> None:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(x**3 + tf.exp(x))
        slope = inner.gradient(y, x)
    np.testing.assert_allclose(slope.numpy(), 3 * x.numpy() ** 2 + np.exp(x.numpy()), rtol=1e-6)
    np.testing.assert_allclose(outer.gradient(slope, x).numpy(), 6 * x.numpy() + np.exp(x.numpy()), rtol=1e-6)


def test_variables_are_assigned_in_place() -> None:
    x = tf.Variable([1.0, 2.0])
    array = x.array
    x.assign_add([1.0, 1.0])
    x.assign_sub(tf.constant([0.5, 0.5]))
    np.testing.assert_array_equal(array, [1.5, 2.5])
    tf.random.set_seed(0)
    drawn = tf.random.normal([2000], mean=1.0)
    assert float(tf.reduce_mean(drawn).numpy()) == pytest.approx(1, abs=0.1)
    for name, words in (("keras", r"leaves out tf\.keras"), ("optimizers", r"variable\.assign_sub")):
        with pytest.raises(AttributeError, match=words):
            getattr(tf, name)


def test_a_function_has_a_graph_for_each_signature() -> None:
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * x)
        return tape.gradient(y, x)

    @tf.function
    def several(x):
        return {"parts": (x, 2 * x)}

    assert [type(each) for each in several(tf.constant([1.0]))["parts"]] == [type(tf.constant(1.0))] * 2
    for size in (3, 4, 3):
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_array_equal(slope(x).numpy(), 2 * x)
    assert "add" in slope.step.graph.table()
