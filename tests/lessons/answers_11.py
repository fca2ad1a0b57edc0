"""Lesson 11, recurrent networks."""

from tests.lessons import Answers

LOOP = """\
remembered = ...
weight, memory = torch.tensor(0.9, requires_grad=True), torch.tensor(0.5)
for step in range(8):
    {}
    memory = {}
remembered = {}"""


def loop(before: str = "pass", step: str = "weight * memory", end: str = "memory") -> str:
    """The answer to exercise 3, with one line before the product."""
    return LOOP.format(before, step, end)


def clip(factor: str) -> str:
    """An answer to exercise 4, which shortens each gradient by a factor."""
    whole = "sum((each**2).sum() for each in gradients).item() ** 0.5"
    return f"def clip(gradients, most):\n    whole = {whole}\n    return [{factor} * g for g in gradients]"


ANSWERS = {
    "guess": Answers(
        right=['needed = "b"', 'needed = "B"', 'needed = "(b)"'],
        wrong={
            'needed = "a"': "Look for a loop",
            'needed = "c"': "Look for the ponds of the earlier days",
            'needed = "d"': "Count the boxes called growth",
        },
    ),
    "exercise-1": Answers(
        right=["contributions = 5", 'contributions = "5"', "contributions = [5.0]"],
        wrong={
            "contributions = 1": "How many arrows leave it?",
            "contributions = 4": "the first step multiplies too",
            "contributions = 6": "the first was given",
            "contributions = 10": "Which of them come from weight?",
            "contributions = 15": "How many routes begin at weight?",
        },
    ),
    "exercise-2": Answers(
        right=[
            "faded, swollen = 0.9**100, 1.1**100",
            'faded, swollen = "2.66e-5", [13781]',
            "faded, swollen = torch.tensor([0.9, 1.1], dtype=torch.float64) ** 100",
            "import numpy as np\nfaded, swollen = np.power([0.9, 1.1], 100)",
        ],
        wrong={
            "faded, swollen = 90.0, 110.0": "multiplied, not added",
            "faded, swollen = (0.9 - 1) ** 100, (1.1 - 1) ** 100": "not w − 1",
            "faded, swollen = 0.9, 1.1": "That is one step",
            "faded, swollen = 0.9**99, 1.1**99": "one factor short",
            "faded, swollen = 100 * 0.9**99, 100 * 1.1**99": "Here the first h is nudged",
            "faded, swollen = 0, 1.1**100": "not 0: how small?",
            "faded, swollen = 0.9**100, float('inf')": "the value differs",
            "faded = swollen = 1": "the value differs",
        },
    ),
    "exercise-3": Answers(
        right=[
            loop("memory = memory.detach() if step == 4 else memory"),
            loop("memory = torch.tensor(memory.item()) if step == 4 else memory"),
            loop("if step % 4 == 0: memory = memory.detach()"),
            loop("torch.set_grad_enabled(step >= 4)"),
            loop("if step == 4: memory.detach_()"),
        ],
        wrong={
            loop(end="memory.detach()"): "Nothing is recorded",
            loop(step="weight.detach() * memory"): "Nothing is recorded",
            loop("if step >= 4: memory = memory.detach()"): "Every step is cut off",
            loop("memory = memory.detach()"): "Every step is cut off",
            loop("if step == 4: memory.detach()"): "a tensor that you dropped",
            loop(): "All eight steps are there",
            loop("if step == 5: memory = memory.detach()"): "one too few",
            loop("if step == 3: memory = memory.detach()"): "one too many",
            loop("if step == 4: memory = torch.tensor(0.5)"): "keep its value",
            loop(end="memory.item()"): "leave out .item()",
        },
    ),
    "exercise-4": Answers(
        right=[
            clip("min(1.0, most / whole)"),
            clip("(most / whole if whole > most else 1)"),
            "def clip(gs, limit):\n    long = torch.cat([g.flatten() for g in gs]).norm()\n"
            "    return gs if long <= limit else [g.numpy() * (limit / long.item()) for g in gs]",
            "def clip(gs, m):\n    n = torch.stack([g.norm() for g in gs]).norm()\n    for g in gs:\n"
            "        g *= torch.clamp(m / n, max=1)\n    return gs",
        ],
        wrong={
            "clip = lambda gradients, most: [g.clamp(-most, most) for g in gradients]": "turns the arrow",
            clip("most / whole"): "A short arrow grows",
            clip("min(1.0, most / g.norm().item())"): "as one arrow",
            clip("min(1.0, most / whole**2)"): "the square of the length",
            clip("min(1.0, most / sum(e.norm().item() for e in gradients))"): "longer than the way across",
            clip("1.0"): "with gradients",
            "def clip(gradients, most):\n    torch.cat(gradients).norm()": "raises",
            "def clip(gradients, most):\n    print('clipped')": "returns nothing",
        },
    ),
    "again": Answers(
        right=['missing = "c"', 'missing = "C"', "missing = ['c']"],
        wrong={
            'missing = "a"': "Which of them would it leave out?",
            'missing = "b"': "Each run has a record of its own",
            'missing = "d"': "Does a box know its time?",
        },
    ),
}
