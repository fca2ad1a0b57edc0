"""Embeddings: rows read from a table, and their gradients gathered into it."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import module_of
from autokit.ops.operation import derivative, on, operation


def _factors(index: Any, rows: int, padding: int, by_frequency: bool, dtype: Any) -> Any:
    """How much each reading counts in the gradient: None where all count as 1."""
    flat = index.reshape(-1)
    if padding < 0 and not by_frequency:
        return None
    factors = (flat != padding).astype(dtype)
    if by_frequency:
        factors /= module_of(index).bincount(flat, minlength=rows)[flat]
    return factors.reshape((*index.shape, 1))


def _read(g: Any, index: Any, padding: int, by_frequency: bool, rows: int) -> Any:
    factors = _factors(index, rows, padding, by_frequency, np.float64)
    read = on(embedding, g, index=index, padding=-1, by_frequency=False)
    return read if factors is None else read * factors


@operation(
    "rows",
    "{a} added to the rows of a table",
    a=derivative("the rows again", _read),
)
def embedding_backward(a, /, index, padding, by_frequency, rows):
    """A table of ``rows`` rows, with the rows of ``a`` added up at ``index``."""
    width = a.shape[-1]
    factors = _factors(index, rows, padding, by_frequency, a.dtype)
    values = (a if factors is None else a * factors).reshape((-1, width))
    table = np.zeros_like(a, shape=(rows, width))
    flat = index.reshape(-1)
    if flat.size:
        order = np.argsort(flat, kind="stable")
        ordered = flat[order]
        firsts = np.flatnonzero(np.concatenate([ordered[:1] == ordered[:1], ordered[1:] != ordered[:-1]]))
        table[ordered[firsts]] = np.add.reduceat(values[order], firsts, axis=0)
    return table


@operation(
    "rows",
    "rows of {weight}",
    weight=derivative(
        "1 at the rows read",
        lambda g, shape, index, padding, by_frequency: on(
            embedding_backward, g, index=index, padding=padding, by_frequency=by_frequency, rows=shape[0]
        ),
    ),
)
def embedding(weight, /, index, padding=-1, by_frequency=False):
    """The rows of ``weight`` at ``index``."""
    return weight[index]
