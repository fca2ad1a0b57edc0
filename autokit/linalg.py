"""Linear algebra, as ``torch.linalg``: products, linear systems, decompositions and norms.

The functions are defined in ``autokit.ops``; this module has them under PyTorch's names.
"""

from __future__ import annotations

from autokit.base.missing import absent
from autokit.ops.decomposition import cholesky, eig, eigh, eigvals, eigvalsh, svdvals
from autokit.ops.decomposition import linalg_qr as qr
from autokit.ops.decomposition import linalg_svd as svd
from autokit.ops.norm import cond, matrix_norm, vector_norm
from autokit.ops.norm import linalg_norm as norm
from autokit.ops.product import linalg_cross as cross
from autokit.ops.product import matmul
from autokit.ops.solve import (
    LinAlgError,
    det,
    inv,
    lstsq,
    matrix_power,
    matrix_rank,
    pinv,
    slogdet,
    solve,
    solve_triangular,
)

__getattr__ = absent("torch.linalg")

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "vector_norm",
]
