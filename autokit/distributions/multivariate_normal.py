"""Vectors with correlated normal elements."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.distribution import Distribution, lazy_property, standard_normal
from autokit.tensor import Tensor


class OfFactor(Distribution):
    """A distribution that keeps the lower triangular factor of a covariance; its other forms come from it."""

    _factor: Tensor

    @lazy_property
    def scale_tril(self) -> Tensor:
        return self._factor

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        return self._factor @ self._factor.mT

    @lazy_property
    def precision_matrix(self) -> Tensor:
        return autokit.cholesky_inverse(self._factor)


def given_matrix(error: type[Exception], **matrices: Tensor | None) -> tuple[str, Tensor]:
    """The name and the matrix of the one that is given, and ``error`` where it is not one."""
    given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
    if len(given) != 1:
        raise error(f"Exactly one of {' or '.join(matrices)} may be specified.")
    name, matrix = given[0]
    if matrix.dim() < 2:
        raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
    return name, matrix


def factor_of(name: str, matrix: Tensor) -> Tensor:
    """The lower triangular factor of the covariance that ``matrix`` says, which is what ``name`` says."""
    if name == "covariance_matrix":
        return autokit.linalg.cholesky(matrix)
    if name == "precision_matrix":  # P = UUᵀ, so that Σ = LLᵀ with L = U⁻ᵀ
        upper = autokit.linalg.cholesky(matrix.flip((-2, -1))).flip((-2, -1))
        identity = autokit.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
        return autokit.linalg.solve_triangular(upper.mT, identity, upper=False)
    return matrix


class MultivariateNormal(OfFactor):
    """The normal distribution of vectors of mean ``loc``.

    How they spread is said by one of the covariance matrix, its inverse ``precision_matrix``, and its
    Cholesky factor ``scale_tril``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import MultivariateNormal
    >>> MultivariateNormal(torch.zeros(2), torch.eye(2)).log_prob(torch.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints: ClassVar = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = given_matrix(
            ValueError,
            covariance_matrix=covariance_matrix,
            precision_matrix=precision_matrix,
            scale_tril=scale_tril,
        )
        batch = autokit.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand((*batch, -1))
        setattr(self, name, matrix.expand((*batch, -1, -1)))
        super().__init__(batch, self.loc.shape[-1:], validate_args)
        self._factor = factor_of(name, matrix).expand((*batch, -1, -1))

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._factor.pow(2).sum(-1)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = standard_normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + (self._factor @ drawn.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        factor = self._factor
        away = (value - self.loc).unsqueeze(-1)
        shape = autokit.broadcast_shapes(factor.shape[:-2], away.shape[:-2])
        # the Mahalanobis distance: the length of L⁻¹(x - loc), squared
        whitened = autokit.linalg.solve_triangular(
            factor.expand((*shape, *factor.shape[-2:])), away.expand((*shape, *away.shape[-2:])), upper=False
        )
        distance = whitened.pow(2).sum((-2, -1))
        half_log_det = factor.diagonal(0, -2, -1).log().sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - half_log_det

    def entropy(self) -> Tensor:
        half_log_det = self._factor.diagonal(0, -2, -1).log().sum(-1)
        return 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi)) + half_log_det
