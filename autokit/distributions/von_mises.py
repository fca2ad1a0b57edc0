"""Directions: angles around a mean."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import autokit
from autokit.distributions import constraints
from autokit.distributions.distribution import Distribution, broadcast_all, new_like, random_like
from autokit.tensor import Tensor


class VonMises(Distribution):
    """Angles around ``loc``, the closer the larger ``concentration`` is.

    References
    ----------
    D. J. Best and N. I. Fisher, "Efficient simulation of the von Mises distribution", Applied
    Statistics 28, 1979, for the draws.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import VonMises
    >>> VonMises(0.0, torch.tensor([0.1, 4.0])).variance
    tensor([0.9501, 0.1365])
    """

    arg_constraints: ClassVar = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The circular variance: 1 minus the length of the mean of all directions."""
        kappa = self.concentration
        return 1 - autokit.special.i1e(kappa) / autokit.special.i0e(kappa)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        kappa = self.concentration
        log_bessel = autokit.log(autokit.special.i0e(kappa)) + kappa
        return kappa * autokit.cos(value - self.loc) - math.log(2 * math.pi) - log_bessel

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with autokit.no_grad():
            kappa = self.concentration.double()
            tau = 1 + (1 + 4 * kappa**2).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
            near = autokit.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))
            x = new_like(self.loc, self._extended_shape(sample_shape)).double()
            done = autokit.zeros_like(x, dtype=autokit.bool)
            while not done.all():
                u1, u2, u3 = random_like(x, (3, *x.shape)).unbind()
                z = autokit.cos(math.pi * u1)
                f = (1 + near * z) / (near + z)
                c = kappa * (near - f)
                taken = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                x = autokit.where(taken, (u3 - 0.5).sign() * f.acos(), x)
                done = done | taken
            angle = (x + math.pi + self.loc.double()) % (2 * math.pi) - math.pi
            return angle.to(self.loc.dtype)
