"""Custom functions: a program gives what it gives with PyTorch: values, gradients and refusals."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import autokit
from tests.beside import assert_same
from tests.libraries import function, on_each


def leaf(T: Any) -> Any:
    return T.tensor([1.0, -2.0], dtype=T.float64, requires_grad=True)


def doubled(ctx: Any, x: Any, *rest: Any) -> Any:
    return x * 2


def square(T: Any) -> Any:
    class Square(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * x * g

    return Square


def exp(T: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    return function(T, forward, lambda ctx, g: ctx.saved_tensors[0] * g)


def two(T: Any) -> Any:
    """x·w and k·x + w."""

    def forward(ctx: Any, x: Any, k: float, w: Any) -> Any:
        ctx.save_for_backward(x, w)
        ctx.k = k
        return x * w, k * x + w

    def backward(ctx: Any, g: Any, h: Any) -> Any:
        x, w = ctx.saved_tensors
        return g * w + ctx.k * h, None, (g * x + h).sum()

    x, w = leaf(T), T.tensor(3.0, dtype=T.float64, requires_grad=True)
    return x, w, *function(T, forward, backward).apply(x, 2, w)


# ---------------------------------------------------------------- programs


def one_result(T: Any) -> Any:
    x = leaf(T)
    y = square(T).apply(x)
    y.sum().backward()
    return y, x.grad, y.grad_fn.name(), len(y.grad_fn.next_functions)


def third_derivative_by_a_saved_result(T: Any) -> Any:
    x = leaf(T)
    d = exp(T).apply(x).sum()
    for _ in range(3):
        d = T.autograd.grad(d, x, create_graph=True)[0].sum()
    return d


def freed(T: Any) -> Any:
    total = exp(T).apply(leaf(T)).sum()
    total.backward()
    total.backward()


def nothing_saved_nothing_freed(T: Any) -> Any:
    x = leaf(T)
    total = function(T, doubled, lambda ctx, g: 2 * g).apply(x).sum()
    total.backward()
    total.backward()
    return x.grad


def a_saved_result_changed(T: Any) -> Any:
    y = exp(T).apply(leaf(T))
    y.add_(1)
    y.sum().backward()


def a_saved_input_changed(T: Any) -> Any:
    h = leaf(T) + 1
    y = square(T).apply(h)
    h.add_(1)
    y.sum().backward()


def several_results(T: Any) -> Any:
    x, w, a, b = two(T)
    (a * a * b + b).sum().backward()
    return a, b, x.grad, w.grad


def several_results_twice(T: Any) -> Any:
    x, w, a, b = two(T)
    g = T.autograd.grad((a * b).sum(), (x, w), create_graph=True)
    return g, T.autograd.grad(g[0].sum() * g[1], (x, w))


def two_roots(T: Any) -> Any:
    x, w, a, b = two(T)
    T.autograd.backward((a, b), (T.ones_like(x), x.detach()))
    return x.grad, w.grad


def hooks(T: Any) -> Any:
    x, w, a, b = two(T)
    a.register_hook(lambda g: 10 * g)
    b.retain_grad()
    (a * b).sum().backward()
    return x.grad, w.grad, b.grad


def nothing_requires_grad(T: Any) -> Any:
    x = leaf(T)
    with T.no_grad():
        quiet = square(T).apply(x)
    return square(T).apply(x.detach()), quiet, quiet.grad_fn


def what_forward_sees(T: Any) -> Any:
    x, seen = leaf(T), []

    def forward(ctx: Any, x: Any, n: int, z: Any) -> Any:
        seen.extend([x.requires_grad, T.is_grad_enabled(), ctx.needs_input_grad])
        return x * n

    return function(T, forward).apply(x, 3, x.detach()), seen


def what_backward_sees(T: Any) -> Any:
    x, seen = leaf(T), []

    def backward(ctx: Any, g: Any) -> Any:
        seen.extend([T.is_grad_enabled(), g.requires_grad])
        return g

    custom = function(T, doubled, backward)
    custom.apply(x).sum().backward()
    T.autograd.grad(custom.apply(x).sum(), x, create_graph=True)
    return seen


def with_setup_context(T: Any) -> Any:
    x = leaf(T)

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.k = inputs[1]

    custom = function(T, lambda x, k: x * k, lambda ctx, g: (g * ctx.k, None), setup_context=setup)
    y = custom.apply(x, 3)
    y.sum().backward()
    return y, x.grad


def results_that_are_no_tensors(T: Any) -> Any:
    x, seen = leaf(T), []

    def backward(ctx: Any, *gradients: Any) -> Any:
        seen.append(gradients[0])
        return gradients[0]

    results = function(T, lambda ctx, x: (x * 2, 3, None, "a", x.long()), backward).apply(x)
    results[0].sum().backward()
    return results, seen


def a_result_without_gradient(T: Any) -> Any:
    x = leaf(T)

    def forward(ctx: Any, x: Any) -> Any:
        y, mask = x * 2, x * 3
        ctx.mark_non_differentiable(mask)
        return y, mask

    y, mask = function(T, forward, lambda ctx, g, h: g * 5).apply(x)
    y.sum().backward()
    return y, mask, mask.grad_fn, x.grad


def zeros_for_what_is_unused(T: Any) -> Any:
    x, seen = leaf(T), []
    custom = function(T, lambda ctx, x: (x * 2, x.sum()), lambda ctx, g, h: seen.extend([g, h]) or g)
    custom.apply(x)[1].backward()
    return seen, x.grad


def none_for_what_is_unused(T: Any) -> Any:
    x, seen = leaf(T), []

    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x * 2, x.sum()

    function(T, forward, lambda ctx, g, h: seen.extend([g, h]) or g).apply(x)[0].sum().backward()
    return seen


def an_argument_returned_as_it_is(T: Any) -> Any:
    x = leaf(T)
    y = function(T, lambda ctx, x: x, lambda ctx, g: 7 * g).apply(x)
    y.sum().backward()
    return y is x, y.grad_fn.name(), x.grad, x.is_leaf


def dirty(T: Any) -> Any:
    x = leaf(T)

    def forward(ctx: Any, x: Any) -> Any:
        x.mul_(3)
        ctx.mark_dirty(x)
        return x

    h = x + 1
    y = function(T, forward, lambda ctx, g: 7 * g).apply(h)
    (y * y).sum().backward()
    return y is h, h, h.grad_fn.name(), x.grad, h._version


def _tripled(T: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        x.mul_(3)
        ctx.mark_dirty(x)
        return x

    return function(T, forward, lambda ctx, g: 3 * g)


def dirty_and_not_returned(T: Any) -> Any:
    return function(T, lambda ctx, x: ctx.mark_dirty(x.mul_(3)) or x * 1).apply(leaf(T) + 1)


def a_dirty_leaf(T: Any) -> Any:
    _tripled(T).apply(leaf(T))


def dirty_after_it_was_saved(T: Any) -> Any:
    h = leaf(T) + 1
    total = (h * h).sum()
    _tripled(T).apply(h)
    total.backward()


def dirty_and_its_base(T: Any) -> Any:
    x = leaf(T)
    h = x * 2
    _tripled(T).apply(h)
    view = h[0]
    _tripled(T).apply(h)
    (h.sum() + view).backward()
    return x.grad, view


def gradients_of_other_shapes_and_dtypes(T: Any) -> Any:
    found = []
    for gradient in (T.ones(4, 2), T.ones(2, dtype=T.float32), T.ones(2, dtype=T.int64), None):
        x = leaf(T)
        function(T, doubled, lambda ctx, g, gradient=gradient: gradient).apply(x).sum().backward()
        found.append(x.grad)
    return found


def _gives(*gradients: Any) -> Callable[[Any], Any]:
    def program(T: Any) -> Any:
        backward = gradients[0] if callable(gradients[0]) else lambda T: gradients[0]
        function(T, doubled, lambda ctx, g: backward(T)).apply(leaf(T), 3).sum().backward()

    return program


def one_gradient_twice(T: Any) -> Any:
    x = leaf(T)
    custom = function(T, lambda ctx, a, b: a + b, lambda ctx, g: (g, g))
    z = x * 1
    y = custom.apply(z, x) + custom.apply(x, z) * 2
    (y + custom.apply(z, z)).sum().backward()
    return x.grad


def a_gradient_that_was_kept_is_not_changed(T: Any) -> Any:
    x = leaf(T)
    kept = T.ones(2, dtype=T.float64)
    custom, h = function(T, doubled, lambda ctx, g: kept), x * 1
    (custom.apply(h) + custom.apply(h)).sum().backward()
    (custom.apply(x) + custom.apply(x)).sum().backward()
    return kept, x.grad


def no_backward(T: Any) -> Any:
    function(T, doubled).apply(leaf(T)).sum().backward()


def once_differentiable(T: Any) -> Any:
    x, custom = leaf(T), exp(T)
    custom.backward = staticmethod(T.autograd.function.once_differentiable(custom.backward))
    custom.apply(x).sum().backward()
    seed = T.ones(2, dtype=T.float64, requires_grad=True)
    (g,) = T.autograd.grad(custom.apply(x), x, seed, create_graph=True)
    first = g.detach()
    try:
        g.sum().backward()
    except RuntimeError as error:
        return first, x.grad, "once_differentiable" in str(error)


def saved_intermediate_results(T: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        up, down = T.exp(x), T.exp(-x)
        ctx.save_for_backward(up, down)
        return (up - down) / 2, up, down

    def backward(ctx: Any, g: Any, of_up: Any, of_down: Any) -> Any:
        up, down = ctx.saved_tensors
        return g * (up + down) / 2 + of_up * up - of_down * down

    sinh = function(T, forward, backward)
    x = leaf(T)
    alone = T.autograd.gradgradcheck(lambda x: sinh.apply(x)[0], x)
    return sinh.apply(x), alone, T.autograd.gradgradcheck(sinh.apply, x)


PROGRAMS = {
    each.__name__: each
    for each in (
        *(one_result, third_derivative_by_a_saved_result, freed, two_roots, nothing_saved_nothing_freed),
        *(a_saved_result_changed, a_saved_input_changed, several_results, several_results_twice, hooks),
        *(nothing_requires_grad, what_forward_sees, what_backward_sees, with_setup_context),
        *(results_that_are_no_tensors, dirty, a_result_without_gradient, zeros_for_what_is_unused),
        *(a_dirty_leaf, none_for_what_is_unused, an_argument_returned_as_it_is, dirty_after_it_was_saved),
        *(dirty_and_its_base, gradients_of_other_shapes_and_dtypes, one_gradient_twice),
        *(a_gradient_that_was_kept_is_not_changed, no_backward, once_differentiable),
        saved_intermediate_results,
    )
}
PROGRAMS |= {
    "a gradient too few": _gives(lambda T: T.ones(2)),
    "a gradient too many": _gives(lambda T: (T.ones(2), T.ones(2), T.ones(2))),
    "a wrong shape": _gives(lambda T: (T.ones(3), None)),
    "a smaller shape": _gives(lambda T: (T.ones(()), None)),
    "a gradient for the number": _gives(lambda T: (None, T.ones(2))),
    "dirty and not returned": dirty_and_not_returned,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_with_pytorch(name: str):
    assert_same(PROGRAMS[name])


def test_errors_say_what_to_do():
    custom = function(autokit, doubled, lambda ctx, g: g)
    with pytest.raises(RuntimeError, match=r"expected 2, got 1\).*None where there is none"):
        custom.apply(leaf(autokit), 3).sum().backward()
    with pytest.raises(NotImplementedError, match="must implement the forward"):
        autokit.autograd.Function.apply(leaf(autokit))


def test_a_node_shows_itself_and_is_freed():
    x = leaf(autokit)
    y = square(autokit).apply(x)
    assert repr(y.grad_fn) == "<SquareBackward>" and y.grad_fn.operation.name == "Square"
    gc.disable()
    try:
        alive = [weakref.ref(each) for each in (y, y.grad_fn, x)]
        del x, y
        assert [each() for each in alive] == [None] * 3
    finally:
        gc.enable()


@on_each
@pytest.mark.parametrize("size", [2, 5_000])
def test_gradients_of_several_results_arrive_in_their_places(T: Any, size: int):
    custom = function(T, lambda ctx, x: (x + 1, x * 1), lambda ctx, g, h: g + 100 * h)
    x = T.ones(size, requires_grad=True)
    first, second = custom.apply(x)
    (2 * first + 3 * second).sum().backward()
    assert x.grad[0].item() == x.grad[-1].item() == 302.0


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.booleans()), min_size=1, max_size=6),
    st.lists(st.floats(-1, 1), min_size=2, max_size=2),
)
def test_any_mixture_of_functions_and_operations_has_the_same_derivatives(steps: Any, values: list[float]):
    def both(ctx: Any, a: Any, b: Any) -> Any:
        ctx.save_for_backward(a, b)
        return a + b, a * b

    def back(ctx: Any, g: Any, h: Any) -> Any:
        a, b = ctx.saved_tensors
        return g + h * b, g + h * a

    custom = function(autokit, both, back).apply

    def derivatives(custom_steps: bool) -> Any:
        made = [autokit.tensor([v, -v], dtype=autokit.float64, requires_grad=True) for v in values]
        leaves = list(made)
        for first, second, wanted in steps:
            a, b = made[first % len(made)], made[second % len(made)]
            made += custom(a, b) if wanted and custom_steps else (a + b, a * b)
        loss = sum((one.sin() * weight).sum() for weight, one in enumerate(made[-3:]))
        first = autokit.autograd.grad(loss, leaves, create_graph=True, materialize_grads=True)
        again = sum((one * one).sum() for one in first)
        second = autokit.autograd.grad(again, leaves, materialize_grads=True) if again.requires_grad else ()
        return [one.tolist() for one in (*first, *second)]

    for one, other in zip(derivatives(True), derivatives(False), strict=True):
        assert one == pytest.approx(other, abs=1e-9)
