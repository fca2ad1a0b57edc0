"""Lesson 6, downhill: rates, momentum and Adam."""

from tests.lessons import Answers


def roll(velocity: str, place: str, before: str = "velocity = 0.0") -> str:
    head = f"def roll(y, rates):\n    {before}\n    for rate in rates:\n        gradient = 10 * y\n"
    return f"{head}        velocity = {velocity}\n        y = {place}\n    return y"


def first_step(large: object, small: object) -> str:
    return f"step_at_1000 = {large}\nstep_at_a_thousandth = {small}"


ANSWERS = {
    "guess": Answers(
        right=['pointing = "b"', 'pointing = " B "', 'pointing = ["b"]'],
        wrong={
            'pointing = "a"': "against a line to the middle",
            'pointing = "c"': "along which axis is the arrow longer",
            'pointing = "d"': "none of the options",
        },
    ),
    "exercise-1": Answers(
        right=[
            "limit = 0.2",
            'limit = "0.2"',
            "limit = [2 / 10]",
            "import numpy as np\nlimit = np.array([0.2])",
        ],
        wrong={
            "limit = 0.1": "May the factor be negative",
            "limit = 0.4": "Did you take 5 for the curvature",
            "limit = 1.0": "That holds for x alone",
            "limit = 0.5": "What does y do",
            "limit = 0.19": "still it arrives",
            "limit = 0.21": "a smaller rate has stopped arriving",
            "limit = 2": "Write down the factor",
        },
    ),
    "exercise-2": Answers(
        right=[
            roll("0.9 * velocity + gradient", "y - rate * velocity"),
            "def roll(start, lrs):\n    v = 0\n    for lr in lrs:\n        v *= 0.9\n"
            "        v += 10 * start\n        start -= lr * v\n    return start",
            "import numpy as np\n" + roll("np.float64(0.9) * velocity + gradient", "y - velocity * rate"),
            "from functools import reduce\n"
            "step = lambda s, r: (s[0] - r * (0.9 * s[1] + 10 * s[0]), 0.9 * s[1] + 10 * s[0])\n"
            "roll = lambda y, rates: reduce(step, rates, (y, 0.0))[0]",
            "def roll(y, rates):\n    p = torch.tensor(y, requires_grad=True)\n"
            "    o = optim.SGD([p], lr=1.0, momentum=0.9)\n    for r in rates:\n"
            '        o.param_groups[0]["lr"] = r\n        p.grad = 10 * p.detach()\n        o.step()\n'
            "    return p",
        ],
        wrong={
            roll("0.9 * velocity + 0.1 * gradient", "y - rate * velocity"): "Only a tenth",
            roll("gradient", "y - rate * velocity"): "Does the velocity last",
            roll("0.9 * 0 + gradient", "y - rate * velocity"): "Does the velocity last",
            roll("0.9 * velocity + rate * gradient", "y - velocity"): "Right until the rate changes",
            roll(
                "velocity", "y - rate * (velocity := 0.9 * velocity + gradient)", "velocity = 5.0"
            ): "Two lines",
            "def roll(y, rates):\n    v = 0.0\n    for r in rates:\n        g = 10 * y\n"
            "        y = y - r * v\n        v = 0.9 * v + g\n    return y": "of the step before",
            roll("velocity + gradient", "y - rate * velocity"): "Nothing slows this down",
            roll("0.9 * velocity + gradient", "y + rate * velocity"): "That rolls uphill",
            roll("0.9 * velocity - gradient", "y - rate * velocity"): "That rolls uphill",
            roll("0.9 * velocity + gradient", "y - rates * velocity"): "raises TypeError",
            roll("0.9 * velocity + gradient", "y - rate * velocity") + "[0]": "line 7",
            roll("0.9 * velocity + gradient", "y - rate * velocity").replace(
                "return y", "print(y)"
            ): "in place of print",
        },
    ),
    "exercise-3": Answers(
        right=[first_step(0.05, 0.05), first_step('"0.05"', [0.05]), first_step("torch.tensor(0.05)", 5e-2)],
        wrong={
            first_step(50, 0.00005): "as in SGD",
            first_step(0.005, 0.005): "begins at a tenth",
            first_step(0.158, 0.158): "Divide each as the box says",
            first_step(1.58, 1.58): "The square starts too small",
            first_step(0.05, 0.00005): "as in SGD",
            first_step(1, 0.05): "look again",
        },
    ),
    "again": Answers(
        right=['straight = "axes"', 'straight = "AXES"', 'straight = ("axes",)'],
        wrong={
            'straight = "all"': "Does it turn the step",
            'straight = "none"': "Stand at x = 3, y = 0",
            "straight = 3": "none of the options",
        },
    ),
}
