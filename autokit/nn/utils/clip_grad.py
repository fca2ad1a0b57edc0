"""Gradient clipping limits the size of gradients, so that no single step ruins the training."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from autokit.engine.modes import no_grad
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.join import stack
from autokit.ops.norm import vector_norm


@no_grad()
def get_total_norm(
    tensors: Tensor | Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """The norm of all elements of some tensors, as if they were one vector.

    Parameters
    ----------
    tensors : Tensor or iterable of Tensor
        For example, the gradients of a network.
    norm_type : float or str
        Which norm: 2 for the length, 1 for the sum of the absolute values, ``inf`` for the largest of these.
    error_if_nonfinite : bool
        Raise where the norm is NaN or infinite.

    Raises
    ------
    RuntimeError
        If the norm is not finite and ``error_if_nonfinite`` is set.
    """
    norms = [vector_norm(tensor, float(norm_type)) for tensor in _listed(tensors)]
    if not norms:
        return new_tensor(np.zeros((), np.float32))
    total = vector_norm(stack(norms), float(norm_type))
    if error_if_nonfinite and not np.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it "
            "cannot be clipped. To disable this error and scale the gradients by the non-finite norm anyway, "
            "set `error_if_nonfinite=False`"
        )
    return total


@no_grad()
def clip_grads_with_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor) -> None:
    r"""Scale the gradients of some parameters, in place, whose norm is computed already.

    .. math::
        g \leftarrow g \cdot \min\left(1,\; \frac{\text{max\_norm}}{\text{total\_norm} + 10^{-6}}\right)
    """
    share = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
    for gradient in _gradients(parameters):
        gradient.mul_(share)


@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
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
    parameters = _listed(parameters)
    total_norm = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, float(max_norm), total_norm)
    return total_norm


clip_grad_norm = clip_grad_norm_  # in older programs


@no_grad()
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Bring each element of the gradients of some parameters, in place, between ``±clip_value``."""
    for gradient in _gradients(parameters):
        gradient.clamp_(-clip_value, clip_value)


def _listed(tensors: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [parameter.grad for parameter in _listed(parameters) if parameter.grad is not None]
