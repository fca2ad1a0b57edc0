"""The linear layer's operation: a matrix product and a bias in one."""

from __future__ import annotations

from typing import Any

from autokit.autograd.node import Node
from autokit.ops.operation import derivative, operation


def _weight_gradient(g: Any, input: Any) -> Any:
    if g.ndim != 2:
        g, input = g.reshape((-1, g.shape[-1])), input.reshape((-1, input.shape[-1]))
    return g.T @ input


def _bias_gradient(g: Any) -> Any:
    # The engine would sum over the rows too; here it takes fewer steps, and training asks for it often.
    return (g if g.ndim == 2 else g.reshape((-1, g.shape[-1]))).sum(axis=0)


def _name(node: Node) -> str:
    return "AddmmBackward0" if len(node.shape) == 2 else "ViewBackward0"


@operation(
    "linear",
    "{input} · {weight}ᵀ + {bias}",
    input=derivative("· {weight}", lambda g, weight: g @ weight),
    weight=derivative("gᵀ · {input}", _weight_gradient),
    bias=derivative("1", _bias_gradient),
    reduces=True,
    backward=_name,
)
def affine(input, weight, bias, /):
    """Each row of ``input`` times the transpose of ``weight``, plus ``bias``."""
    out = input @ weight.T
    out += bias
    return out
