"""Lesson 9, by hand: softmax with cross-entropy, and batch norm."""

from tests.lessons import Answers


def scores_back(result: str) -> str:
    return f"def scores_back(scores, targets):\n    right = F.one_hot(targets, 3)\n    return {result}"


def stable_softmax(shift: str, dim: int = 1) -> str:
    return f"""def stable_softmax(scores):
    powers = (scores - {shift}).exp()
    return powers / powers.sum(dim={dim}, keepdim=True)"""


def normalize_back(result: str) -> str:
    return f"""def normalize_back(g, x):
    spread = x.std(dim=0, unbiased=False)
    normal, N = (x - x.mean(dim=0)) / spread, len(x)
    return {result}"""


ANSWERS = {
    "guess": Answers(
        right=['nudged = "all"', 'nudged = "All "', 'nudged = ["all"]'],
        wrong={
            'nudged = "first"': "Compare the two lines",
            'nudged = "others"': "Compare the first numbers",
            "nudged = 1": "none of the options",
        },
    ),
    "exercise-1": Answers(
        right=[
            scores_back("(scores.softmax(dim=1) - right) / len(scores)"),
            "def scores_back(s, t):\n    p = s.exp() / s.exp().sum(dim=1, keepdim=True)\n"
            "    p[torch.arange(len(p)), t] -= 1\n    return p / s.shape[0]",
            "scores_back = lambda s, t: ak.func.grad(F.cross_entropy)(s, t)",
            "import numpy as np\ndef scores_back(s, t):\n    p = np.exp(s.numpy().astype(float))\n"
            "    p /= p.sum(1, keepdims=True)\n    return (p - np.eye(3)[t.numpy()]) / len(p)",
        ],
        wrong={
            scores_back("scores.softmax(dim=1) - right"): "Over how many rows",
            scores_back("(scores.softmax(dim=1) - right) / scores.numel()"): "Over what is the average",
            scores_back("(scores.softmax(dim=1) - right).mean()"): "the shape is ()",
            scores_back("(right - scores.softmax(dim=1)) / len(scores)"): "all signs are the other way round",
            scores_back("(right - scores.softmax(1)) / len(right)"): "when the right score rises",
            scores_back("(scores.softmax(dim=1) - 1) / len(scores)"): "Which class is the right one",
            scores_back("scores.softmax(dim=1) / len(scores)"): "What does the second add",
            scores_back("(scores.softmax(dim=0) - right) / len(scores)"): "a row's or a column's",
            scores_back("(scores - right) / len(scores)"): "What has to be made of them",
            scores_back("(scores.softmax(dim=1) - right) / 4"): "Then the average",
            scores_back("F.cross_entropy(scores, targets)"): "the shape is ()",
            scores_back("(probabilities - right) / len(targets)"): "its argument scores is not used",
            scores_back("scores.softmax(dim=2)"): "raises IndexError",
        },
    ),
    "exercise-2": Answers(
        right=[
            stable_softmax("scores.max(dim=1, keepdim=True).values"),
            stable_softmax("scores.detach().amax(1, keepdim=True)"),
            "stable_softmax = lambda s: (s - s.logsumexp(dim=1, keepdim=True)).exp()",
            "def stable_softmax(rows):\n    e = torch.exp(rows - torch.max(rows, 1)[0][:, None])\n"
            "    return torch.stack([row / row.sum() for row in e])",
        ],
        wrong={
            stable_softmax("0"): "exp overflows",
            stable_softmax("scores.mean(dim=1, keepdim=True)"): "A mean can lie far below",
            stable_softmax("scores.mean()"): "A mean can lie far below",
            stable_softmax("scores.max()"): "a row far below it becomes 0 / 0",
            stable_softmax("scores.max(dim=0, keepdim=True).values"): "each column by its own number",
            stable_softmax("scores.max(dim=1, keepdim=True).values", 0): "The shift is right",
            stable_softmax("scores.min(dim=1, keepdim=True).values"): "all scores are above 0",
            stable_softmax("scores.max(dim=1).values"): "Not yet",
            stable_softmax("1000"): "Shift each row",
            "def stable_softmax(scores):\n    powers = scores.clamp(max=80).exp()\n"
            "    return powers / powers.sum(1, keepdim=True)": "Shift each row",
            "def stable_softmax(scores):\n    p = (scores - scores.amax(1, keepdim=True)).exp()\n"
            "    return (p / p.sum(1, keepdim=True)).numpy()": "raises RuntimeError",
        },
    ),
    "exercise-3": Answers(
        right=[
            normalize_back("(g - g.mean(dim=0) - normal * (g * normal).mean(dim=0)) / spread"),
            normalize_back("(N * g - g.sum(0) - normal * (g * normal).sum(0)) / (N * spread)"),
            "def normalize_back(g, x):\n    s = x.var(0, unbiased=False).sqrt()\n    c = x - x.mean(0)\n"
            "    return g / s - g.mean(0) / s - c * (g * c).mean(0) / s**3",
            "import numpy as np\ndef normalize_back(g, x):\n    g, x = g.numpy(), x.double().numpy()\n"
            "    n = (x - x.mean(0)) / x.std(0)\n    return (g - g.mean(0) - n * (g * n).mean(0)) / x.std(0)",
        ],
        wrong={
            normalize_back("(g - normal * (g * normal).mean(dim=0)) / spread"): "by the mean is missing",
            normalize_back("(g - g.mean(dim=0)) / spread"): "by the spread is missing",
            normalize_back("g / spread"): "as if mean and spread were constants",
            normalize_back(
                "(g - g.sum(0) / (N - 1) - normal * (g * normal).sum(0) / (N - 1)) / spread"
            ): "You divide by N - 1",
            normalize_back("(g - g.sum(0) - normal * (g * normal).sum(0)) / spread"): "are sums",
            normalize_back("(g + g.mean(0) + normal * (g * normal).mean(0)) / spread"): "raise or lower",
            normalize_back("g - g.mean(0) - normal * (g * normal).mean(0)"): "over a column, become means",
            normalize_back("(g - g.mean() - normal * (g * normal).mean()) / spread"): "Not yet",
            normalize_back("(g - g.mean(1) - normal) / spread"): "raises RuntimeError",
            normalize_back("normal"): "its argument g is not used",
        },
    ),
    "exercise-4": Answers(
        right=["column_total = 0", 'column_total = "0.0"', "column_total = torch.zeros(1)"],
        wrong={
            "column_total = 1": "What does the standardized column do",
            "column_total = 4": "if all four rise by 1",
            "column_total = 0.25": "What does the standardized column do",
            "column_total = 3": "look again",
        },
    ),
    "again": Answers(
        right=['in_use = "one"', 'in_use = "ONE"', 'in_use = "(one)"'],
        wrong={
            'in_use = "three"': "stored last week",
            'in_use = "none"': "does the output stay",
            "in_use = 1": "none of the options",
        },
    ),
}
