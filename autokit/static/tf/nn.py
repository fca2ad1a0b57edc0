"""TensorFlow 1's ``tf.nn``: layers and losses. Images have their channels last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autokit.engine.operation import cast
from autokit.nn import functional as F
from autokit.static.tf.absent import absent
from autokit.static.tf.functions import shape
from autokit.static.tf.functions import sigmoid as sigmoid
from autokit.static.tf.functions import tanh as tanh
from autokit.static.tf.graph import Tensor, defines
from autokit.static.tf.values import random_uniform


@defines("Relu", "features")
def relu(features: Any) -> Any:
    """The positive part."""
    return features.relu()


@defines("Softplus", "features")
def softplus(features: Any) -> Any:
    """log(1 + exp(x))."""
    return F.softplus(features)


@defines("Softmax", "logits")
def softmax(logits: Any, axis: int = -1, dim: int | None = None) -> Any:
    """Positive numbers with the sum 1 along ``axis``."""
    return logits.softmax(axis if dim is None else dim)


@defines("LogSoftmax", "logits")
def log_softmax(logits: Any, axis: int = -1) -> Any:
    """The logarithm of the softmax."""
    return logits.log_softmax(axis)


@defines("SoftmaxCrossEntropyWithLogits", "labels logits")
def softmax_cross_entropy_with_logits_v2(*, labels: Any, logits: Any, dim: int = -1) -> Any:
    """The cross entropy of each row, whose labels are probabilities."""
    return -(labels * logits.log_softmax(dim)).sum(dim)


@defines("SoftmaxCrossEntropyWithLogits", "labels logits")
def softmax_cross_entropy_with_logits(*, labels: Any, logits: Any, dim: int = -1) -> Any:
    """The cross entropy of each row, whose labels are probabilities; no gradient flows to these."""
    return -(labels.detach() * logits.log_softmax(dim)).sum(dim)


@defines("SparseSoftmaxCrossEntropyWithLogits", "labels logits")
def sparse_softmax_cross_entropy_with_logits(*, labels: Any, logits: Any) -> Any:
    """The cross entropy of each row, whose label is the number of a class."""
    rows = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1).long(), reduction="none")
    return rows.reshape(labels.shape)


@defines("logistic_loss", "labels logits")
def sigmoid_cross_entropy_with_logits(*, labels: Any, logits: Any) -> Any:
    """The cross entropy of each element, a probability, with the sigmoid of the logit."""
    return F.binary_cross_entropy_with_logits(logits, labels, reduction="none")


@defines("BiasAdd", "value bias")
def bias_add(value: Any, bias: Any) -> Any:
    """``bias`` added along the last dimension."""
    return value + bias


@defines("L2Loss", "t")
def l2_loss(t: Any) -> Any:
    """Half the sum of the squares."""
    return (t * t).sum() / 2


@defines("embedding_lookup", "params ids")
def embedding_lookup(params: Any, ids: Any) -> Any:
    """The rows of ``params`` whose numbers are ``ids``."""
    return F.embedding(ids.long(), params)


def dropout(
    x: Tensor, keep_prob: Any = None, noise_shape: Any = None, seed: Any = None, name: Any = None
) -> Any:
    """Each element is kept with the probability ``keep_prob``, and divided by it; else it becomes 0."""
    return _dropped(x, keep_prob, random_uniform(shape(x), seed=seed), name=name)


@defines("dropout", "x keep_prob noise")
def _dropped(x: Any, keep_prob: Any, noise: Any) -> Any:
    return x / keep_prob * cast((noise + keep_prob).floor(), dtype=x.array.dtype)


# ---------------------------------------------------------------- images


def _channels_first(images: Any) -> Any:
    return images.permute(0, 3, 1, 2)


def _channels_last(images: Any) -> Any:
    return images.permute(0, 2, 3, 1)


def _padded(images: Any, windows: Any, strides: Any, padding: str, value: float) -> Any:
    """``images`` with a border, so that under ``"SAME"`` there is a result for each stride."""
    if padding == "VALID":
        return images
    if padding != "SAME":
        raise ValueError(
            f'Value for attr \'padding\' of "{padding}" is not in the list of allowed values: "SAME", "VALID"'
        )
    border: list[int] = []
    for size, window, stride in zip(images.shape[:1:-1], reversed(windows), reversed(strides)):
        missing = max((-(-size // stride) - 1) * stride + window - size, 0)
        border += [missing // 2, missing - missing // 2]
    return F.pad(images, border, value=value) if any(border) else images


@defines("Conv2D", "input filter")
def conv2d(input: Any, filter: Any, strides: Any = (1, 1, 1, 1), padding: str = "SAME") -> Any:
    """A convolution; ``filter`` is height × width × channels × results."""
    images = _padded(_channels_first(input), filter.shape[:2], strides[1:3], padding, 0.0)
    return _channels_last(F.conv2d(images, filter.permute(3, 2, 0, 1), stride=tuple(strides[1:3])))


def _pool(kind: str, function: Callable[..., Any], border: float) -> Callable[..., Any]:
    @defines(kind, "value")
    def pool(value: Any, ksize: Any, strides: Any, padding: str) -> Any:
        windows, steps = tuple(ksize[1:3]), tuple(strides[1:3])
        images = _padded(_channels_first(value), windows, steps, padding, border)
        return _channels_last(function(images, windows, steps))

    return pool


max_pool = _pool("MaxPool", F.max_pool2d, -float("inf"))


__getattr__ = absent("tf.nn", globals())
