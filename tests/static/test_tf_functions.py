"""Functions of TensorFlow's faces against NumPy's: in a session, and at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit as ak
import autokit.static as tf1
import autokit.static.v2 as tf2
from autokit.nn import functional as F

RANDOM = np.random.RandomState(0)
A, B = RANDOM.rand(2, 3).astype(np.float32) + 0.5, RANDOM.rand(2, 3).astype(np.float32)
I = np.array([2, 0], np.int32)
CROSS_ENTROPY = np.log(np.exp(A).sum(1)) - A[[0, 1], I]


def sigmoid(a: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-a))


FUNCTIONS: list[tuple[str, Any]] = [
    ("(a + b - 2) * 3 / a - b**2 + 1 / a - -b", (A + B - 2) * 3 / A - B**2 + 1 / A + B),
    ("tf.subtract(1.0, a) + tf.pow(2.0, b) + tf.divide(a, 2)", 1 - A + 2**B + A / 2),
    ("tf.exp(tf.log(a)) + tf.sqrt(tf.square(a)) + tf.tanh(a)", 2 * A + np.tanh(A)),
    ("tf.abs(tf.negative(b)) + tf.sigmoid(a) + tf.nn.sigmoid(b)", B + sigmoid(A) + sigmoid(B)),
    ("tf.matmul(a, b, transpose_b=True) @ [[1.0], [2.0]]", A @ B.T @ [[1.0], [2.0]]),
    ("tf.maximum(a, 1.0) + tf.minimum(a, b) + abs(b)", np.maximum(A, 1) + np.minimum(A, B) + B),
    ("tf.cast(a >= b, tf.int32) + tf.cast(tf.equal(a, a), tf.int32)", (A >= B) + np.int32(1)),
    ("tf.where(tf.greater(a, b), a, b) + tf.where(a <= b, a, b)", A + B),
    ("tf.reduce_sum(a, axis=[0, 1]) + tf.reduce_mean(a, -1)", A.sum() + A.mean(1)),
    ("tf.reduce_max(a, 1, keepdims=True)", A.max(1, keepdims=True)),
    ("tf.reduce_sum(a, 1, keep_dims=True)", A.sum(1, keepdims=True)),
    ("tf.reduce_all(tf.less(b, 2))", np.array(True)),
    ("tf.argmax(a, 1)", A.argmax(1)),
    ("tf.reshape(tf.transpose(a), [-1, 6]) + tf.reshape(b, [6])", A.T.reshape(1, 6) + B.reshape(6)),
    ("tf.squeeze(tf.expand_dims(a, 1)) + tf.squeeze(tf.expand_dims(b, 0), [0])", A + B),
    ("tf.concat([a, tf.transpose(b, [0, 1]), a], axis=1)", np.concatenate([A, B, A], 1)),
    ("tf.stack([a, b], axis=1)", np.stack([A, B], 1)),
    ("a[:, 1:] + b[0, -1] + a[..., None][1, :2, 0]", A[:, 1:] + B[0, -1] + A[1, :2]),
    ("tf.gather(a, i, axis=1) + tf.gather(b[0], i)", A[:, I] + B[0][I]),
    ("tf.one_hot(i, tf.constant(3))", np.eye(3)[I]),
    ("tf.one_hot(i, 3, axis=0)", np.eye(3)[:, I]),
    ("tf.nn.softmax(a) - tf.exp(tf.nn.log_softmax(a)) + tf.identity(b)", B),
    ("tf.nn.relu(a - 1) + tf.nn.tanh(b)", np.maximum(A - 1, 0) + np.tanh(B)),
    ("tf.nn.l2_loss(a) + tf.nn.bias_add(a, b[0])", (A**2).sum() / 2 + A + B[0]),
    ("tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.one_hot(i, 3), logits=a)", CROSS_ENTROPY),
    ("tf.nn.sparse_softmax_cross_entropy_with_logits(labels=i, logits=a)", CROSS_ENTROPY),
    ("tf.nn.sigmoid_cross_entropy_with_logits(labels=b, logits=a)", np.log1p(np.exp(A)) - A * B),
]


@pytest.mark.parametrize(("text", "expected"), FUNCTIONS, ids=[text for text, _ in FUNCTIONS])
def test_functions(text: str, expected: Any) -> None:
    function = eval(f"lambda tf, a, b, i: {text}")
    with tf1.Graph().as_default():
        a, i = tf1.placeholder(tf1.float32, [None, 3]), tf1.placeholder(tf1.int32, [None])
        result = function(tf1, a, tf1.constant(B), i)
        sess = tf1.Session()
        for _ in range(5):
            value = sess.run(result, {a: A, i: I})
            np.testing.assert_allclose(value, expected, atol=2e-6)
        assert result.shape.accepts(value.shape) and value.dtype == result.dtype.numpy
    at_once = function(tf2, tf2.constant(A), tf2.constant(B), tf2.constant(I))
    np.testing.assert_allclose(at_once, expected, atol=2e-6)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("size", [7, 8])
def test_convolutions_have_their_channels_last(padding: str, size: int) -> None:
    images, kernel = [RANDOM.rand(*shape).astype(np.float32) for shape in ((2, size, size, 3), (3, 3, 3, 4))]
    with tf1.Graph().as_default():
        x, w = tf1.placeholder(tf1.float32, [None, size, size, 3]), tf1.Variable(kernel)
        h = tf1.nn.conv2d(x, w, strides=[1, 2, 2, 1], padding=padding)
        pooled = tf1.nn.max_pool(-h, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding=padding)
        (slope,) = tf1.gradients(tf1.reduce_sum(pooled**2), w)
        sess = tf1.Session()
        sess.run(w.initializer)
        for _ in range(5):
            found = sess.run([pooled, slope], {x: images})
    assert pooled.shape.as_list() == [None, *found[0].shape[1:]]

    v = ak.tensor(kernel.transpose(3, 2, 0, 1).copy(), requires_grad=True)
    given = ak.tensor(images.transpose(0, 3, 1, 2).copy())
    if padding == "SAME":  # TensorFlow puts what does not go up evenly to the right and the bottom
        given = F.pad(given, (1, 1, 1, 1) if size % 2 else (0, 1, 0, 1))
    h = -F.conv2d(given, v, stride=2)
    h = F.pad(h, (0, 1, 0, 1), value=-float("inf")) if padding == "SAME" else h
    expected = F.max_pool2d(h, 2, 1)
    (expected**2).sum().backward()
    np.testing.assert_allclose(found[0], expected.detach().numpy().transpose(0, 2, 3, 1), rtol=1e-5)
    np.testing.assert_allclose(found[1], v.grad.numpy().transpose(2, 3, 1, 0), rtol=1e-4)


def test_constants_and_random_numbers() -> None:
    with tf1.Graph().as_default() as graph:
        values = {
            tf1.zeros([2]) + tf1.ones([2]): [1, 1],
            tf1.fill([2, 2], 7.0): np.full((2, 2), 7.0),
            tf1.range(2): [0, 1],
            tf1.placeholder_with_default([1.0, 2.0], [2]): [1, 2],
            tf1.range(1, 7, 2): [1, 3, 5],
            tf1.linspace(0.0, 1.0, 5): [0, 0.25, 0.5, 0.75, 1],
            tf1.constant(3, tf1.float32, [2, 2]): np.full((2, 2), 3.0),
        }
        drawn = [tf1.random_uniform([2, 1000], 2.0, 3.0), tf1.truncated_normal([5000], 1.0, 2.0)]
        *found, uniform, cut = tf1.Session(graph=graph).run([*values, *drawn])
    for value, tensor in zip(found, values):
        np.testing.assert_array_equal(value, values[tensor])
        assert value.dtype == tensor.dtype.numpy
    assert uniform.shape == (2, 1000) and uniform.min() >= 2 and uniform.max() < 3
    assert abs(cut - 1).max() <= 4 and cut.mean() == pytest.approx(1, abs=0.1)
    assert cut.std() == pytest.approx(2 * 0.8796, rel=0.05)
