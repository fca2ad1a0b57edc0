"""Embeddings: rows read from a table, and their gradients gathered into it."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import module_of
from autokit.ops.gather import scatter_zeros
from autokit.ops.gpu.ufuncs import reduceat
from autokit.ops.index import add_at
from autokit.ops.operation import derivative, on, operation
from autokit.ops.sparse_array import SparseArray


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
    values = (a if factors is None else a * factors).reshape((index.size, width))
    table = np.zeros_like(a, shape=(rows, width))
    add_at(table, (index.reshape(-1),), values)
    return table


def _into_table(g: Any, shape: Any, index: Any, padding: int, by_frequency: bool, sparse: bool) -> Any:
    return on(embedding_backward, g, index=index, padding=padding, by_frequency=by_frequency, rows=shape[0])


def _into_rows(g: Any, shape: Any, index: Any, padding: int, by_frequency: bool, sparse: bool) -> Any:
    if not sparse:
        return _into_table(g, shape, index, padding, by_frequency, sparse)
    _refuse_frequencies(by_frequency)
    places, rows = index.reshape(-1), g.reshape((index.size, g.shape[-1]))
    if padding >= 0:
        places, rows = places[places != padding], rows[places != padding]
    return SparseArray(places[np.newaxis].astype(np.int64), rows, shape)


def _refuse_frequencies(by_frequency: bool) -> None:
    if by_frequency:
        raise RuntimeError(
            "embedding_backward: scale_grad_by_freq not supported with sparse gradients; leave one out"
        )


@operation(
    "rows",
    "rows of {weight}",
    weight=derivative("1 at the rows read", _into_table, _into_rows),
)
def embedding(weight, /, index, padding=-1, by_frequency=False, sparse=False):
    """The rows of ``weight`` at ``index``; where ``sparse``, the gradient holds these rows alone."""
    return np.take(weight, index, axis=0)


# ---------------------------------------------------------------- bags


def _bag_of_each(g: Any, bag: Any) -> Any:
    """The gradient of the bag that each reading went into."""
    return on(embedding, g, index=bag, padding=-1, by_frequency=False)


def _bags_by_weight(
    g: Any, factors: Any, shape: tuple[int, ...], index: Any, bag: Any, by_frequency: bool, sparse: bool
) -> Any:
    rows = _bag_of_each(g, bag) * factors.reshape((-1, 1))
    return on(embedding_backward, rows, index=index, padding=-1, by_frequency=by_frequency, rows=shape[0])


def _bags_by_factors(g: Any, weight: Any, index: Any, bag: Any) -> Any:
    return (_bag_of_each(g, bag) * on(embedding, weight, index=index)).sum(axis=-1)


def _bags_by_rows(
    g: Any, factors: Any, shape: tuple[int, ...], index: Any, bag: Any, by_frequency: bool, sparse: bool
) -> Any:
    if not sparse:
        return _bags_by_weight(g, factors, shape, index, bag, by_frequency, sparse)
    _refuse_frequencies(by_frequency)
    return SparseArray(index[np.newaxis].astype(np.int64), g[bag] * factors.reshape((-1, 1)), shape)


@operation(
    "bags of rows",
    "Σ {factors} · rows of {weight}",
    weight=derivative("{factors} at the rows read", _bags_by_weight, _bags_by_rows),
    factors=derivative("the rows read", _bags_by_factors),
    reduces=True,
)
def embedding_bag(weight, factors, /, index, bag, bags, by_frequency, sparse=False):
    """The sum of the rows of ``weight`` at ``index``, times ``factors``, for each of ``bags`` bags.

    ``bag`` says for each reading which bag it goes into, in ascending order.
    """
    rows = np.take(weight, index, axis=0) * factors.reshape((-1, 1))
    return on(embedding_backward, rows, index=bag, padding=-1, by_frequency=False, rows=bags)


def largest_of_bags(table: Any, index: Any, bag: Any, bags: int) -> tuple[Any, Any]:
    """For each bag and column the row of the largest element, the first at a tie; and which bags are full.

    A NaN counts only where it is the first of its bag, as in PyTorch.
    """
    rows = table[index]
    winners = np.zeros_like(index, shape=(bags, table.shape[1]), dtype=np.int64)
    full = np.zeros_like(index, shape=(bags, 1), dtype=bool)
    if not len(rows):
        return winners, full
    firsts = np.flatnonzero(np.concatenate([bag[:1] == bag[:1], bag[1:] != bag[:-1]]))
    full[bag[firsts]] = True
    largest = reduceat(np.fmax, rows, firsts)
    of_each = np.repeat(largest, np.diff(np.append(firsts, len(rows))), axis=0)
    places = np.where(rows == of_each, module_of(rows).arange(len(rows)).reshape((-1, 1)), len(rows))
    first_largest = reduceat(np.minimum, places, firsts)
    starts = firsts.reshape((-1, 1))
    winners[bag[firsts]] = index[np.where(np.isnan(rows[firsts]), starts, first_largest)]
    return winners, full


@operation(
    "bags of rows",
    "largest of rows of {weight}",
    weight=derivative(
        "1 at the largest",
        lambda g, shape, winners, full: on(
            scatter_zeros, np.where(full, g, 0.0), shape=shape, dim=0, index=winners
        ),
    ),
    backward="EmbeddingBagBackward0",
)
def embedding_bag_max(weight, /, winners, full):
    """The elements of ``weight`` at the rows that :func:`largest_of_bags` finds; 0 for an empty bag."""
    return np.where(full, np.take_along_axis(weight, winners, 0), 0).astype(weight.dtype, copy=False)
