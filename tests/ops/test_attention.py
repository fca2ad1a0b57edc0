"""Attention: averages of values, weighted by how well queries fit keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit
from tests.oracle import compare, functional, numbers, refused

QUERIES = numbers(2, 4, 5, 6), numbers(2, 4, 7, 6, seed=1), numbers(2, 4, 7, 3, seed=2)
MAY_LOOK = numbers(5, 7, seed=3) > 0
MAY_LOOK[:, 0] = True


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": 0.3}])
@pytest.mark.parametrize("lead", [0, 1, 2])
def test_attention(options: Any, lead: int):
    operands = [each[(0,) * lead] for each in QUERIES]
    compare(functional("scaled_dot_product_attention", **options), *operands)


def test_masks():
    for mask in (MAY_LOOK, numbers(5, 7, seed=3)):
        compare(functional("scaled_dot_product_attention"), *QUERIES, mask)


@pytest.mark.parametrize("numbers_to_add", [True, False])
def test_a_query_that_may_look_nowhere_gets_zeros(numbers_to_add: bool):
    mask = MAY_LOOK.copy()
    mask[2] = False

    given = np.where(mask, 0.0, -np.inf) if numbers_to_add else mask
    compare(lambda torch, *qkv: attend(torch, *qkv, torch.tensor(given)), *QUERIES)
    x = autokit.zeros(1, 2, 2)
    assert not attend(autokit, x, x, x + 1, autokit.zeros(2, 2).bool()).any()


def test_heads_that_share_keys():
    queries, keys, values = numbers(2, 6, 3, 4), numbers(2, 2, 5, 4, seed=1), numbers(2, 2, 5, 4, seed=2)
    compare(functional("scaled_dot_product_attention", enable_gqa=True), queries, keys, values, second=False)


def test_dropout_of_all_weights():
    q = autokit.ones(1, 2, 3)
    assert not attend(autokit, q, q, q, dropout_p=1.0).any()


def attend(torch: Any, *operands: Any, **options: Any) -> Any:
    return torch.nn.functional.scaled_dot_product_attention(*operands, **options)


ERRORS = [
    (lambda torch, x: attend(torch, x, x.float(), x), "same dtype"),
    (lambda torch, x: attend(torch, x[0, 0], x, x), "2 dimensional"),
    (lambda torch, x: attend(torch, x, x[..., :2], x), "(..., S, E)"),
    (lambda torch, x: attend(torch, x, x, x, torch.ones(4, 4).bool(), is_causal=True), "is_causal"),
    (lambda torch, x: attend(torch, x, x, x, torch.ones(4, 4).int()), "attn_mask dtype"),
    (lambda torch, x: attend(torch, x, x[:2], x[:2], enable_gqa=True), "divide"),
    (lambda torch, x: attend(torch, None, x, x), "argument 'query'"),
]


test_what_errors_say = refused(ERRORS, numbers(3, 4, 5))
