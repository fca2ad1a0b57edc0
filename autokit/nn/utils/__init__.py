"""What training needs beside layers: sequences of different lengths."""

from autokit.missing import names_of
from autokit.nn.utils import rnn

__getattr__ = names_of("torch.nn.utils")

__all__ = ["rnn"]
