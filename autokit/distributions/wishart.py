"""Covariance matrices of few draws."""

from __future__ import annotations

import math
import warnings
from typing import Any

import autokit
from autokit.distributions import constraints
from autokit.distributions.chi2 import Chi2
from autokit.distributions.distribution import standard_normal
from autokit.distributions.exp_family import ExponentialFamily
from autokit.distributions.multivariate_normal import MultivariateNormal, OfFactor, factor_of, given_matrix
from autokit.tensor import Tensor

_MATRICES = ("covariance_matrix", "precision_matrix", "scale_tril")


class Wishart(OfFactor, ExponentialFamily):
    """Sums of the products x xᵀ of ``df`` normal vectors x, whose covariance is given in one of three ways.

    ``df`` need not be whole, but above the number of rows less 1.

    References
    ----------
    P. L. Odell and A. H. Feiveson, "A numerical procedure to generate a sample covariance matrix", Journal of
    the American Statistical Association 61 (1966).

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import Wishart
    >>> Wishart(4.0, torch.eye(2)).mean
    tensor([[4., 0.],
            [0., 4.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    df: Any

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = given_matrix(
            AssertionError,
            covariance_matrix=covariance_matrix,
            precision_matrix=precision_matrix,
            scale_tril=scale_tril,
        )
        df = autokit.as_tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch = autokit.broadcast_shapes(matrix.shape[:-2], df.shape)
        size = matrix.shape[-1]
        self.df = df.expand(batch)
        if (self.df <= size - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {size - 1}.")
        if (self.df < size).any():
            warnings.warn(
                f"Low df values detected. Singular samples are highly likely for {size - 1} < df < {size}.",
                stacklevel=2,
            )
        setattr(self, name, matrix.expand((*batch, -1, -1)))
        super().__init__(batch, matrix.shape[-2:], validate_args=validate_args)
        self._factor = factor_of(name, matrix).expand((*batch, -1, -1))
        self._chi2 = Chi2(self.df.unsqueeze(-1) - self._rows())

    @property
    def arg_constraints(self) -> Any:  # type: ignore[override]
        return {
            **{name: MultivariateNormal.arg_constraints[name] for name in _MATRICES},
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    @property
    def mean(self) -> Tensor:
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self._event_shape[-1] - 1
        return factor.masked_fill(factor <= 0, autokit.nan)[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        covariance = self.covariance_matrix
        own = covariance.diagonal(dim1=-2, dim2=-1)
        return self.df[..., None, None] * (covariance.pow(2) + own.unsqueeze(-1) * own.unsqueeze(-2))

    def _rows(self) -> Tensor:
        """0, 1, 2 … for the rows of the matrices."""
        return autokit.arange(self._event_shape[-1], dtype=self.df.dtype, device=self.df.device)

    def _draw(self, shape: Any) -> Tensor:
        """Bartlett's decomposition: a lower triangle of normal numbers over roots of sums of squares."""
        size = self._event_shape[-1]
        root = self._chi2.rsample(shape).sqrt()
        root = root.clamp(min=autokit.finfo(root.dtype).eps).diag_embed()
        row, column = autokit.tril_indices(size, size, offset=-1)
        root[..., row, column] = standard_normal((*shape, *self._batch_shape, len(row)), root)
        factor = self._factor @ root
        return factor @ factor.mT

    def rsample(self, sample_shape: Any = (), max_try_correction: int | None = None) -> Tensor:
        """Draws; singular ones are drawn again, ``max_try_correction`` times, which is 10 unless it is given.

        PyTorch takes the first draws for singular where they are not, and so draws each at least twice; so it
        is here, for the same numbers.
        """
        drawn = self._draw(tuple(sample_shape))
        again = self._of_samples(self.support.check(drawn))
        for _ in range(10 if max_try_correction is None else max_try_correction):
            if not again.any():
                break
            more = self._draw((int(again.sum()),))
            drawn[again] = more
            still = again.clone()
            still[again] = self._of_samples(~self.support.check(more))
            again = still
        return drawn

    def _of_samples(self, each: Tensor) -> Tensor:
        """Whether it holds for any of the batch, for each sample."""
        return each.flatten(-len(self._batch_shape)).any(-1) if self._batch_shape else each

    def _half_log_det(self) -> Tensor:
        size = self._event_shape[-1]
        return size * math.log(2) / 2 + self._factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        size = self._event_shape[-1]
        trace = autokit.cholesky_solve(value, self._factor).diagonal(dim1=-2, dim2=-1).sum(-1)
        return (
            (self.df - size - 1) / 2 * autokit.linalg.slogdet(value).logabsdet
            - trace / 2
            - self.df * self._half_log_det()
            - autokit.mvlgamma(self.df / 2, size)
        )

    def entropy(self) -> Tensor:
        size = self._event_shape[-1]
        halves = (self.df.unsqueeze(-1) - self._rows()) / 2
        return (
            (size + 1) * self._half_log_det()
            + autokit.mvlgamma(self.df / 2, size)
            - (self.df - size - 1) / 2 * autokit.digamma(halves).sum(-1)
            + self.df * size / 2
        )

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Tensor:
        size = self._event_shape[-1]
        half_df = y + (size + 1) / 2
        return half_df * (size * math.log(2) - autokit.linalg.slogdet(-2 * x).logabsdet) + autokit.mvlgamma(
            half_df, size
        )
