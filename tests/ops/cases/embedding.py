"""Cases of embeddings."""

from __future__ import annotations

import numpy as np

from tests.ops.case import R
from tests.ops.case import case as c

INDEX = np.array([[1, 3], [1, 0]])

CASES = [
    *(
        c("embedding", lambda T, w, i, k=keywords: T.nn.functional.embedding(i, w, **k), R(4, 3), index)
        for index in (INDEX, INDEX[0], np.array(2))
        for keywords in ({}, {"padding_idx": 1}, {"padding_idx": -1})
    ),
]
