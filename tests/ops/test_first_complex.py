"""The first complex numbers of a program, wherever they come from: their gradients are PyTorch's.

Operations look out for complex numbers only where the program has some.  So each way in which they
arise has a process of its own here, in which there were none before.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.support import printed_by, require

require("torch")
import torch  # noqa: E402

WAYS = """
lambda T, a: a * (1 + 2j)
lambda T, a: a.double() * (1 + 2j)
lambda T, a: a.double() + 1j
lambda T, a: 1j - a.double()
lambda T, a: 1j / a.double()
lambda T, a: a.double() ** (1 + 1j)
lambda T, a: (2 + 1j) ** a.double()
lambda T, a: (a.double() * 1j).exp()
lambda T, a: a.double() * np.complex128(1 + 2j)
lambda T, a: a * T.from_numpy(np.array([1 + 2j, 2 - 1j, 3j]))
lambda T, a: a.double() * T.full((3,), 1 + 2j)
lambda T, a: a.double() * T.asarray(1 + 2j)
lambda T, a: a.double() * T.tensor(1 + 2j)
lambda T, a: a * T.randn(3, 3, dtype=T.complex64)[0].detach().mul(0).add(2j)
lambda T, a: T.cat([a.double(), T.tensor([1j])])
lambda T, a: T.stack([a.double(), T.tensor([1j, 2, 3])])
lambda T, a: a.half().float() * 2j
lambda T, a: T.complex(a, a * 2)
lambda T, a: T.complex(a.double(), a.double() * 2)
lambda T, a: T.polar(a.abs(), a * 2)
lambda T, a: T.view_as_complex(T.stack([a, a * 2], -1).double())
lambda T, a: T.fft.fft(a.double()) + 1j
lambda T, a: T.fft.rfft(a) + 1
lambda T, a: T.fft.rfft2(T.outer(a, a)) + 1
lambda T, a: T.fft.ihfft(a) + 1
lambda T, a: T.stft(T.cat([a] * 8), 8, window=T.ones(8), return_complex=True)
lambda T, a: T.linalg.eigvals(T.diag(a) + T.tensor([[0, 9.0, 0], [-9, 0, 0], [0, 0, 0]])) * (a.double() + 1)
lambda T, a: a.to(T.complex128) @ T.diag(a).double().to(T.complex128)
lambda T, a: a.cfloat()
lambda T, a: T.einsum("i,j->ij", a.to(T.complex128), T.tensor([1j, 2], dtype=T.complex128))
""".strip().splitlines()

ONE_AFTER_THE_OTHER = """
import json, os, warnings
import numpy as np
import autokit as T

warnings.simplefilter("ignore")
for way in {ways!r}:
    child = os.fork()
    if not child:
        try:
            a = T.tensor({values!r}, requires_grad=True)
            z = eval(way)(T, a)
            line = T.autograd.grad((z * z * z * 2j).real.sum(), a)[0].tolist()
        except Exception as error:
            line = repr(error)
        print(json.dumps(line), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
VALUES = [1.5, -0.57, 1.01]


@pytest.fixture(scope="module")
def found() -> dict[str, object]:
    lines = printed_by(ONE_AFTER_THE_OTHER.format(ways=WAYS, values=VALUES)).splitlines()
    return dict(zip(WAYS, map(json.loads, lines), strict=True))


@pytest.mark.parametrize("way", WAYS)
def test_their_gradients_are_pytorchs(found: dict[str, object], way: str) -> None:
    a = torch.tensor(VALUES, requires_grad=True)
    z = eval(way)(torch, a)
    (expected,) = torch.autograd.grad((z * z * z * 2j).real.sum(), a)
    np.testing.assert_allclose(found[way], expected.numpy(), rtol=1e-4, atol=1e-4)
