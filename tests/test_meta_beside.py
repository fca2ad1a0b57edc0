"""Tensors without elements beside tensors that have some: refused where PyTorch refuses."""

from __future__ import annotations

import pytest

import autokit
from tests.support import require

REFUSED = """
T.exp(m, out=c)
T.exp(c, out=m)
T.add(c, c, out=m)
T.linalg.eigh(m, out=(v, c))
T.linalg.qr(c, out=(m, m))
T.linalg.multi_dot([c, c], out=m)
T.take_along_dim(m, i)
T.index_fill(m, 0, i, 0.0)
m.index_fill_(0, i, 0.0)
m.index_add_(0, T.tensor([], dtype=T.int64), c[:0])
m.masked_fill(c > 0, 1)
m.masked_fill(m > 0, s)
T.normal(m, c)
T.normal(c, m)
c.bernoulli_(p=m)
c.equal(m)
c.is_set_to(m)
T.meshgrid(v, m[0])
m.quantile(s.abs().clamp(0, 1))
m.nanquantile(s.abs().clamp(0, 1))
s.floor_divide(m.sum())
m.copysign(s)
T.tensordot(m, c)
F.batch_norm(c, m[0], v)
F.batch_norm(m, v, v)
F.instance_norm(c[None], m[0], v)
F.hinge_embedding_loss(m, c)
F.gaussian_nll_loss(c, c, m)
F.nll_loss(c, i, m[0])
F.cross_entropy(c, i, m[0])
F.multi_margin_loss(m, i)
F.multilabel_margin_loss(m, T.zeros(2, 2, dtype=T.int64))
F.max_unpool1d(m, T.tensor([[0, 2], [1, 3]]), 2)
""".strip().splitlines()

TAKEN = """
m + s
m * T.tensor(2)
m[i]
m.copy_(c)
c.expand_as(m[None])
c.reshape_as(m[None])
c.view_as(m)
c.type_as(m)
c.to(m)
T.is_same_size(c, m)
T.result_type(c, m)
m.index_select(0, i)
m.gather(0, i[None])
T.where(m > 0, m, s)
""".strip().splitlines()
"""What PyTorch computes, of shapes: with places, numbers, or where only a shape is asked for."""


def computed(T, program: str):
    """What ``program`` gives: device, shape and dtype of a tensor."""
    T.manual_seed(0)
    c, v, i = T.tensor([[2.0, 0.5], [0.5, 1.0]]), T.ones(2), T.tensor([0, 1])
    names = {"T": T, "F": T.nn.functional, "c": c, "v": v, "i": i, "s": T.tensor(0.5)}
    made = eval(program, names | {"m": T.ones(2, 2, device="meta")})
    return (made.device.type, tuple(made.shape), str(made.dtype)) if isinstance(made, T.Tensor) else str(made)


@pytest.mark.parametrize("program", REFUSED)
def test_what_pytorch_refuses(program: str):
    require("torch")
    import torch

    with pytest.raises(RuntimeError) as theirs:
        computed(torch, program)
    with pytest.raises(RuntimeError) as ours:
        computed(autokit, program)
    assert issubclass(ours.type, theirs.type)


@pytest.mark.parametrize("program", TAKEN)
def test_what_pytorch_takes(program: str):
    require("torch")
    import torch

    assert computed(autokit, program) == computed(torch, program)


def test_the_refusal_names_both():
    with pytest.raises(
        RuntimeError, match=r"two devices, meta and cpu.*exp\(\).*\(2, float32\).*\(3, float32\)"
    ):
        autokit.exp(autokit.ones(2, device="meta"), out=autokit.ones(3))
