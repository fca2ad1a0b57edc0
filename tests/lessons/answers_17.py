"""Lesson 17, an elective: what a backward pass costs."""

from tests.lessons import Answers

KEPT = 'plus, times, exp, relu, exp_keeps = 0, 8000, 4000, 4000, "output"'
SEGMENTS = """def in_segments(layers, x):
    for first in range(0, 16, 4):
        x = checkpoint(nn.Sequential(*layers[first:first + 4]), x)
    return x"""
BY_FUNCTION = """def in_segments(layers, x):
    def segment(number, x):
        for layer in layers[4 * number : 4 * number + 4]:
            x = layer(x)
        return x
    for number in range(4):
        x = checkpoint(segment, number, x, use_reentrant=False)
    return x"""
FOUR_LINES = """def in_segments(all_layers, h):
    parts = [torch.nn.Sequential(*all_layers[k:][:4]) for k in (0, 4, 8, 12)]
    a, b, c, d = parts
    return checkpoint(d, checkpoint(c, checkpoint(b, checkpoint(a, h))))"""


def sizes(length: int) -> str:
    return SEGMENTS.replace("16, 4", f"16, {length}").replace("+ 4", f"+ {length}")


ANSWERS = {
    "guess": Answers(
        right=['first_guess = "b"', 'first_guess = "B"', "first_guess = ['b']"],
        wrong={
            'first_guess = "a"': "the blue area of the chart",
            'first_guess = "c"': "of which they are a part",
        },
    ),
    "exercise-1": Answers(
        right=[
            KEPT,
            'plus, times, exp, relu = "0", 8000.0, [4000], torch.tensor(4000)\nexp_keeps = "Output"',
            'plus, times, exp, relu, exp_keeps = [4000 * k for k in (0, 2, 1, 1)] + ["output"]',
        ],
        wrong={
            KEPT.replace("0, 8000", "4000, 8000"): "Which of the numbers tell that?",
            KEPT.replace("0, 8000", "8000, 8000"): "Which of the numbers tell that?",
            KEPT.replace("8000", "4000"): "That serves one operand. And the other?",
            KEPT.replace("8000", "12000"): "Does any derivative contain the product?",
            KEPT.replace("8000", "0"): "Where is b on the way back?",
            KEPT.replace("4000, 4000", "8000, 4000"): "One array is enough for exp",
            KEPT.replace("4000, 4000", "0, 4000"): "at 3 is another than at 4",
            KEPT.replace("4000, 4000", "4000, 1000"): "One byte each would do",
            KEPT.replace("4000, 4000", "4000, 8000"): "One array is enough",
            KEPT.replace("4000, 4000", "4000, 0"): "which numbers it let pass",
            'plus = times = exp = relu = 4000\nexp_keeps = "input"': "What is the derivative of exp?",
        },
    ),
    "exercise-2": Answers(
        right=[SEGMENTS, BY_FUNCTION, FOUR_LINES],
        wrong={
            sizes(16): "Its second run keeps all 16 layers at once",
            sizes(1): "one segment for each layer",
            sizes(2): "Near. How many inputs are kept",
            sizes(8): "Near. How many inputs are kept",
            SEGMENTS.replace("checkpoint(", "(lambda part, x: part(x))("): "does checkpoint run the layers?",
            SEGMENTS.replace("4]), x)", "4]), x, preserve_rng_state=False)"): "drop the units that the first",
            SEGMENTS.replace("16, 4", "12, 4"): "Not yet",
            SEGMENTS.replace("    return x", ""): "raises AttributeError",
        },
    ),
    "exercise-3": Answers(
        right=["stored = 0", 'stored = "0.0"', "stored = torch.tensor(0.0, dtype=torch.float16)"],
        wrong={
            "stored = 1e-8": "What is nearest?",
            "stored = 6e-8": "Is 1e-8 nearer to it",
            'stored = float("inf")': "what too large numbers become",
            'stored = float("nan")': "It is a number still",
        },
    ),
    "exercise-4": Answers(
        right=['order = "cdba"', 'order = ["c", "d", "b", "a"]', 'order = "C, D, B, A"'],
        wrong={
            'order = "cbda"': "How large are they at that moment?",
            'order = "dcba"': "there are no gradients to work with",
            'order = "cdab"': "what comes after it comes too late",
            'order = "cbad"': "what comes after it comes too late",
            'order = "cda"': "none of the options",
        },
    ),
    "again": Answers(
        right=['second_guess = "a"', 'second_guess = "A"', "second_guess = ['a']"],
        wrong={
            'second_guess = "b"': "a row for each example in a weight",
            'second_guess = "c"': "other sizes for a smaller batch",
        },
    ),
}
