"""Single saved values that are packed, edges of the graph, and what may be changed after it was saved."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import autokit
from tests.libraries import on_each, pytorch
from tests.ops.beside import refusals


def _square(T: Any) -> tuple[Any, Any]:
    x = T.tensor([2.0, 3.0], requires_grad=True)
    return x, x.pow(2)


def _double(t: Any) -> Any:
    return t * 2


def _same(t: Any) -> Any:
    return t


class _Times:
    """A custom product, for each library."""

    @staticmethod
    def of(T: Any) -> Any:
        class Times(T.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any, y: Any) -> Any:
                ctx.save_for_backward(x, None, y)
                ctx.word = "here"
                return x * y

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                x, _, y = ctx.saved_tensors
                return g * y, g * x

        return Times


@on_each
def test_hooks_of_a_single_saved_value(T: Any):
    seen: list[Any] = []
    x, y = _square(T)

    def pack(t: Any) -> Any:
        seen.append(("pack", t.tolist(), t.requires_grad, t.grad_fn, T.is_grad_enabled()))
        return t * 2

    def unpack(t: Any) -> Any:
        seen.append(("unpack", t.tolist()))
        return t / 2

    assert y.grad_fn._raw_saved_self.register_hooks(pack, unpack) is None
    assert seen == [("pack", [2.0, 3.0], False, None, False)]
    assert y.grad_fn._saved_self.tolist() == [2.0, 3.0]
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 6.0]
    assert seen[1:] == [("unpack", [4.0, 6.0])] * 2


@on_each
def test_what_unpack_gives_is_what_the_derivative_uses(T: Any):
    x, y = _square(T)
    y.grad_fn._raw_saved_self.register_hooks(lambda t: None, lambda nothing: T.full((2,), 10.0))
    y.sum().backward()
    assert x.grad.tolist() == [20.0, 20.0]


@on_each
def test_a_packed_value_of_more_than_the_picture_keeps(T: Any):
    x = T.full((3000,), 3.0, requires_grad=True)
    w = T.full((3000,), 2.0)
    y = x * w
    z = y.exp()
    y.grad_fn._raw_saved_other.register_hooks(_double, lambda t: t / 2)
    z.grad_fn._raw_saved_result.register_hooks(lambda t: t.log(), lambda t: t.exp())
    z.sum().backward()
    assert x.grad[0].item() == pytest.approx(2 * 403.4288, rel=1e-4)


@on_each
def test_a_packed_value_has_its_place_in_the_graph(T: Any):
    x = T.tensor(3.0, requires_grad=True)
    y = x.pow(3)
    y.grad_fn._raw_saved_self.register_hooks(_double, lambda t: t / 2)
    (slope,) = T.autograd.grad(y, x, create_graph=True)
    assert T.autograd.grad(slope, x)[0].item() == 18.0


def test_packed_values_are_freed_with_the_graph():
    x = autokit.ones(5000, requires_grad=True)
    gc.collect()
    gc.disable()
    try:
        with autokit.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            y = x.exp().exp()
        alive = [weakref.ref(y.grad_fn), weakref.ref(y.grad_fn.next_functions[0][0])]
        del y
        assert [each() for each in alive] == [None, None]
    finally:
        gc.enable()


@on_each
def test_nothing_is_unpacked_before_it_is_needed(T: Any):
    class Both(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return g + ctx.saved_tensors[0] * h

    unpacked: list[Any] = []
    x = T.full((3000,), 0.5, requires_grad=True)
    with T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (unpacked.append(1), t)[1]):
        first, second = Both.apply(x.exp().tanh().tanh())
    assert not unpacked
    (first + 2 * second).sum().backward()
    assert len(unpacked) == 4


@on_each
def test_values_that_a_function_saved(T: Any):
    x = T.tensor([2.0, 3.0], requires_grad=True)
    y = _Times.of(T).apply(x, T.ones(2))
    first, none, _ = y.grad_fn._raw_saved_tensors
    first.register_hooks(_double, _same)
    assert y.grad_fn.saved_tensors[0].tolist() == [4.0, 6.0]
    assert y.grad_fn.needs_input_grad == (True, False) and y.grad_fn.word == "here"
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        none.register_hooks(_same, _same)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="already been freed"):
        _ = y.grad_fn._raw_saved_tensors
    with pytest.raises(AttributeError):
        _ = y.grad_fn.missing


def _freed(T: Any) -> None:
    _, y = _square(T)
    saved = y.grad_fn._raw_saved_self
    y.sum().backward()
    saved.register_hooks(_same, _same)


def _twice(T: Any) -> None:
    _, y = _square(T)
    y.grad_fn._raw_saved_self.register_hooks(_same, _same)
    y.grad_fn._raw_saved_self.register_hooks(_same, _same)


def _inside_hooks_for_all(T: Any) -> None:
    with T.autograd.graph.saved_tensors_hooks(_same, _same):
        _, y = _square(T)
    y.grad_fn._raw_saved_self.register_hooks(_same, _same)


def _not_saved(T: Any) -> None:
    y = T.ones(2, requires_grad=True) * T.ones(2)
    assert y.grad_fn._saved_self is None
    y.grad_fn._raw_saved_self.register_hooks(_same, _same)


def _no_such_value(T: Any) -> None:
    _ = (T.ones(2, requires_grad=True) + 1).grad_fn._raw_saved_self


def _changing_its_input(T: Any) -> None:
    _, y = _square(T)  # which PyTorch's SavedTensor needs to live
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t.mul_(2), _same)


def _changing_its_input_everywhere(T: Any) -> None:
    with T.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), _same):
        T.ones(2, requires_grad=True).exp()


def _no_function(T: Any) -> None:
    _, y = _square(T)
    y.grad_fn._raw_saved_self.register_hooks(1, 2)


def _unpacked_to_a_number(T: Any) -> None:
    _, y = _square(T)
    y.grad_fn._raw_saved_self.register_hooks(_same, lambda t: 1)
    y.sum().backward()


@pytest.mark.parametrize(
    "wrong",
    [
        _freed,
        _twice,
        _inside_hooks_for_all,
        _not_saved,
        _no_such_value,
        _changing_its_input,
        _changing_its_input_everywhere,
        _no_function,
        _unpacked_to_a_number,
    ],
    ids=lambda wrong: wrong.__name__,
)
def test_hooks_that_cannot_be_are_refused_as_in_pytorch(wrong: Any):
    ours, theirs = refusals(wrong)
    if wrong not in (_no_function, _no_such_value):
        assert ours[:60] == theirs[:60]


def test_a_value_that_was_changed_is_not_packed():
    x, y = _square(autokit)
    with autokit.no_grad():
        x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.grad_fn._raw_saved_self.register_hooks(_same, _same)


def test_completion_offers_the_values_that_there_are():
    def names(T: Any) -> list[str]:
        return [name for name in dir(T.ones(2, requires_grad=True).exp().grad_fn) if "_saved_" in name]

    assert names(autokit) == names(pytorch())


# ---------------------------------------------------------------- changed after it was saved


@on_each
def test_what_was_saved_may_be_changed(T: Any):
    a = T.tensor([2.0, 3.0], requires_grad=True)
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        b = a.clone()
        c = b * b
        b.mul_(2)
        d = b * b
        with T.no_grad():
            b[0] = 7.0
        (c + d).sum().backward()
    assert a.grad.tolist() == [20.0, 30.0]


@on_each
def test_but_only_inside_of_one_block(T: Any):
    allowed = T.autograd.graph.allow_mutation_on_saved_tensors
    with allowed():
        y = T.ones(2, requires_grad=True).exp()
        with pytest.raises(RuntimeError, match="cannot be nested"), allowed():
            pass
    with pytest.raises(AssertionError, match="Trying to backward outside"):
        y.sum().backward()


# ---------------------------------------------------------------- edges and nodes


@on_each
def test_an_edge_stands_for_a_tensor(T: Any):
    G = T.autograd.graph
    a = T.tensor([2.0, 3.0], requires_grad=True)
    y = a * 2
    z = (y * 3).sum()
    edge, leaf = G.get_gradient_edge(y), G.get_gradient_edge(a)
    found = T.autograd.grad(z, [edge, leaf, G.GradientEdge(y.grad_fn, 0)], retain_graph=True)
    assert [g.tolist() for g in found] == [[3.0, 3.0], [6.0, 6.0], [3.0, 3.0]]
    T.autograd.backward(edge, T.ones(2), retain_graph=True)
    assert a.grad.tolist() == [2.0, 2.0]
    T.autograd.backward([G.get_gradient_edge(z)], inputs=[leaf])
    assert a.grad.tolist() == [8.0, 8.0] and not y.retains_grad


def test_an_edge_of_a_large_result_whose_elements_are_not_needed():
    a = autokit.ones(3000, requires_grad=True)
    edge = autokit.autograd.graph.get_gradient_edge(a + 1)
    autokit.autograd.backward(edge, autokit.full((3000,), 2.0))
    assert a.grad.tolist() == [2.0] * 3000


@on_each
def test_several_gradients_are_waited_for_as_far_as_the_pass_comes_to_them(T: Any):
    seen: list[Any] = []
    a, b, c = (T.ones(2, requires_grad=True) for _ in range(3))
    y = a * 2
    G = T.autograd.graph
    handle = G.register_multi_grad_hook(
        (a, b, c, y), lambda gs: seen.append([None if g is None else g.tolist() for g in gs])
    )
    (y + b * 3).sum().backward()
    assert seen.pop() == [[2.0, 2.0], [3.0, 3.0], None, [1.0, 1.0]] and not seen
    (c * 4).sum().backward()
    assert seen.pop() == [None, None, [4.0, 4.0], None] and not seen
    (a * b).sum().backward(inputs=[b])
    assert seen.pop() == [None, [1.0, 1.0], None, None] and not seen
    handle.remove()
    (a * b).sum().backward()
    with G.register_multi_grad_hook((a, b), lambda g: seen.append(g.tolist()), mode="any"):
        for times in (2, 3):
            (a * times + b * times).sum().backward()
    (a * b).sum().backward()
    assert seen == [[2.0, 2.0], [3.0, 3.0]]


@on_each
def test_a_node_can_be_called(T: Any):
    a = T.tensor([2.0, 3.0], requires_grad=True)
    g = T.ones(2)
    first, second = (a * a).grad_fn(g)
    assert first.tolist() == second.tolist() == [2.0, 3.0] and first.requires_grad
    assert [one if one is None else one.tolist() for one in (a * 3).grad_fn(g)] == [[3.0, 3.0], None]
    assert a.sum().grad_fn(T.tensor(2.0)).tolist() == [2.0, 2.0]
    with pytest.raises(TypeError):
        a.sum().grad_fn()


@on_each
def test_hooks_of_the_end_of_the_graph_at_a_leaf(T: Any):
    seen: list[Any] = []
    a = T.tensor([2.0, 3.0], requires_grad=True)
    end = a.expand_as(a).grad_fn.next_functions[0][0]
    end.metadata["note"] = 1
    a.register_hook(lambda g: seen.append(("leaf", g.tolist())))
    end.register_prehook(lambda gs: (gs[0] * 10,))
    after = end.register_hook(lambda gs, arrived: seen.append((gs, arrived[0].tolist(), a.grad.tolist())))
    (a * a).sum().backward()
    assert seen == [("leaf", [4.0, 6.0]), ((), [40.0, 60.0], [40.0, 60.0])]
    after.remove()
    T.autograd.grad((a * a).sum(), a)
    assert len(seen) == 3 and end.metadata == {"note": 1}


@on_each
def test_gradients_that_a_hook_keeps_do_not_change_afterwards(T: Any):
    kept: list[Any] = []
    a = T.tensor([2.0, 3.0], requires_grad=True)
    a.register_hook(kept.append)
    for _ in range(3):
        (a * 2).sum().backward()
    y = a * a
    y.grad_fn.register_hook(lambda made, arrived: kept.extend(made))
    y.sum().backward()
    assert [g.tolist() for g in kept[:5]] == [[2.0, 2.0]] * 3 + [[2.0, 3.0]] * 2


@pytest.mark.parametrize(
    "wrong",
    [
        lambda node, T: node.register_hook(lambda made, arrived: made[0]),
        lambda node, T: node.register_hook(lambda made, arrived: made[:1]),
        lambda node, T: node.register_hook(lambda made, arrived: (T.ones(3), T.ones(3))),
        lambda node, T: node.register_prehook(lambda arrived: arrived[0]),
        lambda node, T: node.register_prehook(lambda arrived: arrived * 2),
    ],
)
def test_a_nodes_hook_returns_as_many_gradients_as_it_got(wrong: Any):
    def program(T: Any) -> None:
        y = T.ones(2, requires_grad=True)
        y = y * y
        wrong(y.grad_fn, T)
        y.sum().backward()

    ours, theirs = refusals(program)
    assert ours.startswith(theirs)


def test_a_graph_left_in_gradients_is_warned_of_once(monkeypatch: Any):
    monkeypatch.setattr(autokit.autograd, "_warned_of_a_cycle", False)
    with pytest.warns(UserWarning, match="reference cycle") as warned:
        for _ in range(2):
            autokit.ones(1, requires_grad=True).exp().backward(create_graph=True)
    assert len(warned) == 1


@on_each
def test_hooks_may_be_refused_in_a_function(T: Any):
    @T.autograd.graph.disable_saved_tensors_hooks("not here")
    def inside() -> None:
        with T.autograd.graph.saved_tensors_hooks(_same, _same):
            pass

    with pytest.raises(RuntimeError, match="not here"):
        inside()


@on_each
def test_a_version_is_of_a_tensor(T: Any):
    a = T.ones(2)
    T.autograd.graph.increment_version(one for one in (a, a))
    assert a._version == 2
    with pytest.raises(RuntimeError, match="expect a Iterable"):
        T.autograd.graph.increment_version(3)


def _two(T: Any) -> tuple[Any, Any, Any]:
    class Two(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return g + 10 * h

    x = T.tensor([2.0, 3.0], requires_grad=True)
    return x, *Two.apply(x)


@on_each
def test_results_of_one_function_have_one_node(T: Any):
    _, a, b = _two(T)
    assert a.grad_fn is b.grad_fn and (a.output_nr, b.output_nr) == (0, 1)
    assert a.grad_fn.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"
    ((node, place), _) = (b * 2).grad_fn.next_functions
    assert node is b.grad_fn and place == 1
    (found,) = T.autograd.grad((a + b * 5).sum(), T.autograd.graph.get_gradient_edge(b))
    assert found.tolist() == [5.0, 5.0]


@on_each
def test_hooks_at_the_node_of_several_results(T: Any):
    seen: list[Any] = []
    x, a, b = _two(T)

    def plain(gradients: Any) -> list[Any]:
        return [None if one is None else one.tolist() for one in gradients]

    a.grad_fn.register_prehook(lambda arrived: seen.append(plain(arrived)))
    b.grad_fn.register_prehook(lambda arrived: tuple([g if g is None else g * 2 for g in arrived]))
    a.grad_fn.register_hook(lambda made, arrived: seen.append((plain(made), plain(arrived))))
    own = a.register_hook(lambda g: seen.append(g.tolist()))
    (a + b * 5).sum().backward(retain_graph=True)
    assert seen == [[1.0, 1.0], [[1.0, 1.0], [5.0, 5.0]], ([[102.0, 102.0]], [[2.0, 2.0], [10.0, 10.0]])]
    assert x.grad.tolist() == [102.0, 102.0]
    seen.clear()
    own.remove()  # PyTorch calls it with None
    b.sum().backward()
    assert seen[0] == [None, [1.0, 1.0]] and x.grad.tolist() == [122.0, 122.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: a * b,
        lambda a, b: a / b,
        lambda a, b: a @ b.mT,
        lambda a, b: a[0] @ b[0],
        lambda a, b: a @ b[0],
        lambda a, b: (a - b).exp(),
    ],
)
def test_values_are_packed_in_pytorchs_order(call: Any):
    def packed(T: Any) -> list[list[float]]:
        seen: list[list[float]] = []
        a = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        b = T.tensor([[5.0, 6.0], [7.0, 8.0]], requires_grad=True)
        with T.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t.tolist()) or t, lambda t: t):
            call(a, b)
        return seen

    assert packed(autokit) == packed(pytorch())
