"""Attention: averages of values, weighted by how well queries fit keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit
from tests.oracle import compare, numbers, refused

QUERIES = numbers(2, 4, 5, 6), numbers(2, 4, 7, 6, seed=1), numbers(2, 4, 7, 3, seed=2)
MAY_LOOK = numbers(5, 7, seed=3) > 0
MAY_LOOK[:, 0] = True


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": 0.3}])
@pytest.mark.parametrize("lead", [0, 1, 2])
def test_attention(options: Any, lead: int):
    operands = [each[(0,) * lead] for each in QUERIES]
    compare(lambda torch, *qkv: torch.nn.functional.scaled_dot_product_attention(*qkv, **options), *operands)


def test_masks():
    compare(
        lambda torch, *qkv: torch.nn.functional.scaled_dot_product_attention(*qkv, torch.tensor(MAY_LOOK)),
        *QUERIES,
    )
    compare(
        lambda torch, q, k, v, m: torch.nn.functional.scaled_dot_product_attention(q, k, v, m),
        *QUERIES,
        numbers(5, 7, seed=3),
    )


@pytest.mark.parametrize("numbers_to_add", [True, False])
def test_a_query_that_may_look_nowhere_gets_zeros(numbers_to_add: bool):
    mask = MAY_LOOK.copy()
    mask[2] = False

    def program(torch: Any, *qkv: Any) -> Any:
        given = torch.tensor(np.where(mask, 0.0, -np.inf) if numbers_to_add else mask)
        return torch.nn.functional.scaled_dot_product_attention(*qkv, given)

    compare(program, *QUERIES)
    x = autokit.zeros(1, 2, 2)
    assert not autokit.nn.functional.scaled_dot_product_attention(
        x, x, x + 1, autokit.zeros(2, 2).bool()
    ).any()


def test_heads_that_share_keys():
    compare(
        lambda torch, q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        numbers(2, 6, 3, 4),
        numbers(2, 2, 5, 4, seed=1),
        numbers(2, 2, 5, 4, seed=2),
        second=False,
    )


def test_dropout_of_all_weights():
    q = autokit.ones(1, 2, 3)
    assert not autokit.nn.functional.scaled_dot_product_attention(q, q, q, dropout_p=1.0).any()


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
