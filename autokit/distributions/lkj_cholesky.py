"""Correlations that are themselves uncertain."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.beta import Beta
from autokit.distributions.distribution import Distribution, broadcast_all, standard_normal
from autokit.tensor import Tensor


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices of ``dim`` rows.

    The density of the matrix is proportional to its determinant to the power ``concentration`` − 1: all are
    as likely for 1, those with small correlations likelier for more.

    References
    ----------
    D. Lewandowski, D. Kurowicka and H. Joe, "Generating random correlation matrices based on vines and
    extended onion method", Journal of Multivariate Analysis 100 (2009), section 3.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import LKJCholesky
    >>> factor = LKJCholesky(3).sample()
    >>> torch.allclose((factor @ factor.mT).diagonal(), torch.ones(3))
    True
    """

    arg_constraints: ClassVar = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        rows = autokit.arange(dim, dtype=self.concentration.dtype, device=self.concentration.device)
        before = (rows - 1).clamp(min=0)
        spread = (self.concentration + 0.5 * (dim - 2)).unsqueeze(-1) - 0.5 * before
        self._beta = Beta(before + 0.5, spread)
        super().__init__(self.concentration.shape, (dim, dim), validate_args)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with autokit.no_grad():
            # How much of a row's length 1 lies before the diagonal, and in which direction.
            length = self._beta.sample(sample_shape).unsqueeze(-1)
            direction = standard_normal(self._extended_shape(sample_shape), length).tril(-1)
            rows = length.sqrt() * (direction / direction.norm(dim=-1, keepdim=True))
            rows[..., 0, :] = 0
            rest = (1 - rows.pow(2).sum(-1)).clamp(min=autokit.finfo(rows.dtype).tiny).sqrt()
            return rows + rest.diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        rows = autokit.arange(2, self.dim + 1, device=self.concentration.device)
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - rows
        density = (powers * value.diagonal(dim1=-1, dim2=-2)[..., 1:].log()).sum(-1)
        free = self.dim - 1
        highest = self.concentration + 0.5 * free
        volume = autokit.mvlgamma(highest - 0.5, free) - autokit.lgamma(highest) * free
        return density - volume - 0.5 * free * math.log(math.pi)
