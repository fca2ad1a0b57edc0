"""Cases of norms, distances and cosines."""

from __future__ import annotations

import math

import numpy as np

from tests.ops.case import P, R, otherwise
from tests.ops.case import case as c

CASES = [
    *(
        c("norm", lambda T, a, p=p, rest=rest: T.norm(a, p, **rest), a)
        for p in (2, 1, 3, 0.5, math.inf, -math.inf, "fro", None)
        for rest, a in (
            ({}, R(2, 3)),
            ({"dim": 1}, R(2, 3)),
            ({"dim": (0, -1), "keepdim": True}, R(2, 3, 2)),
            ({"dim": 0}, R()),
        )
    ),
    c("norm", lambda T, a: a.norm(), R(4)),
    c("norm", lambda T, a: a.norm(p=1, dim=0, keepdim=True, dtype=T.float64), R(4, 2)),
    c("norm", lambda T, a: a.norm(2, (), True), R(4, 2)),
    c("norm", lambda T, a: a.detach().norm(0, 1), np.array([[0.0, 1, 2], [3, 0, 0]])),
    c("norm", lambda T, a: a.norm(dim=0), R(0, 2)),
    otherwise("norm", lambda T, a: a.norm("nuc"), R(3, 2)),
    otherwise("norm", lambda T, a: a.norm("nuc", (0, 2), True), R(3, 2, 2)),
    *(c("dist", lambda T, a, b, p=p: T.dist(a, b, p), R(2, 3), R(3)) for p in (2, 1, 3, math.inf)),
    c("dist", lambda T, a, b: a.dist(b), R(4), R(4)),
    c("cdist", lambda T, a, b: T.cdist(a.detach(), b.detach(), 3.0), R(4, 3), R(5, 3)),
    c("pdist", lambda T, a: T.pdist(a.detach(), 1.5), R(4, 3)),
    *(
        otherwise("pairwise_distance", lambda T, a, b, p=p: T.pairwise_distance(a, b, p, keepdim=True), a, b)
        for p in (2, 1, 3)
        for a, b in ((R(4, 3), R(4, 3)), (R(4, 3), R(3)))
    ),
    c("cosine_similarity", lambda T, a, b: T.cosine_similarity(a, b), R(3, 4), R(3, 4)),
    c("cosine_similarity", lambda T, a, b: T.cosine_similarity(a, b, dim=-1), R(2, 3, 4), R(4)),
    c("cosine_similarity", lambda T, a, b: T.nn.functional.cosine_similarity(a, b, dim=0), R(4), 1e-9 * R(4)),
    c("norm", lambda T, a: T.nn.functional.normalize(a), R(3, 4)),
    c("norm", lambda T, a: T.nn.functional.normalize(a, p=1, dim=0), R(3, 4)),
    *(
        c("renorm", lambda T, a, p=p, dim=dim: T.renorm(a, p, dim, 1.0), 0.7 * P(3, 4))
        for p in (1, 2, 3.0)
        for dim in (0, -1)
    ),
    c("renorm", lambda T, a: a.renorm(2, 1, 1.5), R(2, 3, 2)),
    c("renorm_", lambda T, a: a.clone().renorm_(2, 0, 1.0), R(2, 3)),
    c("euclidean_distances", lambda T, a, b: T.cdist(a.detach(), b.detach()), R(30, 3), R(5, 3)),
]
