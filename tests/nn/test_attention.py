"""Attention beside PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit as ak
from autokit.ops.attention import attention
from tests.support import on_intel, require

require("torch")
import torch  # noqa: E402

MASK = np.array([[True, False, True], [False] * 3, [True] * 3])


@pytest.mark.parametrize(
    "options", [{}, {"is_causal": True}, {"scale": 0.3}, {"attn_mask": MASK}, {"attn_mask": MASK * 2.0}]
)
def test_scaled_dot_product_attention(options: dict[str, Any]):
    found = []
    for library in (ak, torch):
        random = np.random.RandomState(0)
        leaves = [library.tensor(random.randn(2, 2, 3, 4), requires_grad=True) for _ in range(3)]
        given = {k: library.tensor(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
        out = library.nn.functional.scaled_dot_product_attention(*leaves, **given)
        (out * out).sum().backward()
        found.append([out.detach().numpy(), *(leaf.grad.numpy() for leaf in leaves)])
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)


SQUARE = np.array([[True, True, True], [True, False, True], [False, True, True]])


@pytest.mark.parametrize("mask", [SQUARE, SQUARE * 1.5])
def test_a_mask_beside_the_causal_one(mask: np.ndarray):
    found = []
    for library in (ak, torch):
        x = library.tensor(np.random.RandomState(0).randn(1, 2, 3, 4), requires_grad=True)
        out = library.nn.functional.scaled_dot_product_attention(
            x, x, x, attn_mask=library.tensor(mask), is_causal=True
        )
        (out * out).sum().backward()
        found.append((out.detach().numpy(), x.grad.numpy()))
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("ndim", [3, 4])
def test_heads_that_share_keys(ndim: int):
    found = []
    for library in (ak, torch):
        random = np.random.RandomState(0)
        shapes = [(2, 8, 3, 4), (2, 2, 5, 4), (2, 4, 5, 3)]
        leaves = [library.tensor(random.randn(*s[4 - ndim :]), requires_grad=True) for s in shapes]
        out = library.nn.functional.scaled_dot_product_attention(*leaves, enable_gqa=True)
        (out * out).sum().backward()
        found.append([out.detach().numpy(), *(leaf.grad.numpy() for leaf in leaves)])
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)


@pytest.mark.skipif(on_intel(), reason="PyTorch draws dropout from another stream on Intel")
def test_weights_are_dropped_as_in_pytorch():
    found = []
    for library in (ak, torch):
        x = library.tensor(np.random.RandomState(0).randn(1, 2, 3, 4))
        library.manual_seed(5)
        found.append(library.nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=0.4).numpy())
    np.testing.assert_allclose(*found, rtol=1e-8, atol=1e-8)


def test_nothing_is_left_of_weights_that_are_all_dropped():
    x = ak.ones(1, 1, 2, 2)
    assert not ak.nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=1.0).numpy().any()


WRONG = {
    "dropout": lambda T, s, x: s(x, x, x, dropout_p=1.5),
    "two masks": lambda T, s, x: s(x[0], x[0], x[0], T.ones(3, 3).bool(), is_causal=True),
    "heads": lambda T, s, x: s(x, x[:, :3], x[:, :3], enable_gqa=True),
    "heads not enabled": lambda T, s, x: s(x, x[:, :2], x[:, :2]),
    "no heads": lambda T, s, x: s(x[0, 0], x[0, 0], x[0, 0], enable_gqa=True),
    "one dimension": lambda T, s, x: s(x[0, 0, 0], x[0, 0, 0], x[0, 0, 0]),
    "dtypes": lambda T, s, x: s(x.double(), x, x),
    "integers": lambda T, s, x: s(x.long(), x.long(), x.long()),
    "integer mask": lambda T, s, x: s(x, x, x, T.ones(3, 3).long()),
    "double mask": lambda T, s, x: s(x, x, x, T.ones(3, 3).double()),
    "mask": lambda T, s, x: s(x, x, x, T.ones(4, 4)),
    "width": lambda T, s, x: s(x, x[..., :3], x),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG.keys())
def test_wrong_use_is_refused_as_in_pytorch(call: Any):
    raised = []
    for library in (torch, ak):
        with pytest.raises(Exception) as caught:
            attention = library.nn.functional.scaled_dot_product_attention
            call(library, attention, library.ones(2, 8, 3, 4))
        raised.append(caught)
    assert raised[1].type is raised[0].type


# ---------------------------------------------------------------- in several heads

L, S, N, E, HEADS = 3, 4, 2, 6, 2
BANNED = np.array([[False, True, False, False], [False, False, True, True], [False] * 4])
PADDED = np.array([[False, False, True, False], [True, False, False, False]])
FLOATS = np.random.RandomState(3).randn(N * HEADS, L, S)
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "no weights": {"need_weights": False},
    "weights of each head": {"average_attn_weights": False},
    "mask": {"attn_mask": BANNED},
    "mask of numbers": {"attn_mask": BANNED * 0.7},
    "mask of heads": {"attn_mask": FLOATS},
    "mask of heads, no weights": {"attn_mask": FLOATS, "need_weights": False},
    "padding": {"key_padding_mask": PADDED},
    "padding of numbers": {"key_padding_mask": PADDED * -2.0},
    "both": {"key_padding_mask": PADDED, "attn_mask": BANNED},
    "both, no weights": {"key_padding_mask": PADDED, "attn_mask": BANNED, "need_weights": False},
    "one more": {"bias": True, "attn_mask": BANNED, "key_padding_mask": PADDED},
    "one of zeros": {"add_zero_attn": True, "attn_mask": BANNED, "key_padding_mask": PADDED},
    "two more, no weights": {"bias": True, "add_zero_attn": True, "need_weights": False},
    "apart": {"apart": True},
    "apart, no weights": {"apart": True, "need_weights": False, "attn_mask": BANNED},
    "causal": {"is_causal": True, "attn_mask": np.triu(np.ones((L, S), bool), 1)},
    "causal, no weights": {
        "is_causal": True,
        "need_weights": False,
        "attn_mask": np.triu(np.ones((L, S), bool), 1),
    },
    "static": {"static": True},
    "self": {"itself": True},
    "no bias": {"no_bias": True},
}


def attend(library: Any, options: dict[str, Any], batched: bool = True) -> list[Any]:
    random = np.random.RandomState(0)
    leaves: list[Any] = []

    def leaf(*shape: int) -> Any:
        leaves.append(library.tensor(random.randn(*shape), requires_grad=True))
        return leaves[-1]

    given = {k: library.tensor(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
    samples = (N,) if batched else ()
    query = leaf(L, *samples, E)
    if given.pop("itself", False):
        key = value = query
    elif given.pop("apart", False):
        key, value = leaf(S, *samples, 5), leaf(S, *samples, 3)
        given["use_separate_proj_weight"] = True
        for name, size in (("q", E), ("k", 5), ("v", 3)):
            given[f"{name}_proj_weight"] = leaf(E, size)
    else:
        key, value = leaf(S, *samples, E), leaf(S, *samples, E)
    more = (leaf(1, 1, E), leaf(1, 1, E)) if given.pop("bias", False) else (None, None)
    if given.pop("static", False):
        given["static_k"], given["static_v"] = leaf(N * HEADS, S, E // HEADS), leaf(N * HEADS, S, E // HEADS)
    in_bias, out_bias = (None, None) if given.pop("no_bias", False) else (leaf(3 * E), leaf(E))
    together = None if "use_separate_proj_weight" in given else leaf(3 * E, E)
    zero = given.pop("add_zero_attn", False)
    out, weights = library.nn.functional.multi_head_attention_forward(
        query, key, value, E, HEADS, together, in_bias, *more, zero, 0.0, leaf(E, E), out_bias, **given
    )
    end = (out * out).sum()
    results = [out]
    if weights is not None:
        end = end + (weights * library.tensor(random.randn(*weights.shape))).sum()
        results.append(weights)
    end.backward()
    return [*(each.detach().numpy() for each in results), *(each.grad for each in leaves)]


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_multi_head_attention(options: dict[str, Any]):
    for ours, theirs in zip(attend(ak, options), attend(torch, options), strict=True):
        if theirs is None:  # keys for which others stand in
            assert ours is None or not np.asarray(ours).any()
        else:
            np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-8, atol=1e-8)
            assert ours.shape == theirs.shape


@pytest.mark.parametrize(
    "options", [{}, {"need_weights": False}, {"attn_mask": BANNED, "key_padding_mask": PADDED[0]}]
)
def test_multi_head_attention_of_one_sample(options: dict[str, Any]):
    for ours, theirs in zip(attend(ak, options, False), attend(torch, options, False), strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-8, atol=1e-8)
        assert ours.shape == theirs.shape


def heads(*operands: Any, width: int = E, count: int = HEADS, **given: Any) -> Any:
    def call(T: Any, x: Any) -> Any:
        w = T.ones(3 * E, E)
        q, k, v = (x if each is None else each(x) for each in (*operands, None, None, None)[:3])
        made = {
            name: T.tensor(each) if isinstance(each, np.ndarray) else each for name, each in given.items()
        }
        weight = made.pop("weight", w)
        more = made.pop("bias_k", None), made.pop("bias_v", None)
        return T.nn.functional.multi_head_attention_forward(
            q, k, v, width, count, weight, None, *more, False, 0.0, T.ones(E, E), None, **made
        )

    return call


WRONG_HEADS = {
    "four dimensions": heads(lambda x: x[None]),
    "key": heads(None, lambda x: x[0]),
    "padding dimensions": heads(key_padding_mask=np.ones(3) > 2),
    "mask dimensions": heads(attn_mask=np.ones(3) > 2),
    "mask shape": heads(attn_mask=np.ones((2, 2)) > 2),
    "mask of heads": heads(attn_mask=np.ones((2, 3, 3)) > 2),
    "integer mask": heads(attn_mask=np.ones((3, 3), int)),
    "padding samples": heads(key_padding_mask=np.ones((1, 3)) > 2),
    "padding keys": heads(key_padding_mask=np.ones((2, 5)) > 2),
    "width": heads(width=5),
    "heads": heads(count=4),
    "value": heads(None, None, lambda x: x[:2]),
    "no weight": heads(weight=None),
    "separate": heads(use_separate_proj_weight=True),
    "hint": heads(is_causal=True),
    "half a bias": heads(bias_k=np.ones((1, 1, E), np.float32)),
    "static": heads(static_k=np.ones((2, 3, 3), np.float32)),
    "static width": heads(static_v=np.ones((4, 3, 2), np.float32)),
}


@pytest.mark.parametrize("call", WRONG_HEADS.values(), ids=WRONG_HEADS.keys())
def test_wrong_heads_are_refused_as_in_pytorch(call: Any):
    raised = []
    for library in (torch, ak):
        with pytest.raises(Exception) as caught:
            call(library, library.ones(L, N, E))
        raised.append(caught)
    assert raised[1].type is raised[0].type
    assert " ".join(str(raised[0].value).split()[:4]) in str(raised[1].value)


@pytest.mark.parametrize("need_weights", [True, False])
def test_no_samples_give_no_results(need_weights: bool):
    shapes = []
    for T in (ak, torch):
        x = T.ones(0, 3, 8, requires_grad=True)
        out, weights = T.nn.MultiheadAttention(8, 2, batch_first=True)(x, x, x, need_weights=need_weights)
        out.sum().backward()
        shapes.append([None if each is None else tuple(each.shape) for each in (out, weights, x.grad)])
    assert shapes[0] == shapes[1]


def test_masks_of_two_kinds_warn():
    with pytest.warns(UserWarning, match="mismatched key_padding_mask and attn_mask"):
        attend(ak, {"key_padding_mask": PADDED, "attn_mask": BANNED * 1.0})


# ---------------------------------------------------------------- with many weights

LONG = np.random.RandomState(1).rand(64, 64)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"is_causal": True},
        {"scale": 0.3},
        {"attn_mask": LONG > 0.3},
        {"attn_mask": LONG, "is_causal": True},
        {"attn_mask": LONG - 90.0},  # exponentials that vanish, and that are too large
        {"attn_mask": 90.0 * LONG},
    ],
)
@pytest.mark.parametrize("ndim", [3, 4])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-8), ("float32", 1e-5)])
def test_many_weights_are_not_kept(
    options: dict[str, Any], ndim: int, dtype: str, tolerance: float, loops: str
):
    found = []
    for library in (ak, torch):
        random = np.random.RandomState(0)
        width = 4 if len(options) == 2 else 3  # PyTorch takes both masks where all widths are equal
        shapes = [(4, 8, 64, 4), (4, 8, 64, 4), (4, 8, 64, width)]
        leaves = [library.tensor(random.randn(*s).astype(dtype), requires_grad=True) for s in shapes]
        operands = [leaf.flatten(0, 1) for leaf in leaves] if ndim == 3 else leaves
        masks = {k: v if v.dtype == bool else v.astype(dtype) for k, v in options.items() if k == "attn_mask"}
        given = {**options, **{name: library.tensor(mask) for name, mask in masks.items()}}
        if ndim == 3 and len(given) == 2:
            del given["is_causal"]  # there PyTorch refuses both
        out = library.nn.functional.scaled_dot_product_attention(*operands, **given)
        if library is ak:
            assert out.grad_fn.operation.name == "attention"
            assert max(operand.numel() for operand in out.grad_fn.operands) < 4 * 8 * 64 * 64
        (out * out).sum().backward()
        found.append([out.detach().numpy(), *(leaf.grad.numpy() for leaf in leaves)])
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mask", [None, np.triu(np.full((3, 3), -2.0), 1)])
def test_attention_in_one_step_has_right_derivatives(mask: Any):
    ak.manual_seed(0)
    operands = [ak.randn(2, 3, 4, dtype=ak.float64, requires_grad=True) for _ in range(3)]

    def attend(*operands: Any) -> Any:
        return attention(*operands, mask=mask, scale=0.5)

    assert ak.autograd.gradcheck(attend, operands)
    assert ak.autograd.gradgradcheck(attend, operands)


def test_many_weights_are_kept_for_a_picture_and_where_a_query_may_look_nowhere():
    x = ak.ones(4, 8, 64, 4, requires_grad=True)
    attend = ak.nn.functional.scaled_dot_product_attention
    with ak.recording():
        assert attend(x, x, x).grad_fn.operation.name != "attention"
    nowhere = ak.ones(64, 64, dtype=ak.bool)
    nowhere[3] = False
    assert (attend(x, x, x, nowhere)[..., 3, :] == 0).all()
