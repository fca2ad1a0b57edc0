"""All parameters of a network as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autokit.ops.join import cat
from autokit.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters in one vector.

    Raises
    ------
    TypeError
        If they are on different devices.

    Examples
    --------
    >>> import autokit as torch
    >>> parameters_to_vector([torch.ones(1, 2), torch.zeros(1)])
    tensor([1., 1., 0.])
    """
    parameters = list(parameters)
    _check_devices(parameters)
    return cat([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Let the parameters, one after the other, have the elements of ``vec``, whose memory they share then.

    Raises
    ------
    TypeError
        If ``vec`` is no tensor, or the parameters are on different devices.
    RuntimeError
        If ``vec`` has fewer elements than they need.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    parameters = list(parameters)
    _check_devices(parameters)
    start = 0
    for parameter in parameters:
        stop = start + parameter.numel()
        parameter.data = vec[start:stop].view_as(parameter).data
        start = stop


def _check_devices(parameters: list[Any]) -> None:
    if len({parameter.device for parameter in parameters}) > 1:
        raise TypeError("Found two parameters on different devices, this is currently not supported.")
