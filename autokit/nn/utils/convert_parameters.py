"""The parameters of a network are joined to one vector here, and set from such a vector."""

from __future__ import annotations

from collections.abc import Iterable

from autokit.engine.tensor import Tensor
from autokit.ops.join import cat


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters in one vector.

    >>> import autokit as torch
    >>> parameters_to_vector([torch.ones(1, 2), torch.zeros(1)])
    tensor([1., 1., 0.])
    """
    return cat([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Set the parameters, one after the other, to the elements of ``vec``, whose memory they share then.

    Raises
    ------
    RuntimeError
        If ``vec`` has fewer elements than they need.
    """
    start = 0
    for parameter in parameters:
        stop = start + parameter.numel()
        parameter.data = vec[start:stop].view_as(parameter).data
        start = stop
