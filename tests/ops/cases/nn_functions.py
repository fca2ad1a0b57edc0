"""Cases of functions of ``nn`` that are no rule of their own, and of those that stand at the top too."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case, P, R
from tests.ops.case import case as c

SIGNS = np.array([1, -1, 1, -1])


def top(name: str, *arrays: np.ndarray, after: tuple[Any, ...] = (), **options: Any) -> Case:
    """The function at the top of the package."""
    return c(name, lambda T, *a: getattr(T, name)(*a, *after, **options), *arrays)


CASES = [
    *(
        c("bilinear", lambda T, *a: T.nn.functional.bilinear(*a), R(*lead, 3), R(*lead, 2), R(4, 3, 2), R(4))
        for lead in ((), (5,), (2, 2), (0,))
    ),
    c("bilinear", lambda T, *a: T.bilinear(*a), R(5, 3), R(5, 2), R(4, 3, 2)),
    c("softmin", lambda T, x: T.nn.functional.softmin(x, 1), R(3, 4)),
    c("softmin", lambda T, x: T.nn.functional.softmin(x, 0, dtype=T.float64), R(3, 4)),
    c("one_hot", lambda T, x: T.nn.functional.one_hot(x, 4), np.array([[0], [3]])),
    c("one_hot", lambda T, x: T.nn.functional.one_hot(x), np.array(2)),
    c("one_hot", lambda T, x: T.nn.functional.one_hot(x, 3), np.zeros((0, 2), np.int64)),
    *(
        c(
            "embedding",
            lambda T, w, n=norm: (
                (t := w.detach().clone().requires_grad_()),
                T.nn.functional.embedding(T.tensor([[3, 1], [1, 1]]), t, max_norm=1.5, norm_type=n),
            )[::-1],
            R(4, 3),
        )
        for norm in (2.0, 1, float("inf"))
    ),
    top("layer_norm", R(2, 3), after=((3,),), eps=0.1),
    c("layer_norm", lambda T, x, w, b: T.layer_norm(x, (3,), w, b, 1e-5, False), R(2, 3), R(3), R(3)),
    c("rms_norm", lambda T, x, w: T.rms_norm(x, (3,), w), R(2, 3), R(3)),
    c("group_norm", lambda T, x, w, b: T.group_norm(x, 2, w, b), R(2, 4, 3), R(4), R(4)),
    c(
        "batch_norm",
        lambda T, x, w, b: T.batch_norm(x, w, b, None, None, True, 0.1, 1e-5, False),
        R(4, 3),
        R(3),
        R(3),
    ),
    c(
        "instance_norm",
        lambda T, x, w, b: T.instance_norm(x, w, b, None, None, True, 0.1, 1e-5, False),
        R(2, 3, 4),
        R(3),
        R(3),
    ),
    c("embedding", lambda T, w: T.embedding(w, T.tensor([1, 3, 1]), 1), R(4, 3)),
    c("embedding", lambda T, w: T.embedding(w, T.tensor([1, 3, 1])), R(4, 3)),
    *(
        case
        for number in (0, 1, 2)
        for case in (
            top("binary_cross_entropy_with_logits", R(4, 3), P(4, 3) / 3, reduction=number),
            top("cosine_embedding_loss", R(4, 3), R(4, 3), SIGNS, after=(0.2, number)),
            top("hinge_embedding_loss", R(4), SIGNS, after=(0.6, number)),
            top("kl_div", R(4, 3), P(4, 3), after=(number,)),
            top("margin_ranking_loss", R(4), R(4), SIGNS, after=(0.0, number)),
            top("poisson_nll_loss", R(4), P(4), after=(True, False, 1e-8, number)),
            top("triplet_margin_loss", R(4, 3), R(4, 3), R(4, 3), after=(2.0, 2, 1e-6, False, number)),
        )
    ),
    # PyTorch has no second derivatives of these; tests/nn has their first ones.
    *(
        c(
            "embedding_bag",
            lambda T, w, i, m=mode: T.nn.functional.embedding_bag(i, w.detach(), mode=m, padding_idx=1),
            R(4, 3),
            np.array([[1, 3], [2, 0]]),
        )
        for mode in ("sum", "mean", "max")
    ),
    c(
        "embedding_bag_max",
        lambda T, w, i: T.nn.functional.embedding_bag(i, w.detach(), mode="max"),
        R(4, 3),
        np.array([[1, 3]]),
    ),
    *(
        c(
            name,
            lambda T, x, y: T.ctc_loss(x.detach(), y, (5, 4), (2, 1), 0, 1),
            R(5, 2, 4),
            np.array([[1, 2], [3, 3]]),
        )
        for name in ("ctc_loss", "ctc_loss_backward")
    ),
    *(
        c("linear", lambda T, *a: T.nn.functional.linear(*a), R(*lead, 3), R(4, 3), *bias)
        for lead in ((), (5,), (2, 2), (0,))
        for bias in ((), (R(4),))
        if lead or bias
    ),
]
