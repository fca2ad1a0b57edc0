"""The version, in the one place that the package and its build both read."""

__version__ = "0.1.0"

PYTORCH = "2.13.0"
"""The PyTorch whose answers are given; ``torch.__version__`` begins with it."""

cuda: str | None = None
"""The CUDA that PyTorch is built with: autokit is built with none, and uses what CuPy brings."""

hip: str | None = None
git_version = ""
