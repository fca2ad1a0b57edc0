"""Hooks of nodes and leaves in PyTorch's order, saved values, and how they are packed."""

from __future__ import annotations

from typing import Any

import pytest

import autokit
from tests.support import require

require("torch")
import torch  # noqa: E402

LIBRARIES = [autokit, torch]


def both(program: Any) -> None:
    ours, theirs = program(autokit), program(torch)
    assert theirs and ours == theirs


def test_hooks_run_in_pytorchs_order():
    def program(T: Any) -> list[Any]:
        seen: list[Any] = []
        x = T.ones(2, requires_grad=True)
        w = T.full((2,), 3.0, requires_grad=True)
        y = x * 2
        z = y * w
        y.grad_fn.register_hook(
            lambda gi, go: seen.append(("after y", [None if g is None else g.tolist() for g in gi]))
        )
        y.grad_fn.register_prehook(lambda go: seen.append(("before y", go[0].tolist())))
        y.register_hook(lambda g: seen.append(("y", g.tolist())))
        x.register_hook(lambda g: seen.append(("x", g.tolist())))
        w.register_hook(lambda g: seen.append(("w", g.tolist())))
        w.register_post_accumulate_grad_hook(lambda p: seen.append(("w got", p.grad.tolist())))
        z.register_hook(lambda g: seen.append(("z", g.tolist())))
        z.sum().backward()
        return seen

    both(program)


def test_hooks_change_gradients():
    def program(T: Any) -> list[Any]:
        x = T.ones(2, requires_grad=True)
        y = x * 2
        y.retain_grad()
        y.grad_fn.register_prehook(lambda go: (go[0] * 5,))
        y.grad_fn.register_hook(lambda gi, go: (gi[0] + 1, None))
        y.register_hook(lambda g: g * 10)
        y.sum().backward()
        return [x.grad.tolist(), y.grad.tolist()]

    both(program)


@pytest.mark.parametrize("wrong", ["shape", "type", "kind"])
def test_a_hook_that_returns_what_no_gradient_can_be_is_refused(wrong: str):
    for T in LIBRARIES:
        x = T.ones(2, requires_grad=True)
        made = {"shape": T.ones(3), "type": T.ones(2, dtype=T.float64), "kind": 3}[wrong]
        (y := x * 2).register_hook(lambda g, made=made: made)
        with pytest.raises((RuntimeError, TypeError)) as caught:
            y.sum().backward()
        if T is autokit:
            ours = caught
    assert ours.type is caught.type and str(ours.value)[:30] == str(caught.value)[:30]


def test_a_leafs_hooks_run_as_soon_as_it_is_complete():
    def program(T: Any) -> list[Any]:
        seen: list[Any] = []
        first, second = (T.ones(2, requires_grad=True) for _ in range(2))
        first.register_hook(lambda g: seen.append("first"))
        second.register_hook(lambda g: seen.append("second"))
        h = first * 2
        h.register_hook(lambda g: seen.append("h"))
        (h * second).sum().backward()
        return seen

    both(program)


def test_removed_hooks_do_not_run():
    def program(T: Any) -> list[Any]:
        seen: list[Any] = []
        x = T.ones(2, requires_grad=True)
        y = x * 2
        for register in (y.register_hook, x.register_hook):
            register(lambda g: seen.append("!")).remove()
        y.grad_fn.register_hook(lambda *_: seen.append("!")).remove()
        y.grad_fn.register_prehook(lambda *_: seen.append("!")).remove()
        with x.register_post_accumulate_grad_hook(lambda p: seen.append("accumulated")):
            y.sum().backward()
        (x * 1).sum().backward()
        return seen

    both(program)


def test_hooks_stay_with_what_an_in_place_change_replaced():
    def program(T: Any) -> list[Any]:
        seen: list[Any] = []
        x = T.ones(4, requires_grad=True) * 1
        x.register_hook(lambda g: seen.append(("before", g.tolist())))
        x.retain_grad()
        x.mul_(3)
        x.register_hook(lambda g: seen.append(("after", g.tolist())))
        x.sum().backward()
        return [*seen, x.grad.tolist()]

    both(program)


def test_hooks_of_nodes_with_several_outputs_and_broadcasting():
    def program(T: Any) -> list[Any]:
        class Two(T.autograd.Function):
            @staticmethod
            def forward(ctx: Any, a: Any) -> Any:
                return a * 2, a * 3

            @staticmethod
            def backward(ctx: Any, g: Any, h: Any) -> Any:
                return g * 2 + h * 3

        seen: list[Any] = []
        w = T.ones(2, requires_grad=True)
        a, b = Two.apply(w)
        y = a + b.sum()
        y.grad_fn.register_hook(lambda gi, go: seen.append([g.tolist() for g in gi]))
        y.sum().backward()
        return [*seen, w.grad.tolist()]

    both(program)


def test_the_type_of_a_node_says_which_it_is():
    def program(T: Any) -> list[Any]:
        class Twice(T.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x * 2

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g * 2

        x = T.ones(2, requires_grad=True)
        y = (x + 1) ** 2
        z = Twice.apply(y) * T.tensor(3.0)
        nodes = [y.grad_fn, z.grad_fn]
        while nodes[-1].next_functions:
            nodes.append(nodes[-1].next_functions[0][0])
        seen: list[Any] = [repr(type(node)) for node in nodes if "Twice" not in node.name()]
        seen += [node.__class__.__name__ for node in nodes]
        seen += [isinstance(nodes[0], T.autograd.graph.Node), y.grad_fn is y.grad_fn]
        seen.append(type((y + 1).grad_fn) is type((x + 2).grad_fn))
        # What was looked at takes part in the pass as any other node does.
        (first,) = T.autograd.grad(z.sum(), x, create_graph=True)
        seen.append(first.grad_fn is not None)
        first.sum().backward()
        return [*seen, first.tolist(), x.grad.tolist()]

    both(program)


def test_saved_values_have_pytorchs_names():
    def program(T: Any) -> list[Any]:
        x = T.tensor([1.0, 2.0], dtype=T.float64, requires_grad=True)
        made = x * x
        out = x.exp()
        total = x.reshape(1, 2).sum(1)
        return [
            made.grad_fn._saved_self.tolist(),
            made.grad_fn._saved_self is x,
            out.grad_fn._saved_result.tolist(),
            out.grad_fn._saved_result.grad_fn is out.grad_fn,
            hasattr(total.grad_fn, "_saved_self"),
            hasattr((x + x).grad_fn, "_saved_self"),
        ]

    both(program)


def test_freed_values_are_refused():
    for T in LIBRARIES:
        x = T.ones(2, requires_grad=True)
        y = x * x
        y.sum().backward()
        with pytest.raises(RuntimeError, match="after they have already been freed"):
            _ = y.grad_fn._saved_self


def test_what_is_saved_can_be_packed():
    def program(T: Any) -> list[Any]:
        seen: list[Any] = []

        def pack(t: Any) -> Any:
            seen.append(("pack", t.tolist(), t.requires_grad, t.is_leaf))
            return t.detach().numpy().copy()

        def unpack(array: Any) -> Any:
            seen.append(("unpack", array.tolist()))
            return T.from_numpy(array)

        w = T.tensor([1.0, 2.0], dtype=T.float64, requires_grad=True)
        with T.autograd.graph.saved_tensors_hooks(pack, unpack):
            z = (w * w).exp() + 1
        z.sum().backward()
        return [*seen, w.grad.tolist()]

    both(program)


def test_packed_values_serve_second_derivatives_and_functions():
    def program(T: Any) -> list[Any]:
        class Square(T.autograd.Function):
            @staticmethod
            def forward(ctx: Any, a: Any) -> Any:
                ctx.save_for_backward(a)
                return a * a

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return 2 * g * ctx.saved_tensors[0]

        x = T.tensor([1.0, 2.0], dtype=T.float64, requires_grad=True)
        packed: list[Any] = []

        def pack(t: Any) -> Any:
            packed.append(t.shape)
            return t.detach().clone()

        with T.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            y = (x.tanh() * Square.apply(x)).sum()
        (first,) = T.autograd.grad(y, x, create_graph=True)
        (second,) = T.autograd.grad(first.sum(), x)
        return [len(packed), first.tolist(), second.tolist()]

    both(program)


def test_packed_values_are_those_of_before_a_change_and_numbers_are_not_packed():
    def program(T: Any) -> list[float]:
        x = T.tensor([1.0, 2.0], dtype=T.float64, requires_grad=True)
        with T.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
            y = (x * 3.0).exp()
        y.add_(1)
        y.sum().backward()
        return x.grad.tolist()

    both(program)


def test_the_innermost_hooks_pack_and_wrong_ones_are_refused():
    for T in LIBRARIES:
        x = T.ones(2, requires_grad=True)
        hooks = T.autograd.graph.saved_tensors_hooks
        seen: list[str] = []
        with hooks(lambda t: seen.append("outer") or t, lambda t: t):
            with hooks(lambda t: seen.append("inner") or t, lambda t: t):
                x.exp()
            x.exp()
        assert seen == ["inner", "outer"]
        with hooks(lambda t: t, lambda t: 3):
            y = x.exp()
        with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor"):
            y.sum().backward()
        with (
            T.autograd.graph.disable_saved_tensors_hooks("not now"),
            pytest.raises(RuntimeError, match="not now"),
            hooks(lambda t: t, lambda t: t),
        ):
            x.exp()
        with T.autograd.graph.save_on_cpu():
            y = x.exp()
        y.sum().backward()


def test_several_gradients_can_be_waited_for():
    def program(T: Any) -> list[Any]:
        seen: list[Any] = []
        a, b = (T.ones(2, requires_grad=True) for _ in range(2))
        y = a * 2
        handle = T.autograd.graph.register_multi_grad_hook(
            (a, y, b), lambda gs: seen.append([g.tolist() for g in gs])
        )
        (y * b).sum().backward(retain_graph=True)
        (y * b).sum().backward()
        handle.remove()
        return seen

    both(program)


def test_an_increment_of_the_version_is_a_change():
    for T in LIBRARIES:
        x = T.ones(2, requires_grad=True) * 1
        y = x.exp()
        T.autograd.graph.increment_version(y)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_nodes_tell_what_arrives_at_them():
    def program(T: Any) -> list[Any]:
        class Both(T.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x * 2, x.sum()

            @staticmethod
            def backward(ctx: Any, *gradients: Any) -> Any:
                return gradients[0]

        leaf = T.ones(2, 3, requires_grad=True)
        y = leaf * 2
        large = T.ones(40, 50, requires_grad=True, dtype=T.float64).sin()
        pair = Both.apply(y)
        total = y.sum()
        nodes = [y.grad_fn, total.grad_fn, large.grad_fn, y.grad_fn.next_functions[0][0], pair[0].grad_fn]
        assert y.grad_fn._sequence_nr() < total.grad_fn._sequence_nr() < nodes[3]._sequence_nr()
        return [
            [(list(one.shape), str(one.dtype), str(one.device), one.is_nested_tensor) for one in each]
            + [node.requires_grad]
            for node, each in ((node, node._input_metadata) for node in nodes)
        ]

    both(program)


def test_modes_that_change_nothing_can_be_set():
    def program(T: Any) -> list[Any]:
        seen = [T.autograd.is_multithreading_enabled()]
        with T.autograd.set_multithreading_enabled(False), T.autograd.enforce_grad_layout_policy(False):
            seen.append(T.autograd.is_multithreading_enabled())
        T.autograd.grad_mode.set_multithreading_enabled(False)
        seen.append(T.autograd.is_multithreading_enabled())
        T.autograd.set_multithreading_enabled(True)
        with pytest.raises(TypeError):
            T.autograd.set_multithreading_enabled("yes")
        return [*seen, T.autograd.is_multithreading_enabled()]

    both(program)


def test_a_gradient_is_caught_before_the_hooks_of_a_node_that_goes_on():
    def program(T: Any) -> list[Any]:
        seen: list[Any] = []
        x = T.ones(2, requires_grad=True)
        y = x * 2
        y.retain_grad()
        y.register_hook(lambda g: g * 10)
        y.grad_fn.register_prehook(lambda gradients: seen.append("before") or (gradients[0] * 100,))
        y.grad_fn.register_hook(lambda *_: seen.append("after"))
        z = (y * 3).sum()
        for ends in ([y], [x], [x, y]):
            seen.append([each.tolist() for each in T.autograd.grad(z, ends, retain_graph=True)])
            seen.append(y.grad.tolist())
        return seen

    both(program)


def test_a_node_that_leads_to_nothing_asked_for_does_not_run():
    def program(T: Any) -> list[Any]:
        seen: list[Any] = []
        x, other = (T.ones(2, requires_grad=True) for _ in range(2))
        y = x * 2
        y.register_hook(lambda g: seen.append("result"))
        y.grad_fn.register_prehook(lambda gradients: seen.append("before"))
        y.grad_fn.register_hook(lambda *_: seen.append("after"))
        y.backward(T.ones(2), inputs=[other], retain_graph=True)
        y.sum().backward()
        return [*seen, x.grad.tolist(), other.grad]

    both(program)
