"""Errors for missing names: a name that PyTorch has and autokit leaves out, or a misspelt name.

One sentence says what to use instead, or which name is similar.  ``pytorch_names.txt`` holds PyTorch's public
names.  A module raises these errors by ``__getattr__ = absent("torch.nn")``.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

INSTEAD = {
    r".*(sparse|_coo|_cs[rc]|_bs[rc]|coalesce|crow_|ccol_|masked\.).*": "dense tensors",
    r".*(complex|cfloat|cdouble|chalf|polar|\.angle|conj|sgn|isreal).*|.*\.(real|imag)": "two real tensors",
    r"torch\.(fft|stft|istft|signal|\w+_window)": "numpy.fft, on x.numpy()",
    r".*\.bfloat16": "x.half(), or x.float()",
    r".*\.(nested|nested_tensor|jagged)": "padding, as in nn.utils.rnn.pad_sequence",
    r"torch\.distributed\.\w+": "one group of all ranks, and the collectives of torch.distributed",
    r".*(parallel|Distributed|SyncBatchNorm|distributed).*": "one process",
    r".*\.(mps|xpu|ipu|mtia|xla|hpu|vulkan|cpu)": 'device="cpu" or device="cuda"',
    r"torch\.(onnx|export|fx|compiler|ao|overrides)": "the function as it is",
    r"torch\.(multiprocessing|futures|profiler|hub)": "the standard library",
    r".*\.\w*(Storage|storage)\w*": "x.numpy()",
    r"torch\.utils\.(tensorboard|model_zoo)": "ak.monitor for losses, torch.load for weights",
    r"torch\.(vander|cartesian_prod|combinations|chain_matmul|gradient|trapz|trapezoid)": "NumPy",
    r"torch\.(lstm|gru|rnn_\w+)(_cell)?": "torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN or their cells",
    r".*\.((nan)?quantile|nanmedian|cov|corrcoef)": "NumPy's, on x.numpy()",
    r".*\.(histc|tensor_split)": "torch.histogram, torch.split",
    r".*(EmbeddingBag|embedding_bag)": "nn.Embedding, then .mean(1), .sum(1) or .amax(1)",
    r"torch\.optim\.(\w+)": "torch.optim.AdamW, or another one of torch.optim",
    r"torch\.distributions\.(\w+)": "one of Normal, Uniform, Bernoulli, Categorical, Beta, Gamma, …",
    r"torch\.(linalg|special)\.\w+": "numpy.linalg or scipy, on x.numpy()",
}
"""What to use in place of PyTorch's names, by patterns of whole names; the first that fits counts."""

_SLIPS = {
    r"torch\.datasets\.(CIFAR.*|SVHN|STL10|CelebA|\w+Folder|ImageNet)": "a Dataset that opens files with PIL",
    r"torch\.transforms\.(Color|Gaussian|Random|Auto|RandAug|FiveCrop|v2)\w*": "transforms.Lambda(function)",
    r"torch\.Tensor\.(astype|strides|copy)": "x.to(dtype), x.stride() or x.clone()",
    r"torch\.Tensor\.(assign|append|concatenate)": "x.copy_(y) or torch.cat([x, y])",
    r"torch\.Tensor\.(to_numpy|asnumpy|to_list)": "x.numpy() or x.tolist()",
    r"torch\.Tensor\.(gradient|backwards|zero_grad)": "x.grad, x.backward() or x.grad = None",
    r"torch\.(array|ndarray|placeholder)": "torch.tensor",
    r"torch\.(expand_dims|power|product|invert)": "torch.unsqueeze, pow, prod or bitwise_not",
    r"torch\.(reduce_(mean|sum)|GradientTape)": "torch.mean, torch.sum or x.requires_grad_()",
    r"torch\.nn\.(Dense|Conv|functions)": "torch.nn.Linear, torch.nn.Conv2d or torch.nn.functional",
}
"""What to use in place of names of other packages, and of slips of the pen: patterns as above."""

MODULES: dict[str, dict[str, Any]] = {}
"""What each module of autokit has, under PyTorch's name of the module."""


@cache
def pytorch_names() -> dict[str, frozenset[str]]:
    """PyTorch's public names, by module and class."""
    with open(os.path.join(os.path.dirname(__file__), "pytorch_names.txt"), encoding="utf-8") as file:
        spaces = [line.partition(":") for line in file.read().splitlines()[1:]]
    return {space: frozenset(names.split()) for space, _, names in spaces}


def explanation(space: str, name: str, there: Iterable[str] = ()) -> str:
    """Why ``space``, such as ``"torch.nn"``, has no ``name``, and what to use; ``there``: what it has.

    >>> explanation("torch", "nested")
    'autokit leaves out torch.nested: use padding, as in nn.utils.rnn.pad_sequence'
    >>> explanation("torch", "CrossEntropyLoss")
    "torch has no 'CrossEntropyLoss': it is torch.nn.CrossEntropyLoss"
    >>> explanation("torch.nn", "Relu", ["ReLU", "Linear"])
    "torch.nn has no 'Relu'; did you mean 'ReLU'?"
    """
    full = f"{space}.{name}"
    if name.startswith("_"):
        return f"{space} has no '{name}'"
    known = name in pytorch_names().get(space, ())
    patterns = INSTEAD if known else _SLIPS
    use = next((use for pattern, use in patterns.items() if re.fullmatch(pattern, full)), "")
    if known:
        return f"autokit leaves out {full}" + (f": use {use}" if use else "")
    if use:
        return f"{space} has no '{name}': use {use}"
    for other, names in pytorch_names().items():
        if name in names and name in MODULES.get(other, names) and other.islower():
            return f"{space} has no '{name}': it is {other}.{name}"
    return f"{space} has no '{name}'{near(name, there)}"


def near(name: str, names: Iterable[str]) -> str:
    """``; did you mean 'softmax'?`` where one of ``names`` is much like ``name``; else empty.

    >>> near("sofmax", ["softmax", "max"]), near("loss", ["cat"])
    ("; did you mean 'softmax'?", '')
    """
    import difflib

    by_lower = {there.lower(): there for there in names if not there.startswith("_")}
    found = difflib.get_close_matches(name.lower(), by_lower, 1, 0.7)
    return f"; did you mean '{by_lower[found[0]]}'?" if found else ""


def absent(space: str) -> Callable[[str], Any]:
    """A ``__getattr__`` for the module that calls this, which stands for PyTorch's module ``space``."""
    there = MODULES[space] = sys._getframe(1).f_globals

    def __getattr__(name: str) -> Any:
        raise AttributeError(explanation(space, name, there), name=name)

    return __getattr__


class _LeftOut:
    """A method of PyTorch's tensors that autokit leaves out: its error says what to use instead."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        said = explanation("torch.Tensor", self.name, pytorch_names()["torch.Tensor"])
        said = said.replace("torch.Tensor has no", "'Tensor' object has no attribute")
        raise AttributeError(said, name=self.name)


def explain_on(kind: type) -> None:
    """Let ``kind``, the class of tensors, explain each name of PyTorch's tensors that it does not have.

    ``__getattr__`` would do the same, but Python reads a class that has one much more slowly.
    """
    slips = [pattern.split("(")[1].strip(")").split("|") for pattern in _SLIPS if "Tensor" in pattern]
    names = pytorch_names()["torch.Tensor"].union(*slips)
    for name in [name for name in names if not hasattr(kind, name)]:
        setattr(kind, name, _LeftOut(name))

    def names_that_are_there(self: Any) -> list[str]:
        return [name for name in object.__dir__(self) if not isinstance(vars(kind).get(name), _LeftOut)]

    kind.__dir__ = names_that_are_there  # type: ignore[method-assign, assignment]


class _Finder:
    """The finder that Python asks last for a module: ``from autokit.nn import Liner`` raises an error too."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        module, _, last = name.rpartition(".")
        space = module.replace("autokit", "torch", 1)
        there = MODULES.get(space, {})
        # A tool that only looks for files, such as an editor, passes another path.
        if path is not None and path is there.get("__path__") and last not in there:
            said = explanation(space, last, there)
            if not said.endswith(f"has no '{last}'"):
                raise ImportError(said, name=name)


sys.meta_path.append(_Finder)  # type: ignore[arg-type]
