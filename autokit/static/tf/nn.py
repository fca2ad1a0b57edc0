"""TensorFlow 1's ``tf.nn``: layers and losses. Images have their channels last."""

from __future__ import annotations

from typing import Any

from autokit.nn import functional as F
from autokit.ops.choose import where
from autokit.ops.draw import rand
from autokit.static.tf.absent import absent
from autokit.static.tf.functions import sigmoid as sigmoid
from autokit.static.tf.functions import tanh as tanh
from autokit.static.tf.graph import defines

relu = defines("Relu", "features")(lambda features: features.relu())
softmax = defines("Softmax", "logits")(lambda logits, axis=-1: logits.softmax(axis))
log_softmax = defines("LogSoftmax", "logits")(lambda logits, axis=-1: logits.log_softmax(axis))
bias_add = defines("BiasAdd", "value bias")(lambda value, bias: value + bias)
l2_loss = defines("L2Loss", "t")(lambda t: (t * t).sum() / 2)


@defines("SoftmaxCrossEntropyWithLogits", "labels logits")
def softmax_cross_entropy_with_logits_v2(*, labels: Any, logits: Any) -> Any:
    """The cross entropy of each row, whose labels are probabilities."""
    return -(labels * logits.log_softmax(-1)).sum(-1)


@defines("SoftmaxCrossEntropyWithLogits", "labels logits")
def softmax_cross_entropy_with_logits(*, labels: Any, logits: Any) -> Any:
    """The cross entropy of each row, whose labels are probabilities; no gradient flows to these."""
    return -(labels.detach() * logits.log_softmax(-1)).sum(-1)


@defines("SparseSoftmaxCrossEntropyWithLogits", "labels logits")
def sparse_softmax_cross_entropy_with_logits(*, labels: Any, logits: Any) -> Any:
    """The cross entropy of each row, whose label is the number of a class."""
    rows = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1).long(), reduction="none")
    return rows.reshape(labels.shape)


@defines("logistic_loss", "labels logits")
def sigmoid_cross_entropy_with_logits(*, labels: Any, logits: Any) -> Any:
    """The cross entropy of each element, a probability, with the sigmoid of the logit."""
    return F.binary_cross_entropy_with_logits(logits, labels, reduction="none")


@defines("dropout", "x keep_prob")
def dropout(x: Any, keep_prob: Any, seed: Any = None, rng: Any = None) -> Any:
    """Each element is kept with the probability ``keep_prob``, and divided by it; else it becomes 0."""
    return where(rand(x.shape, generator=rng) < keep_prob, x / keep_prob, 0.0)


# ---------------------------------------------------------------- images


def _padded(images: Any, windows: Any, strides: Any, padding: str, value: float) -> Any:
    """``images`` with channels first and a border, so that under ``"SAME"`` each stride has a result."""
    if padding not in ("SAME", "VALID"):
        raise ValueError(f'padding is "SAME" or "VALID", not {padding!r}')
    images, border = images.permute(0, 3, 1, 2), []
    for size, window, stride in zip(images.shape[:1:-1], reversed(windows), reversed(strides)):
        missing = max((-(-size // stride) - 1) * stride + window - size, 0)
        border += [missing // 2, missing - missing // 2]
    return F.pad(images, border, value=value) if padding == "SAME" and any(border) else images


@defines("Conv2D", "input filter")
def conv2d(input: Any, filter: Any, strides: Any, padding: str) -> Any:
    """A convolution; ``filter`` is height × width × channels × results."""
    steps = tuple(strides[1:3])
    images = _padded(input, filter.shape[:2], steps, padding, 0.0)
    return F.conv2d(images, filter.permute(3, 2, 0, 1), stride=steps).permute(0, 2, 3, 1)


@defines("MaxPool", "value")
def max_pool(value: Any, ksize: Any, strides: Any, padding: str) -> Any:
    """The largest elements of windows."""
    windows, steps = tuple(ksize[1:3]), tuple(strides[1:3])
    images = _padded(value, windows, steps, padding, -float("inf"))
    return F.max_pool2d(images, windows, steps).permute(0, 2, 3, 1)


__getattr__ = absent("tf.nn", globals())
