"""Elements read at places that were found along a dimension, and their gradient put back there.

Sorting, the largest few and an extreme along a dimension first find places,
which have no derivative, and then read what stands there by one of these rules.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.devices import contiguous, laid_as
from autokit.ops.gather import plain_gather
from autokit.ops.gpu.arrays import like
from autokit.ops.operation import derivative, on, operation
from autokit.ops.reduce import restored


@operation(
    "put",
    "{a} put at its places",
    a=derivative("1 at the places put", lambda g, dim, index: on(plain_gather, g, dim=dim, index=index)),
)
def put_along(a, /, shape, dim, index):
    """Zeros of ``shape`` with the elements of ``a`` put at ``index`` along ``dim``, each place named once."""
    result = like(np.zeros_like, a, shape=shape)
    np.put_along_axis(result, index, a, dim)
    return result


def _put_back(g: Any, shape: tuple[int, ...], dim: int, keepdim: bool, index: Any) -> Any:
    if not shape:
        return g
    places = restored(index, shape, dim, keepdim)
    return on(put_along, restored(g, shape, dim, keepdim), shape=shape, dim=dim, index=places)


def reading(name: str, words: str, backward: str, layout: Any = contiguous) -> Any:
    """An operation that reads the places that were found along a dimension.

    Its result lies by ``layout``; as the places do where that is None.
    """

    @operation(
        words,
        f"{words} {{a}}",
        a=derivative("1 at the places read, else 0", _put_back),
        name=name,
        backward=backward,
        layout=layout,
    )
    def read(a, /, dim, keepdim, index):
        """The elements of ``a`` at the places ``index`` along ``dim``."""
        if not a.ndim:
            return a.copy()
        places = index if keepdim else np.expand_dims(index, dim)
        made = np.take_along_axis(a, places, dim).reshape(index.shape)
        return made if layout else laid_as(index, made)

    return read
