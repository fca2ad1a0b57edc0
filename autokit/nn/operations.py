"""The operations that only networks need, such as convolutions, are imported together with ``autokit.nn``."""

from autokit.ops import (
    FUNCTIONAL,
    attention,
    collect,
    convolution,
    cross_entropy,
    dropout,
    embedding,
    fold,
    interpolate,
    loss,
    normalization,
    pad,
    pooling,
)

for _family in (
    attention,
    convolution,
    cross_entropy,
    dropout,
    embedding,
    fold,
    interpolate,
    loss,
    normalization,
    pad,
    pooling,
):
    collect(_family, _family.NAMES)

__all__ = ["FUNCTIONAL"]
