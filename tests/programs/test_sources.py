"""The programs that this project grew from run with nothing changed but the import, and print the same."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys

import pytest

from tests.support import require

PRODUCT = """
import torch

a = torch.tensor(15.0, requires_grad=True)
b = torch.tensor(20.0, requires_grad=True)
c = a * b
c.backward()
print(f'c = {c}')
print(a.grad.item(), b.grad.item())
print(a.grad, b.grad)
print(a.is_leaf, c.is_leaf, c.grad_fn.name())
"""

LINEAR = """
import torch

torch.manual_seed(0)
x = torch.randn([3,3], requires_grad=True)
y = 2 * x + 3
z = 4 * y - 1
print(x)
print(y)
print(z)
z.sum().backward()
print(x.grad)

with torch.no_grad():
    print((x * 2).requires_grad)

@torch.no_grad()
def double(x):
    return x * 2

print(double(x).requires_grad, (x * 2).requires_grad)
"""

RECURRENT = """
import torch

torch.manual_seed(0)
W_h = torch.randn(20, 20, requires_grad=True)
W_x = torch.randn(20, 10, requires_grad=True)
x = torch.randn(1, 10)
prev_h = torch.randn(1, 20)

h2h = torch.matmul(W_h, prev_h.t())
i2h = torch.matmul(W_x, x.t())

next_h = i2h + h2h
next_h = next_h.tanh()

loss = next_h.sum()
loss.backward()
print(loss)
print(W_h.grad.shape, W_x.grad.shape, x.grad)
print(W_x.grad[:2, :4])
"""

WITH_VARIABLES = """
import torch
from torch.autograd import Variable

torch.manual_seed(0)
x = Variable(torch.randn(1, 10))
prev_h = Variable(torch.randn(1, 20))
W_h = Variable(torch.randn(20, 20))
W_x = Variable(torch.randn(20, 10))

i2h = torch.mm(W_x, x.t())
h2h = torch.mm(W_h, prev_h.t())
next_h = i2h + h2h
next_h = next_h.tanh()
try:
    next_h.sum().backward()
except RuntimeError as error:
    print("element 0 of tensors does not require grad and does not have a grad_fn" in str(error))

W_h = Variable(torch.randn(20, 20), requires_grad=True)
next_h = (torch.mm(W_x, x.t()) + torch.mm(W_h, prev_h.t())).tanh()
next_h.sum().backward()
print(W_h.grad.shape, W_x.grad)
"""

NETWORK = """
import torch

torch.manual_seed(0)
a = torch.randn(5, 5, requires_grad=True)
x1 = torch.randn(5, 5, requires_grad=True)
x2 = torch.randn(5, 5, requires_grad=True)
x3 = torch.randn(5, 5, requires_grad=True)
x4 = torch.randn(5, 5, requires_grad=True)

b = x1 * a
c = x2 * a
d = x3 * b + x4 * c

L = (10 - d).sum()
L.backward()
print(L)
print(a.grad)
print(torch.allclose(a.grad, -(x3 * x1 + x4 * x2)))
print(x3.grad.shape, b.requires_grad, b.is_leaf)
"""

PROGRAMS = {
    "product": PRODUCT,
    "linear": LINEAR,
    "recurrent": RECURRENT,
    "with variables": WITH_VARIABLES,
    "network": NETWORK,
}


def with_autokit(program: str) -> str:
    """The program with nothing changed but the imports."""
    program = program.replace("import torch\n", "import autokit as torch\n", 1)
    for name in ("import torch.", "from torch."):
        program = program.replace(name, name.replace("torch", "autokit"))
    return program.replace("torchvision", "autokit")


def output_of(program: str, **names: object) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "<program>", "exec"), {"__name__": "__main__", **names})
    return printed.getvalue()


def numbers_and_words(text: str) -> tuple[list[float], list[str]]:
    number = r"-?\d+\.\d*(?:e[+-]\d+)?"
    return [float(each) for each in re.findall(number, text)], re.sub(number, "#", text).split()


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_prints_what_pytorch_prints(name: str):
    require("torch")
    ours, theirs = output_of(with_autokit(PROGRAMS[name])), output_of(PROGRAMS[name])
    our_numbers, our_words = numbers_and_words(ours)
    their_numbers, their_words = numbers_and_words(theirs)
    assert our_words == their_words
    # Sums are taken in another order, so the last printed digit may differ.
    assert our_numbers == pytest.approx(their_numbers, rel=1e-4, abs=2e-4)


def test_the_product_literally():
    assert output_of(with_autokit(PRODUCT)) == (
        "c = 300.0\n20.0 15.0\ntensor(20.) tensor(15.)\nTrue False MulBackward0\n"
    )


def test_the_linear_program_literally():
    printed = output_of(with_autokit(LINEAR))
    assert "tensor([[ 1.5410, -0.2934, -2.1788]," in printed
    assert "requires_grad=True)" in printed
    assert "grad_fn=<AddBackward0>)" in printed and "grad_fn=<SubBackward0>)" in printed
    assert "tensor([[8., 8., 8.],\n        [8., 8., 8.],\n        [8., 8., 8.]])" in printed
    assert printed.endswith("False\nFalse True\n")


def test_the_network_literally():
    printed = output_of(with_autokit(NETWORK))
    assert "grad_fn=<SumBackward0>)" in printed
    assert printed.endswith("True\ntorch.Size([5, 5]) True False\n")


@pytest.mark.parametrize("flags", [[], ["-W", "always"], ["-W", "error::RuntimeWarning"]])
def test_infinities_and_nan_come_in_silence(flags: list[str]):
    program = """
import autokit as torch
x = torch.tensor([0.0, -1.0, 1000.0], requires_grad=True)
print(x.log().tolist(), (1 / x).tolist(), x.exp().tolist(), x.sqrt().tolist(), (x / 0).tolist())
print((x * 1e38).float().mul(1e10).tolist(), torch.tensor([1e300]).tolist(), x.sigmoid().tolist())
for y in (x.log(), x.sqrt(), 1 / x, x.exp(), x**0.5, x.softmax(0), x.var(), (-x).sigmoid(), x / (x - x)):
    y.sum().backward()
torch.tensor([1e30]).pow(2).half().int()
both = torch.tensor([[torch.inf, -torch.inf], [1e38, 3e38]])
print(both.sum(1), both.mean(), both.prod(0), both.var(1))
with torch.no_grad():
    x.div_(0)
"""
    run = subprocess.run([sys.executable, *flags, "-c", program], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert "RuntimeWarning" not in run.stderr
    assert run.stdout.startswith("[-inf, nan, 6.9077")
