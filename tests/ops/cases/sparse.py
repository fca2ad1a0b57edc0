"""Cases of sparse tensors: made of values at places, and made dense again."""

from __future__ import annotations

from typing import Any

from tests.ops.case import R
from tests.ops.case import case as c


def sparse(T: Any, values: Any) -> Any:
    """A matrix in which a place is named twice."""
    return T.sparse_coo_tensor(T.tensor([[0, 1, 1, 0], [2, 0, 2, 2]]), values, (2, 3))


CASES = [
    c("sparse_coo_tensor", lambda T, v: sparse(T, v).to_dense(), R(4)),
    c("sparse_coo_tensor", lambda T, v: T.sparse_coo_tensor(T.tensor([[1, 1]]), v).to_dense(), R(2, 3)),
    c("spmm", lambda T, v, x: T.spmm(sparse(T, v), x), R(4), R(3, 2)),
    c("to_dense", lambda T, a: a.to_dense(), R(2, 3)),
    c("to_sparse", lambda T, a: a.to_sparse().to_dense(), R(2, 3)),
    c("to_sparse", lambda T, a: a.to_sparse(1).to_dense(), R(3, 2)),
    c("coalesce", lambda T, v: sparse(T, v).coalesce().to_dense(), R(4)),
    c("values", lambda T, v: sparse(T, v).coalesce().values(), R(4)),
    c("indices", lambda T, v: sparse(T, v).coalesce().indices(), R(4)),
    c("_indices", lambda T, v: sparse(T, v)._indices(), R(4)),
    c("_values", lambda T, v: sparse(T, v.detach())._values(), R(4)),
    *(
        c(name, lambda T, v, name=name: T.tensor(getattr(sparse(T, v), name)()), R(4))
        for name in ("_nnz", "dense_dim", "is_coalesced", "sparse_dim")
    ),
]
