"""The multivariate normal distribution: vectors whose elements are normal and correlated."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autokit.distributions import constraints
from autokit.distributions.distribution import Distribution
from autokit.engine.tensor import Tensor
from autokit.ops.decomposition import cholesky
from autokit.ops.shape import broadcast_shapes
from autokit.ops.solve import solve_triangular


class MultivariateNormal(Distribution):
    """The normal distribution of vectors of mean ``loc``.

    Their spread is given by the covariance matrix, or by its Cholesky factor ``scale_tril``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import MultivariateNormal
    >>> MultivariateNormal(torch.zeros(2), torch.eye(2)).log_prob(torch.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints: ClassVar = {
        "loc": constraints.real,
        "covariance_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        *,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if (covariance_matrix is None) == (scale_tril is None):
            raise ValueError("Exactly one of covariance_matrix or scale_tril may be specified.")
        name = "scale_tril" if covariance_matrix is None else "covariance_matrix"
        matrix: Any = scale_tril if covariance_matrix is None else covariance_matrix
        if loc.dim() < 1 or matrix.dim() < 2:
            raise ValueError(f"loc must be a vector, and {name} a matrix, or a batch of them")
        batch = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand((*batch, -1))
        super().__init__(batch, self.loc.shape[-1:], validate_args)
        self._require(name, matrix, self.arg_constraints[name])
        factor = matrix if covariance_matrix is None else cholesky(matrix)
        self.scale_tril = factor.expand((*batch, -1, -1))

    @property
    def covariance_matrix(self) -> Tensor:
        """The factor times its transpose."""
        return self.scale_tril @ self.scale_tril.mT

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The diagonal of the covariance."""
        return self.scale_tril.pow(2).sum(-1)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """The mean plus the factor times standard normal numbers."""
        drawn = self.loc.new_empty(self._extended_shape(sample_shape)).normal_()
        return self.loc + (self.scale_tril @ drawn.unsqueeze(-1)).squeeze(-1)

    def _log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, by the squared length of L⁻¹ (value - loc)."""
        distance = squared_length(self.scale_tril, (value - self.loc).unsqueeze(-1))
        constant = self.event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + distance) - half_log_det(self.scale_tril)

    def entropy(self) -> Tensor:
        """½ log det(2πe Σ)."""
        return 0.5 * self.event_shape[0] * (1 + math.log(2 * math.pi)) + half_log_det(self.scale_tril)


def half_log_det(factor: Tensor) -> Tensor:
    """The logarithm of the determinant of a triangular matrix: half of that of L Lᵀ."""
    return factor.diagonal(0, -2, -1).log().sum(-1)


def squared_length(factor: Tensor, columns: Tensor) -> Tensor:
    """The sum of the squares of L⁻¹ ``columns``."""
    shape = broadcast_shapes(factor.shape[:-2], columns.shape[:-2])
    factor, columns = (each.expand((*shape, *each.shape[-2:])) for each in (factor, columns))
    return solve_triangular(factor, columns, upper=False).pow(2).sum((-2, -1))
