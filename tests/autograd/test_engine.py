"""The graph and the backward pass: where it starts, what it visits, hooks, and random graphs."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit.autograd.engine import run_backward
from autokit.autograd.node import Node
from autokit.ops.operation import OPERATIONS
from tests.libraries import LIBRARIES, on_each
from tests.ops.case import flat
from tests.ops.cases import CASES
from tests.support import require


def test_the_engine_stays_small_enough_to_be_read():
    package = Path(autokit.__file__).parent
    files = [package / "tensor.py", *sorted((package / "autograd").rglob("*.py"))]
    lines = {path.name: len(path.read_text("utf-8").splitlines()) for path in files}
    assert {"tensor.py", "engine.py", "node.py"} <= set(lines)
    total = sum(lines.values())
    assert total < 2500, f"{total} lines: move out what is not the engine's subject: {lines}"


# ---------------------------------------------------------------- the graph


@on_each
def test_a_leaf_that_takes_no_part_has_no_gradient(T: Any):
    x, y = T.ones(1, requires_grad=True), T.ones(1, requires_grad=True)
    (x * 2).backward()
    assert y.grad is None


@on_each
def test_leaves_and_others(T: Any):
    x = T.ones(2, requires_grad=True)
    y = x * 2
    assert x.is_leaf and not y.is_leaf and T.ones(2).is_leaf and (T.ones(2) * 2).is_leaf
    assert y.requires_grad and not y.detach().requires_grad and y.detach().is_leaf
    w = x - 0.1 * y.detach()
    assert not w.is_leaf
    with pytest.raises(RuntimeError, match="leaf"):
        y.requires_grad = False


@on_each
def test_the_gradient_of_a_non_leaf_is_none_with_a_warning(T: Any):
    y = T.ones(2, requires_grad=True) * 2
    y.sum().backward()
    with pytest.warns(UserWarning, match="retain_grad"):
        assert y.grad is None


@on_each
def test_retain_grad(T: Any):
    x = T.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    with warnings.catch_warnings(action="error"):
        assert y.grad is None, "not yet, and that is nothing to warn of"
    (y * y).sum().backward()
    assert y.grad.tolist() == [4.0, 4.0] and y.retains_grad and not x.retains_grad
    with pytest.raises(RuntimeError, match="retain_grad"):
        T.ones(2).retain_grad()


@on_each
def test_a_second_backward_through_saved_values_is_refused(T: Any):
    x = T.ones(2, requires_grad=True)
    for y in ((x * x).sum(), x.exp().sum(), (x @ x) + 1):
        y.backward()
        with pytest.raises(RuntimeError, match=r"second time.*retain_graph=True"):
            y.backward()


@on_each
def test_a_second_backward_passes_where_nothing_was_saved(T: Any):
    x = T.ones(2, requires_grad=True)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


@on_each
@pytest.mark.parametrize("size", [2, 5_000])  # values that stay for the picture, or are let go
def test_a_result_that_a_first_backward_went_through_can_be_built_on(T: Any, size: int):
    x = T.ones(size, requires_grad=True)
    y = x + 1
    y.sum().backward()
    (y * y).sum().backward()
    T.nn.functional.linear(y[None], T.ones(3, size), T.ones(3)).sum().backward()
    assert x.grad.tolist() == [1.0 + 4.0 + 3.0] * size


@on_each
def test_retain_graph(T: Any):
    x = T.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0, 4.0]
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


@on_each
def test_a_part_that_two_losses_share_is_freed_by_the_first(T: Any):
    x = T.ones(2, requires_grad=True)
    shared = x.exp()
    first, second = shared.sum(), (shared * 2).sum()
    first.backward()
    with pytest.raises(RuntimeError, match="second time"):
        second.backward()


@on_each
@pytest.mark.parametrize(
    ("start", "message"),
    [
        (lambda T: (T.ones(2, requires_grad=True) * 2).backward(), "only for scalar outputs"),
        (lambda T: T.ones(()).backward(), "does not require grad and does not have a grad_fn"),
        (lambda T: (T.ones(2, requires_grad=True) * 2).backward(T.ones(3)), r"Mismatch in shape"),
        (lambda T: T.ones(2, requires_grad=True).detach().sum().backward(), "does not require grad"),
    ],
)
def test_where_backward_cannot_start(T: Any, start: Any, message: str):
    with pytest.raises(RuntimeError, match=message):
        start(T)


@on_each
def test_backward_starts_from_one_element_of_any_shape_and_from_a_leaf(T: Any):
    x = T.ones(1, 1, requires_grad=True)
    (x * 3).backward()
    assert x.grad.tolist() == [[3.0]]
    leaf = T.tensor(2.0, requires_grad=True)
    leaf.backward()
    assert leaf.grad.item() == 1.0


@on_each
def test_backward_of_several(T: Any):
    x = T.ones(2, requires_grad=True)
    y, z = x * 2, x * 3
    T.autograd.backward([y, z], [T.ones(2), T.tensor([1.0, 10.0])])
    assert x.grad.tolist() == [5.0, 32.0]
    w = x * 2
    T.autograd.backward([w.sum(), w.sum()])
    assert x.grad.tolist() == [9.0, 36.0]


@on_each
def test_backward_into_chosen_inputs(T: Any):
    x, y = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    (x * y).sum().backward(inputs=[x])
    assert x.grad.tolist() == [1.0, 1.0] and y.grad is None


_NEXT: dict[str, Callable[..., Any]] = {
    "a product": lambda T, x, y: x * y,
    "behind the cast": lambda T, x, y: (x * 2) * y,
    "a cast that is asked for": lambda T, x, y: x.double() * y,
    "a change of precision": lambda T, x, y: x.to(T.float64).to(T.float16),
    "cat": lambda T, x, y: T.cat([x, y]),
    "where": lambda T, x, y: T.where(x > 0, x, y),
    "where with a number": lambda T, x, y: T.where(x > 0, x, 1.0),
    "sum": lambda T, x, y: x.sum(dtype=T.float64),
    "cumsum": lambda T, x, y: x.cumsum(0, dtype=T.float64),
    "softmax": lambda T, x, y: x.softmax(0, dtype=T.float64),
    "mse_loss": lambda T, x, y: T.nn.functional.mse_loss(x, y),
    "addcmul": lambda T, x, y: T.addcmul(x, y, y),
    "add_": lambda T, x, y: (y + 0).add_(x),
    "copy_": lambda T, x, y: (y + 0).copy_(x),
    "x + 2": lambda T, x, y: x + 2,
    "2 * x": lambda T, x, y: 2 * x,
    "2 - x": lambda T, x, y: 2 - x,
    "x ** 2": lambda T, x, y: x**2,
    "2 ** x": lambda T, x, y: 2**x,
    "x % 2": lambda T, x, y: x % 2,
    "lerp": lambda T, x, y: T.lerp(x, x, 0.5),
    "xlogy": lambda T, x, y: T.xlogy(2, x),
    "nll_loss": lambda T, x, y: T.nn.functional.cross_entropy(x, T.tensor(1)),
    "layer_norm": lambda T, x, y: T.nn.functional.layer_norm(x, (2,)),
}


@pytest.mark.parametrize("case", _NEXT)
def test_the_nodes_before_a_node_are_pytorch_s(case: str):
    require("torch")

    def told(node: Any) -> Any:
        return None if node is None else (node.name(), [told(each) for each, _ in node.next_functions])

    made = [
        told(
            _NEXT[case](
                T, T.ones(2, requires_grad=True), T.ones(2, dtype=T.float64, requires_grad=True)
            ).grad_fn
        )
        for T in LIBRARIES
    ]
    assert made[0] == made[1]


def test_the_bias_of_a_linear_layer_comes_first():
    layer = autokit.nn.Linear(2, 3)
    hidden = autokit.ones(1, 2, requires_grad=True) * 2
    first, second, third = [each for each, _ in layer(hidden).grad_fn.next_functions]
    assert first.variable is layer.bias and second is hidden.grad_fn and third.variable is layer.weight


@on_each
def test_next_functions(T: Any):
    x = T.ones(2, requires_grad=True)
    y = x * x
    (first, _), (second, _) = y.grad_fn.next_functions
    assert first is second and first.name() == "torch::autograd::AccumulateGrad" and first.variable is x
    z = y + T.ones(2)
    assert z.grad_fn.next_functions[0][0].name() == "MulBackward0"
    assert z.grad_fn.next_functions[1][0] is None


def test_the_order_of_backward_is_newest_first():
    order: list[str] = []
    x = autokit.ones((), requires_grad=True)
    a, b = x * 2, x * 3
    c = a * 5
    for name, tensor in {"a": a, "b": b, "c": c}.items():
        tensor.register_hook(lambda g, name=name: order.append(name))
    (c + b).backward()
    assert order == ["c", "b", "a"]


# ---------------------------------------------------------------- autograd.grad


@on_each
def test_grad_touches_no_leaf(T: Any):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    (slope,) = T.autograd.grad((x * x).sum(), x)
    assert slope.tolist() == [2.0, 4.0] and x.grad is None and not slope.requires_grad


@on_each
def test_grad_of_grad(T: Any):
    x = T.tensor(2.0, requires_grad=True)
    derivatives, y = [], x**4
    for _ in range(4):
        (y,) = T.autograd.grad(y, x, create_graph=True)
        derivatives.append(y.item())
    assert derivatives == [32.0, 48.0, 48.0, 24.0]


@on_each
def test_a_gradient_that_does_not_depend_on_x_requires_none(T: Any):
    x = T.tensor(2.0, requires_grad=True)
    (slope,) = T.autograd.grad(x * 3, x, create_graph=True)
    with pytest.raises(RuntimeError, match="does not require grad"):
        T.autograd.grad(slope, x)


@on_each
def test_grad_by_something_in_the_middle(T: Any):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    z = y * y
    by_y, by_x = T.autograd.grad(z, [y, x])
    assert (by_y.item(), by_x.item()) == (12.0, 36.0)


@on_each
def test_unused_inputs(T: Any):
    x, y = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="allow_unused=True"):
        T.autograd.grad((x * 2).sum(), [x, y])
    assert T.autograd.grad((x * 2).sum(), [x, y], allow_unused=True)[1] is None
    zero = T.autograd.grad((x * 2).sum(), [x, y], materialize_grads=True)[1]
    assert zero.tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="does not require grad"):
        T.autograd.grad((x * 2).sum(), T.ones(2))
    with pytest.raises(RuntimeError, match="cannot be empty"):
        T.autograd.grad((x * 2).sum(), [])
    with pytest.raises(ValueError, match="allow_unused"):
        T.autograd.grad((x * 2).sum(), y, allow_unused=False, materialize_grads=True)


# ---------------------------------------------------------------- hooks


@on_each
def test_a_hook_sees_and_may_replace_the_gradient(T: Any):
    x = T.ones(2, requires_grad=True)
    y = x * 2
    seen: list[Any] = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    handle = y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)
    y.sum().backward(retain_graph=True)
    assert seen == [[1.0, 1.0]] and x.grad.tolist() == [21.0, 21.0]
    handle.remove()
    handle.remove()
    x.grad = None
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="hook"):
        T.ones(2).register_hook(lambda g: None)


@on_each
def test_a_leafs_hook_runs_once_with_the_whole_gradient(T: Any):
    x = T.ones(2, requires_grad=True)
    seen: list[Any] = []
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * x + x).sum().backward()
    assert seen == [[3.0, 3.0]]


# ---------------------------------------------------------------- random graphs


UNARY = ["tanh", "sigmoid", "sin", "relu", "neg", "cos", "abs"]
BINARY = ["add", "mul", "sub", "maximum"]
step = st.one_of(
    st.tuples(st.sampled_from(UNARY), st.integers(0, 99)),
    st.tuples(st.sampled_from(BINARY), st.integers(0, 99), st.integers(0, 99)),
    st.tuples(st.just("detach"), st.integers(0, 99)),
)


def built(T: Any, steps: list[Any]) -> list[list[float] | None]:
    """The gradients of the leaves of the graph that ``steps`` describe; each step reads earlier values."""
    random = np.random.RandomState(0)
    arrays = [random.randn(*shape) for shape in ((3,), (2, 3), (2, 1), ())]
    leaves = [T.tensor(array, dtype=T.float64, requires_grad=True) for array in arrays]
    values: list[Any] = list(leaves)
    for name, *places in steps:
        operands = [values[-1 - place % len(values)] for place in places]
        made = getattr(operands[0], name)(*operands[1:])
        values.append(made.clamp(-3, 3) if name == "mul" else made)
    total = sum((value.sum() for value in values[len(leaves) :]), values[0].sum())
    total.backward()
    return [None if leaf.grad is None else leaf.grad.tolist() for leaf in leaves]


@given(st.lists(step, max_size=60))
@settings(max_examples=150)
def test_random_graphs_have_pytorchs_gradients(steps: list[Any]):
    require("torch")
    import torch

    for ours, theirs in zip(built(autokit, steps), built(torch, steps)):
        assert (ours is None) == (theirs is None)
        if theirs is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)


def test_a_wide_graph():
    x = autokit.ones(1, requires_grad=True)
    sum((x * k for k in range(5_000)), x).backward()
    assert x.grad is not None and x.grad.item() == 1 + sum(range(5_000))


# ---------------------------------------------------------------- what the engine does not ask for


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_gradient_that_is_said_to_fit_has_its_operands_shape_and_dtype():
    seen = set()

    def listen(event: str, node: Any, *what: Any) -> None:
        if event == "contribution" and node.way.fitting:
            place, raw = what[:2]
            source = node.sources[place]
            like = source if isinstance(source, Node) else source.array
            assert (raw.shape, raw.dtype) == (like.shape, like.dtype), node
            seen.add(node.operation)

    for case in CASES:
        for kind in (np.float32, np.float64):
            arrays = [each.astype(kind) if each.dtype.kind == "f" else each for each in case.arrays]
            leaves = [autokit.tensor(array, requires_grad=array.dtype.kind == "f") for array in arrays]
            made = [each for each in flat(case.call(autokit, *leaves)) if isinstance(each, autokit.Tensor)]
            ends = [each for each in made if each.grad_fn is not None]
            seeds = [np.ones(end.shape, end.array.dtype) for end in ends]
            run_backward([end.grad_fn for end in ends], seeds, listener=listen)
    assert seen == {each for each in OPERATIONS.values() if each.fitting}


@pytest.mark.parametrize("size", [3, 70_000, 300_000])
@pytest.mark.parametrize("threads", [1, 3])
def test_leaves_that_get_the_gradient_itself_share_it_with_nobody(size: int, threads: int):
    before = autokit.get_num_threads()
    autokit.set_num_threads(threads)
    x, y = (autokit.full((size,), value, requires_grad=True) for value in (2.0, 5.0))
    seed = autokit.full((size,), 3.0)
    try:
        (x + y).backward(seed)
        (x + x).backward(seed)
        (y + x + y).backward(seed)
        ((x + x) * (x + y)).sum().backward()  # a sum of several, one after the other
    finally:
        autokit.set_num_threads(before)
    assert autokit.equal(seed, autokit.full((size,), 3.0))
    assert autokit.equal(x.grad, autokit.full((size,), 12.0 + 2 * 7 + 4))
    assert autokit.equal(y.grad, autokit.full((size,), 9.0 + 4))
    arrays = [each.numpy() for each in (seed, x.grad, y.grad)]
    assert not any(np.shares_memory(a, b) for a, b in zip(arrays, arrays[1:] + arrays[:1]))


@on_each
def test_no_gradient_is_lost_where_threads_share_a_leaf(T: Any):
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for hooked in [False] * 30 + [True] * 10:
            w = T.zeros(3, requires_grad=True)
            if hooked:
                w.register_hook(lambda g: g * 1)
            together = threading.Barrier(8)

            def run(w: Any = w, together: Any = together) -> None:
                together.wait()
                for _ in range(5):
                    (w * 2 + w.tanh()).sum().backward()

            threads = [threading.Thread(target=run) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert w.grad.tolist() == [120.0] * 3
    finally:
        sys.setswitchinterval(interval)
