"""Special functions such as ``erf`` and ``gammaln``, as ``torch.special``; ``autokit.ops`` defines them."""

from autokit.base.missing import absent
from autokit.ops.activation import sigmoid as expit
from autokit.ops.exponential import exp2, expm1, log1p
from autokit.ops.rounding import round
from autokit.ops.softmax import log_softmax, logsumexp, softmax
from autokit.ops.special import (
    digamma,
    erf,
    erfc,
    erfinv,
    i0,
    i1,
    logit,
    ndtr,
    ndtri,
    polygamma,
    sinc,
    xlogy,
)
from autokit.ops.special import digamma as psi
from autokit.ops.special import lgamma as gammaln

__getattr__ = absent("torch.special")

__all__ = [
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammaln",
    "i0",
    "i1",
    "log1p",
    "log_softmax",
    "logit",
    "logsumexp",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlogy",
]
