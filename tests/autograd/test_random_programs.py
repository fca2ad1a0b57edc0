"""Random short programs beside PyTorch: views, changes in place, hooks, custom functions and several passes.

After each step all values, gradients and what the hooks saw are PyTorch's. A program ends where PyTorch
raises: it refuses some that autokit runs, such as the derivative of ``x.mul_(x)``.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

import autokit
from tests.beside import assert_alike, plain
from tests.libraries import pytorch

VIEWS = [
    *(lambda T, x: x.t(), lambda T, x: x[-1:], lambda T, x: x[::2], lambda T, x: x[..., 1:2]),
    *(
        lambda T, x: x.view_as(x),
        lambda T, x: x.diagonal(),
        lambda T, x: x.select(-1, 1),
        lambda T, x: x.transpose(0, -1),
        lambda T, x: x.detach(),
        lambda T, x: x.reshape(-1).unsqueeze(0)[0],
    ),
    *(lambda T, x: x[:1].expand(*x.shape).contiguous(), lambda T, x: x.narrow(0, 0, 1), lambda T, x: x[0]),
]
CHANGES = [
    *(
        lambda T, x, y: x.mul_(y),
        lambda T, x, y: x.add_(y),
        lambda T, x, y: x.sin_(),
        lambda T, x, y: x.zero_(),
    ),
    *(lambda T, x, y: x.copy_(y), lambda T, x, y: x.__setitem__(0, y.sum()), lambda T, x, y: x.exp_()),
    *(lambda T, x, y: x.__setitem__(x > 0.3, 0.5), lambda T, x, y: x.masked_fill_(x > 0, 0.25)),
    *(lambda T, x, y: x.__setitem__(T.tensor([0]), y.sum()), lambda T, x, y: x.clamp_(-1, 1)),
    *(
        lambda T, x, y: x.mul_(x.mean().tanh()),
        lambda T, x, y: x.detach().add_(0.25),
        lambda T, x, y: x[:1].mul_(y[:1] * 2),
    ),
]


def custom(T: Any, forward: Any, saves: Any, backward: Any, dirty: bool = False) -> Any:
    """A function of one operand with one or two results, whose ``backward`` gets what ``saves`` chose."""

    class Custom(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            results = forward(x)
            if dirty:
                ctx.mark_dirty(x)
            ctx.save_for_backward(*saves(x, results))
            return results

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            return backward(*gradients, *ctx.saved_tensors)

    return Custom.apply


def operations(T: Any) -> list[Any]:
    square = custom(T, lambda x: x * x, lambda x, out: (x,), lambda g, x: 2 * x * g)
    sine = custom(T, lambda x: x.exp(), lambda x, out: (out,), lambda g, out: out * g)
    saved = custom(T, lambda x: x + 0.0, lambda x, out: (x,), lambda g, x: x.detach() * 1)
    two = custom(T, lambda x: (x * 2, x * 3), lambda x, out: (x,), lambda g, h, x: g * x + h)
    double = custom(T, lambda x: x.mul_(2), lambda x, out: (), lambda g: 2 * g, dirty=True)
    return [
        *(
            lambda x, y: x * y,
            lambda x, y: x + y,
            lambda x, y: x.sin(),
            lambda x, y: x - y.sum(),
            lambda x, y: x**2,
        ),
        *(lambda x, y: T.where(x > 0, x, y), lambda x, y: x.cumsum(0), lambda x, y: x.sort(0)[0]),
        *(lambda x, y: T.stack([x, x * 2]).sum(0), lambda x, y: x.max() * x, lambda x, y: square(x)),
        *(
            lambda x, y: sine(x * 0.1),
            lambda x, y: saved(x),
            lambda x, y: two(x)[1],
            lambda x, y: double(x * 1),
        ),
    ]


def steps(T: Any, seed: int) -> Iterator[Any]:
    """Run the program of ``seed``, and after each step yield what there is to see."""
    draw, heard, op = random.Random(seed), [], operations(T)
    values = [T.tensor([[draw.gauss(0, 1) for _ in range(3)] for _ in range(2)]).double() for _ in range(3)]
    leaves = [each.requires_grad_() for each in values[:2]]
    for number in range(draw.randrange(4, 14)):
        kind, place, x = draw.choice("vvvooocchpag"), draw.random(), draw.choice(values[-7:])
        y, keep, nest = (
            draw.choice([each for each in values if each.shape == x.shape]),
            *draw.choices([0, 1], k=2),
        )
        if kind == "v":
            values.append(VIEWS[int(place * len(VIEWS))](T, x))
        elif kind == "o":
            values.append(op[int(place * len(op))](x, y))
        elif kind == "c":
            with T.set_grad_enabled(not (x.is_leaf and nest)):
                CHANGES[int(place * len(CHANGES))](T, x, y)
        elif kind == "h" and x.requires_grad and x._base is None:
            x.register_hook(lambda g, number=number: heard.append((number, plain(g))))
            x.register_hook(lambda g, x=x: g * x.detach())
            x.retain_grad()
        elif kind == "p" and x.requires_grad:
            (x * x).sum().backward(retain_graph=bool(keep or nest), create_graph=bool(nest))
        elif kind == "a" and x.requires_grad:
            found = T.autograd.grad(
                x.sum(), leaves, create_graph=bool(nest), retain_graph=True, allow_unused=True
            )
            values.extend([each.clone() for each in found if each is not None])
        elif kind == "g" and leaves[keep].grad is not None:
            with T.no_grad():
                leaves[keep].grad.mul_(3)
        kept = [each for each in values if each.is_leaf or each.retains_grad]
        yield [plain(values), plain([each.grad for each in kept]), list(heard)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seeds", [range(start, start + 150) for start in (0, 150)], ids=str)
def test_a_random_program_gives_pytorchs_values_and_gradients(seeds: range):
    for seed in seeds:
        ours = steps(autokit, seed)
        try:
            for number, theirs in enumerate(steps(pytorch(), seed)):
                try:
                    assert_alike(next(ours), theirs, 1e-7)
                except Exception as error:
                    raise AssertionError(f"the program of seed {seed} differs in step {number}") from error
        except (RuntimeError, IndexError):
            continue  # PyTorch's refusal
