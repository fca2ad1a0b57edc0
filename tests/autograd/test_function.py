"""Custom functions: the same program gives what it gives with PyTorch, values, graphs and refusals alike."""

from __future__ import annotations

import gc
import io
import pdb
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit.graphs.capture import graph
from autokit.utils.checkpoint import checkpoint
from tests.libraries import on_each
from tests.shown import shown_by
from tests.support import require

SQUARE = """
class Square(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g
x = T.tensor([1.0, -2.0], dtype=T.float64, requires_grad=True)
"""

EXP = """
class Exp(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, g):
        return ctx.saved_tensors[0] * g
x = T.tensor([1.0, -2.0], dtype=T.float64, requires_grad=True)
"""

TWO = """
class Two(T.autograd.Function):
    @staticmethod
    def forward(ctx, x, k, w):
        ctx.save_for_backward(x, w)
        ctx.k = k
        return x * w, k * x + w
    @staticmethod
    def backward(ctx, g, h):
        x, w = ctx.saved_tensors
        return g * w + ctx.k * h, None, (g * x + h).sum()
x = T.tensor([1.0, -2.0], dtype=T.float64, requires_grad=True)
w = T.tensor(3.0, dtype=T.float64, requires_grad=True)
"""

ANY = """
def make(forward, backward=None, **more):
    return type("F", (T.autograd.Function,), dict(forward=staticmethod(forward), **more)
        | (dict(backward=staticmethod(backward)) if backward else {}))
def doubled(ctx, x, *rest):
    return x * 2
x = T.tensor([1.0, -2.0], requires_grad=True)
log = []
def note(ctx, *g):
    log.append(g)
    return g[0]
"""

LINEAR = """
class Linear(T.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output
    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_input, grad_weight, grad_bias
T.manual_seed(0)
x, w, b = (T.randn(*shape, dtype=T.float64, requires_grad=True) for shape in ((4, 3), (2, 3), (2,)))
"""

SINH = """
class Sinh(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        expx, expnegx = T.exp(x), T.exp(-x)
        ctx.save_for_backward(expx, expnegx)
        return (expx - expnegx) / 2, expx, expnegx
    @staticmethod
    def backward(ctx, grad_out, grad_expx, grad_expnegx):
        expx, expnegx = ctx.saved_tensors
        grad_input = grad_out * (expx + expnegx) / 2
        grad_input = grad_input + grad_expx * expx
        return grad_input - grad_expnegx * expnegx
x = T.tensor([0.5, -1.0], dtype=T.float64, requires_grad=True)
"""

PROGRAMS = {
    "one output": SQUARE + "y = Square.apply(x); y.sum().backward(); show(y, x.grad, y.grad_fn.name())",
    "the context's name": SQUARE + "y = Square.apply(x); show(repr(y), len(y.grad_fn.next_functions))",
    "second derivative": SQUARE
    + "g, = T.autograd.grad(Square.apply(x).sum(), x, create_graph=True); (g * g).sum().backward()\n"
    "show(g, x.grad)",
    "third derivative of a saved output": EXP
    + "d = Exp.apply(x).sum()\nfor _ in range(3): d = T.autograd.grad(d, x, create_graph=True)[0].sum()\n"
    "show(d)",
    "retain_graph": EXP + "s = Exp.apply(x).sum(); s.backward(retain_graph=True); s.backward(); show(x.grad)",
    "freed": EXP + "s = Exp.apply(x).sum(); s.backward(); refused(s.backward)",
    "not freed where nothing is saved": ANY
    + "s = make(doubled, lambda c, g: 2 * g).apply(x).sum(); s.backward(); s.backward(); show(x.grad)",
    "saved output changed": EXP + "y = Exp.apply(x); y.add_(1); refused(y.sum().backward)",
    "saved input changed": SQUARE + "h = x + 1; y = Square.apply(h); h.add_(1); refused(y.sum().backward)",
    "several outputs": TWO
    + "a, b = Two.apply(x, 2, w); (a * b).sum().backward(); show(a, b, x.grad, w.grad)",
    "one of several outputs": TWO + "a, b = Two.apply(x, 2, w); b.sum().backward(); show(x.grad, w.grad)",
    "several outputs used twice": TWO
    + "a, b = Two.apply(x, 2, w); (a * a * b + b).sum().backward(); show(x.grad, w.grad)",
    "several outputs twice": TWO
    + "a, b = Two.apply(x, 2, w); g = T.autograd.grad((a * b).sum(), (x, w), create_graph=True)\n"
    "show(*g, *T.autograd.grad(g[0].sum() * g[1], (x, w)))",
    "names of several outputs": TWO + "show(*(y.grad_fn.name() for y in Two.apply(x, 2, w)))",
    "two roots": TWO + "T.autograd.backward(Two.apply(x, 2, w), (T.ones_like(x), x.detach()))\n"
    "show(x.grad, w.grad)",
    "hooks": TWO + "a, b = Two.apply(x, 2, w); a.register_hook(lambda g: 10 * g); b.retain_grad()\n"
    "(a * b).sum().backward(); show(x.grad, w.grad, b.grad)",
    "no input requires grad": SQUARE + "y = Square.apply(x.detach()); show(y.requires_grad, y.grad_fn)",
    "no_grad": SQUARE + "with T.no_grad(): y = Square.apply(x)\nshow(y.requires_grad, y.grad_fn)",
    "what forward sees": ANY
    + "def f(ctx, x, n, z): show(x.requires_grad, T.is_grad_enabled(), ctx.needs_input_grad)\n"
    "make(f).apply(x, 3, x.detach())",
    "grad mode in backward": ANY + "def b(ctx, g): show(T.is_grad_enabled(), g.requires_grad); return g\n"
    "F = make(doubled, b); F.apply(x).sum().backward()\n"
    "T.autograd.grad(F.apply(x).sum(), x, create_graph=True)",
    "keyword arguments": ANY + "def f(ctx, x, k=1): show(ctx.needs_input_grad); return x * k\n"
    "F = make(f, lambda ctx, g: (g, None))\nfor y in (F.apply(x=x), F.apply(x, k=3), F.apply(x, k=x)):\n"
    "    y.sum().backward(); show(y, x.grad)",
    "a keyword alone": ANY + "refused(lambda: make(lambda ctx, x, *, z=1: x).apply(x, z=3))\n"
    "refused(lambda: type('F', (T.autograd.Function,), dict(forward=staticmethod(doubled))).apply(x, y=x))",
    "setup_context": ANY + "def s(ctx, inputs, output): show(inputs[1], output); ctx.k = inputs[1]\n"
    "F = make(lambda x, k=4: x * k, lambda c, g: (g * c.k, None), setup_context=staticmethod(s))\n"
    "F.apply(x, 3).sum().backward(); F.apply(x).sum().backward(); F.apply(x, k=5).sum().backward()\n"
    "show(x.grad)",
    "outputs that are no tensors": ANY
    + "F = make(lambda c, x: (x * 2, 3, None, 'a', x.long()), note); ys = F.apply(x)\n"
    "ys[0].sum().backward(); show(*ys, *log)",
    "a list is no tensor": ANY + "show(*make(lambda c, x: [x * 2]).apply(x))",
    "a tuple of one": ANY + "show(*make(lambda c, x: (x * 2,), note).apply(x))",
    "no result": ANY + "show(make(lambda c, x: None).apply(x))",
    "non-differentiable": ANY
    + "def f(ctx, x): y, m = x * 2, x * 3; ctx.mark_non_differentiable(m); return y, m\n"
    "y, m = make(f, note).apply(x); y.sum().backward(); show(m.requires_grad, m.grad_fn, *log)",
    "all non-differentiable": ANY + "def f(ctx, x): y = x * 2; ctx.mark_non_differentiable(y); return y\n"
    "show(make(f).apply(x).requires_grad)",
    "zeros for what is unused": ANY
    + "F = make(lambda c, x: (x * 2, x.sum()), note); F.apply(x)[1].backward(); show(*log, x.grad)",
    "None for what is unused": ANY
    + "def f(ctx, x): ctx.set_materialize_grads(False); return x * 2, x.sum()\n"
    "make(f, note).apply(x)[0].sum().backward(); show(*log)",
    "an argument returned as it is": ANY
    + "F = make(lambda c, x: x, lambda c, g: 7 * g); y = F.apply(x); y.sum().backward()\n"
    "show(y is x, y.grad_fn.name(), x.grad, x.is_leaf)",
    "dirty": ANY + "def f(ctx, x): x.mul_(3); ctx.mark_dirty(x); return x\n"
    "h = x + 1; y = make(f, lambda c, g: 7 * g).apply(h); (y * y).sum().backward()\n"
    "show(y is h, h, h.grad_fn.name(), x.grad, h._version)",
    "a dirty leaf": ANY
    + "def f(ctx, x): x.mul_(3); ctx.mark_dirty(x); return x\nrefused(lambda: make(f).apply(x))",
    "dirty and saved before": ANY + "def f(ctx, x): x.mul_(3); ctx.mark_dirty(x); return x\n"
    "h = x + 1; s = (h * h).sum(); make(f, note).apply(h); refused(s.backward)",
    "dirty but not returned": ANY
    + "def f(ctx, x): x.mul_(3); ctx.mark_dirty(x); return x * 1\nrefused(lambda: make(f).apply(x + 1))",
    "dirty but no argument": ANY
    + "def f(ctx, x): y = x * 2; ctx.mark_dirty(y); return y\nshow(make(f, note).apply(x)); show(*warned)",
    "a gradient for a keyword's default": ANY + "refused(make(doubled, note).apply(x, 3).sum().backward)",
    "too many gradients": ANY + "refused(make(doubled, lambda c, g: (g, g)).apply(x).sum().backward)",
    "too many Nones": ANY
    + "make(doubled, lambda c, g: (g, None, None)).apply(x).sum().backward(); show(x.grad)",
    "no gradients": ANY + "refused(make(doubled, lambda c, g: ()).apply(x).sum().backward)",
    "a list of gradients": ANY + "refused(make(doubled, lambda c, g: [g]).apply(x).sum().backward)",
    "a number as gradient": ANY + "refused(make(doubled, lambda c, g: 1).apply(x).sum().backward)",
    "a wrong shape": ANY + "refused(make(doubled, lambda c, g: T.ones(3)).apply(x).sum().backward)",
    "a smaller shape": ANY + "refused(make(doubled, lambda c, g: T.ones(1)).apply(x).sum().backward)",
    "a shape that is summed": ANY
    + "make(doubled, lambda c, g: T.ones(4, 2)).apply(x).sum().backward(); show(x.grad)",
    "another dtype": ANY + "make(doubled, lambda c, g: g.double()).apply(x).sum().backward(); show(x.grad)\n"
    "make(doubled, lambda c, g: T.ones(2, dtype=T.int64)).apply(x).sum().backward(); show(x.grad)",
    "None as the gradient": ANY + "make(doubled, lambda c, g: None).apply(x).sum().backward(); show(x.grad)",
    "a gradient for a number": ANY + "refused(make(doubled, lambda c, g: (g, g)).apply(x, 3).sum().backward)",
    "one gradient twice": ANY + "F = make(lambda c, a, b: a + b, lambda c, g: (g, g)); z = x * 1\n"
    "y = F.apply(z, x) + F.apply(x, z) * 2; (y + F.apply(z, z)).sum().backward(); show(x.grad)",
    "the gradient that was kept is not changed": ANY
    + "kept = T.ones(2); F = make(doubled, lambda c, g: kept); h = x * 1\n"
    "(F.apply(h) + F.apply(h)).sum().backward(); (F.apply(x) + F.apply(x)).sum().backward()\n"
    "show(kept, x.grad)",
    "no backward": ANY + "refused(make(doubled).apply(x).sum().backward)",
    "vjp in place of backward": ANY
    + "make(doubled, vjp=staticmethod(lambda c, g: 5 * g)).apply(x).sum().backward(); show(x.grad)",
    "no forward": ANY + "refused(type('F', (T.autograd.Function,), {}).apply, x)",
    "an instance": SQUARE + "f = Square(); show(*warned); refused(f, x)",
    "saving a number": ANY + "refused(make(lambda c, x: c.save_for_backward(3)).apply, x)",
    "saving None": ANY + "def f(ctx, x): ctx.save_for_backward(None, x); return x * 2\n"
    "def b(ctx, g): show(*ctx.saved_tensors); return g\nmake(f, b).apply(x).sum().backward()",
    "saving twice keeps the last": ANY
    + "def f(ctx, x): ctx.save_for_backward(x, x); ctx.save_for_backward(x * 3); return x * 2\n"
    "def b(ctx, g): show(*ctx.saved_tensors); return g\nmake(f, b).apply(x).sum().backward()",
    "a saved tensor of a dirty function": ANY
    + "def f(ctx, x): x.exp_(); ctx.mark_dirty(x); ctx.save_for_backward(x); return x\n"
    "h = x.double() + 1; make(f, lambda c, g: g * c.saved_tensors[0]).apply(h).sum().backward()\n"
    "show(x.grad)",
    "marking a number": ANY + "refused(make(lambda c, x: c.mark_dirty(3)).apply, x)\n"
    "refused(make(lambda c, x: c.mark_non_differentiable(3)).apply, x)",
    "once": EXP + "Exp.backward = staticmethod(T.autograd.function.once_differentiable(Exp.backward))\n"
    "k = T.ones(2, dtype=T.float64, requires_grad=True)\n"
    "g, = T.autograd.grad(Exp.apply(x), x, k, create_graph=True); show(g); refused(g.sum().backward)\n"
    "Exp.apply(x).sum().backward(); show(x.grad)",
    "an error of one's own": ANY
    + "def b(ctx, g): raise KeyError('mine')\nrefused(make(doubled, b).apply(x).sum().backward)",
    "inside another": SQUARE + "class Outer(T.autograd.Function):\n"
    "    @staticmethod\n    def forward(ctx, x):\n"
    "        with T.enable_grad(): ctx.x = x.detach().requires_grad_(); ctx.y = Square.apply(ctx.x).sum()\n"
    "        return ctx.y.detach()\n"
    "    @staticmethod\n    def backward(ctx, g): ctx.y.backward(g); return ctx.x.grad\n"
    "Outer.apply(x * 2).backward(); show(x.grad)",
    "straight through": ANY
    + "F = make(lambda c, x: x.sign(), lambda c, g: g.clamp(-0.5, 0.5)); (F.apply(x) * 3).sum().backward()\n"
    "show(x.grad)",
    "a layer": LINEAR + "y = Linear.apply(x, w, b); y.sum().backward(); show(y, x.grad, w.grad, b.grad)\n"
    "show(T.autograd.gradcheck(Linear.apply, (x, w, b)), T.autograd.gradgradcheck(Linear.apply, (x, w, b)))",
    "a layer without a bias": LINEAR
    + "Linear.apply(x.detach(), w, None).sum().backward(); show(x.grad, w.grad)\n"
    "show(T.autograd.gradcheck(lambda x, w: Linear.apply(x, w, None), (x, w)))",
    "intermediate results that are saved": SINH + "f = lambda x: Sinh.apply(x)[0]\nshow(f(x))\n"
    "show(T.autograd.gradcheck(f, x), T.autograd.gradgradcheck(f, x))\n"
    "show(T.autograd.gradgradcheck(Sinh.apply, x))",
    "a training loop": LINEAR + "for _ in range(5):\n"
    "    loss = (Linear.apply(x, w, b) ** 2).mean(); loss.backward()\n"
    "    with T.no_grad():\n        for p in (w, b): p -= 0.1 * p.grad; p.grad = None\n    show(loss)",
    "a subclass of a function": SQUARE
    + "class Cubed(Square):\n    @staticmethod\n    def backward(ctx, g): return 100 * g\n"
    "y = Cubed.apply(x); y.sum().backward(); show(x.grad, y.grad_fn.name())",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_program_gives_what_it_gives_with_pytorch(program: str):
    require("torch")
    import torch

    expected = shown_by(program, torch)
    assert expected and shown_by(program, autokit) == expected


def test_an_error_names_what_to_do():
    with pytest.raises(RuntimeError, match=r"expected 2, got 1\).*None for what is no tensor"):
        shown_by(ANY + "make(doubled, lambda c, g: g).apply(x, 3).sum().backward()", autokit)
    with pytest.raises(RuntimeError, match="FBackward saved it"):
        shown_by(EXP.replace("Exp", "F") + "y = F.apply(x); y.zero_(); y.sum().backward()", autokit)


class Product(autokit.autograd.Function):
    @staticmethod
    def forward(ctx, a, factor, b):
        product = a * b
        ctx.save_for_backward(a, b)
        return product

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        by_a = g * b
        return by_a, None, g * a


class Both(autokit.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2, a * 3

    @staticmethod
    def backward(ctx, g, h):
        return 2 * g + 3 * h


def test_a_picture_shows_it_as_one_operation():
    a, b = (autokit.tensor(value, requires_grad=True) for value in (2.0, 3.0))
    drawn = graph(Product.apply(a, "x", b) * 2)
    (node,) = (node for node in drawn.nodes if node.operation == "Product")
    assert (node.symbol, node.formula, node.backward) == ("Product", "Product(a, b)", "ProductBackward")
    assert node.source is not None and "Product.apply" in node.source.text


def test_the_story_of_several_outputs_is_told():
    a = autokit.tensor(2.0, requires_grad=True)
    first, second = Both.apply(a)
    told = " ".join(step.sentence for step in autokit.record(first * second).steps)
    assert "enters the rule of Both" in told and "a is a leaf: its .grad is 24.0" in told


def test_a_story_is_told_after_backward_too():
    a, b = (autokit.tensor(value, requires_grad=True) for value in (2.0, 3.0))
    y = Product.apply(a, 1, b)
    y.backward()
    assert autokit.record(y).steps[-1].sentence == "Done: a.grad = 3.0; b.grad = 2.0."
    y = checkpoint(lambda a: a * b, a, use_reentrant=False)
    y.backward()
    told = autokit.record(y).steps[-1].sentence
    assert "a.grad = 3.0; by central differences 3.0" in told and "b.grad = 2.0; by" in told


def commanded(function: Any, stops: str, commands: str) -> str:
    """What a debugger prints that stops at the function ``stops`` and is given ``commands``."""
    out = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO(commands), stdout=out, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    debugger.prompt = ""
    code = getattr(Product, stops).__code__
    debugger.set_break(code.co_filename, code.co_firstlineno + 2)
    debugger.runcall(function)
    debugger.clear_all_breaks()
    return out.getvalue()


def test_a_debugger_stops_in_forward_and_in_backward():
    a, b = (autokit.tensor(value, requires_grad=True) for value in (2.0, 3.0))
    inside = commanded(lambda: Product.apply(a, 1, b), "forward", "c\np a, factor\nn\np product\nc\n")
    assert "(tensor(2., requires_grad=True), 1)" in inside and "tensor(6.)" in inside
    y = Product.apply(a, 1, b)
    inside = commanded(y.backward, "backward", "c\np ctx\np g\nn\nn\np by_a\nw\nc\n")
    assert "<ProductBackward>" in inside and "tensor(1.)" in inside and "tensor(3.)" in inside
    assert a.grad.item() == 3.0


class Keeps(autokit.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x + 1
        ctx.save_for_backward(x * 2, y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


def test_what_was_saved_is_freed_with_the_graph_and_by_backward():
    x = autokit.ones(100_000, requires_grad=True)
    Keeps.apply(x).sum().backward()  # what a first large operation loads is nobody's to free
    x.grad = None
    gc.disable()
    tracemalloc.start()
    try:
        y = Keeps.apply(x)
        del y
        assert tracemalloc.get_traced_memory()[0] < 100_000
        y = Keeps.apply(x)
        s = y.sum()
        assert tracemalloc.get_traced_memory()[0] > 600_000
        s.backward()
        x.grad = None
        assert tracemalloc.get_traced_memory()[0] < 500_000  # y alone
    finally:
        tracemalloc.stop()
        gc.enable()


@on_each
@pytest.mark.parametrize("size", [2, 1024, 1025, 300_000])
def test_gradients_of_several_outputs_arrive_in_their_places(T: Any, size: int):
    class Both(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x + 1, x * 1

        @staticmethod
        def backward(ctx: Any, of_first: Any, of_second: Any) -> Any:
            assert of_first.dtype == of_second.dtype == T.float32
            return of_first + 100 * of_second

    x = T.ones(size, requires_grad=True)
    first, second = Both.apply(x)
    (2 * first + 3 * second).sum().backward()
    assert x.grad[0].item() == x.grad[-1].item() == 302.0


class SumAndProduct(autokit.autograd.Function):
    """Two operations in one, with saved outputs."""

    @staticmethod
    def forward(ctx, a, b):
        total, product = a + b, a * b
        ctx.save_for_backward(a, b, total, product)
        return total, product

    @staticmethod
    def backward(ctx, g, h):
        a, b, total, _ = ctx.saved_tensors
        return g + h * (total - a), g + h * (total - b)


class Sine(autokit.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a.sin()

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0].cos()


def plainly(a: Any, b: Any) -> tuple[Any, ...]:
    return a + b, a * b, a.sin()


def by_functions(a: Any, b: Any) -> tuple[Any, ...]:
    return (*SumAndProduct.apply(a, b), Sine.apply(a))


def again(a: Any, b: Any) -> tuple[Any, ...]:
    return checkpoint(by_functions, a, b, use_reentrant=False)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_mixture_of_functions_and_checkpoints_gives_the_same_derivatives(data: Any):
    length = data.draw(st.integers(1, 6))
    places = [[data.draw(st.integers(0, 1 + 3 * n)) for _ in range(2)] for n in range(length)]
    ways = [data.draw(st.sampled_from([plainly, by_functions, again])) for _ in range(length)]
    weights = data.draw(st.lists(st.integers(-2, 2), min_size=3, max_size=3))
    values = data.draw(st.lists(st.floats(-1, 1), min_size=2, max_size=2))

    def derivatives(ways: Any) -> list[np.ndarray]:
        leaves = [
            autokit.tensor([value, -value], dtype=autokit.float64, requires_grad=True) for value in values
        ]
        made = list(leaves)
        for (i, j), way in zip(places, ways):
            made += way(made[i], made[j])
        loss = sum(weight * one.sum() for weight, one in zip(weights, made[-3:]))
        first = autokit.autograd.grad(loss, leaves, create_graph=True, materialize_grads=True)
        found = [*first, loss]
        if any(one.requires_grad for one in first):
            again = sum((one * one).sum() for one in first)
            found += autokit.autograd.grad(again, leaves, retain_graph=True, materialize_grads=True)
        if loss.requires_grad:
            loss.backward()
            found += [autokit.zeros(2) if leaf.grad is None else leaf.grad for leaf in leaves]
        return [one.detach().numpy() for one in found]

    expected, found = derivatives([plainly] * length), derivatives(ways)
    assert len(expected) == len(found)
    for one, other in zip(expected, found):
        np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-9)
