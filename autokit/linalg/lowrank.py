"""The first singular values of a large matrix, by random projections: ``svd_lowrank`` and ``pca_lowrank``.

References
----------
N. Halko, P. G. Martinsson, and J. A. Tropp, "Finding Structure with Randomness", 2011, algorithms 4.4, 5.1.
"""

from __future__ import annotations

from operator import index

from autokit import linalg
from autokit.dtypes import BY_NAME
from autokit.ops import FUNCTIONS as T
from autokit.tensor import Tensor


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """U, S and V of about the first ``q`` singular values: ``A - M ≈ U @ S.diag() @ V.mT``.

    They depend on what is drawn: on the same numbers as in PyTorch.

    Parameters
    ----------
    A : Tensor
        (..., m, n)
    q : int, optional
        How many; somewhat more than its rank.
    niter : int, optional
        How often to go there and back, for values that fall slowly.
    M : Tensor, optional
        What to take off, as the mean of each column.

    Examples
    --------
    >>> import autokit as torch
    >>> _ = torch.manual_seed(0)
    >>> A = torch.outer(torch.arange(4.0), torch.ones(3))
    >>> U, S, V = torch.svd_lowrank(A, q=2)
    >>> torch.allclose(U @ S.diag() @ V.mT, A, atol=1e-5)
    True
    """
    q, niter = 6 if q is None else int(index(q)), 2 if niter is None else niter
    rows, columns = A.shape[-2:]
    A = A if M is None else A - M.broadcast_to(A.shape)
    if rows < columns:
        A = A.mH
    Q = _basis(A, q, niter)
    U, S, Vh = linalg.svd(Q.mH @ A, full_matrices=False)
    U, V = Q @ U, Vh.mH
    return (V, S, U) if rows < columns else (U, S, V)


def _basis(A: Tensor, q: int, niter: int) -> Tensor:
    """Orthogonal columns that span about what the first ``q`` singular vectors do."""
    kind = A.dtype if A.is_floating_point() or A.is_complex() else BY_NAME["float32"]
    A = A.to(kind)
    Q = linalg.qr(A @ T["randn"](A.shape[-1], q, dtype=kind, device=A.device)).Q
    for _there_and_back in range(niter):
        Q = linalg.qr(A.mH @ Q).Q
        Q = linalg.qr(A @ Q).Q
    return Q


def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """The principal components of the rows of ``A``: the columns of V, by falling spread.

    ``A @ V[:, :k]`` projects to the first k of them, and ``S ** 2 / (m - 1)`` are their variances.

    Parameters
    ----------
    A : Tensor
        (..., m, n): m points of n numbers.
    q : int, optional
        How many; 6 without it, or fewer where there are not so many.
    center : bool
        Take off the mean of each column first.
    niter : int
        See :func:`svd_lowrank`.

    Raises
    ------
    ValueError
        If ``q`` is more than there are rows or columns, or ``niter`` is negative.

    Examples
    --------
    >>> import autokit as torch
    >>> _ = torch.manual_seed(0)
    >>> points = torch.randn(50, 1) @ torch.tensor([[3.0, 4.0]])
    >>> U, S, V = torch.pca_lowrank(points, q=1)
    >>> V.abs()
    tensor([[0.6000],
            [0.8000]])
    """
    rows, columns = A.shape[-2:]
    if q is None:
        q = min(6, rows, columns)
    elif not 0 <= q <= min(rows, columns):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(rows, columns)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if not A.is_floating_point() and not A.is_complex():
        A = A.to(BY_NAME["float32"])
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)
