"""einops takes autokit's tensors, whichever is imported first, and gives what it gives with PyTorch."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support import require

PROGRAM = """
x = torch.arange(2 * 3 * 4 * 4.0).view(2, 3, 4, 4).requires_grad_()
print(rearrange(x, "b c (h p) (w q) -> b (h w) (p q c)", p=2, q=2)[:, 1].tolist())
for way in ("sum", "mean", "min", "max"):
    print(reduce(x, "b c (h 2) (w 2) -> b c h w", way)[0].tolist())
print(reduce(x / 50, "b c h w -> b", "prod").tolist(), repeat(x[0, 0], "h w -> h w r", r=2).tolist())
print(repeat(torch.ones(1, 2), "1 d -> b n d", b=2, n=3).shape)
print(einsum(x[:, :, 0], x[:, :, 1], "b c i, b d i -> b c d").tolist())
packed, shapes = pack([x, torch.ones(2, 7)], "b *")
print(packed.shape, [each.shape for each in unpack(packed, shapes, "b *")])
print(rearrange([torch.ones(2), torch.zeros(2)], "k d -> d k").tolist(), parse_shape(x, "b c h w"))
reduce(x**2, "b c h w ->", "sum").backward()
print(x.grad[0, 0, 0].tolist(), asnumpy(x).shape)
try:
    rearrange(x, "b c h -> c b h")
except Exception as error:
    print(type(error).__name__)
"""
NAMES = "from einops import asnumpy, einsum, pack, parse_shape, rearrange, reduce, repeat, unpack\n"


def printed(*lines: str) -> str:
    program = "\n".join([*lines, PROGRAM])
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return run.stdout


@pytest.mark.parametrize("order", ["einops first", "autokit first"])
def test_einops_does_with_autokit_what_it_does_with_pytorch(order: str):
    require("einops")
    require("torch")
    ours = [NAMES, "import autokit as torch"]
    found = printed(*(ours if order == "einops first" else reversed(ours)))
    assert found == printed(NAMES, "import torch") and "EinopsError" in found


def test_nobody_who_does_not_ask_imports_einops():
    program = "import autokit, sys; print('einops' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
