"""Lesson 12, attention."""

from tests.lessons import Answers


def attend(scale: str = "k.shape[1] ** 0.5", fill: str = "-torch.inf", dim: int = 1) -> str:
    """An answer to exercise 1."""
    return f"""\
def attend(q, k, v, hidden):
    scores = q @ k.T / ({scale})
    return scores.masked_fill(hidden, {fill}).softmax(dim={dim}) @ v"""


def future(table: str) -> str:
    """An answer to exercise 2."""
    return f"import numpy as np\ndef future(n):\n    return {table}"


ANSWERS = {
    "guess": Answers(
        right=['found = "b"', 'found = "B"', 'found = "(b)"'],
        wrong={
            'found = "a"': "Look for weights in the next picture",
            'found = "c"': "Is it a distance?",
            'found = "d"': "Look at the numbers in the box of weights",
        },
    ),
    "exercise-1": Answers(
        right=[
            attend(),
            "def attend(a, b, c, mask):\n    return F.scaled_dot_product_attention(a, b, c, attn_mask=~mask)",
            "attend = lambda q, k, v, h: torch.softmax(\n"
            "    torch.where(h, -torch.inf, (k @ q.T).T * k.shape[1] ** -0.5), -1) @ v",
            "def attend(q, k, v, hidden):\n    exps = (q @ k.mT / k.size(1) ** 0.5).exp() * ~hidden\n"
            "    return exps / exps.sum(dim=1, keepdim=True) @ v",
        ],
        wrong={
            attend(scale="1"): "The scores are as large as ever",
            attend(scale="k.shape[1]"): "take its root",
            attend(scale="len(k) ** 0.5"): "the number of letters",
            attend(dim=0): "Whose weights are to have the sum 1?",
            attend(fill="0.0"): "softmax gives it a share",
            attend() + ".softmax(dim=1)": "Not yet, with",
            "def attend(q, k, v, hidden):\n    weights = (q @ k.T / k.shape[1] ** 0.5).softmax(dim=1)\n"
            "    return weights.masked_fill(hidden, 0.0) @ v": "hide before the softmax",
            "def attend(q, k, v, hidden):\n    return (q @ k).softmax(dim=1) @ v": "raises RuntimeError",
            "def attend(q, k, v, hidden):\n    scores = q @ k.T / k.shape[1] ** 0.5\n"
            "    scores.masked_fill(hidden, -torch.inf)\n"
            "    return scores.softmax(dim=1) @ v": "gives a new table",
            "def attend(q, k, v, hidden):\n    print(q @ k.T)": "returns nothing",
        },
    ),
    "exercise-2": Answers(
        right=[
            future("torch.ones(n, n).triu(1).bool()"),
            future("~torch.ones(n, n).tril().bool()"),
            future("torch.arange(n) > torch.arange(n)[:, None]"),
            future("np.triu(np.ones((n, n)), k=1) > 0"),
            future("[[column > row for column in range(n)] for row in range(n)]"),
        ],
        wrong={
            future("torch.ones(n, n).triu(2).bool()"): "the very one it guesses",
            future("torch.ones(n, n).triu().bool()"): "The first letter may not look at anything",
            future("torch.ones(n, n).tril(-1).bool()"): "you hid the past",
            future("torch.ones(n, n).tril().bool()"): "True stands for hidden",
            future("torch.zeros(n, n).bool()"): "Nothing is hidden",
            future("~torch.eye(n).bool()"): "How many letters may the last row look at?",
            future("torch.ones(4, 4).triu(1).bool()"): "expected (7,)",
            future("torch.ones(n, n).triu(1).booll()"): "raises AttributeError",
        },
    ),
    "exercise-3": Answers(
        right=['output_at_e = "a"', 'output_at_e = "A"', "output_at_e = ['a']"],
        wrong={
            'output_at_e = "b"': "Did one of these change?",
            'output_at_e = "c"': "what did the outputs at o and r see",
            'output_at_e = "d"': "which one came just before?",
        },
    ),
    "again": Answers(
        right=['same = "b"', 'same = "B"', 'same = " b "'],
        wrong={
            'same = "a"': "What are the scores made of?",
            'same = "c"': "A query is made from a letter",
            'same = "d"': "The first layer reads the letters",
        },
    ),
}
