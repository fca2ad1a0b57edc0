"""Warnings of a mistake that no error shows: probabilities given to a loss that is for logits.

The loss still falls, slowly, and stops far too early; so the program seems to work.
"""

from __future__ import annotations

from typing import Any

from autokit.autograd.node import Node
from autokit.ops.warn import warn
from autokit.tensor import Tensor

_THEIR_MAKERS = ("softmax", "sigmoid")

_ADVICE = {
    "cross_entropy": (
        "cross_entropy() takes logits and computes their softmax itself, but it was given what {made} made: "
        "the second softmax makes gradients small, and the loss stays far above 0. Leave the {made} out; for "
        "predictions apply it outside of the loss."
    ),
    "nll_loss": (
        "nll_loss() takes log-probabilities, but it was given the probabilities that {made} made: put "
        "log_softmax in its place, or give logits to cross_entropy()."
    ),
    "binary_cross_entropy_with_logits": (
        "binary_cross_entropy_with_logits() takes logits and computes their sigmoid itself, but it was given "
        "what {made} made: leave the {made} out, or give probabilities to binary_cross_entropy()."
    ),
    "kl_div": (
        "kl_div() takes log-probabilities as its input, but it was given the probabilities that {made} made: "
        "put log_softmax in its place."
    ),
}


def warn_of_probabilities(loss: str, input: Tensor) -> None:
    """Warn where ``input``, made by softmax or sigmoid, is not what ``loss`` takes."""
    node: Any = input._node
    while isinstance(node, Node):
        operation = node.operation
        if operation.name in _THEIR_MAKERS:
            warn(_ADVICE[loss].format(made=operation.name))
        if not operation.view:
            return
        node = node.sources[0]  # as before .squeeze()
