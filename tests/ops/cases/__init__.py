"""The table of cases: what each operation is tried with, one line for each, by family.

A case is the name of the public function it tries, a call on the library ``T``,
which has PyTorch's names, and the call's tensors as arrays.  Floating point arrays are differentiated.
"""

from __future__ import annotations

from tests.ops.cases import (
    activation,
    compare,
    complex_parts,
    conv,
    convert,
    create,
    elementwise,
    embedding,
    fold,
    fourier,
    functions,
    index,
    inplace,
    interpolate,
    join,
    legacy,
    loss,
    nn_functions,
    normalize,
    pool,
    reduce,
    repeat,
    sampling,
    scan,
    scatter,
    series,
    shape,
    sort,
    triangle,
    unique,
)

FAMILIES = (
    elementwise,
    functions,
    activation,
    compare,
    complex_parts,
    reduce,
    nn_functions,
    loss,
    normalize,
    shape,
    join,
    repeat,
    triangle,
    unique,
    scatter,
    convert,
    index,
    inplace,
    interpolate,
    create,
    series,
    conv,
    sampling,
    embedding,
    fold,
    fourier,
    pool,
    sort,
    scan,
    legacy,
)

CASES = [case for family in FAMILIES for case in family.CASES]

NEED_A_GPU = {"attention_of_heads", "cuda", "move", "pin_memory"}
"""What no case can try on a CPU."""

OF_SPARSE_TENSORS = {"_indices", "_nnz", "_values", "coalesce", "dense_dim", "from_values", "indices"}
OF_SPARSE_TENSORS |= {
    "held",
    "is_coalesced",
    "sparse_coo_tensor",
    "sparse_dim",
    "spmm",
    "to_dense",
    "to_sparse",
    "to_sparse_coo",
    "values",
}
"""What makes sparse tensors, or takes them: ``tests/test_sparse.py`` has it all beside PyTorch."""
