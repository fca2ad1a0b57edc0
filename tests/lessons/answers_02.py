"""Lesson 2, what a computation graph is."""

from tests.lessons import Answers

ANSWERS = {
    "guess": Answers(
        right=['guess = "b"', 'guess = "B "', 'guess = ("b",)'],
        wrong={
            'guess = "a"': "the source code is drawn",
            'guess = "c"': "somebody has simplified it",
            "guess = 3": "none of the options, which are a, b, c",
        },
    ),
    "exercise-1": Answers(
        right=["boxes, arrows = 3, 4", 'boxes, arrows = "3", [4.0]', "boxes, arrows = torch.tensor([3, 4])"],
        wrong={
            "boxes, arrows = 5, 4": "each time that it is written",
            "boxes, arrows = 2, 4": "What goes into them?",
            "boxes, arrows = 4, 4": "Is a value drawn twice?",
            "boxes, arrows = 3, 3": "even if both are the same value?",
            "boxes, arrows = 3, 2": "goes *into* each operation",
        },
    ),
    "exercise-2": Answers(
        right=[
            "per_fruit_shape, everything_shape = (3,), ()",
            "per_fruit_shape, everything_shape = [3], []",
            "per_fruit_shape, everything_shape = torch.Size([3]), torch.Size([])",
        ],
        wrong={
            "per_fruit_shape, everything_shape = (3), ()": "a tuple of one number has a comma, (3,)",
            "per_fruit_shape, everything_shape = (2,), ()": "this adds up each row",
            "per_fruit_shape, everything_shape = (1, 3), ()": "with keepdim=True only",
            "per_fruit_shape, everything_shape = (3,), (1,)": "has no dimension at all",
            "per_fruit_shape, everything_shape = (3,), 1": "one entry for each dimension",
            "per_fruit_shape = everything_shape = (2, 3)": "How many kinds of fruit",
        },
    ),
    "exercise-3": Answers(
        right=[
            "cost = lambda width, length: 4 * width * length + 12 * (width + length)",
            "def cost(w, l):\n    return 4 * (w * l + 3 * w + 3 * l)",
            "def cost(a, b):\n    turf = 4 * a * b\n    return turf + 6 * (a + b + a + b)",
        ],
        wrong={
            "def cost(w, l):\n    return 4 * w * l + 6 * (w + l)": "goes along all four sides",
            "def cost(w, l):\n    return 6 * w * l + 4 * 2 * (w + l)": "Which price belongs to the turf?",
            "def cost(w, l):\n    return 4 * w * l": "What does the fence cost?",
            "def cost(w, l):\n    return 6 * 2 * (w + l)": "What does the turf cost?",
            "def cost(w, l):\n    return (4 + 6) * 2 * (w + l)": "and a fence by the metre",
            "def cost(w, l):\n    return (4 * w * l + 12 * (w + l)).item()": "leave out .item()",
            "def cost(w, l):\n    return float(4 * w * l + 12 * (w + l))": "float()",
            "def cost(w, l):\n    return 4 * width * l + 12 * (width + l)": "but width from outside is",
            "def cost(w, l):\n    print(4 * w * l + 12 * (w + l))": "write return in place of print",
            "def cost(w, l):\n    total = 4 * w * l + 12 * (w + l)": "does it end with return?",
            "def cost(w, l):\n    return 4 * area + 12 * (w + l)": "belongs to the first garden",
            "def cost(w, l):\n    return 4 * w * l + 6 * outline": "NameError: name 'outline' is not defined",
            "cost = 1620": "a function is expected",
        },
    ),
    "exercise-4": Answers(
        right=['branch = "c"', 'branch = "(C)"', 'branch = ["c"]'],
        wrong={
            'branch = "a"': "Which of the two ran?",
            'branch = "b"': "Does it compute a part of the result?",
            'branch = "d"': "Is −3 above 0?",
        },
    ),
    "again": Answers(
        right=['again = "b"', 'again = "B"', 'again = ["b"]'],
        wrong={
            'again = "a"': "for the f of exercise 4",
            'again = "c"': "a function without if and loop",
        },
    ),
}
