"""Lesson 16, forward mode, Jacobians and Hessians."""

from tests.lessons import Answers

TIMES = "Dual(a.value * b.value, a.tangent * b.value + a.value * b.tangent)"
SINE = "Dual(math.sin(a.value), math.cos(a.value) * a.tangent)"
JVP = "f(Dual(x, v)).both()"


def duals(times: str = TIMES, sine: str = SINE, jvp: str = JVP) -> str:
    jobs = [("times(a, b)", times), ("sine(a)", sine), ("jvp(f, x, v)", jvp)]
    return "\n".join([f"def {head}:\n    return {line}" for head, line in jobs])


def hessian(*rest: str, graph: str = "create_graph=True") -> str:
    begin = "def hessian_times(f, x, v):\n    x = x.clone().requires_grad_()\n"
    first = f"    (gradient,) = torch.autograd.grad(f(x), x, {graph})\n"
    return begin + first + "".join([f"    {line}\n" for line in rest])


ANSWERS = {
    "guess": Answers(
        right=["guess = 'b'", "guess = 'B'", "guess = '(b)'"],
        wrong={
            "guess = 'a'": "A walk back begins at one result.",
            "guess = 'c'": "Count both.",
            "guess = 'd'": "Nudging the knob takes two runs",
        },
    ),
    "exercise-1": Answers(
        right=[
            duals(),
            duals(jvp="(f(Dual(x, v)).value, f(Dual(x, v)).tangent)"),
            duals(jvp="[torch.tensor(each) for each in f(Dual(x, v)).both()]"),
            "times = lambda p, q: Dual(p.value * q.value, q.value * p.tangent + q.tangent * p.value)\n"
            "sine = lambda p: Dual(math.sin(p.value), p.tangent * math.sin(p.value + math.pi / 2))\n"
            "def jvp(g, at, speed):\n    out = g(Dual(at, speed))\n    return out.value, out.tangent",
        ],
        wrong={
            duals(times="Dual(a.value * b.value, a.tangent * b.tangent)"): "In a product both factors move.",
            duals(times="Dual(a.value * b.value, a.tangent * b.value)"): "You have the part of the first.",
            duals(sine="Dual(math.sin(a.value), math.cos(a.value))"): "And the tangent that comes in?",
            duals(sine="Dual(math.sin(a.value), -math.cos(a.value) * a.tangent)"): "Which sign",
            duals(jvp="f(Dual(x, 1.0)).both()"): "which need not be 1",
            duals(jvp="f(Dual(x, 0.0)).both()"): "x does not move.",
            duals(jvp="f(x).both()"): "has no attribute",
            duals(jvp="f(Dual(x, v))"): "Not yet",
            duals(jvp="f(Dual(x, v)).tangent"): "2 results are expected",
        },
    ),
    "exercise-2": Answers(
        right=[
            "backward_walks, forward_walks = 3, 1000",
            "backward_walks, forward_walks = '3', [1000.0]",
            "backward_walks, forward_walks = torch.tensor([3, 1000])",
        ],
        wrong={
            "backward_walks, forward_walks = 1000, 3": "A walk forward moves one input.",
            "backward_walks, forward_walks = 3000, 3000": "So many numbers the Jacobian has.",
            "backward_walks, forward_walks = 1, 1": "A walk back of one result finds one row.",
            "backward_walks, forward_walks = 3, 1": "finds one column",
        },
    ),
    "exercise-3": Answers(
        right=[
            hessian("return torch.autograd.grad((gradient * v).sum(), x)[0]"),
            hessian("return torch.autograd.grad(gradient, x, v)[0].numpy()"),
            hessian("gradient.backward(v)", "return x.grad"),
            "hessian_times = lambda f, x, v: torch.func.jvp(torch.func.grad(f), (x,), (v,))[1]",
        ],
        wrong={
            hessian(
                "return torch.autograd.grad((gradient * v).sum(), x)[0]", graph=""
            ): "it was not recorded",
            hessian("return torch.autograd.grad((gradient.detach() * v).sum(), x)[0]"): "it was cut off",
            hessian("return gradient**2 * v"): "no square of the first",
            hessian("return gradient * v"): "That is the first derivative.",
            hessian("return torch.autograd.grad(gradient.sum(), x)[0] * v"): "before the second walk",
            hessian("return torch.autograd.grad(gradient, x)[0]"): "raises RuntimeError",
        },
    ),
    "exercise-4": Answers(
        right=["steps = 7", "steps = '6'", "steps = [8.0]", "steps = 9"],
        wrong={
            "steps = 1": "One step is enough for a parabola",
            "steps = 3": "Three weights do not mean three steps",
            "steps = 100": "doubles the number of right digits",
            "steps = 1055": "which does not know the bend",
            "steps = 20": "look again",
        },
    ),
    "again": Answers(
        right=["ways = 'c'", "ways = 'C'", "ways = ['c']"],
        wrong={
            "ways = 'a'": "How many walks back does the arm take?",
            "ways = 'b'": "How many walks forward does the network take?",
            "ways = 'd'": "Count both for both.",
        },
    ),
}
