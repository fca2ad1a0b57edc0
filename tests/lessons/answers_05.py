"""Lesson 5, an engine of one's own."""

from tests.lessons import Answers


def lines(head: str, *rest: str) -> str:
    return "\n    ".join([head, *rest])


def operation(name: str, result: str, *back: str) -> str:
    """An operation of the engine, with this way back."""
    out = f'out = Value({result}, (self{", other" * ("other" in result)}), "{name}")'.replace(
        "(self)", "(self,)"
    )
    other = ", other" * ("other" in result)
    return lines(f"def {name}(self{other}):", out, "def _backward():", *[f"    {each}" for each in back]) + (
        "\n    out._backward = _backward\n    return out"
    )


def times(*back: str) -> str:
    return operation("times", "self.data * other.data", *back)


def tanh(*back: str) -> str:
    return operation("tanh", "np.tanh(self.data)", *back)


def walk(*rest: str) -> str:
    return lines("def backward(result):", *rest)


def receive(*rest: str) -> str:
    return lines("def receive(self, contribution):", *rest)


FIND = [
    "order, waiting = {}, [result]",
    "while waiting:",
    "    first = [parent for parent in waiting[-1].parents if parent not in order]",
    "    waiting += first",
    "    if not first:",
    "        order[waiting.pop()] = True",
]
SEND = ["for value in reversed(order):", "    value._backward()"]
VISIT = ["order = []", "visit(result, order, set())"]
AXES = "axis = tuple(range(contribution.ndim - np.ndim(self.data)))"

ANSWERS = {
    "guess": Answers(
        right=["guess = 'c'", "guess = 'C'", "guess = '(c)'"],
        wrong={"guess = 'a'": "Count them as they come", "guess = 'b'": "Count them as they come"},
    ),
    "exercise-1": Answers(
        right=[
            times("self.receive(other.data * out.grad)", "other.receive(self.data * out.grad)"),
            times("self.grad += out.grad * other.data", "other.grad += out.grad * self.data"),
            times(
                "for mine, its in ((self, other), (other, self)):",
                "    mine.receive(np.multiply(its.data, out.grad))",
            ),
            "def times(a, b):\n"
            "    product = Value(b.data * a.data, (a, b), '*')\n"
            "    way = lambda: [a.receive(b.data * product.grad), b.receive(a.data * product.grad)]\n"
            "    product._backward = way\n"
            "    return product",
        ],
        wrong={
            times(
                "self.receive(self.data * out.grad)", "other.receive(other.data * out.grad)"
            ): "Hold the second one",
            times("self.receive(other.data)", "other.receive(self.data)"): "That is the local derivative.",
            times("self.grad = other.data * out.grad", "other.grad = self.data * out.grad"): "call receive",
            lines(
                "def times(self, other):",
                "out, backs = Value(self.data * other.data, (self, other), '*'), []",
                "for mine, its in ((self, other), (other, self)):",
                "    backs.append(lambda: mine.receive(its.data * out.grad))",
                "out._backward = lambda: [back() for back in backs]",
                "return out",
            ): "the loop's names have their last values",
            times("self.receive(other.data * out.grad)"): "with respect to b",
            times("self.receive(other * out.grad)", "other.receive(self * out.grad)"): "has no attribute",
            lines(
                "def times(self, other):",
                "out = Value(self.data * other.data, (self, other), '*')",
                "out._backward = lambda: self.receive(other.data * out.grad)",
            ): "Not yet",
        },
    ),
    "exercise-2": Answers(
        right=[
            walk(*FIND, "result.grad = 1.0", *SEND),
            walk(
                "order, seen, waiting = [], set(), [(result, False)]",
                "while waiting:",
                "    value, done = waiting.pop()",
                "    if done:",
                "        order.append(value)",
                "    elif value not in seen:",
                "        seen.add(value)",
                "        waiting += [(value, True)] + [(parent, False) for parent in value.parents]",
                "result.grad = np.float64(1)",
                "for value in order[::-1]:",
                "    value._backward()",
            ),
            walk(
                "uses, found = {}, [result]",
                "for value in found:",
                "    for parent in value.parents:",
                "        found += [] if parent in uses else [parent]",
                "        uses[parent] = uses.get(parent, 0) + 1",
                "ready, result.grad = [result], 1",
                "while ready:",
                "    value = ready.pop()",
                "    value._backward()",
                "    for parent in value.parents:",
                "        uses[parent] -= 1",
                "        ready += [] if uses[parent] else [parent]",
            ),
        ],
        wrong={
            walk(*VISIT, "result.grad = 1.0", *SEND): "Keep a list of what waits.",
            "backward = go_back": "Keep a list of what waits.",
            walk(
                *FIND, "for value in order: value.grad = 0.0", "result.grad = 1.0", *SEND
            ): "A second backward pass adds",
            walk(
                *FIND, "result.grad = 1.0", "for value in order: value._backward()"
            ): "A value passes on the gradient that has arrived",
            walk(*FIND, *SEND): "With which gradient does the walk back begin?",
            walk(
                "order = [result]",
                "for value in order:",
                "    order += value.parents",
                "result.grad = 1.0",
                "for value in order: value._backward()",
            ): "A value passes its gradient on once",
            walk(*FIND, "result.grad = 1.0", "result._backward()"): "Not yet",
        },
    ),
    "exercise-3": Answers(
        right=[
            tanh("self.receive((1 - out.data**2) * out.grad)"),
            tanh("self.grad += out.grad * (1 - np.tanh(self.data) ** 2)"),
            tanh("self.receive(out.grad / np.cosh(self.data) ** 2)"),
            "def tanh(x):\n"
            "    import math\n"
            "    y = Value(math.tanh(x.data), [x], 'tanh')\n"
            "    y._backward = lambda: x.receive(y.grad * (1 + y.data) * (1 - y.data))\n"
            "    return y",
        ],
        wrong={
            tanh("self.receive((1 - self.data**2) * out.grad)"): "of the input, or of the result",
            tanh("self.receive(1 - out.data**2)"): "that has arrived at out",
            tanh("self.receive((1 - out.data) * out.grad)"): "Where is the square",
            tanh("self.grad = (1 - out.data**2) * out.grad"): "Not yet",
            tanh("out.receive((1 - out.data**2) * out.grad)"): "Not yet",
            tanh("self.receive((1 - out**2) * out.grad)"): "raises TypeError",
        },
    ),
    "exercise-4": Answers(
        right=[
            receive(
                "shape = np.shape(self.data)",
                "while np.ndim(contribution) > len(shape):",
                "    contribution = contribution.sum(axis=0)",
                "for axis, size in enumerate(shape):",
                "    if size == 1:",
                "        contribution = contribution.sum(axis=axis, keepdims=True)",
                "self.grad = self.grad + contribution",
            ),
            receive(
                "extra = contribution.ndim - self.data.ndim",
                "ones = [extra + axis for axis, size in enumerate(self.data.shape) if size == 1]",
                "total = contribution.sum(axis=(*range(extra), *ones)).reshape(self.data.shape)",
                "self.grad += total",
            ),
            receive(
                "x = torch.zeros(self.data.shape, dtype=torch.float64, requires_grad=True)",
                "g = torch.tensor(contribution)",
                "self.grad = torch.autograd.grad(x.expand(g.shape), x, g)[0].numpy() + self.grad",
            ),
        ],
        wrong={
            receive("self.grad = self.grad + contribution"): "The shape stayed as it came.",
            receive(
                AXES, "self.grad = self.grad + contribution.sum(axis=axis)"
            ): "And where data has a size of 1?",
            receive("self.grad = self.grad + contribution.sum()"): "That adds up everything.",
            receive(
                AXES, "self.grad = self.grad + contribution.mean(axis=axis)"
            ): "A sum is wanted, not a mean.",
            receive(
                "while contribution.ndim > self.data.ndim:",
                "    contribution = contribution.sum(0)",
                "self.grad = contribution",
            ): "Not yet",
        },
    ),
    "again": Answers(
        right=["look = 'b'", "look = 'B'", "look = '(b)'"],
        wrong={
            "look = 'a'": "What is different about",
            "look = 'c'": "when a second contribution comes",
            "look = 'd'": "so the way forward is",
        },
    ),
}
