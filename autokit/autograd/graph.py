"""``torch.autograd.graph``: what a program may do with the graph itself.

:class:`saved_tensors_hooks` and its kin, which change how values are kept for
the way back, are in ``ops.packing``, and :class:`register_multi_grad_hook` is
in ``ops.multi_hooks``.
"""

from __future__ import annotations

from collections.abc import Iterable

from autokit import missing
from autokit.autograd.node import Node
from autokit.ops.ends import GradientEdge, accumulator
from autokit.ops.inplace import mark_changed
from autokit.ops.multi_hooks import register_multi_grad_hook
from autokit.ops.packing import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)
from autokit.tensor import Tensor

__getattr__ = missing.names_of("torch.autograd.graph")

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where the gradient of ``tensor`` arrives."""
    if not tensor._requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    return GradientEdge(tensor.grad_fn or accumulator(tensor), tensor.output_nr)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Note that ``tensor`` was changed in place, by means that autokit does not see."""
    if not isinstance(tensor, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for each in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if not isinstance(each, Tensor):
            raise RuntimeError(
                "increment_version expects each element of the iterable to be a tensor, and one is of type "
                f"{type(each).__name__}"
            )
        mark_changed(each)
