"""The course's exercises: right answers pass, and each planted wrong one has its words.

An exercise is a judge, right answers in several styles, and wrong ones with a text that their verdict has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit as ak
from autokit import tensor
from autokit.classroom import check, check_function, check_gradient, check_graph, choose, judge, predict
from autokit.nn import functional as F

Exercise = tuple[Callable[[Any], Any], list[Any], list[tuple[Any, str]]]


def predicting(outcome: Any, why: dict, **settings: Any) -> Exercise:
    rights = [outcome, f" {outcome}", np.array([outcome])]
    return lambda answer: judge(predict, answer, outcome, why=why, **settings), rights, list(why.items())


def choosing(right: str, **replies: str) -> Exercise:
    wrong = [(key, reply) for key, reply in replies.items() if key != right]
    return lambda x: judge(choose, x, replies, right), [right, right.upper(), f"({right})"], wrong


def writing(reference: Callable, *cases: Any, right: list, wrong: list, **settings: Any) -> Exercise:
    """A function, whose wrong answers are told by a hint where there is one of ours."""
    why = {answer: text for answer, text in wrong if text[0].isupper()}
    return (
        lambda x: judge(check_function, x, reference, *cases, why=why, **settings),
        [reference, *right],
        wrong,
    )


def checking(expected: Any, why: dict, rights: list, **settings: Any) -> Exercise:
    return lambda x: judge(check, x, expected, why=why, **settings), rights, list(why.items())


draw = np.random.default_rng(0).normal


def rand(*shape: int) -> ak.Tensor:
    return tensor(draw(size=shape).astype(np.float32))


def cube(x: float) -> float:
    return x**3


def cost(width: Any, length: Any) -> Any:
    return 4 * width * length + 6 * 2 * (width + length)


width, fixed = tensor(15.0), tensor([0.09, 0.6652, 0.2447])
one_hot = tensor([0.0, 0.0, 1.0])


def loss_of(a: Any, b: Any) -> Any:
    return (a * b + a) ** 2


def slopes(a: Any, b: Any) -> tuple:
    return 2 * (a * b + a) * (b + 1), 2 * (a * b + a) * a


def differentiating(function: Callable, *inputs: Any, right: list, wrong: list) -> Exercise:
    why = {answer: text for answer, text in wrong if text[0].isupper()}
    return lambda x: judge(check_gradient, function, *inputs, derivative=x, why=why), right, wrong


def unbroadcast(g: Any, shape: tuple) -> Any:
    for _ in range(g.ndim - len(shape)):
        g = g.sum(0)
    for axis, size in enumerate(shape):
        g = g.sum(axis, keepdim=True) if size == 1 else g
    return g


def momentum_with(new: Callable[[float, float, float], float], step: Callable[[float, float], float]) -> Any:
    def answer(gradients: list, rates: list) -> list:
        x, v, found = 1.0, 0.0, []
        for g, lr in zip(gradients, rates):
            v = new(v, g, lr)
            x = x - step(v, lr)
            found.append(x)
        return found

    return answer


momentum = momentum_with(lambda v, g, lr: 0.9 * v + g, lambda v, lr: lr * v)


class In4:
    """Four batches of 8 images for one of 32, as the learner's cell adds up their gradients."""

    def __init__(self, factor: float, clear: bool = False, parts: int = 4) -> None:
        images, labels = rand(32, 6), tensor([n % 3 for n in range(32)])
        model = ak.nn.Linear(6, 3)
        F.cross_entropy(model(images), labels).backward()
        self.wanted, model.weight.grad = model.weight.grad.clone(), None
        self.sizes = []
        for part in range(parts):
            few = slice(32 // parts * part, 32 // parts * (part + 1))
            if clear:
                model.weight.grad = None
            (F.cross_entropy(model(images[few]), labels[few]) * factor).backward()
            self.sizes.append(32 // parts)
        self.grad = model.weight.grad


def in_parts(answer: In4) -> Any:
    """The check of lesson 7: the sizes of the batches, then the gradients."""
    sizes = judge(check, answer.sizes or None, [8] * 4, "The model saw other batches.")
    why = {
        4 * answer.wanted: "Divide by the number of batches.",
        answer.wanted / 8: "Each is an average already.",
    }
    return (
        judge(check, answer.grad, answer.wanted, "The last batch alone?", why=why) if sizes.right else sizes
    )


def root_gradient(root: Callable) -> Any:
    def gradient(x: Any) -> Any:
        x = x.clone().requires_grad_()
        root(x).sum().backward()
        return x.grad.isfinite()

    return gradient


def batch_norm_back(g: Any, x: Any, n: int = 0, mean: bool = True, variance: bool = True) -> Any:
    size = n or len(x)
    sigma = x.var(0, unbiased=False).sqrt()
    xhat = (x - x.mean(0)) / sigma
    parts = size * g - mean * g.sum(0) - variance * xhat * (g * xhat).sum(0)
    return parts / (size * sigma)


def by_autograd(g: Any, x: Any) -> Any:
    x = x.clone().requires_grad_()
    y = (x - x.mean(0)) / x.var(0, unbiased=False).sqrt()
    return ak.autograd.grad(y, x, g)[0]


def convolution(x: Any, w: Any, change: Callable = lambda w: w) -> Any:
    columns = F.unfold(x, 3, padding=1)
    return (change(w).reshape(len(w), -1) @ columns).reshape(len(x), len(w), *x.shape[2:])


def clip(rows: list, most: float) -> list:
    norm = sum([(row**2).sum() for row in rows]).sqrt()
    return [row * min(1.0, float(most / norm)) for row in rows]


def attend(q: Any, k: Any, v: Any, scale: bool = True, dim: int = -1, late: bool = False) -> Any:
    scores = q @ k.T / (q.shape[-1] ** 0.5 if scale else 1.0)
    future = ak.ones(len(q), len(q)).triu(1).bool()
    weights = (scores if late else scores.masked_fill(future, -math.inf)).softmax(dim)
    return (weights.masked_fill(future, 0.0) if late else weights) @ v


def leak(diagonal: int) -> Any:
    x = rand(4, 3).requires_grad_()
    hidden = ak.ones(4, 4).triu(diagonal).bool()
    out = (x @ x.T).masked_fill(hidden, -math.inf).softmax(-1) @ x
    return ak.autograd.grad(out[0].sum(), x)[0][1:].abs().sum()


def truncated(cut: Callable[[int, Any], Any], weight: Any = None) -> Any:
    h, w = tensor(0.5), tensor(0.9, requires_grad=True)
    for step in range(8):
        h = cut(step, (w if weight is None else weight(w)) * h)
    return h


PARTS = {word: rand(3) for word in ("yes", "no")}
MIXERS = {word: rand(3, 6) for word in ("and", "or")}


def embed(tree: Any, mix: Callable = lambda op, pair: (MIXERS[op] @ ak.cat(pair)).tanh()) -> Any:
    if isinstance(tree, str):
        return PARTS[tree]
    return mix(tree[0], [embed(branch, mix) for branch in tree[1:]])


class Dual:
    def __init__(self, value: Any, tangent: Any) -> None:
        self.value, self.tangent = value, tangent

    def __add__(self, other: Dual) -> Dual:
        return type(self)(self.value + other.value, self.tangent + other.tangent)

    def __mul__(self, other: Dual) -> Dual:
        return Dual(self.value * other.value, self.tangent * other.value + self.value * other.tangent)


class Careless(Dual):
    def __mul__(self, other: Dual) -> Dual:
        return Careless(self.value * other.value, self.tangent * other.tangent)


def forward(kind: type = Dual, seed: float | None = None) -> Callable:
    def jvp(f: Callable, x: Any, v: Any) -> Any:
        out = f(kind(x, v if seed is None else seed))
        return out.value, out.tangent

    return jvp


def hessian_vector(f: Callable, x: Any, v: Any, **settings: Any) -> Any:
    x = x.clone().requires_grad_()
    (g,) = ak.autograd.grad(f(x), x, **settings or {"create_graph": True})
    return ak.autograd.grad((g * v).sum(), x)[0]


def square(back: Callable[[Any, Any], Any]) -> Any:
    class Square(ak.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return back(g, *ctx.saved_tensors)

    return Square.apply


g, x, w = rand(2, 4), rand(2, 3), rand(3, 4)
square_g, square_x, square_w = rand(3, 3), rand(3, 3), rand(3, 3)
images, kernel = rand(2, 2, 5, 4), rand(3, 2, 3, 3)
rows, labels = rand(4, 3), tensor([0, 2, 1, 1])
q, k, v = rand(5, 4), rand(5, 4), rand(5, 3)
leaf = tensor(3.0, requires_grad=True)
STEPS = {
    name: ak.graph(y) for name, y in (("folded", -leaf), ("dead", leaf * 2), ("all", leaf * 2 + leaf.exp()))
}
tree = ("and", ("or", "yes", "no"), "yes")

EXERCISES: dict[str, Exercise] = {
    "1.1 slope": writing(
        lambda f, x, h: (f(x + h) - f(x - h)) / (2 * h), (cube, 2.0, 0.1), (math.sin, 0.5, 0.1),
        gradients=False, right=[lambda f, x, h: tensor((f(x + h) - f(x - h)) / 2 / h), lambda f, x,
            h: [(f(x + h) - f(x - h)) / h / 2]],
        wrong=[(lambda f, x, h: (f(x + h) - f(x)) / h, "Take a step to either side."),
            (lambda f, x, h: (f(x + h) - f(x - h)) / h, "The points are 2h apart."),
            (lambda f, x, h: (f(x + h) - f(x - h)) / x, "Divide by how far x went."),
            (lambda f, x, h: (f(2.1) - f(1.9)) / 0.2, "its argument x is not used"),
            (lambda f, x, h: f(x) / (h - h), "line")]),
    "1.2 nudge": choosing("b", a="Ten digits are left, but the curve bends.", b="", c="Best for one side.",
        d="It is 0."),
    "1.3 runs": predicting(2420,
        {1210: "Two for each.", 1211: "That is right for one-sided ones.", 2: "For one."}),
    "2.1 boxes": predicting(3, {5: "x is one box.", 2: "And the input."}),
    "2.2 shape": checking((3,), {(2,): "Summed over rows.", (1, 3): "The dimension is gone.",
            3: "a tuple of one number has a comma"}, [[3], np.array([3]), ak.Size([3]), tensor([3])]),
    "2.2 single": checking((), {(1,): "One number has no dimension.", (2, 3): "A sum is one number."},
        [[], ak.Size([])]),
    "2.3 cost": writing(cost, (15.0, 20.0), (3.0, 8.0),
        right=[lambda w, l: 4 * w * l + 12 * (w + l), lambda a, b: (a * b + 3 * a + 3 * b) * 4],
        wrong=[(lambda w, l: 4 * w * l + 6 * (w + l), "Half the outline."),
            (lambda w, l: 6 * w * l + 4 * 2 * (w + l), "The prices are swapped."),
            (lambda w, l: 4 * w * l, "The outline is left out."),
            (lambda w, l: cost(w, l).item(), "without a record: leave out .item()"),
            (lambda w, l: cost(width, l), "its argument w is not used, but width from outside is"),
            (lambda w, l: print(end="") or None, "returns nothing: write return in place of print"),
            (lambda w, l: None, "Not answered yet"),
            (lambda w, l: cost(w, l) + undefined, "raises NameError: name 'undefined' is not defined"),  # noqa: F821
        ]),
    "2.4 branch": choosing("neg", both="Only what ran is there.", cond="if makes no box.", neg=""),
    "3.1 by hand": differentiating(loss_of, 3.0, 4.0,
        right=[slopes, lambda a, b: np.array(slopes(a, b)), lambda a, b: dict(zip("ab", slopes(a, b))),
            lambda a, b: list(slopes(a, b))],
        wrong=[(lambda a, b: (2 * (a * b + a) * b, slopes(a, b)[1]), "The straight route."),
            (lambda a, b: (2 * (a * b + a), 2 * (a * b + a)), "The inner derivative."),
            (lambda a, b: slopes(a, b)[::-1], "Swapped."),
            (lambda a, b: ((a * b + a) * (b + 1), (a * b + a) * a), "Twice."),
            (lambda a, b: (150.0, 90.0), "its argument a is not used"),
            (lambda a, b: slopes(a, b)[0], "2 results are expected, yours gives 1"),
            (lambda a, b: 1 / 0, "raises ZeroDivisionError: division by zero")]),
    "3.3 held": predicting(6.0, {3.0: "That is the last one.", 12.0: "The weight is no part.",
        2.0: "The weight itself."}),
    "4.1 matmul": writing(
        lambda g, x, w: (g @ w.T, x.T @ g), (g, x, w), (square_g, square_x, square_w), gradients=False,
        right=[lambda g, x, w: [g @ w.T, (g.T @ x).T], lambda a, b,
            c: (a.matmul(c.t()).numpy(), b.t().mm(a).tolist())],
        wrong=[(lambda g, x, w: (g @ w, x.T @ g), "The sizes of w."),
            (lambda g, x, w: (x.T @ g, g @ w.T), "That is the other one's."),
            (lambda g, x, w: (g @ w.T, g.T @ x), "Transpose it."),
            (lambda g, x, w: (g @ w.T,), "2 results are expected, yours gives 1")]),
    "4.2 bias": writing(lambda g: g.sum(0), g, square_g, gradients=False,
        right=[lambda g: ak.ones(len(g)) @ g, lambda g: g.numpy().sum(0)],
        wrong=[(lambda g: g.mean(0), "No mean."), (lambda g: g.sum(0, keepdim=True), "expected (4,)"),
            (lambda g: g, "the shape is (2, 4)")]),
    "4.3 unbroadcast": writing(unbroadcast, (x, (3,)), (x, (2, 1)), (x, ()), (x, (2, 3)), gradients=False,
        right=[lambda g, shape: unbroadcast(g, shape).numpy(), lambda g, s: unbroadcast(g, s).tolist()],
        wrong=[(lambda g, shape: g.sum(tuple(range(g.ndim - len(shape)))) if g.ndim > len(shape) else g,
                "Leading axes only."), (lambda g, shape: unbroadcast(g, shape).squeeze(), "The 1 stays."),
            (lambda g, shape: g.sum(), "All of it.")]),
    "6.1 limit": checking(0.2, {0.1: "Fastest in y.", 0.4: "Twice.", 1.0: "That is x's."},
        ["0.2", [0.2], 1 / 5]),
    "6.2 momentum": writing(
        momentum, ([1.0, 2.0, -1.0], [0.1, 0.1, 0.1]), ([1.0, 3.0, -1.0], [0.1, 0.05, 0.2]), gradients=False,
        right=[lambda g, lr: np.array(momentum(g, lr))],
        wrong=[(momentum_with(lambda v, g, lr: 0.9 * v + 0.1 * g, lambda v, lr: lr * v), "All of it."),
            (momentum_with(lambda v, g, lr: g, lambda v, lr: lr * v), "The velocity lasts."),
            (momentum_with(lambda v, g, lr: 0.9 * v + lr * g, lambda v, lr: v), "The rate changes.")]),
    "6.3 Adam": predicting(0.05, {50.0: "lr·g.", 0.005: "No correction.", 0.158: "None at all."}),
    "7.1 start": predicting(
        2.34, {0.1: "The probability.", -math.log(1 / 64): "Ten classes.", 1.0: "log₁₀.", 0.9: "Not 1 − p."},
        tolerance=0.04
    ),
    "7.2 order": choosing("zflbs", zflsb="First the gradients.", flbzs="Cleared too late.", zflbs=""),
    "7.3 parts": (in_parts, [In4(1 / 4), In4(0.25)],
        [(In4(1.0), "Divide by the number of batches."), (In4(1 / 32), "Each is an average already."),
            (In4(0.25, clear=True), "The last batch alone?"),
            (In4(1.0, parts=1), "The model saw other batches."),
            (In4(1.0, parts=0), "Not answered yet")]),
    "8.1 root": writing(
        root_gradient(lambda x: (x + 1e-3).sqrt()), tensor([0.0, 1.0]), tensor([4.0, 0.0]),
        gradients=False, right=[root_gradient(lambda x: x.clamp(min=1e-3).sqrt()),
            root_gradient(lambda x: (x + 1e-4) ** 0.5)],
        wrong=[(root_gradient(lambda x: ak.where(x > 0, x.sqrt(), 0 * x)), "yours is False"),
            (lambda x: x.sqrt().nan_to_num() > 9, "values differ")]),
    "8.2 layers": predicting(-17, {-12: "And the weights.", -1.3: "Each one shrinks it.", 0: "Do they?"},
        tolerance=0.05),
    "9.1 scores": writing(lambda s, t: (s.softmax(1) - F.one_hot(t, 3)) / len(s), (rows, labels),
        (2 * rows + 1, labels.flip(0)), gradients=False,
        right=[lambda s, t: ak.func.grad(F.cross_entropy)(s, t), lambda s,
            t: (s.softmax(-1) - F.one_hot(t, 3).double()) / 4],
        wrong=[(lambda s, t: s.softmax(1) - F.one_hot(t, 3), "An average over the batch."),
            (lambda s, t: (F.one_hot(t, 3) - s.softmax(1)) / 4, "all signs are the other way round"),
            (lambda s, t: (s.softmax(1) - 1) / 4, "Only the right one."),
            (lambda s, t: (s.softmax(0) - F.one_hot(t, 3)) / 4, "Each row sums to 1."),
            (lambda s, t: fixed - one_hot, "its argument s is not used, but fixed from outside is")]),
    "9.2 softmax": writing(lambda s: s.softmax(1), 1000 * rows, tensor([[0.0, 1.0], [1000.0, 1001.0]]),
        right=[lambda s: (s - s.max(1, keepdim=True)[0]).softmax(1), lambda s: s.log_softmax(1).exp()],
        wrong=[(lambda s: s.exp() / s.exp().sum(1, keepdim=True), "yours is nan"),
            (lambda s: (s - s.mean()).exp() / (s - s.mean()).exp().sum(1, keepdim=True), "Not the mean."),
            (lambda s: (s - s.max()).exp() / (s - s.max()).exp().sum(1, keepdim=True),
                "Each row has its own.")]),
    "9.3 batch norm": writing(
        by_autograd, (rand(4, 2), rand(4, 2)), (rand(5, 2), 3 * rand(5, 2)), gradients=False, tolerance=1e-3,
        right=[batch_norm_back, lambda g, x: batch_norm_back(g.double(), x.double()).numpy()],
        wrong=[(lambda g, x: batch_norm_back(g, x, mean=False), "The mean moves too."),
            (lambda g, x: batch_norm_back(g, x, variance=False), "So does the variance."),
            (lambda g, x: batch_norm_back(g, x, len(x) - 1), "N, not N − 1."),
            (lambda g, x: g / x.var(0, unbiased=False).sqrt(), "As if both were constants.")]),
    "9.4 sum": predicting(0, {1: "It moves nothing.", 4: "Shift all x."}),
    "10.1 conv": writing(
        lambda x, w: F.conv2d(x, w, padding=1), (images, kernel), (images[:1], 2 * kernel[:2]),
        tolerance=1e-3, right=[convolution, lambda x, w: F.conv2d(F.pad(x, (1, 1, 1, 1)), w)],
        wrong=[(lambda x, w: convolution(x, w, lambda w: w.flip(2, 3)), "It is not flipped."),
            (lambda x, w: convolution(x, w, lambda w: w.flip(1)), "The channels."),
            (lambda x, w: F.conv2d(x, w), "the shape is (2, 3, 3, 2)")]),
    "10.2 kernel": differentiating(lambda w: F.conv2d(images[:1, :1], w), kernel[:1, :1],
        right=[lambda w: F.conv2d(images[:1, :1], ak.ones(1, 1, 3, 2)),
            lambda w: F.unfold(images[:1, :1], 3).sum(-1).reshape(w.shape)],
        wrong=[(lambda w: images[:1, :1, 2:5, 1:4] + 0 * w, "All positions."),
            (lambda w: F.unfold(images[:1, :1], 3).mean(-1).reshape(w.shape), "A sum."),
            (lambda w: F.unfold(images[:1, :1], 3).sum(-1).reshape(w.shape).flip(2, 3), "Not flipped.")]),
    "10.3 count": predicting(1168, {1152: "And the biases.", 144: "Each pair.", 160: "Each pair has nine."}),
    "11.1 uses": predicting(5, {1: "Every step.", 4: "And the first.", 10: "Once a step."}),
    "11.2 power": checking(0.9**100, {0.9 * 100: "A product.", (0.9 - 1) ** 100: "w^T."},
        [np.float64(0.9) ** 100, tensor(0.9).double() ** 100], tolerance=1e-3),
    "11.3 truncate": (lambda h: judge(check_graph, h, edges=8,
            why={1: "You cut the output.", 2: "Every step is cut.", 0: "The weights learn."}),
        [truncated(lambda step, h: h.detach() if step == 3 else h)],
        [(truncated(lambda step, h: h).detach(), "The weights learn."),
            (truncated(lambda step, h: h.detach() if step < 7 else h), "Every step is cut."),
            (truncated(lambda step, h: h), "too many"), (0.5, "a tensor with its record is expected")]),
    "11.4 clip": writing(clip, ([x, w], 1.0), ([0.01 * x, 0.01 * w], 1.0), gradients=False,
        right=[lambda p, most: [each.numpy() for each in clip(p, most)], lambda gs,
            m: tuple(clip(gs, m))],
        wrong=[(lambda p, most: [each.clamp(-most, most) for each in p], "The direction stays."),
            (lambda p, most: [each / (x.norm() ** 2 + w.norm() ** 2) ** 0.5 for each in p],
                "Only long ones."),
            (lambda p, most: [clip([each], most)[0] for each in p], "One norm for all.")]),
    "12.1 head": writing(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), (q, k, v),
        (2 * q, k[:5], v), tolerance=1e-3,
        right=[attend, lambda a, b, c: attend(a, b, c) + 0],
        wrong=[(lambda q, k, v: attend(q, k, v, scale=False), "Divide by √d."),
            (lambda q, k, v: attend(q, k, v, dim=0), "Over the keys."),
            (lambda q, k, v: attend(q, k, v, late=True), "Mask first.")]),
    "12.2 leak": (checking(0.0, {}, [])[0], [leak(1), 0, "0"],
        [(leak(2), "the value differs"), (leak(0), "yours is nan")]),
    "13.1 kink": predicting(0, {0.5: "It takes one side.", 1: "At 0, not above."}),
    "13.2 embed": writing(embed, (tree,), (("or", tree, "no"),), ("no",), gradients=False,
        right=[lambda t: embed(t).numpy(),
            lambda t: embed(t, lambda op, pair: ak.tanh(MIXERS[op] @ ak.cat(pair)))],
        wrong=[(lambda t: embed(t, lambda op, pair: (MIXERS["and"] @ ak.cat(pair)).tanh()),
                "Each operation has its own."),
                (lambda t: embed(t, lambda op, pair: sum(pair)), "Not a sum."),
            (lambda t: embed(t[1]), "with t = ")]),
    "13.2 record": (lambda y: judge(check_graph, y, has=["cat", "tanh"], lacks=["sum"]),
        [embed(tree, lambda op, pair: (MIXERS[op].clone().requires_grad_() @ ak.cat(pair)).tanh())],
        [(embed(tree).sum().item(), "leave out .item()"), (rand(3).requires_grad_() * 2, "has no cat")]),
    "14.1 print": predicting(1, {10: "Once, while it is built.", 0: "While it is built.",
        11: "Not when it runs."}),
    "14.2 where": writing(lambda x: ak.where(x.sum() > 0, x.clamp(min=0.5).sqrt(), -x), 2.0, -3.0,
        right=[lambda x: ak.where(x > 0, ak.where(x > 0, x, 1 + 0 * x).sqrt(), 0 - x),
            lambda x: x.sqrt() if x > 0 else -x], wrong=[(lambda x: x.sqrt(), "The if ran once."),
            (lambda x: ak.where(x > 0, x.sqrt(), -x), "respect to x, the value differs (yours is nan)")]),
    "14.2 record": (
        lambda y: judge(check_graph, y, has=["where"], lacks=["sqrt"]), [ak.where(width > 0, -leaf, leaf)],
        [(-leaf, "the graph has no where"), (ak.where(width > 0, leaf.sqrt(), leaf), "the graph has sqrt")]),
    "14.4 folded": (
        lambda graph: judge(check_graph, graph, nodes=2, why={3: "The dead operand."}), [STEPS["folded"]],
        [(STEPS["dead"], "The dead operand."), (STEPS["all"], "too many")]),
    "15.1 Square": (lambda f: judge(check_gradient, f, 3.0, hint="And 2."),
        [square(lambda g, x: 2 * g * x), square(lambda g, x: g * x + x * g)],
        [(square(lambda g, x: 2 * x), "ignores the gradient that arrives"),
            (square(lambda g, x: g * x), "And 2."),
            (square(lambda g, x: 2 * g * x**2), "in the gradient with respect to"),
            (square(lambda g, x: (2 * g * x, g)), "raises RuntimeError")]),
    "16.1 dual": writing(
        lambda f, x, v: ak.func.jvp(f, (tensor(x),), (tensor(v),)), (lambda a: a * a + a, 3.0, 1.0),
        (lambda a: a * a * a, 2.0, 5.0), gradients=False,
        right=[forward(), lambda f, x, v: list(forward(Dual)(f, x, v))],
        wrong=[(forward(Careless), "Both factors move."), (forward(seed=0.0), "Seed the tangent.")]),
    "16.3 product": writing(hessian_vector, (lambda x: (x**3).sum(), rand(3), rand(3)),
        (lambda x: x.prod() ** 2, rand(2), rand(2)), gradients=False,
        right=[lambda f, x, v: ak.func.hessian(f)(x) @ v, lambda f, x, v: hessian_vector(f, x, v).numpy()],
        wrong=[(lambda f, x, v: hessian_vector(f, x, v, create_graph=False), "raises RuntimeError"),
            (lambda f, x, v: ak.func.grad(f)(x) ** 2 * v, "A second derivative is no square.")]),
}  # fmt: skip


@pytest.mark.parametrize("name", EXERCISES)
def test_right_answers_pass_and_each_wrong_one_has_its_words(name: str):
    judging, rights, wrongs = EXERCISES[name]
    for answer in rights:
        assert judging(answer).right, judging(answer).text
    for answer, words in wrongs:
        verdict = judging(answer)
        assert not verdict.right and words in verdict.text, (words, verdict.text)
    assert judging(In4(1.0, parts=0) if name == "7.3 parts" else ...).text.startswith("Not answered yet")


def stub(*arguments: Any) -> Any:
    raise NotImplementedError


def test_no_exercise_is_stopped_by_what_an_answer_does():
    for name, (judging, _, _) in EXERCISES.items():
        for answer in [stub, len, {}, object(), "?", np.array([None])] if name != "7.3 parts" else []:
            assert not judging(answer).right, name
