"""Random programs that take views, write through them and read them, beside PyTorch."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from tests.libraries import on_each
from tests.support import require

require("torch")
import torch  # noqa: E402

VIEWS = {
    "row": lambda t: t[0] if t.ndim else t[...],
    "last": lambda t: t[..., -1] if t.ndim else t[...],
    "tail": lambda t: t[1:] if t.ndim and len(t) > 1 else t[...],
    "every second": lambda t: t[..., ::2] if t.ndim else t[...],
    "turned": lambda t: t.transpose(0, -1) if t.ndim > 1 else t[...],
    "diagonal": lambda t: t.diagonal() if t.ndim == 2 else t[...],
    "flat": lambda t: t.view(-1) if t.is_contiguous() else t[...],
    "one more dimension": lambda t: t.unsqueeze(0),
    "narrowed": lambda t: t.narrow(0, 0, 1) if t.ndim else t[...],
    "detached": lambda t: t.detach(),
    "one of several": lambda t: t.unbind(-1)[0] if t.ndim else t[...],
    "a chunk": lambda t: t.chunk(2)[-1] if t.ndim else t[...],
}
CHANGES = {
    "scaled": lambda t, w: t.mul_(w[0]),
    "shifted": lambda t, w: t.add_(w[1] * 2),
    "squared": lambda t, w: t.mul_(t.clone()),
    "written": lambda t, w: t.copy_((w[2] * w[2]).expand(t.shape)),
    "first place": lambda t, w: t.__setitem__(0, w[0] * w[1]) if t.ndim else t.mul_(1.5),
    "ends": lambda t, w: t.__setitem__((..., slice(None, None, 2)), w[1]) if t.ndim else t.add_(1),
    "sine": lambda t, w: t.sin_(),
    "cleared": lambda t, w: t.zero_(),
    "filled": lambda t, w: t.fill_(0.5),
}

unrecorded = st.sampled_from([False, False, False, True])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("view"), st.integers(0, 9), st.sampled_from(sorted(VIEWS)), unrecorded),
        st.tuples(st.just("change"), st.integers(0, 9), st.sampled_from(sorted(CHANGES)), unrecorded),
        st.tuples(st.just("read"), st.integers(0, 9), st.just(""), st.just(False)),
    ),
    min_size=1,
    max_size=7,
)


def run(T: Any, program: list[Any], learns: bool) -> Any:
    """What the program leaves: the values, what requires grad, and the gradients; or its error."""
    x = T.from_numpy(np.linspace(-1.0, 1.3, 12).reshape(3, 4)).requires_grad_()
    w = T.from_numpy(np.array([0.7, -1.2, 1.4])).requires_grad_()
    tensors = [x * 1 if learns else T.from_numpy(np.linspace(2.0, 3.0, 12).reshape(3, 4).copy())]
    read = []
    try:
        for kind, which, name, silent in program:
            tensor = tensors[which % len(tensors)]
            with T.set_grad_enabled(not silent):
                if kind == "view":
                    tensors.append(VIEWS[name](tensor))
                elif kind == "change":
                    CHANGES[name](tensor, w)
                else:
                    read.append((tensor * tensor).sum())
        known = [(t._version, t.requires_grad, t.is_leaf, t.grad_fn and t.grad_fn.name()) for t in tensors]
        total = sum((t * t).sum() for t in tensors) + sum(read) + (w * x.sum()).sum()
        gradients = T.autograd.grad(total, [x, w], create_graph=True)
        second = T.autograd.grad(sum((g * g).sum() for g in gradients), [x, w])
    except RuntimeError as error:
        return re.sub(r"^(Output \d|A view was)", "refused ", str(error))[:8]
    return known, [each.detach().numpy().tolist() for each in (*tensors, *gradients, *second)]


@settings(max_examples=300, deadline=None)
@given(program=steps, learns=st.booleans())
def test_programs_of_views_and_changes(program: list[Any], learns: bool):
    ours, theirs = run(autokit, program, learns), run(torch, program, learns)
    if isinstance(theirs, str) and theirs.startswith("a leaf"):
        return  # PyTorch takes a view of a buffer for a leaf until its grad_fn is asked for
    if isinstance(ours, str) or isinstance(theirs, str):
        assert ours == theirs
        return
    assert ours[0] == theirs[0]
    for mine, other in zip(ours[1], theirs[1]):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


@on_each
@pytest.mark.parametrize(
    "repeat",
    [
        lambda y: y.expand(2, 3),
        lambda y: y.unfold(0, 2, 1),
        lambda y: y.view(3, 1).expand(3, 4)[:, 1:],
        lambda y: y.as_strided((2, 2), (1, 1)),
    ],
)
def test_a_view_that_repeats_elements_sends_all_its_gradients_after_a_change(T: Any, repeat: Any):
    x = T.tensor([1.0, 2.0, 3.0], dtype=T.float64, requires_grad=True)
    y = x * 1
    view = repeat(y)
    y.mul_(2)
    (slope,) = T.autograd.grad((view**3).sum() + y.sum(), x, create_graph=True)
    again = 2 * x.detach().requires_grad_()
    expected = 6 * again**2 * T.autograd.grad(repeat(again * 1).sum(), again)[0] + 2
    assert slope.tolist() == expected.tolist()
    (curve,) = T.autograd.grad(slope.sum(), x)
    twice = 24 * again * T.autograd.grad(repeat(again * 1).sum(), again)[0]
    assert curve.tolist() == twice.tolist()
