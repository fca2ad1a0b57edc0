"""Distributions whose density is an exponential of what is linear in some parameters."""

from __future__ import annotations

from typing import Any, ClassVar

import autokit
from autokit.distributions.distribution import Distribution
from autokit.tensor import Tensor


class ExponentialFamily(Distribution):
    """Distributions of density exp(⟨t(x), θ⟩ − F(θ) + k(x)), to be derived from.

    One of them says its natural parameters θ by ``_natural_params``, F by ``_log_normalizer``, and the mean
    of k by ``_mean_carrier_measure``.  Entropies, and divergences of two of a kind, follow by the gradient
    of F, which is the mean of t.

    References
    ----------
    F. Nielsen and R. Nock, "Entropies and cross-entropies of exponential families", IEEE International
    Conference on Image Processing (2010).

    Examples
    --------
    >>> import autokit as torch
    >>> class Waiting(ExponentialFamily):
    ...     _mean_carrier_measure = 0
    ...     _natural_params = property(lambda self: (-self.rate,))
    ...
    ...     def __init__(self, rate):
    ...         self.rate = rate
    ...         super().__init__(rate.shape)
    ...
    ...     def _log_normalizer(self, x):
    ...         return -(-x).log()
    >>> Waiting(torch.tensor(2.0)).entropy(), torch.distributions.Exponential(2.0).entropy()
    (tensor(0.3069, grad_fn=<SubBackward0>), tensor(0.3069))
    """

    _mean_carrier_measure: ClassVar[float]

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Tensor:
        raise NotImplementedError

    def _means(self) -> tuple[Tensor, list[Tensor], Any]:
        """F, the natural parameters, and the gradient of F by these."""
        params = [each.detach().requires_grad_() for each in self._natural_params]
        normalizer = self._log_normalizer(*params)
        return normalizer, params, autokit.autograd.grad(normalizer.sum(), params, create_graph=True)

    def entropy(self) -> Tensor:
        normalizer, params, means = self._means()
        result = normalizer - self._mean_carrier_measure
        for param, mean in zip(params, means):
            result = result - (param * mean).reshape((*self._batch_shape, -1)).sum(-1)
        return result
