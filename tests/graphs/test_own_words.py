"""A learner's own operation brings its words, and the story speaks them."""

from __future__ import annotations

import autokit as ak


class Cube(ak.autograd.Function, symbol="³", formula="{x}³", local="3 · {x}²"):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g


class Power(ak.autograd.Function):
    formula = "{base} to the {n}"
    local = {"base": "{n} · {base} to the ({n} - 1)"}  # noqa: RUF012

    @staticmethod
    def forward(base, n, note=""):
        return base**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.base, ctx.n, _ = inputs

    @staticmethod
    def backward(ctx, g):
        return ctx.n * ctx.base ** (ctx.n - 1) * g, None, None


class Plain(Cube, symbol="", formula="", local=""):
    pass


def test_a_custom_function_is_told_with_its_own_words_and_its_local_derivative():
    x = ak.tensor(2.0, requires_grad=True)
    y = Cube.apply(x)
    z = Power.apply(y, 2, "said by nobody")
    nodes = {node.name: node for node in ak.graph(z).nodes}
    assert [(n.symbol, n.formula) for n in (nodes["y"], nodes["z"])] == [("³", "x³"), ("Power", "y to the 2")]
    assert set(nodes) == {"x", "y", "z"} and nodes["y"].saved == ("x",)
    steps = ak.record(z).steps
    assert "3 · 2.0² = 12.0" in [step.numbers.removeprefix("= ") for step in steps if step.kind == "local"]
    assert "16.0 · 12.0 = 192.0" in [step.numbers for step in steps if step.kind == "product"]
    assert any("2 · y to the (2 - 1)" in step.formula for step in steps if step.kind == "local")
    z.backward()
    assert x.grad == 192.0


def test_a_custom_function_without_words_is_told_by_its_name():
    x = ak.tensor(2.0, requires_grad=True)
    y = Plain.apply(x)
    assert [(n.symbol, n.formula) for n in ak.graph(y).nodes][1] == ("Plain", "Plain(x)")
    assert any("Plain.backward" in step.formula for step in ak.record(y * 0.0).steps)
