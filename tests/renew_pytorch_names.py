"""Write autokit/pytorch_names.txt anew, from the PyTorch that is installed.

python -m tests.renew_pytorch_names
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import Any

FILE = Path(__file__).parent.parent / "autokit" / "pytorch_names.txt"

MODULES = """
    torch torch.accelerator torch.amp torch.autograd torch.autograd.forward_ad torch.autograd.function
    torch.autograd.functional torch.autograd.grad_mode torch.autograd.gradcheck torch.autograd.graph
    torch.autograd.variable torch.backends torch.backends.cuda torch.backends.cudnn torch.backends.mps
    torch.cpu torch.cuda torch.distributions torch.fft torch.func torch.hub torch.jit torch.linalg
    torch.masked torch.mps torch.nn torch.nn.attention torch.nn.attention.bias
    torch.nn.attention.flex_attention
    torch.nn.functional torch.nn.init torch.nn.utils torch.nn.utils.parametrizations
    torch.nn.utils.parametrize torch.nn.utils.prune torch.nn.utils.rnn torch.nn.utils.stateless torch.optim
    torch.optim.lr_scheduler torch.optim.swa_utils torch.random torch.signal.windows torch.sparse
    torch.special torch.testing torch.utils torch.utils.checkpoint torch.utils.data
""".split()  # noqa: SIM905
"""The modules whose names are written down."""

CLASSES = ("torch.Tensor", "torch.nn.Module", "torch.optim.Optimizer", "torch.Generator")


def text() -> str:
    """The file's whole text: a line for each module and class, its name first."""
    import torch

    lines = [f"{name}: {' '.join(names_of_module(importlib.import_module(name)))}" for name in MODULES]
    for path in CLASSES:
        module, _, name = path.rpartition(".")
        kind = getattr(importlib.import_module(module), name)
        lines.append(f"{path}: {' '.join(each for each in sorted(dir(kind)) if not each.startswith('_'))}")
    version = torch.__version__.split("+")[0]
    return (
        f"# The public names of PyTorch {version}, by module and class.\n" + "\n".join(sorted(lines)) + "\n"
    )


def names_of_module(module: ModuleType) -> list[str]:
    """What a program may ask of ``module``: neither what it imports for itself nor its private parts."""
    said = getattr(module, "__all__", ())
    names = {name for name in dir(module) if name in said or is_own(module, name, getattr(module, name))}
    if module.__name__ == "torch":
        names = {name for name in names if not is_of_the_compiler(name)}
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if found.ispkg or f"{module.__name__}.{found.name}" in MODULES:
            names.add(found.name)
    names.discard("tqdm")  # which torch.hub has where that package is installed
    return sorted(name for name in names if not name.startswith("_"))


def is_own(module: ModuleType, name: str, value: Any) -> bool:
    """Whether ``module`` does not merely import ``value``; packages are found otherwise."""
    import torch

    origin = getattr(value, "__module__", None)
    if isinstance(value, type) and module is not torch and getattr(torch, name, None) is value:
        return False
    kinds = (torch.dtype, torch.layout, torch.memory_format)
    return isinstance(value, kinds) or (
        not inspect.ismodule(value) and isinstance(origin, str) and origin.startswith("torch")
    )


def is_of_the_compiler(name: str) -> bool:
    """Whether it is a class of PyTorch's insides in C++, most of them of its compiler."""
    import torch

    public = {"Event", "Generator", "Size", "Stream"}
    return name[0].isupper() and name not in public and hasattr(torch._C, name)


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
