"""Lesson 2, what a computation graph is."""

from tests.lessons import Answers

ANSWERS = {
    "exercise-1": Answers(
        right=["boxes, arrows = 3, 4", 'boxes, arrows = "3", [4.0]', "boxes, arrows = torch.tensor([3, 4])"],
        wrong={"boxes = arrows = 5": "Not yet"},
    ),
    "exercise-2": Answers(
        right=[
            "per_fruit_shape, everything_shape = (3,), ()",
            "per_fruit_shape, everything_shape = [3], []",
            "per_fruit_shape, everything_shape = torch.Size([3]), torch.Size([])",
        ],
        wrong={"per_fruit_shape = everything_shape = (2, 3)": "Not yet"},
    ),
    "exercise-3": Answers(
        right=[
            "cost = lambda width, length: 4 * width * length + 12 * (width + length)",
            "def cost(w, l):\n    return 4 * (w * l + 3 * w + 3 * l)",
            "def cost(a, b):\n    turf = 4 * a * b\n    return turf + 6 * (a + b + a + b)",
        ],
        wrong={"def cost(width, length):\n    return 4 * width * length": "Not yet"},
    ),
}
