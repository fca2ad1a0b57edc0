"""Clipping: keeping gradients from getting so large that one step ruins the training."""

from __future__ import annotations

import types
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from autokit.autograd.modes import no_grad
from autokit.linalg import vector_norm
from autokit.ops.join import stack
from autokit.tensor import Tensor, new_tensor


@no_grad()
def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all elements of some tensors, as if they were one vector.

    Parameters
    ----------
    tensors : Tensor or iterable of Tensor
        Such as the gradients of a network.
    norm_type : float or str
        Which norm: 2 for the length, 1 for the sum of the absolute values, ``inf`` for the largest of these.
    error_if_nonfinite : bool
        Raise where the norm is NaN or infinite.
    foreach : bool, optional
        Which implementation PyTorch takes; here there is one for all.

    Raises
    ------
    RuntimeError
        If the norm is not finite and ``error_if_nonfinite`` is set.
    """
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return new_tensor(np.zeros((), np.float32))
    norms = [vector_norm(tensor, norm_type) for tensor in tensors]
    total = vector_norm(stack([norm.to(norms[0].device) for norm in norms]), norm_type)
    if error_if_nonfinite and not np.isfinite(total.array.item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it "
            "cannot be clipped. To disable this error and scale the gradients by the non-finite norm anyway, "
            "set `error_if_nonfinite=False`"
        )
    return total


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    r"""Scale the gradients of some parameters, in place, whose norm is known already.

    .. math::
        g \leftarrow g \cdot \min\left(1,\; \frac{\text{max\_norm}}{\text{total\_norm} + 10^{-6}}\right)

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
        Those without a gradient are passed over.
    max_norm : float
        The largest norm to allow.
    total_norm : Tensor
        The norm; see :func:`get_total_norm`.
    foreach : bool, optional
        Which implementation PyTorch takes; here there is one for all.
    """
    gradients = _gradients(parameters)
    max_norm = float(max_norm)
    if not gradients:
        return
    if not isinstance(total_norm, Tensor):
        raise TypeError(
            f"clip_grads_with_norm_(): total_norm must be a Tensor, not {type(total_norm).__name__}: what "
            "get_total_norm gives"
        )
    if total_norm.numel() != 1:
        raise RuntimeError(
            f"scalar tensor expected to be 0 dim but it has {total_norm.dim()} dimensions and "
            f"{total_norm.numel()} elements."
        )
    share = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(share.to(gradient.device))


@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients of some parameters, in place, so that their common norm is at most ``max_norm``.

    The direction of the step stays; only its length is limited.  It comes
    between ``backward()`` and ``step()``.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
        Those without a gradient are passed over.
    max_norm : float
        The largest norm to allow.
    norm_type : float or str
        Which norm; see :func:`get_total_norm`.
    error_if_nonfinite : bool
        Raise where the norm is NaN or infinite, in place of spreading it.
    foreach : bool, optional
        Which implementation PyTorch takes; here there is one for all.

    Returns
    -------
    Tensor
        The norm before.

    References
    ----------
    R. Pascanu, T. Mikolov and Y. Bengio, "On the difficulty of training recurrent neural networks", ICML
    2013.

    Examples
    --------
    >>> import autokit as torch
    >>> x = torch.zeros(2, requires_grad=True)
    >>> x.grad = torch.tensor([3.0, 4.0])
    >>> clip_grad_norm_([x], max_norm=1.0)
    tensor(5.)
    >>> x.grad
    tensor([0.6000, 0.8000])
    """
    if not isinstance(parameters, Tensor):
        generated = isinstance(parameters, types.GeneratorType)
        parameters = list(parameters)
        if generated and not parameters:
            warnings.warn(
                "`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=3
            )
    total_norm = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total_norm, foreach)
    return total_norm


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The deprecated name of :func:`clip_grad_norm_`."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@no_grad()
def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Bring each element of the gradients of some parameters, in place, between ``±clip_value``.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
        Those without a gradient are passed over.
    clip_value : float
        The largest absolute value to allow.
    foreach : bool, optional
        Which implementation PyTorch takes; here there is one for all.
    """
    clip_value = float(clip_value)
    for gradient in _gradients(parameters):
        gradient.clamp_(min=-clip_value, max=clip_value)


def _gradients(parameters: Any) -> list[Any]:
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter.grad for parameter in parameters if parameter.grad is not None]
