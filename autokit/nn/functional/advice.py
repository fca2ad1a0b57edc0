"""Warnings of a mistake that no error shows: probabilities given to a loss that is for logits.

The loss still falls, slowly, and stops far too early; so the program seems to work.
"""

from __future__ import annotations

from autokit.autograd.node import Node
from autokit.ops.warn import warn
from autokit.tensor import Tensor

_ADVICE = {
    "cross_entropy": (
        ("softmax", "sigmoid"),
        "cross_entropy() takes logits and computes their softmax itself, but it was given what {made} made: "
        "the second softmax makes gradients small, and the loss stays far above 0. Leave the {made} out; for "
        "predictions apply it outside of the loss.",
    ),
    "nll_loss": (
        ("softmax", "sigmoid"),
        "nll_loss() takes log-probabilities, but it was given the probabilities that {made} made: put "
        "log_softmax in its place, or give logits to cross_entropy().",
    ),
    "binary_cross_entropy_with_logits": (
        ("sigmoid", "softmax"),
        "binary_cross_entropy_with_logits() takes logits and computes their sigmoid itself, but it was given "
        "what {made} made: leave the {made} out, or give probabilities to binary_cross_entropy().",
    ),
    "kl_div": (
        ("softmax", "sigmoid"),
        "kl_div() takes log-probabilities as its input, but it was given the probabilities that {made} made: "
        "put log_softmax in its place.",
    ),
}


def warn_of_probabilities(loss: str, input: Tensor) -> None:
    """Warn where ``input``, made by softmax or sigmoid, is not what ``loss`` takes."""
    node = input._node
    while node is not None and node.operation.view:  # as after .squeeze()
        source = node.sources[0]
        if not isinstance(source, Node):
            return
        node = source
    if node is None:
        return
    made_by, advice = _ADVICE[loss]
    if node.operation.name in made_by:
        warn(advice.format(made=node.operation.name))
