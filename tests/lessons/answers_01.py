"""Lesson 1, slopes and nudges."""

from tests.lessons import Answers


def slope(line: str) -> str:
    return f"def slope(f, x, h):\n    return {line}"


ANSWERS = {
    "guess": Answers(
        right=["guess = 'c'", "guess = 'C'", "guess = ['(c)']"],
        wrong={
            "guess = 'a'": "Compare it with what the machine prints next.",
            "guess = 'b'": "Look at the last lines that the next cell prints.",
            "guess = 'd'": "Compare the first two lines",
            "guess = 'falls'": "none of the options",
        },
    ),
    "exercise-1": Answers(
        right=[
            slope("(f(x + h) - f(x - h)) / (2 * h)"),
            slope("(f(x + h) - f(x - h)) / h / 2"),
            "slope = lambda g, a, n: 0.5 * (g(a + n) - g(a - n)) / n",
            "def slope(f, x, h):\n"
            "    up = (f(x + h) - f(x)) / h\n"
            "    down = (f(x) - f(x - h)) / h\n"
            "    return torch.tensor([up, down]).double().mean()",
        ],
        wrong={
            slope("(f(x + h) - f(x)) / h"): "That is one-sided.",
            slope("(f(x) - f(x - h)) / h"): "That is one-sided.",
            slope("(f(x + h) - f(x - h)) / h"): "How far apart are the two points?",
            slope("(f(x + h) - f(x - h)) / x"): "not by where they are",
            slope("(f(x + h) - f(x - h)) / (2 * x)"): "not by where they are",
            slope("(f(x + h) - f(x - h)) / 2 * h"): "from left to right: use brackets",
            slope("f(x + h) - f(x - h) / (2 * h)"): "Division comes before subtraction",
            slope("f(x + h) - f(x - h)"): "Divide the rise",
            slope("(f(x - h) - f(x + h)) / (2 * h)"): "the sign is the other way round",
            slope("(stopping(x + h) - stopping(x - h)) / (2 * h)"): "its argument f is not used",
            slope("3 * x**2"): "its argument f is not used",
            slope("(f(x + h) - f(x - h)) / (h - h)"): "ZeroDivisionError",
            slope("print((f(x + h) - f(x - h)) / (2 * h), end='')"): "write return in place of print",
        },
    ),
    "exercise-2": Answers(
        right=["best = 'b'", "best = ' B '", "best = ('b',)"],
        wrong={
            "best = 'a'": "So long a chord leaves the curve.",
            "best = 'c'": "Which of the two curves is asked for?",
            "best = 'd'": "what is left is noise",
            "best = 1e-5": "none of the options",
        },
    ),
    "exercise-3": Answers(
        right=["runs = 2420", "runs = '2420'", "runs = [2420.0]", "runs = torch.tensor(1210) * 2"],
        wrong={
            "runs = 1210": "How many runs does a single one of them take?",
            "runs = 1211": "right for one-sided differences",
            "runs = 2421": "Is the run without a nudge used anywhere?",
            "runs = 2": "Can all be nudged at once",
            "runs = 1": "look again",
        },
    ),
    "again": Answers(
        right=["friend = 'c'", "friend = 'C'", "friend = '(c)'"],
        wrong={
            "friend = 'a'": "And the other error?",
            "friend = 'b'": "in how many of its 7 digits",
            "friend = 'd'": "Has their difference?",
        },
    ),
}
