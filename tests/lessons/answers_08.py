"""Lesson 8, when training fails."""

from tests.lessons import Answers

ILL = 'diagnoses = ["rate", "eval", "dead", "labels", "clear", "in-place"]'

ANSWERS = {
    "guess": Answers(
        right=['guess = "c"', 'guess = "C"', 'guess = ["c"]'],
        wrong={
            'guess = "a"': "You look where it shows",
            'guess = "b"': "how far the first NaN was from the end",
            'guess = "d"': "what a step can do to the next one",
        },
    ),
    "exercise-1": Answers(
        right=[
            "def root(x):\n    return torch.sqrt(x + 0.0005)",
            "root = lambda numbers: numbers.clamp(min=1e-3) ** 0.5",
            "def root(x):\n    y = torch.where(x > 0, x, 1.0)\n    return torch.where(x > 0, y.sqrt(), 0.0)",
            "def root(x):\n    return torch.maximum(x, torch.tensor(1e-4)).pow(0.5)",
        ],
        wrong={
            "def root(x):\n    return x.sqrt().clamp(min=0.01)": "What does 0 times infinity give?",
            "def root(x):\n    return torch.where(x > 0, x.sqrt(), 0.0)": "What does 0 times infinity give?",
            "def root(x):\n    return torch.nan_to_num(x.sqrt())": "Values were never bad",
            "def root(x):\n    return x.sqrt() + 0.001": "Values were never bad",
            "def root(x):\n    return (x + 0.1).sqrt()": "the values are off",
            "def root(x):\n    return (x + 0.01).sqrt()": "the values are off",
            "def root(x):\n    return x ** 0.5": "of the root itself?",
            "def root(x):\n    return x.detach().sqrt()": "raises RuntimeError",
            "def root(x):\n    y = (x + 0.001).sqrt()": "does it end with return?",
            "def root(x):\n    return (x + eps).sqrt()": "name 'eps' is not defined",
        },
    ),
    "exercise-2": Answers(
        right=["power = -17", 'power = "-16"', "import math\npower = math.log10(2.4e-17)", "power = [-17.0]"],
        wrong={
            "power = -12": "But the weights of each layer",
            "power = -1": "add up, or multiply?",
            "power = -1.3": "add up, or multiply?",
            "power = 0": "10 to the power of 0 is 1: equally large",
            "power = 2.4e-17": "look again at what happened",
        },
    ),
    "exercise-3": Answers(
        right=[
            "at_most, with_these = 704, 561",
            'at_most, with_these = "704", 11 * (64 - blank)',
            "at_most, with_these = torch.tensor([704, 550])",
        ],
        wrong={
            "at_most, with_these = 1024, 561": "How many belong to the dead units?",
            "at_most, with_these = 0, 561": "Only five are dead",
            "at_most, with_these = 320, 561": "These are the dead ones",
            "at_most, with_these = 550, 550": "whatever they are",
            "at_most, with_these = 704, 704": "What if the pixel is 0?",
            "at_most, with_these = 704, 816": "And the dead units?",
            "at_most, with_these = 704, 0": "look again",
        },
    ),
    "exercise-4": Answers(
        right=[ILL, 'diagnoses = "rate eval dead labels clear in-place"', 'diagnoses = ("RATE", *who[1:])'],
        wrong={
            ILL.replace('"rate"', '"clear"'): "Where nobody clears, the second gradient is twice the first",
            ILL.replace('"labels"', '"rate"'): "Too large a rate shows in the loss after a single step",
            ILL.replace('"clear"', '"labels"'): "gradients arrive, and the loss stands still",
            ILL.replace('"dead"', '"eval"'): "the same images get other answers",
            ILL.replace('"labels"', '"dead"'): "Dead units leave a gradient of 0",
            ILL.replace('"eval"', '"in-place"'): "the way back stops with an error",
            'diagnoses = "rate"': "nothing is none of the options",
            "diagnoses = 3": "3 is none of the options",
        },
    ),
    "again": Answers(
        right=['again = "c"', 'again = "C"', 'again = ("c",)'],
        wrong={
            'again = "a"': "Who wrote NaN into its weights?",
            'again = "b"': "The weights were NaN before",
            'again = "d"': "It comes after layer 5",
        },
    ),
}
