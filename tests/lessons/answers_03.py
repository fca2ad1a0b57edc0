"""Lesson 3, the chain rule backwards."""

from tests.lessons import Answers

BACKWARD = "def backward(result):\n    order = topological(result)\n    result.grad = 1.0\n"

ANSWERS = {
    "guess": Answers(
        right=['guess = "b"', 'guess = "(B)"', 'guess = ["b"]'],
        wrong={
            'guess = "a"': "You let one path win",
            'guess = "c"': "You multiplied the two",
            'guess = "d"': "You took the mean",
            "guess = 12": "none of the options",
        },
    ),
    "exercise-1": Answers(
        right=[
            "def slopes(a, b):\n    return 2 * (a * b + a) * (b + 1), 2 * (a * b + a) * a",
            "slopes = lambda p, q: [2 * p * (q + 1) ** 2, 2 * p * p * (q + 1)]",
            'def slopes(a, b):\n    t = a * b + a\n    return {"a": 2 * t + 2 * t * b, "b": 2 * t * a}',
            "import numpy as np\ndef slopes(a, b):\n    return np.array([b + 1, a]) * 2 * (a * b + a)",
        ],
        wrong={
            "def slopes(a, b):\n    t = a * b + a\n    return 2 * t * b, 2 * t * a": "the straight one?",
            "def slopes(a, b):\n    t = a * b + a\n    return 2 * t, 2 * t * a": "the one into the product?",
            "def slopes(a, b):\n    t = a * b + a\n    return 2 * t, 2 * t": "You stopped at total",
            "def slopes(a, b):\n    t = a * b + a\n    return 2 * t * a, 2 * t * (b + 1)": "belongs to which",
            "def slopes(a, b):\n    t = a * b + a\n    return t * (b + 1), t * a": "derivative of a square",
            "def slopes(a, b):\n    return 150.0, 90.0": "its argument a is not used",
            "def slopes(a, b):\n    return 2 * (a * b + a) * (b + 1)": "2 results are expected",
            "def slopes(a, b):\n    print(2 * (a * b + a) * (b + 1))": "write return in place of print",
            "def slopes(a, b):\n    return 2 * totl, a": "NameError: name 'totl' is not defined",
        },
    ),
    "exercise-2": Answers(
        right=[
            BACKWARD
            + "    for value in reversed(order):\n"
            + "        for parent in value.parents:\n            parent.grad += value.grad",
            "def backward(end):\n    end.grad = 1\n    for v in topological(end)[::-1]:\n"
            + "        if v.parents:\n            left, right = v.parents\n"
            + "            left.grad = left.grad + v.grad\n            right.grad = right.grad + v.grad",
            BACKWARD
            + "    while order:\n        value = order.pop()\n"
            + "        for p in value.parents:\n            p.grad += 1.0 * value.grad",
        ],
        wrong={
            BACKWARD
            + "    for v in reversed(order):\n"
            + "        for p in v.parents:\n            p.grad = v.grad": "used twice gets two contributions",
            BACKWARD
            + "    for v in order:\n"
            + "        for p in v.parents:\n            p.grad += v.grad": "the gradient that has arrived",
            BACKWARD
            + "    for v in reversed(order):\n"
            + "        for p in v.parents:\n            p.grad += 1": "gradient on once, all of it",
            BACKWARD
            + "    for v in reversed(order):\n"
            + "        for p in set(v.parents):\n            p.grad += v.grad": "used twice gets two",
            "def backward(value, contribution=1.0):\n    value.grad += contribution\n"
            + "    for p in value.parents:\n"
            + "        backward(p, contribution)": "each arrow has to be walked only once",
            "def backward(value, contribution=1.0):\n    value.grad += contribution\n"
            + "    for p in value.parents:\n        backward(p, value.grad)": "on once, all of it",
            BACKWARD
            + "    for v in order:\n        v.grad = 0.0\n    result.grad = 1.0\n"
            + "    for v in reversed(order):\n"
            + "        for p in v.parents:\n            p.grad += v.grad": "second backward pass adds",
            BACKWARD
            + "    for v in reversed(order):\n        v.parents.grad += v.grad": "raises AttributeError",
        },
    ),
    "exercise-3": Answers(
        right=[
            "held = 6",
            'held = "6"',
            "held = torch.tensor([6.0])",
            "import numpy as np\nheld = np.float64(6)",
        ],
        wrong={
            "held = 3": "gradient of the last loss",
            "held = 12": "These are the losses themselves",
            "held = 2": "the weight itself",
            "held = 7": "look again at what happened",
        },
    ),
    "again": Answers(
        right=['again = "d"', 'again = "D"', 'again = ("d",)'],
        wrong={
            'again = "a"': "What would become of the 30",
            'again = "b"': "What did 16 doublings cost it?",
            'again = "c"': "Are these the same?",
        },
    ),
}
