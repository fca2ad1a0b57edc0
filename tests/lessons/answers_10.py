"""Lesson 10, convolution: a kernel's gradient, unfold, and parameters."""

from tests.lessons import Answers


def kernel_back(line: str, last: str = "total") -> str:
    return f"""def kernel_back(g, x):
    high, wide = x.shape[0] - g.shape[0] + 1, x.shape[1] - g.shape[1] + 1
    total = torch.zeros(high, wide)
    for row in range(g.shape[0]):
        for column in range(g.shape[1]):
            window = x[row : row + high, column : column + wide]
            {line}
    return {last}"""


def convolve(
    matrix: str = "w.reshape(len(w), -1)",
    columns: str = "F.unfold(x, 3, padding=1)",
    result: str = "product.reshape(len(x), len(w), x.shape[2], x.shape[3])",
) -> str:
    return f"""def convolve(x, w):
    columns = {columns}
    product = {matrix} @ columns
    return {result}"""


ANSWERS = {
    "guess": Answers(
        right=['after_the_move = "moved"', 'after_the_move = "Moved"', 'after_the_move = ("moved",)'],
        wrong={
            'after_the_move = "same"': "place by place",
            'after_the_move = "new"': "Look for the numbers of one row",
            "after_the_move = 11": "none of the options",
        },
    ),
    "exercise-1": Answers(
        right=[
            kernel_back("total = total + g[row, column] * window"),
            kernel_back("total += window * g[row][column]"),
            "kernel_back = lambda up, image: F.conv2d(image[None, None], up[None, None])[0, 0]",
            "import numpy as np\ndef kernel_back(g, x):\n    g, x = g.numpy().astype(float), x.numpy()\n"
            "    seen = np.lib.stride_tricks.sliding_window_view(x, g.shape)\n"
            "    return np.einsum('ijkl,kl->ij', seen, g)",
        ],
        wrong={
            kernel_back("total = g[row, column] * window"): "Only the last place is left",
            kernel_back("total = total + g[row, column] * window", "total / g.numel()"): "count half",
            kernel_back("total = total + g[row, column] * window / g.numel()"): "count half",
            kernel_back("total = total + g[row, column] * window", "total.flip(0, 1)"): "on its head",
            kernel_back("total = total + window"): "What has arrived at its place",
            kernel_back("total = total + g[row, column]"): "The window is missing",
            kernel_back("total = total - g[row, column] * window"): "all signs are the other way round",
            kernel_back("total = total + g[column, row] * window"): "Compare with the third",
            kernel_back("total = total + g[row, column] * window", "None"): "does it end with return",
            kernel_back("total = total + g * window"): "Not yet",
            kernel_back("total = total + g[row, column] * windo"): "raises NameError",
        },
    ),
    "exercise-2": Answers(
        right=[
            convolve(),
            "def convolve(x, w):\n    n, _, h, b = x.shape\n    seen = F.unfold(x, 3, padding=1)\n"
            "    return torch.einsum('ok,nkp->nop', w.flatten(1), seen).view(n, len(w), h, b)",
            "convolve = lambda x, w: torch.stack("
            "[w.flatten(1) @ each for each in F.unfold(x, 3, padding=1)]).unflatten(2, x.shape[2:])",
            "def convolve(x, w):\n    seen = F.unfold(F.pad(x, (1, 1, 1, 1)), 3).transpose(1, 2)\n"
            "    return (seen @ w.flatten(1).T).transpose(1, 2).reshape(x.shape[0], -1, *x.shape[2:])",
        ],
        wrong={
            convolve("w.flip(2, 3).reshape(len(w), -1)"): "Your kernel is turned round",
            convolve("w.flip(1).reshape(len(w), -1)"): "The kernels are mixed up",
            convolve("w.permute(0, 2, 3, 1).reshape(len(w), -1)"): "The kernels are mixed up",
            convolve("w.reshape(-1, len(w)).T"): "The kernels are mixed up",
            convolve("w.transpose(2, 3).reshape(len(w), -1)"): "Rows and columns of the kernel",
            convolve(
                columns="F.unfold(x, 3)",
                result="product.reshape(len(x), len(w), x.shape[2] - 2, x.shape[3] - 2)",
            ): "The border is missing",
            convolve(columns="F.unfold(x, 3)"): "raises RuntimeError",
            convolve(result="product"): "wants rows and columns again",
            convolve(
                result="product.reshape(len(x), len(w), x.shape[3], x.shape[2])"
            ): "expected (2, 4, 5, 4)",
            convolve("w"): "raises RuntimeError",
            convolve(result="product.detach().reshape(len(x), len(w), *x.shape[2:])"): "without a record",
        },
    ),
    "exercise-3": Answers(
        right=[
            "parameters = 1168",
            'parameters = "1168"',
            "parameters = [1168.0]",
            "parameters = 16 * (8 * 9 + 1)",
        ],
        wrong={
            "parameters = 1152": "What else learns",
            "parameters = 144": "How many channels does a kernel look at",
            "parameters = 160": "How many channels does a kernel look at",
            "parameters = 1160": "for what comes in or for what goes out",
            "parameters = 1280": "Does each pair of channels",
            "parameters = 24": "look again",
        },
    ),
    "again": Answers(
        right=['indifferent = "average"', 'indifferent = "AVERAGE"', 'indifferent = ["average"]'],
        wrong={
            'indifferent = "convolution"': "What did its result do",
            'indifferent = "relu"': "looks at each number alone",
            'indifferent = "linear"': "none of the options",
        },
    ),
}
