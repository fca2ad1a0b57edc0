"""``torch.nn.attention.bias``: masks for sequences of which a query looks at what is not after it."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from autokit.missing import names_of
from autokit.ops.dims import whole
from autokit.ops.warn import warn
from autokit.tensor import Tensor

__getattr__ = names_of("torch.nn.attention.bias")

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """Which corner the triangle of a mask begins in, where there are not as many keys as queries."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A triangular mask, true where a query may look: (``seq_len_q``, ``seq_len_kv``).

    :func:`causal_upper_left` and :func:`causal_lower_right` make it.
    """

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        super().__init__()
        seq_len_q, seq_len_kv = (whole(each, "size", "new") for each in (seq_len_q, seq_len_kv))
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv
        lower = variant == CausalVariant.LOWER_RIGHT
        self.array = np.tri(seq_len_q, seq_len_kv, seq_len_kv - seq_len_q if lower else 0, dtype=bool)
        if lower and seq_len_q > seq_len_kv:
            warn("Lower right causal bias lets the first queries look nowhere when seq_len_q > seq_len_kv!")

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int


def causal_upper_left(*size: int) -> CausalBias:
    """The mask by which the first query looks at the first key, the second at two, and so on.

    Examples
    --------
    >>> from autokit.nn.attention.bias import causal_upper_left
    >>> causal_upper_left(2, 3)
    tensor([[ True, False, False],
            [ True,  True, False]])
    """
    return CausalBias(CausalVariant.UPPER_LEFT, *_pair(size))


def causal_lower_right(*size: int) -> CausalBias:
    """The mask by which the last query looks at all keys, the one before at all but one, and so on.

    Examples
    --------
    >>> from autokit.nn.attention.bias import causal_lower_right
    >>> causal_lower_right(2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """
    return CausalBias(CausalVariant.LOWER_RIGHT, *_pair(size))


def _pair(size: tuple[int, ...]) -> tuple[int, ...]:
    if len(size) != 2:
        raise AssertionError(f"only 2D tensors: give the numbers of queries and of keys, and not {size}")
    return size
