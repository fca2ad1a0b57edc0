"""Faults of changes in place that were mended once: cycles, shared seeds, views of what was detached."""

from __future__ import annotations

import gc
import weakref

import autokit as torch


def test_a_changed_tensor_is_not_behind_itself():
    x, w = torch.zeros(3), torch.ones((), requires_grad=True)
    x[0] = w * 2
    gone = weakref.ref(x)
    gc.disable()
    try:
        del x
        assert gone() is None
    finally:
        gc.enable()


def test_the_seed_of_a_leaf_is_not_its_gradient():
    leaf, seed = torch.ones(2, requires_grad=True), torch.ones(2)
    leaf.backward(seed)
    leaf.backward(seed)
    assert leaf.grad.tolist() == [2.0, 2.0] and seed.tolist() == [1.0, 1.0]


def test_a_view_of_a_detached_tensor_stays_outside_of_the_graph():
    x = torch.ones(3, requires_grad=True) * 1
    view = x.detach()[:2]
    x.mul_(torch.full((3,), 2.0, requires_grad=True))
    assert not view.requires_grad and view.tolist() == [2.0, 2.0]


def test_adding_to_a_part_leaves_three_nodes():
    x, y = torch.zeros(3), torch.ones((), requires_grad=True)
    x[0] += y
    assert [x.grad_fn.name(), x.grad_fn.next_functions[1][0].name()] == ["CopySlices", "AddBackward0"]
    x.sum().backward()
    assert y.grad.item() == 1.0


def test_large_results_are_given_up_by_the_pass_that_used_them():
    y = torch.ones(2000, requires_grad=True).tanh()
    loss = y.sum()
    loss.backward()
    assert y.grad_fn.output is None and loss.grad_fn.output is not None
