"""Cases of losses."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case, I, P, R
from tests.ops.case import case as c
from tests.ops.case import otherwise as o

SIGNS = np.array([1, -1, 1, -1])
CLASSES = np.array([0, 2, 1, 2])
ELEMENTWISE = {
    "mse_loss": ({}, R(4, 3), R(4, 3)),
    "l1_loss": ({}, R(4, 3), R(4, 3)),
    "smooth_l1_loss": ({"beta": 0.5}, R(4, 3), R(4, 3)),
    "huber_loss": ({"delta": 0.7}, R(4, 3), R(4, 3)),
    "soft_margin_loss": ({}, R(4, 3), np.where(R(4, 3) > 0, 1, -1)),
    "binary_cross_entropy": ({}, P(4, 3) / 3, P(4, 3) / 3),
    "binary_cross_entropy_with_logits": ({}, R(4, 3), P(4, 3) / 3),
    "kl_div": ({}, R(4, 3), P(4, 3)),
    "poisson_nll_loss": ({"full": True}, R(4, 3), P(4, 3) * 2),
    "hinge_embedding_loss": ({"margin": 0.6}, R(4), SIGNS),
    "multilabel_soft_margin_loss": ({}, R(4, 3), P(4, 3) / 3),
}


def loss(name: str, *arrays: np.ndarray, **options: object) -> Case:
    return c(name, lambda T, *a: getattr(T.nn.functional, name)(*a, **options), *arrays)


def unnamed(one: Case) -> Case:
    """``one``, whose node is not called as PyTorch's."""
    return one._replace(named_alike=False)


CASES = [
    *(
        c(name, lambda T, x, y, n=name: getattr(T.nn.functional, n)(x.detach(), y), R(4, 3), target)
        for name, target in (
            ("multi_margin_loss", CLASSES),
            ("multilabel_margin_loss", np.array([[0, -1, 1], [2, 1, -1], [1, 1, -1], [-1, 0, 0]])),
        )
    ),
    *(
        loss(name, *arrays, reduction=reduction, **options)
        for name, (options, *arrays) in ELEMENTWISE.items()
        for reduction in ("mean", "sum", "none")
    ),
    *(
        loss(name, R(2, 3), R(3))
        for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div")
    ),
    *(loss(name, R(0, 3), R(0, 3)) for name in ("mse_loss", "smooth_l1_loss", "huber_loss")),
    *(loss(name, R(), R()) for name in ("mse_loss", "smooth_l1_loss", "huber_loss", "kl_div")),
    *(
        c(
            name,
            lambda T, x, y, w, n=name, r=reduction: getattr(T.nn.functional, n)(x, y, weight=w, reduction=r),
            R(2, 3),
            R(2, 3),
            P(2, 3),
        )
        for name in ("mse_loss", "l1_loss", "huber_loss")
        for reduction in ("mean", "sum", "none")
    ),
    loss("smooth_l1_loss", R(3), R(3), beta=0),
    loss("smooth_l1_loss", np.array([1.0, -1.0, 0.0, 0.5]), np.zeros(4)),
    loss("huber_loss", np.array([2.0, -2.0, 0.0, 0.5]), np.zeros(4), delta=2),
    loss("smooth_l1_loss", R(2), I(2)),
    loss("kl_div", R(4, 3), R(4, 3), log_target=True, reduction="batchmean"),
    loss("kl_div", R(4, 3), P(4, 3), reduction="batchmean"),
    loss("kl_div", R(), P(), reduction="batchmean"),
    loss("poisson_nll_loss", P(4), P(4), log_input=False, full=True),
    loss("poisson_nll_loss", R(4), P(4), log_input=True),
    loss("gaussian_nll_loss", R(4, 3), R(4, 3), P(4, 3)),
    loss("gaussian_nll_loss", R(4, 3), R(4, 3), P(4), full=True, reduction="sum"),
    loss("gaussian_nll_loss", R(4, 3), R(4, 3), P(4, 1), reduction="none", eps=1.0),
    loss("gaussian_nll_loss", R(4, 3), R(4, 3), var=2.0),
    loss("margin_ranking_loss", R(4), R(4), SIGNS),
    loss("margin_ranking_loss", R(4), R(4), SIGNS, margin=0.5, reduction="none"),
    loss("margin_ranking_loss", np.ones(2), np.ones(2), np.array([1, -1]), reduction="sum"),
    loss("hinge_embedding_loss", np.array([1.0, -1.0, 0.5]), np.array([-1, -1, 1])),
    loss("triplet_margin_loss", R(4, 3), R(4, 3), R(4, 3)),
    loss("triplet_margin_loss", R(4, 3), R(4, 3), R(4, 3), p=3, margin=2.0, swap=True, reduction="sum"),
    loss("triplet_margin_loss", R(3), R(3), R(3), p=1, reduction="none"),
    loss("triplet_margin_with_distance_loss", R(4, 3), R(4, 3), R(4, 3), swap=True),
    o(
        "triplet_margin_with_distance_loss",
        lambda T, *a: T.nn.functional.triplet_margin_with_distance_loss(
            *a, distance_function=lambda x, y: ((x - y) ** 2).sum(-1), margin=0.5, reduction="none"
        ),
        R(4, 3),
        R(4, 3),
        R(4, 3),
    ),
    loss("cosine_embedding_loss", R(4, 3), R(4, 3), SIGNS),
    loss("cosine_embedding_loss", R(4, 3), R(4, 3), SIGNS, margin=0.3, reduction="none"),
    loss("cosine_embedding_loss", R(3), R(3), np.array(1), reduction="sum"),
    *(
        c(
            name,
            lambda T, x, y, w, n=name, r=reduction: getattr(T.nn.functional, n)(
                x, y, w.detach(), reduction=r
            ),
            R(*shape),
            target,
            P(3),
        )
        for name in ("nll_loss", "cross_entropy")
        for reduction in ("mean", "sum", "none")
        for shape, target in (
            ((4, 3), CLASSES),
            ((2, 3, 2), CLASSES.reshape(2, 2)),
            ((3,), np.array(1)),
            ((4, 3), np.array([0, -100, 1, 2])),
        )
    ),
    unnamed(loss("cross_entropy", R(4, 3), P(4, 3), label_smoothing=0.2)),
    loss("cross_entropy", R(4, 3), CLASSES, label_smoothing=0.2, ignore_index=2),
    loss("cross_entropy", R(0, 3), np.zeros(0, np.int64), reduction="sum"),
    *(
        c(
            "binary_cross_entropy_with_logits",
            lambda T, x, y, w: T.nn.functional.binary_cross_entropy_with_logits(
                x, y, w.detach(), pos_weight=w.detach() + 1
            ),
            R(4, 3),
            P(4, 3) / 3,
            P(*shape),
        )
        for shape in ((3,), (4, 1), (4, 3))
    ),
]
