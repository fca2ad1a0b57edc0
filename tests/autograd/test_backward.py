"""Where a backward pass begins and ends: its arguments, what it refuses, freed graphs, higher derivatives."""

from __future__ import annotations

import gc
import threading
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import autokit
from tests.beside import assert_refused, assert_same
from tests.libraries import function, on_each
from tests.oracle import compare, numbers


def leaf(T: Any, *values: float) -> Any:
    return T.tensor(values or [2.0, 3.0], requires_grad=True)


# ---------------------------------------------------------------- leaves


@on_each
def test_leaves_and_others(T: Any):
    x = leaf(T)
    y = x * 2
    assert x.is_leaf and not y.is_leaf and (T.ones(2) * 2).is_leaf
    assert y.requires_grad and not y.detach().requires_grad and y.detach().is_leaf
    with pytest.raises(RuntimeError, match="leaf"):
        y.requires_grad = False
    assert y.detach_() is y and y.is_leaf and not y.requires_grad
    with pytest.raises(RuntimeError, match="floating point"):
        T.ones(2, dtype=T.int64).requires_grad_()


@on_each
def test_the_gradient_of_a_non_leaf_is_none_with_a_warning(T: Any):
    y = leaf(T) * 2
    y.sum().backward()
    with pytest.warns(UserWarning, match="retain_grad"):
        assert y.grad is None


@on_each
def test_gradients_add_up(T: Any):
    x = leaf(T)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad is first and first.tolist() == [5.0, 5.0]
    x.grad = None
    (x * x).sum().backward(create_graph=True)
    assert x.grad.requires_grad and x.grad.tolist() == [4.0, 6.0]


@on_each
def test_what_was_frozen_since_gets_no_gradient(T: Any):
    x, w = leaf(T), leaf(T)
    y = x * w
    w.requires_grad_(False)
    y.sum().backward()
    assert w.grad is None and x.grad.tolist() == [2.0, 3.0]


@on_each
def test_gradients_share_memory_with_nothing(T: Any):
    x, w, given = leaf(T), leaf(T), T.ones(2)
    (x + w).backward(given)
    (x.t() + w.view(2)).backward(given)
    x.grad += 1
    given += 10
    assert x.grad.tolist() == [3.0, 3.0] and w.grad.tolist() == [2.0, 2.0]


# ---------------------------------------------------------------- where it begins


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (lambda T: (leaf(T) * 2).backward(), "only for scalar outputs.*reduce it"),
        (lambda T: T.ones(()).backward(), "does not require grad and does not have a grad_fn"),
        (lambda T: (leaf(T) * 2).backward(T.ones(3)), "Mismatch in shape"),
        (lambda T: leaf(T).detach().sum().backward(), "does not require grad"),
        (lambda T: T.autograd.backward([leaf(T).sum(), leaf(T).sum()], T.tensor(1.0)), "got 2 tensors and 1"),
        (lambda T: T.autograd.grad(leaf(T).sum(), T.ones(2)), "does not require grad"),
        (lambda T: T.autograd.grad(leaf(T).sum(), [leaf(T)]), "allow_unused=True"),
    ],
)
def test_where_it_cannot_begin_or_end(start: Any, message: str):
    assert_refused(start, message)


@on_each
def test_it_begins_at_several(T: Any):
    x = leaf(T)
    y, z = x * 2, x * 3
    T.autograd.backward([y, z], [T.ones(2), T.tensor([1.0, 10.0])])
    assert x.grad.tolist() == [5.0, 32.0]
    w = x * 2
    T.autograd.backward([w.sum(), w.sum()])
    assert x.grad.tolist() == [9.0, 36.0]


@on_each
def test_into_chosen_inputs(T: Any):
    x, y = leaf(T), leaf(T)
    (x * y).sum().backward(inputs=[x])
    assert x.grad.tolist() == [2.0, 3.0] and y.grad is None
    h = x * y
    (h * h).sum().backward(inputs=h)
    assert h.grad.tolist() == [8.0, 18.0] and y.grad is None


# ---------------------------------------------------------------- autograd.grad


@on_each
def test_unused_inputs(T: Any):
    x, y = leaf(T), leaf(T)
    assert T.autograd.grad((x * 2).sum(), [x, y], allow_unused=True)[1] is None
    assert T.autograd.grad((x * 2).sum(), [x, y], materialize_grads=True)[1].tolist() == [0.0, 0.0]


@on_each
def test_many_gradients_at_once(T: Any):
    x = leaf(T)
    (rows,) = T.autograd.grad(x * x, x, T.eye(2), is_grads_batched=True)
    assert rows.tolist() == [[4.0, 0.0], [0.0, 6.0]]


@on_each
def test_derivatives_to_the_fourth(T: Any):
    x = T.tensor(2.0, requires_grad=True)
    derivatives, y = [], x**4
    for _ in range(4):
        (y,) = T.autograd.grad(y, x, create_graph=True)
        derivatives.append(y.item())
    assert derivatives == [32.0, 48.0, 48.0, 24.0]


SECOND = {
    "a diamond": lambda T, x, y: ((x * y).tanh() * (x + y)).sum(),
    "a broadcast": lambda T, x, y: (x[:, None] * y).exp().mean(0).sum(),
    "a product": lambda T, x, y: (x[:, None] @ y[None]).pow(2).sum(),
    "several results": lambda T, x, y: ((x * y).sort()[0] * x + (y * x).topk(2)[0].sum()).sum(),
    "through a maximum": lambda T, x, y: (T.stack([x * x, y * 2]).max(0)[0] * y).sum(),
    "indices": lambda T, x, y: (x[[0, 0, 2]] * y[T.tensor([1, 2, 2])]).prod(),
    "a loss": lambda T, x, y: T.nn.functional.cross_entropy(T.stack([x, y * x]), T.tensor([1, 0])),
    "a norm": lambda T, x, y: T.nn.functional.layer_norm(x * y, (3,)).pow(3).sum(),
    "written in place": lambda T, x, y: (x * 1).mul_(y).exp().sum(),
    "written into a part": lambda T, x, y: _written(x * 1, y).pow(3).sum(),
    "two dtypes": lambda T, x, y: (x * y.double() * y.float().double()).pow(2).sum(),
}


def _written(base: Any, value: Any) -> Any:
    base[1:] = value[:2] * base[0].clone()
    return base


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives_are_pytorchs(name: str):
    compare(SECOND[name], numbers(3), numbers(3, seed=1))


# ---------------------------------------------------------------- freed graphs


@on_each
def test_a_second_pass_through_saved_values_is_refused(T: Any):
    x = leaf(T)
    for y in ((x * x).sum(), x.exp().sum(), (x @ x) + 1):
        y.backward()
        with pytest.raises(RuntimeError, match=r"second time.*retain_graph=True"):
            y.backward()


@on_each
def test_a_second_pass_works_where_nothing_was_saved_or_the_graph_is_retained(T: Any):
    x = leaf(T)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [10.0, 14.0]
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


@on_each
@pytest.mark.parametrize("size", [2, 5_000])  # values that stay for the picture, or are let go
def test_a_result_that_a_first_pass_went_through_can_be_built_on(T: Any, size: int):
    x = T.ones(size, requires_grad=True)
    y = x + 1
    y.sum().backward()
    (y * y).sum().backward()
    T.nn.functional.linear(y[None], T.ones(3, size), T.ones(3)).sum().backward()
    assert x.grad.tolist() == [1.0 + 4.0 + 3.0] * size


def test_reference_counting_alone_frees_a_graph():
    gc.disable()
    try:
        x = autokit.ones(2, requires_grad=True)
        y = x * x
        y.retain_grad()
        y.register_hook(lambda g: g * 2)
        values, _ = (y * x).sort()
        (slope,) = autokit.autograd.grad(values.sum(), x, create_graph=True)
        slope.sum().backward()
        _ = x.grad, y.grad, y.grad_fn.next_functions, repr(y)
        alive = [weakref.ref(each) for each in (x, y, slope, values, y.grad_fn, slope.grad_fn)]
        del x, y, slope, values, _
        assert [each() for each in alive] == [None] * 6
    finally:
        gc.enable()


# ---------------------------------------------------------------- large graphs, and passes inside passes


@pytest.mark.parametrize("hooked", [False, True])
def test_a_chain_of_200_000_operations(hooked: bool):
    x = autokit.ones(2, requires_grad=True)
    y = x
    for _ in range(200_000):
        y = y + 0.0
    if hooked:
        x.register_hook(lambda g: g * 3)
    y.sum().backward()
    assert x.grad.tolist() == ([3.0, 3.0] if hooked else [1.0, 1.0])
    del y  # and it is freed without recursion


@on_each
def test_a_pass_inside_a_hook_of_another(T: Any):
    inner = leaf(T)

    def hook(g: Any) -> Any:
        with T.enable_grad():
            (inner * inner).sum().backward()
        return g * inner.grad

    x = leaf(T)
    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    assert inner.grad.tolist() == [4.0, 6.0] and x.grad.tolist() == [8.0, 12.0]
    assert T.is_grad_enabled()


@on_each
def test_a_pass_inside_a_function_inside_itself(T: Any):
    def forward(ctx: Any, x: Any, left: int) -> Any:
        ctx.left = left
        ctx.save_for_backward(x)
        return x * 2

    def backward(ctx: Any, gradient: Any) -> Any:
        if not ctx.left:
            return gradient * 2, None
        with T.enable_grad():
            inside = ctx.saved_tensors[0].detach().requires_grad_()
            deeper.apply(inside, ctx.left - 1).backward(gradient)
        return inside.grad, None

    x, deeper = leaf(T), function(T, forward, backward)
    deeper.apply(x, 20).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


@on_each
@pytest.mark.parametrize("kind", [KeyError, KeyboardInterrupt])
def test_what_a_hook_raises_arrives_as_it_is_and_leaves_the_modes(T: Any, kind: Any):
    def fail(g: Any) -> None:
        raise kind

    y = leaf(T) * 2
    y.register_hook(fail)
    with pytest.raises(kind):
        y.sum().backward()
    assert T.is_grad_enabled()


@on_each
def test_threads_share_a_graph_and_have_modes_of_their_own(T: Any):
    w = T.ones(3)
    found: list[Any] = []

    def run(quiet: bool) -> None:
        T.set_grad_enabled(not quiet)
        x = w.clone().requires_grad_()
        y = (x * 2).tanh().sum()
        if not quiet:
            y.backward()
        found.append((quiet, y.requires_grad, None if quiet else x.grad.tolist()))

    threads = [threading.Thread(target=run, args=(place % 2 == 0,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert T.is_grad_enabled() and len(found) == 8
    slope = 2 * (1 - np.tanh(2.0) ** 2)
    for quiet, requires_grad, gradient in found:
        assert requires_grad is not quiet
        assert quiet or gradient == pytest.approx([slope] * 3, rel=1e-5)


# ---------------------------------------------------------------- the modes


@on_each
def test_modes_as_blocks_and_decorators(T: Any):
    x = leaf(T)

    @T.no_grad()
    def quiet() -> Any:
        return x * 2

    @T.no_grad
    def bare() -> Any:
        return x * 2

    with T.no_grad():
        assert not (x * 2).requires_grad
        with T.enable_grad():
            assert (x * 2).requires_grad
        assert not T.is_grad_enabled()
    assert not quiet().requires_grad and not bare().requires_grad and (x * 2).requires_grad
    with pytest.raises(KeyError), T.no_grad():
        raise KeyError
    assert T.is_grad_enabled()
    with T.inference_mode():
        assert not (x * 2).requires_grad


@on_each
def test_set_grad_enabled(T: Any):
    x = leaf(T)
    with T.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad
    T.set_grad_enabled(False)
    assert not (x * 2).requires_grad
    T.set_grad_enabled(True)

    @T.set_grad_enabled(False)
    def inside() -> Any:
        return x * 2

    assert not inside().requires_grad and T.is_grad_enabled()


@on_each
def test_a_mode_around_a_generator_holds_only_while_it_runs(T: Any):
    @T.no_grad()
    def generator() -> Any:
        for _ in range(2):
            yield T.is_grad_enabled()

    assert [(inside, T.is_grad_enabled()) for inside in generator()] == [(False, True), (False, True)]


@on_each
def test_modules_of_autograd_are_found_without_an_import(T: Any):
    with T.autograd.grad_mode.no_grad():
        assert not T.is_grad_enabled()
    assert T.autograd.functional.jacobian(lambda x: 2 * x, T.ones(1)).tolist() == [[2.0]]
    assert T.autograd.function.Function is T.autograd.Function
    assert isinstance((leaf(T) * 2).grad_fn, T.autograd.graph.Node)
    assert isinstance(leaf(T), T.autograd.Variable)
    with warnings.catch_warnings(action="error"):
        assert T.autograd.Variable(T.ones(2), requires_grad=True).requires_grad


# ---------------------------------------------------------------- the graph


@on_each
def test_next_functions(T: Any):
    x = leaf(T)
    y = x * x
    (first, _), (second, _) = y.grad_fn.next_functions
    assert first == second and first.variable is x
    z = y + T.ones(2)
    assert z.grad_fn.next_functions[0][0].name() == "MulBackward0"
    assert z.grad_fn.next_functions[1][0] is None
    values, places = z.sort()
    assert not places.requires_grad and values.grad_fn.next_functions[0][0].name() == "AddBackward0"


def test_the_newest_node_comes_first():
    def order(T: Any) -> list[str]:
        seen: list[str] = []
        x = T.ones((), requires_grad=True)
        a, b = x * 2, x * 3
        c = a * 5
        for name, tensor in {"a": a, "b": b, "c": c}.items():
            tensor.register_hook(lambda g, name=name: seen.append(name))
        (c + b).backward()
        return seen

    assert assert_same(order) == ["c", "b", "a"]


@on_each
@pytest.mark.filterwarnings("ignore:Using backward")
def test_gradients_with_a_graph_have_memory_of_their_own_and_keep_the_graph(T: Any):
    x, w, seed = leaf(T), leaf(T), T.ones(2)
    (x + w).backward(seed, create_graph=True)
    with T.no_grad():
        x.grad.zero_()
    assert w.grad.tolist() == seed.tolist() == [1.0, 1.0]
    (x**3).sum().backward(create_graph=True)
    (x * 5).sum().backward()
    assert T.autograd.grad(x.grad.sum(), x)[0].tolist() == [12.0, 18.0]


@on_each
def test_a_gradient_that_a_graph_saved_may_not_grow(T: Any):
    x, w = leaf(T), leaf(T)
    (x * 3).sum().backward()
    loss = (x.grad * w).sum()
    (x * 3).sum().backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
