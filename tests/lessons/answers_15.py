"""Lesson 15, rules of your own."""

from tests.lessons import Answers

SQUARE = """\
class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, upstream):
        (x,) = ctx.saved_tensors
"""
SAVES_THE_RESULT = """\
class Square(Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, upstream):
        (y,) = ctx.saved_tensors
"""
SCALE = """\
class Scale(Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x, factor)
        return x * factor

    @staticmethod
    def backward(ctx, g):
        x, factor = ctx.saved_tensors
"""

ANSWERS = {
    "guess": Answers(
        right=['guess = "b"', 'guess = "B"', 'guess = ["b"]'],
        wrong={
            'guess = "a"': "the second of the two tests below",
            'guess = "c"': "it is something",
        },
    ),
    "exercise-1": Answers(
        right=[
            SQUARE + "        return upstream * 2 * x",
            SQUARE + "        return x * upstream + upstream * x",
            SQUARE + "        return (upstream.mul(x + x),)",
            SAVES_THE_RESULT.replace("(y)", "(x)").replace("(y,)", "(x,)")
            + "        return 2.0 * upstream * x",
        ],
        wrong={
            SQUARE + "        return 2 * x": "the rule ignores the gradient that arrives",
            SQUARE + "        return upstream * x": "Two arrows go from x into the product",
            SAVES_THE_RESULT + "        return upstream * 2 * y": "Is it x that you saved?",
            SAVES_THE_RESULT + "        return upstream * y": "How fast does it change with x?",
            SQUARE + "        return 2 * upstream": "depends on where x is",
            SQUARE + "        return upstream + 2 * x": "add up along a chain, or multiply?",
            SQUARE + "        return upstream * 2 * x, upstream": "raises RuntimeError",
            SQUARE + "        return -2 * x * upstream": "the sign is the other way round",
            SQUARE + "        return upstrem * 2 * x": "NameError: name 'upstrem' is not defined",
        },
    ),
    "exercise-2": Answers(
        right=[
            SCALE + "        return g * factor, g * x",
            SCALE + "        return (factor * g, x * g)",
            SCALE + "        return tuple(g * other for other in (factor, x))",
        ],
        wrong={
            SCALE + "        return g * factor": "(expected 2, got 1)",
            SCALE + "        return g * x, g * factor": "Hold factor still",
            SCALE + "        return g * factor, None": "None says that an argument learns nothing",
            SCALE + "        return g, g": "the rule of a sum",
            SCALE + "        return factor, x": "ignores the gradient that arrives",
        },
    ),
    "exercise-3": Answers(
        right=['reason = "b"', 'reason = "(b)"', 'reason = ["B"]'],
        wrong={
            'reason = "a"': "what would the weight have learned?",
            'reason = "c"': "What does it compare?",
            'reason = "d"': "Where are the jumps of round?",
        },
    ),
    "exercise-4": Answers(
        right=['single = "c"', 'single = "C"', 'single = ("c",)'],
        wrong={
            'single = "a"': "the differences that it is compared with?",
            'single = "b"': "Which of the two sides",
            'single = "d"': "How many digits",
        },
    ),
    "again": Answers(
        right=['again = "b"', 'again = "B"', 'again = ["b"]'],
        wrong={
            'again = "a"': "Which of its two branches",
            'again = "c"': "What does gradcheck do beyond it?",
        },
    ),
}
