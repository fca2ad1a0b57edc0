"""What training needs beside layers: sequences of different lengths."""

from autokit.nn.utils import rnn

__all__ = ["rnn"]
