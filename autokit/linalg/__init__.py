"""Linear algebra, as ``torch.linalg``: products, solving, decompositions, norms.

The rules stand in ``autokit.ops``; here they have their names.
"""

from __future__ import annotations

from autokit.missing import names_of
from autokit.ops import (
    decompositions,
    factors,
    inverses,
    ldl,
    least_squares,
    linalg,
    matrix_chains,
    matrix_exponential,
    matrix_norms,
    series,
    solving,
    spectra,
    tensor_equations,
)
from autokit.ops.matrices import LinAlgError
from autokit.ops.names import found_by_pickle, public
from autokit.ops.signatures import looked_at

_FUNCTIONS = {
    linalg: {
        "cross": "linalg_cross",
        "diagonal": "linalg_diagonal",
        "matmul": "matmul",
        "vecdot": "vecdot",
    },
    matrix_chains: {
        "matrix_power": "matrix_power",
        "multi_dot": "multi_dot",
    },
    inverses: {
        "det": "det",
        "inv": "inv",
        "inv_ex": "inv_ex",
        "slogdet": "linalg_slogdet",
    },
    solving: {
        "solve": "solve",
        "solve_ex": "solve_ex",
        "solve_triangular": "solve_triangular",
    },
    least_squares: {
        "lstsq": "lstsq",
        "matrix_rank": "matrix_rank",
        "pinv": "pinv",
    },
    decompositions: {
        "cholesky": "linalg_cholesky",
        "cholesky_ex": "cholesky_ex",
        "householder_product": "householder_product",
        "qr": "linalg_qr",
    },
    spectra: {
        "eig": "eig",
        "eigh": "eigh",
        "eigvals": "eigvals",
        "eigvalsh": "eigvalsh",
        "svd": "linalg_svd",
        "svdvals": "svdvals",
    },
    matrix_exponential: {
        "matrix_exp": "matrix_exp",
    },
    tensor_equations: {
        "tensorinv": "tensorinv",
        "tensorsolve": "tensorsolve",
    },
    series: {
        "vander": "linalg_vander",
    },
    matrix_norms: {
        "cond": "cond",
        "matrix_norm": "matrix_norm",
        "norm": "linalg_norm",
        "vector_norm": "vector_norm",
    },
    ldl: {
        "ldl_factor": "ldl_factor",
        "ldl_factor_ex": "ldl_factor_ex",
        "ldl_solve": "ldl_solve",
    },
    factors: {
        "lu": "linalg_lu",
        "lu_factor": "lu_factor",
        "lu_factor_ex": "lu_factor_ex",
        "lu_solve": "linalg_lu_solve",
    },
}
"""Where the functions are, and what they are called there."""

for _family, _names in _FUNCTIONS.items():
    for _name, _own in _names.items():
        globals()[_name] = looked_at(f"linalg_{_name}", public(getattr(_family, _own)))
found_by_pickle(__name__, globals())

__getattr__ = names_of("torch.linalg")

__all__ = ["LinAlgError", *(name for names in _FUNCTIONS.values() for name in names)]
