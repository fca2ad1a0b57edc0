"""Vectors with normal elements that a few factors correlate."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.distribution import Distribution, lazy_property, standard_normal
from autokit.tensor import Tensor


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of vectors of covariance ``cov_factor @ cov_factor.mT + diag(cov_diag)``.

    Its density takes a matrix of the size of the number of factors alone.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import LowRankMultivariateNormal
    >>> LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.ones(2)).covariance_matrix
    tensor([[2., 1.],
            [1., 2.]])
    """

    arg_constraints: ClassVar = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = tuple(loc.shape[-1:])
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
            )
        if tuple(cov_factor.shape[-2:-1]) != event:
            raise ValueError(
                f"cov_factor must be a batch of matrices with shape {event[0]} x m: it is {cov_factor.shape}"
            )
        if tuple(cov_diag.shape[-1:]) != event:
            raise ValueError(
                f"cov_diag must be a batch of vectors with shape {event}: it is {cov_diag.shape}"
            )
        batch = autokit.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc = loc.expand((*batch, *event))
        self.cov_factor = cov_factor.expand((*batch, *cov_factor.shape[-2:]))
        self.cov_diag = cov_diag.expand((*batch, *event))
        super().__init__(batch, event, validate_args)

    @lazy_property
    def _capacitance(self) -> Tensor:
        """The Cholesky factor of I + Wᵀ D⁻¹ W, by which Woodbury's identity inverts the covariance."""
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        identity = autokit.eye(self.cov_factor.shape[-1], dtype=scaled.dtype, device=scaled.device)
        return autokit.linalg.cholesky(scaled @ self.cov_factor + identity)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self.cov_factor.pow(2).sum(-1) + self.cov_diag

    @property
    def covariance_matrix(self) -> Tensor:
        return self.cov_factor @ self.cov_factor.mT + autokit.diag_embed(self.cov_diag)

    @property
    def precision_matrix(self) -> Tensor:
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        solved = autokit.linalg.solve_triangular(self._capacitance, scaled, upper=False)
        return autokit.diag_embed(self.cov_diag.reciprocal()) - solved.mT @ solved

    @property
    def scale_tril(self) -> Tensor:
        return autokit.linalg.cholesky(self.covariance_matrix)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        factors = standard_normal((*shape[:-1], self.cov_factor.shape[-1]), self.loc)
        own = standard_normal(shape, self.loc)
        together = (self.cov_factor @ factors.unsqueeze(-1)).squeeze(-1)
        return self.loc + together + self.cov_diag.sqrt() * own

    def _log_det(self) -> Tensor:
        return 2 * self._capacitance.diagonal(dim1=-2, dim2=-1).log().sum(-1) + self.cov_diag.log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        away = value - self.loc
        scaled = (self.cov_factor.mT / self.cov_diag.unsqueeze(-2)) @ away.unsqueeze(-1)
        solved = autokit.linalg.solve_triangular(self._capacitance, scaled, upper=False).squeeze(-1)
        distance = (away.pow(2) / self.cov_diag).sum(-1) - solved.pow(2).sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + distance)

    def entropy(self) -> Tensor:
        return 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())
