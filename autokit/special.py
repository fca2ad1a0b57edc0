"""``torch.special``: the special functions, under PyTorch's names for them."""

from autokit.missing import names_of
from autokit.ops.bessel import (
    airy_ai,
    bessel_j0,
    bessel_j1,
    bessel_y0,
    bessel_y1,
    modified_bessel_k0,
    modified_bessel_k1,
    scaled_modified_bessel_k0,
    scaled_modified_bessel_k1,
    spherical_bessel_j0,
)
from autokit.ops.elementwise import sigmoid as expit
from autokit.ops.exponential import exp2, expm1, log1p, logit, xlog1py, xlogy
from autokit.ops.incomplete_gamma import igamma as gammainc
from autokit.ops.incomplete_gamma import igammac as gammaincc
from autokit.ops.names import found_by_pickle, public
from autokit.ops.polynomials import FUNCTIONS as POLYNOMIALS
from autokit.ops.rounding import round as plain_round
from autokit.ops.signatures import looked_at
from autokit.ops.soft_extremes import log_softmax, logsumexp, softmax
from autokit.ops.special import (
    digamma,
    entr,
    erf,
    erfc,
    erfcx,
    erfinv,
    i0,
    i0e,
    i1,
    i1e,
    log_ndtr,
    ndtr,
    ndtri,
    polygamma,
    zeta,
)
from autokit.ops.special import digamma as psi
from autokit.ops.special import i0 as modified_bessel_i0
from autokit.ops.special import i1 as modified_bessel_i1
from autokit.ops.special import lgamma as gammaln
from autokit.ops.special import mvlgamma as multigammaln
from autokit.ops.trigonometry import sinc
from autokit.tensor import Tensor


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Each element of floating point rounded to ``decimals`` places."""
    return plain_round(input, decimals=decimals)


__getattr__ = names_of("torch.special")

__all__ = [
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "sinc",
    "softmax",
    "spherical_bessel_j0",
    "xlog1py",
    "xlogy",
    "zeta",
    *POLYNOMIALS,
]

_LOOKED_AT = (
    "airy_ai",
    "logit",
    "log_softmax",
    "logsumexp",
    "multigammaln",
    "polygamma",
    "round",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "softmax",
    "spherical_bessel_j0",
    *POLYNOMIALS,
)

globals().update(POLYNOMIALS)
for _name in __all__:
    _function = public(globals()[_name])
    globals()[_name] = looked_at(f"special_{_name}", _function) if _name in _LOOKED_AT else _function
found_by_pickle(__name__, globals())
