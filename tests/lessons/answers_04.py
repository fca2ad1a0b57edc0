"""Lesson 4, whole tables at once: products, and broadcasting."""

from tests.lessons import Answers


def product(line: str) -> str:
    return f"def matmul_back(g, x, w):\n    return {line}"


def bias(line: str) -> str:
    return f"def bias_back(g):\n    return {line}"


def undo(*lines: str) -> str:
    return "\n    ".join(["def unbroadcast(g, shape):", *lines])


ANSWERS = {
    "guess": Answers(
        right=["guess = 'c'", "guess = 'C'", "guess = '(c)'"],
        wrong={
            "guess = 'a'": "whether the machine writes them down",
            "guess = 'b'": "So many multiplications it takes.",
            "guess = 'd'": "how many prices are there",
        },
    ),
    "exercise-1": Answers(
        right=[
            product("g @ w.T, x.T @ g"),
            "matmul_back = lambda up, a, b: [up.matmul(b.t()), torch.mm(a.t(), up)]",
            "import numpy as np\n" + product("g.numpy() @ w.numpy().T, np.transpose(x.numpy()) @ g.numpy()"),
            product("(w @ g.T).T.double(), (g.T @ x).T.tolist()"),
        ],
        wrong={
            product("g @ w, x.T @ g"): "which side of w has the size",
            product("x.T @ g, g @ w.T"): "Which was asked for first?",
            product("g @ w.T, g.T @ x"): "Yours are turned.",
            product("w @ g.T, x.T @ g"): "Yours are turned.",
            product("g @ w.T, x @ g"): "each price collects over all customers",
            product("w.T, x.T"): "Where is the gradient that arrives?",
            product("x.T @ g"): "2 results are expected",
            product("(x.T @ g,)"): "two gradients come out",
            product("g * w, x * g"): "the inner ones of a product must agree",
            product("wide[0] @ wide[2].T, wide[1].T @ wide[0]"): "its argument g is not used",
        },
    ),
    "exercise-2": Answers(
        right=[
            bias("g.sum(0)"),
            "bias_back = lambda up: torch.ones(len(up)) @ up",
            bias("g.numpy().sum(axis=0)"),
            bias("sum(row for row in g)"),
        ],
        wrong={
            bias("g.mean(0)"): "Nobody divides by their number.",
            bias("g.sum(0, keepdim=True)"): "That is a table with one row.",
            bias("g"): "it was repeated",
            bias("g.sum(1)"): "That has a number for each row.",
            bias("g.sum()"): "That is one number.",
            bias("g[0]"): "The first row alone.",
            bias("-g.sum(0)"): "all signs are the other way round",
        },
    ),
    "exercise-3": Answers(
        right=[
            "unbroadcast = lambda g, shape: undone(g, shape).double()",
            undo(
                "g = g.sum(tuple(range(g.ndim - len(shape)))) if g.ndim > len(shape) else g",
                "for dim in range(g.ndim):",
                "    if shape[dim] == 1 and g.shape[dim] > 1:",
                "        g = g.sum(dim, keepdim=True)",
                "return g",
            ),
            undo(
                "g = g.numpy()",
                "extra = g.ndim - len(shape)",
                "ones = [extra + i for i, size in enumerate(shape) if size == 1]",
                "return g.sum(axis=(*range(extra), *ones)).reshape(shape)",
            ),
        ],
        wrong={
            undo(
                "return g.sum(tuple(range(g.ndim - len(shape)))) if g.ndim > len(shape) else g"
            ): "And a size of 1?",
            undo("while g.ndim > len(shape):", "    g = g.sum(0)", "return g"): "And a size of 1?",
            undo("return undone(g, shape).squeeze()"): "sum with keepdim=True",
            undo("return g.sum()"): "That adds up everything.",
            undo("return g.sum(0)"): "That always sums over rows.",
            undo("return g.reshape(shape)"): "No number may be lost or moved",
            undo("return g"): "something was repeated",
            undo("return undone(g, shape) * torch.ones(shape).numel() / g.numel()"): "not a mean",
            undo("return g[0]"): "First the dimensions that are missing",
        },
    ),
    "again": Answers(
        right=["layer = 'b'", "layer = 'B'", "layer = '(b)'"],
        wrong={
            "layer = 'a'": "That is the Jacobian",
            "layer = 'c'": "where is the 64 left?",
            "layer = 'd'": "That is what arrives.",
        },
    ),
}
