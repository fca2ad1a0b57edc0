"""Cases of making tensors."""

from __future__ import annotations

import numpy as np

from tests.ops.case import R
from tests.ops.case import case as c

CASES = [
    c("tensor", lambda T: T.tensor([[1, 2], [3, 4]])),
    c("tensor", lambda T: T.tensor([1.0, 2])),
    c("tensor", lambda T: T.tensor([True, False])),
    c("tensor", lambda T: T.tensor([1, True, 2.5])),
    c("tensor", lambda T: T.tensor([])),
    c("tensor", lambda T: T.tensor([[], []])),
    c("tensor", lambda T: T.tensor(3)),
    c("tensor", lambda T: T.tensor(1.5, dtype=T.float64)),
    c("tensor", lambda T: T.tensor([1.7, -1.7], dtype=T.int32)),
    c("tensor", lambda T: T.tensor(np.arange(3))),
    c("tensor", lambda T: T.tensor(np.float64(1.5))),
    c("tensor", lambda T: T.tensor([np.float64(1.5), 2])),
    c("tensor", lambda T: T.tensor(range(3))),
    c("tensor", lambda T: T.tensor([T.tensor(1.0), T.tensor(2.0)])),
    c("tensor", lambda T: T.tensor([1.0, np.inf, np.nan])),
    c("Tensor", lambda T: T.Tensor([1, 2])),
    c("Tensor", lambda T: T.Tensor([[1, 2], [3, 4]])),
    c("Tensor", lambda T: T.Tensor(0, 2)),
    c("as_tensor", lambda T: T.as_tensor([1, 2])),
    c("as_tensor", lambda T: T.as_tensor(np.ones(2), dtype=T.float32)),
    c("from_numpy", lambda T: T.from_numpy(np.ones((2, 2)))),
    c("zeros", lambda T: T.zeros(2, 3)),
    c("zeros", lambda T: T.zeros((2, 3), dtype=T.int64)),
    c("zeros", lambda T: T.zeros([])),
    c("zeros", lambda T: T.zeros(size=(2,))),
    c("ones", lambda T: T.ones([2, 3])),
    c("ones", lambda T: T.ones(T.tensor([1, 2]).shape)),
    c("empty", lambda T: T.empty(2, 0)),
    c("full", lambda T: T.full((2, 3), 7)),
    c("full", lambda T: T.full((2,), 7.5)),
    c("full", lambda T: T.full((), True)),
    c("full", lambda T: T.full((2,), 1, dtype=T.float32)),
    c("eye", lambda T: T.eye(3)),
    c("eye", lambda T: T.eye(2, 3, dtype=T.int64)),
    c("zeros_like", lambda T, a: T.zeros_like(a), R(2, 3)),
    c("ones_like", lambda T, a: T.ones_like(a, dtype=T.int32), R(2)),
    c("empty_like", lambda T, a: T.empty_like(a), R(2, 0)),
    c("full_like", lambda T, a: T.full_like(a, 3), R(2)),
    c("arange", lambda T: T.arange(5)),
    c("arange", lambda T: T.arange(1, 5)),
    c("arange", lambda T: T.arange(5, 1, -2)),
    c("arange", lambda T: T.arange(0, 1, 0.1)),
    c("arange", lambda T: T.arange(3.0)),
    c("arange", lambda T: T.arange(0)),
    c("arange", lambda T: T.arange(start=1, end=4, step=2)),
    c("arange", lambda T: T.arange(end=4)),
    c("arange", lambda T: T.arange(1, 2, 0.3, dtype=T.float64)),
    c("linspace", lambda T: T.linspace(0, 1, 5)),
    c("linspace", lambda T: T.linspace(-1, 1, 7)),
    c("linspace", lambda T: T.linspace(0, 1, steps=1)),
    c("linspace", lambda T: T.linspace(0, 1, 0)),
    c("linspace", lambda T: T.linspace(0, 10, 5, dtype=T.int64)),
    *(
        c(name, lambda T, name=name, size=size: (T.manual_seed(3), getattr(T, name)(*size))[1])
        for name in ("rand", "randn")
        for size in ((2, 3), (5,), ((4, 5),), ((),))
    ),
    c("rand_like", lambda T, a: (T.manual_seed(3), T.rand_like(a))[1], R(2, 3)),
    c("randn_like", lambda T, a: (T.manual_seed(3), T.randn_like(a))[1], R(2, 3)),
    c("randint", lambda T: (T.manual_seed(3), T.randint(10, (3, 3)))[1]),
    c("randint", lambda T: (T.manual_seed(3), T.randint(-3, 3, (5,)))[1]),
    c("randint", lambda T: (T.manual_seed(3), T.randint(low=0, high=5, size=(5,)))[1]),
    c("randint", lambda T: (T.manual_seed(3), T.randint(high=5, size=(5,)))[1]),
    c("randperm", lambda T: (T.manual_seed(3), T.randperm(10))[1]),
    c("uniform_", lambda T: (T.manual_seed(3), T.zeros(5).uniform_(-1, 1))[1]),
    c("normal_", lambda T: (T.manual_seed(3), T.zeros(20).normal_(1, 2))[1]),
]
