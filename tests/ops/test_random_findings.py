"""What random calls found: each call here once gave another answer than PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autokit
from tests.ops.beside import assert_same
from tests.ops.case import flat
from tests.support import require

require("torch")
import torch  # noqa: E402


def a(T: Any, *shape: int, **settings: Any) -> Any:
    count = 1
    for size in shape:
        count *= size
    return (T.arange(float(count)) % 7 - 2).reshape(shape).to(settings.get("dtype", T.float32))


def weight_gradient(T: Any) -> Any:
    x, weight = a(T, 1, 2, 4, 3), a(T, 2, 2, 2, 3).requires_grad_()
    y = T.conv_transpose2d(x.transpose(-1, -2), weight.transpose(0, 1))
    return T.autograd.grad(y, weight, a(T, *y.shape))


NAN, INF = float("nan"), float("inf")


def slope(T: Any, function: Callable[[Any], Any], values: Any) -> Any:
    """The gradient of each result of ``function`` at ``values``, each result with a weight of its own."""
    x = T.tensor(values, requires_grad=True)
    results = flat(function(x))
    return T.autograd.grad(results, x, [T.full_like(y, n) for n, y in enumerate(results, 1)])


def in_two_dtypes(T: Any, loss: str, input: str, target: str) -> Any:
    """A loss in the precision that PyTorch takes it in, and an empty tensor that tells its dtype."""
    y = getattr(T.nn.functional, loss)(
        T.tensor([1.0, 2.0]).to(getattr(T, input)), T.tensor([1.0, -1.0]).to(getattr(T, target))
    )
    return y.float(), T.zeros(0, dtype=y.dtype)


FOUND: list[Callable[[Any], Any]] = [
    # A result laid out as a transposed operand is: its reshape was a copy, and what was written was lost.
    lambda T: T.conv_transpose1d(a(T, 2, 6, 3).transpose(-1, -2), a(T, 3, 1, 2)),
    lambda T: T.conv_transpose1d(a(T, 3, 3, 2).transpose(-1, -2), a(T, 2, 3, 2), stride=2),
    weight_gradient,
    lambda T: T.divide(T.tensor([-4, 5, -5, 4, 3]), 1e-3, rounding_mode="trunc"),
    lambda T: T.addcmul(a(T, 3, dtype=T.int32), T.tensor(True), a(T, 3, dtype=T.int32), value=1.5),
    lambda T: T.cumsum(T.tensor([True, True]), 0, dtype=T.int32),
    lambda T: T.cumprod(a(T, 3), 0, dtype=T.int32),
    lambda T: T.trace(a(T, 2, 2, dtype=T.uint8)),
    lambda T: T.trace(a(T, 2, 2, dtype=T.int32)),
    lambda T: T.vander(a(T, 3, dtype=T.int32)),
    lambda T: T.unravel_index(T.tensor([2, 3], dtype=T.int32), (2, 3)),
    lambda T: T.where(T.tensor(True), 2, 2.0),
    lambda T: T.arange(-1.5, 1, dtype=T.int32),
    lambda T: T.arange(-1.5, 1, dtype=T.int64),
    lambda T: T.range(-1.5, 2.5, dtype=T.int32),
    lambda T: T.rsub(a(T, 3), 1, alpha=2),
    lambda T: T.rsub(T.tensor([3, 1], dtype=T.uint8), 2.0, alpha=-1),
    lambda T: T.add(T.tensor([2.0, 1.0]), T.tensor([3, 1], dtype=T.uint8), alpha=-1),
    lambda T: T.nn.functional.cross_entropy(a(T, 2, 3), T.tensor([1, 2]), None, 0),
    lambda T: T.linalg.matrix_rank(T.tensor([[1.0, 2.0], [3.0, 4.0]]), T.tensor([0.5, 0.1, 9.0])),
    lambda T: T.linalg.matrix_rank(T.tensor([[1.0, 2.0], [3.0, 4.0]]), atol=T.tensor([[0.5]])),
    lambda T: T.nn.functional.binary_cross_entropy_with_logits(
        a(T, 2), a(T, 2), pos_weight=a(T, 2, dtype=T.float64)
    ),
    lambda T: T.svd(a(T, 2, 3), compute_uv=False),
    lambda T: T.add(T.tensor([True, False]), True, alpha=2),
    lambda T: T.nn.functional.l1_loss(T.tensor(1.5, dtype=T.float64), T.tensor([1.0, 2.0])),
    lambda T: T.nn.functional.mse_loss(T.tensor([1.0, 2.0]), T.tensor(1.5, dtype=T.float64)),
    lambda T: T.nn.functional.smooth_l1_loss(T.tensor(1.5, dtype=T.float64), T.tensor([1.0, 2.0])),
    lambda T: T.nn.functional.hinge_embedding_loss(
        T.tensor([1, -2]), T.tensor([1, -1]), margin=0.5, reduction="none"
    ),
    lambda T: T.nn.functional.cross_entropy(T.zeros(3, 0), T.zeros(3, 0), label_smoothing=0.1),
    lambda T: T.nn.functional.cross_entropy(T.zeros(0, 0), T.zeros(0, dtype=T.int64), label_smoothing=0.1),
    lambda T: T.nn.functional.softplus(T.tensor([-1.0, 1.0, 30.0]), threshold=NAN),
    lambda T: T.nn.functional.scaled_dot_product_attention(T.ones(2, 0), T.ones(2, 0), a(T, 2, 3)),
    # Means of squares of integers are integers, and so is what is pooled.
    lambda T: T.nn.functional.local_response_norm(a(T, 2, 3, 4, dtype=T.int64), 3, alpha=0.5),
    lambda T: T.nn.functional.local_response_norm(a(T, 2, 3, 4, 2, 1), 2, alpha=0.5),
    lambda T: T.nn.functional.lp_pool1d(a(T, 2, 6), INF, 2),
    lambda T: T.nn.functional.lp_pool2d(a(T, 2, 4, 6), -INF, 2),
    lambda T: T.nn.functional.avg_pool2d(a(T, 2, 4, 6, dtype=T.int64), 2, stride=()),
    lambda T: T.nn.functional.linear(a(T, 2, 3), a(T, 4, 3), T.tensor(1.5)),
    lambda T: T.nn.functional.linear(T.zeros(2, 3, 0), T.zeros(1, 0), T.ones(1)),
    lambda T: T.nn.functional.bilinear(*[a(T, 2, 3, dtype=T.int64)] * 2, a(T, 2, 3, 3, dtype=T.int64)),
    lambda T: slope(T, lambda x: T.nn.functional.embedding(T.tensor([[1], [1]]), x), [[], []]),
    lambda T: T.nn.functional.max_unpool1d(T.ones(1, 1, 1), T.zeros(1, 1, 1).long(), 2, padding=1),
    lambda T: T.nn.functional.elu_(a(T, 5), 0.5, scale=2.0, input_scale=0.5),
    lambda T: T.nn.functional.hardtanh_(a(T, 5), 3.0, 1.0),
    lambda T: T.nn.functional.instance_norm(a(T, 2, 3, 4), a(T, 3, dtype=T.int64), a(T, 3).exp()),
    lambda T: T.nn.functional.adaptive_avg_pool2d(T.zeros(0, 6, 5), 3),
    lambda T: T.nn.functional.adaptive_max_pool2d(a(T, 2, 4, 6), (None, 3)),
    lambda T: T.nn.functional.unfold(a(T, 3, 2, 2) > 0, 2),
    lambda T: T.nn.functional.gumbel_softmax(T.tensor(0.5), hard=True),
    # Longer behind than a step: of what the padding cut off, and of zeros.
    *[
        lambda T, pad=pad, bias=bias: slope(
            T,
            lambda x: T.conv_transpose2d(x, a(T, 1, 2, 2, 2), bias and a(T, 2), 1, pad, 2, dilation=3),
            [[[1.0, 3.0, 2.0], [4.0, 1.0, 5.0]]],
        )
        for pad in (0, 1, 2)
        for bias in (True, None)
    ],
    lambda T: T.conv_transpose1d(a(T, 2, 3), a(T, 2, 1, 2), a(T, 2), output_padding=1, groups=2, dilation=2),
    *[
        lambda T, size=size: slope(
            T,
            lambda x: T.nn.functional.adaptive_max_pool2d(x, size, return_indices=True)[0],
            [[[1.0, 3.0, 2.0], [4.0, 1.0, 5.0]]],
        )
        for size in ((40, 30), (2, 7), 1)
    ],
    lambda T: T.nn.functional.adaptive_max_pool3d(a(T, 1, 3, 2, 4) * NAN, (2, 5, 3), True)[1].shape,
    lambda T: T.nn.functional.multilabel_soft_margin_loss(a(T, 2, 2), a(T, 2, 2), a(T, 3, 2, 2)),
    lambda T: T.nn.functional.fractional_max_pool2d(T.zeros(0, 3, 2), 1, 1),
    lambda T: T.nn.functional.max_pool3d(
        a(T, 2, 3, 2, 4), 999, padding=3, ceil_mode=True, return_indices=True
    ),
    lambda T: T.nn.functional.adaptive_avg_pool2d(a(T, 2, 3, 4, dtype=T.int64), (0, 2)),
    lambda T: T.nn.functional.threshold(T.tensor([1, 9], dtype=T.uint8), 5, -7),
    lambda T: a(T, 2, 3).swapaxes_(0, axis1=1),
    lambda T: T.zeros(0, 2).bernoulli_(T.zeros(3, 3)),
    lambda T: T.nn.functional.poisson_nll_loss(a(T, 3).half().abs(), a(T, 3).long().abs(), full=True),
    lambda T: T.nn.functional.grid_sample(T.zeros(0, 2, 2, 2), T.zeros(0, 2, 2, 2), align_corners=False),
    lambda T: T.nn.functional.bilinear(T.zeros(0, 1, 1), T.ones(0, 1, 1), T.ones(1, 1, 1)),
    lambda T: T.nn.functional.scaled_dot_product_attention(*[a(T, 2, 3).half()] * 3, a(T, 2, 2)),
    lambda T: T.nn.functional.nll_loss(T.zeros(0, 0, 5), T.zeros(0, 5).long()),
    lambda T: T.autograd.grad(
        T.nn.functional.nll_loss(x := T.zeros(0, 0, requires_grad=True), T.zeros(0).long()), x
    ),
    lambda T: T.nn.functional.pairwise_distance(a(T, 3, dtype=T.uint8), a(T, 3, dtype=T.uint8), eps=True),
    lambda T: T.trapezoid(a(T, 3, 1), dx=NAN),
    lambda T: T.special.zeta(NAN, T.tensor([0, 1, 2], dtype=T.uint8)),
    lambda T: T.special.zeta(INF, T.tensor([-0.5, 0.5, 1.0, 2.0])),
    lambda T: T.linalg.svdvals(a(T, 2, 2), driver=None),
    lambda T: T.linalg.cond(T.zeros(4, 0, 2)),
    lambda T: T.dist(T.tensor(0), T.tensor(1.5)),
    lambda T: T.nn.functional.margin_ranking_loss(*[T.tensor([1, -1])] * 3),
    lambda T: T.tensor(1.5).adjoint(),
    lambda T: T.trapezoid(a(T, 2), a(T, 4, 3)),
    lambda T: T.trapz(a(T, 3), a(T, 3, 2)),
    lambda T: T.cumulative_trapezoid(T.tensor([4, 2], dtype=T.uint8), dx=-1),
    lambda T: T.gradient(T.tensor([1.0, 5.0, 3.0, 2.0]), spacing=0),
    lambda T: T.gradient(T.tensor([1.0, -INF, 2.0])),
    lambda T: T.logit(T.tensor([0.3, 1.5, -1.0]), 1.0),
    lambda T: slope(T, T.logit, [-0.0, 0.0, 1.0, 0.5]),
    lambda T: slope(T, lambda x: x.var(0, correction=3), [1.0, 2.0]),
    lambda T: slope(T, lambda x: x.var(0, correction=2), [1.0, 2.0]),
    lambda T: slope(T, lambda x: x.var(correction=3), [1.0, 2.0, 1.5]),
    lambda T: slope(T, lambda x: T.var_mean(x, 0, correction=2), [[1.0, 2.0]]),
    # Polynomials of a degree that is no number, and of one so high that the recurrence took minutes.
    lambda T: T.special.chebyshev_polynomial_t(T.tensor([0.5, 2.0]), T.tensor([[INF], [NAN], [-INF]])),
    lambda T: T.special.chebyshev_polynomial_t(T.tensor([1.0, -1.0, 2.0]), 10**9),
    *[
        lambda T, kind=kind, letter=letter: getattr(T.special, f"{kind}chebyshev_polynomial_{letter}")(
            T.tensor([-2.0, -1.0, -0.625, 0.25, 0.5, 1.0, 1.5], dtype=T.float64), T.tensor([[8], [9], [40]])
        )
        for kind in ("", "shifted_")
        for letter in "tuvw"
    ],
    # The extreme of a NaN shares nothing; but max() gives the NaN all.
    lambda T: slope(T, lambda x: x.amax(), [1.0, NAN, 2.0]),
    lambda T: slope(T, lambda x: x.amin(0), [[1.0, NAN], [3.0, 1.0]]),
    lambda T: slope(T, lambda x: T.aminmax(x, dim=0), [[1.0, NAN, 2.0], [3.0, 1.0, 1.0]]),
    lambda T: slope(T, lambda x: x.max(), [1.0, NAN, 2.0]),
    # Products with a NaN or an infinity beside a zero.
    *(
        lambda T, each=each: slope(T, lambda x: x.prod(), each)
        for each in ([NAN], [NAN, 2.0], [NAN, 0.0], [NAN, 0.0, 3.0], [NAN, 0.0, 0.0], [INF, 0.0, 3.0], [INF])
    ),
    lambda T: slope(T, lambda x: x.prod(0), [[INF, NAN, 1.0], [0.0, 0.0, 2.0], [3.0, 2.0, NAN]]),
    lambda T: slope(T, lambda x: T.nextafter(x, T.tensor([2.0, 5.0, 0.0])), [2.0, 1e-30, 1.0]),
    lambda T: T.nextafter(T.tensor([INF, 1.0]).half(), T.tensor([1.0, 2.0]).half()),
    lambda T: slope(T, lambda x: T.remainder(T.tensor([2.0, -2.0, 1.0]), x), [-INF, INF, 0.0]),
    lambda T: slope(T, lambda x: x**0.5, [-INF, -1.0, 0.0, 4.0]),
    lambda T: T.diff(T.tensor([3, 4, 3]), n=0, prepend=T.tensor([1])),
    lambda T: T.bincount(T.tensor([], dtype=T.int64), T.tensor([]), 2),
    lambda T: T.combinations(T.tensor([1.0], requires_grad=True), r=0),
    lambda T: T.trapezoid(T.zeros(3, 0, dtype=T.int64)),
    lambda T: T.trapezoid(T.tensor([], dtype=T.bool)),
    lambda T: slope(T, lambda x: x.var(0), 3.0),
    lambda T: slope(T, lambda x: T.std_mean(x, 0, correction=0), 3.0),
    lambda T: T.polygamma(1, T.tensor([-3.0, -5.0, 0.0, -0.5, 0.3])),
    lambda T: T.polygamma(1, T.tensor([-3.0, -5.0, 0.0], dtype=T.float64)),
    *(
        lambda T, name=name: slope(T, lambda x: getattr(x * 2, name)(T.tensor([1.0, 0.0])), [3.0, 4.0])
        for name in ("logical_and_", "logical_or_", "logical_xor_")
    ),
    lambda T: slope(T, lambda x: (x * x).logical_not_(), [3.0, 0.0]),
    *(
        lambda T, name=name, input=input, target=target: in_two_dtypes(T, name, input, target)
        for name in ("huber_loss", "soft_margin_loss", "binary_cross_entropy_with_logits")
        for input in ("float32", "float64")
        for target in ("float32", "float64")
    ),
    lambda T: T.masked_fill(T.tensor([3, 2], dtype=T.uint8), T.tensor([True, False]), -1),
    lambda T: T.scatter(T.tensor([3, 2], dtype=T.uint8), 0, T.tensor([1]), -1),
    lambda T: T.linalg.vander(T.tensor([-4, 2], dtype=T.int32), N=3),
    lambda T: T.trapezoid(T.zeros(2, 3, 0), T.zeros(1, 1, 0)),
    lambda T: T.swapaxes(a(T, 2, 3), axis0=0, axis1=1),
    lambda T: T.hsplit(a(T, 2, 4), sections=2),
    lambda T: T.tensor([6, 1, 5]).scatter_(0, T.tensor(1), 0),
    lambda T: T.gather(T.tensor([6, 1, 5]), 0, T.tensor(1)),
    lambda T: T.tensor([6.0, 1.0]).scatter_add(0, T.tensor(1), T.tensor(2.0)),
    lambda T: T.tensor([6.0, 1.0]).scatter_reduce(0, T.tensor(1), T.tensor(2.0), "prod"),
    lambda T: slope(T, lambda x: T.gather(x, 0, T.tensor(1)), [6.0, 1.0]),
    lambda T: T.zeros(0, dtype=T.result_type(0, T.tensor(4, dtype=T.int32))),
    lambda T: (T.manual_seed(0), a(T, 5).random_(-2, None))[1],
    lambda T: a(T, 3).double().cauchy_(T.tensor(2.0)).isfinite(),
    lambda T: T.einsum("ij,kl->", a(T, 2, 3, dtype=T.int8) * 40, a(T, 2, 2, dtype=T.int8) * 40),
    # From infinities LAPACK did not come back.
    lambda T: T.linalg.svd(T.tensor([[INF, 1.0, 2.0], [1.0, 2.0, 3.0], [0.0, 1.0, 1.0]])).S,
    lambda T: T.linalg.svdvals(T.tensor([[[1.0, 0.0], [0.0, 2.0]], [[INF, 1.0], [1.0, 2.0]]]))[1],
    lambda T: T.linalg.matrix_rank(T.tensor([[INF, 1.0], [1.0, 2.0]])),
    lambda T: T.linalg.norm(T.tensor([[-INF, 1.0], [1.0, 2.0]]), "nuc"),
    *(
        lambda T, name=name: repr(T.autograd.grad(-getattr(x := a(T, 5).requires_grad_(), name)(), x))
        for name in ("max", "min", "median", "nanmedian")
    ),
    *(
        lambda T, a=first, b=second: repr(T.tensor(a) % T.tensor(b))
        for first in ([4.0, -4.0], [0.0, -0.0], [7.0, -7.0])
        for second in (-2.0, 2.0)
    ),
    lambda T: slope(
        T, lambda t: T.nn.functional.binary_cross_entropy(T.tensor([0.0, 1.0, 0.5]), t), [0.0, 0.5, 1.0]
    ),
    *(
        lambda T, reduction=reduction: slope(
            T,
            lambda x: T.nn.functional.cross_entropy(
                x, T.tensor([0, -100, 1]), weight=T.tensor([NAN, 2.0, 3.0]), reduction=reduction
            ).reshape(-1),
            [[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [0.0, 1.0, 5.0]],
        )
        for reduction in ("mean", "sum", "none")
    ),
    lambda T: repr(T.nn.functional.cross_entropy(a(T, 2, 2), T.tensor([0, -100]), reduction="none")),
    *(
        lambda T, mode=mode, settings=settings: slope(
            T,
            lambda x: T.nn.functional.interpolate(x, size=(5, 5), mode=mode, **settings),
            [[[[INF, 1.0, 2.0], [3.0, 4.0, NAN], [5.0, 6.0, -INF]]]],
        )
        for mode in ("bilinear", "bicubic")
        for settings in ({"align_corners": True}, {"align_corners": False}, {"antialias": True})
    ),
]


@pytest.mark.parametrize("call", FOUND)
def test_the_answer_is_pytorchs(call: Callable[[Any], Any]):
    ours, theirs = flat(call(autokit)), flat(call(torch))
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs):
        assert_same(mine, other)


@pytest.mark.parametrize(
    "call",
    [
        lambda T: T.nn.functional.dropout(T.tensor([3, -4])),
        lambda T: T.rsub(T.tensor([1]), 1, alpha=1.0),
        lambda T: T.sum(a(T, 2).requires_grad_(), dtype=T.int64),
        lambda T: T.cumsum(a(T, 2).requires_grad_(), 0, dtype=T.int32),
        lambda T: T.masked_fill(T.tensor([3]), T.tensor([True]), INF),
        lambda T: T.floor(T.tensor([True])),
        lambda T: T.abs(T.tensor([True])),
        lambda T: T.cross(a(T, 3), a(T, 3).double()),
        lambda T: T.allclose(a(T, 3), a(T, 3).double()),
        lambda T: T.sub(T.tensor([1, 2]), True, alpha=2),
        lambda T: T.allclose(a(T, 3), a(T, 3) + 1, rtol=-1.0),
        lambda T: T.nanmean(a(T, 2), dtype=T.int64),
        lambda T: T.linalg.svdvals(a(T, 2, 2), driver="gesvd"),
        lambda T: T.renorm(a(T, 2, 2, dtype=T.int64), 1.0, 0, 1.0),
        lambda T: T.meshgrid(a(T, 2), a(T, 2).double()),
        lambda T: T.trapezoid(T.tensor([True, False])),
        lambda T: T.nn.functional.hinge_embedding_loss(T.tensor([1, -2]), T.tensor([1, -1])),
        lambda T: T.tensor([-1.0], dtype=T.uint8),
        lambda T: T.conv1d(
            T.tensor([[3, 4, 5]], dtype=T.uint8), T.tensor([[[5]]], dtype=T.uint8), dilation=2
        ),
        lambda T: T.conv_transpose1d(T.tensor([[3]], dtype=T.int32), T.tensor([[[5]]], dtype=T.int32)),
        lambda T: T.nn.functional.cross_entropy(T.ones(2), T.tensor([0, 1])),
        lambda T: T.nn.functional.huber_loss(T.tensor([3]), T.tensor([1.5])),
        lambda T: T.nn.functional.soft_margin_loss(T.tensor(1.0), T.tensor([1.0, -1.0])),
        lambda T: T.nn.functional.interpolate(T.zeros(1, 0, 6, 3), 2),
        lambda T: T.nn.functional.binary_cross_entropy_with_logits(
            T.tensor(0.5), T.tensor(1.0), pos_weight=a(T, 2)
        ),
        lambda T: T.nn.functional.cross_entropy(a(T, 2, 3), a(T, 2, 3), T.ones(1)),
        lambda T: T.nn.functional.threshold(T.tensor([1], dtype=T.uint8), 5, 300),
        lambda T: a(T, 3).cumsum_(0, dtype=T.float64),
        lambda T: a(T, 2, 2).bernoulli_(T.ones(3)),
        lambda T: T.nn.functional.pad(T.zeros(0, 2, 3), (1, 1, 1, 1), "replicate"),
        lambda T: T.nn.functional.pad(a(T, 3, 2) > 0, (1, 1), "reflect"),
        lambda T: T.nn.functional.avg_pool3d(a(T, 2, 3, 3, 3), 9, ceil_mode=True),
        lambda T: T.linalg.cholesky(T.tensor([[NAN, 1.0], [1.0, 2.0]])),
        lambda T: T.linalg.cholesky(T.tensor([[1.0, NAN], [1.0, 2.0]]), upper=True),
    ],
)
def test_what_once_gave_an_answer_is_refused(call: Callable[[Any], Any]):
    for T in (torch, autokit):
        with pytest.raises(RuntimeError):
            call(T)


@pytest.mark.parametrize(
    "program",
    [
        "T.nn.functional.cross_entropy(T.zeros(2, 0), T.zeros(2, 0))",
        "T.slice_scatter(T.zeros(3, dtype=T.int64), T.ones(1), 0, 0, 1)",
        "T.autograd.grad(T.nextafter(x, T.tensor(-2.0)), x)[0]",
    ],
)
def test_corners_that_once_differed(program: str):

    results = []
    for T in (autokit, torch):
        x = T.tensor(2.0, requires_grad=True)
        results.append(repr(eval(program, {"T": T, "x": x})))
    assert results[0] == results[1]


@given(st.floats(-100, 100, width=16), st.floats(-100, 100, width=16), st.integers(0, 200))
def test_linspace_is_pytorchs_in_float32_to_the_last_bit(start: float, end: float, steps: int):
    for dtype in ("float32", "float64"):
        ours, theirs = (T.linspace(start, end, steps, dtype=getattr(T, dtype)) for T in (autokit, torch))
        if dtype == "float32":
            np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-15, atol=1e-13)
