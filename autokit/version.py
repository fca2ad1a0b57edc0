"""The version, in the one place that the package and its build both read."""

__version__ = "0.1.0"

cuda: str | None = None
"""The CUDA that PyTorch is built with: autokit is built with none, and uses what CuPy brings."""

hip: str | None = None
git_version = ""
