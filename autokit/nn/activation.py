"""Activations: what makes a network more than one linear layer."""

from __future__ import annotations

from autokit.nn import functional
from autokit.nn.module import Module
from autokit.tensor import Tensor


class ReLU(Module):
    """``max(x, 0)``.

    >>> import autokit as torch
    >>> ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply to each element."""
        return functional.relu(input, self.inplace)

    def extra_repr(self) -> str:
        """The setting, for the printed module."""
        return "inplace=True" if self.inplace else ""


class Tanh(Module):
    """The hyperbolic tangent, from -1 to 1."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply to each element."""
        return functional.tanh(input)


class Sigmoid(Module):
    """``1 / (1 + exp(-x))``, from 0 to 1."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply to each element."""
        return functional.sigmoid(input)


class Softmax(Module):
    """Positive numbers that sum to 1 along ``dim``.

    >>> import autokit as torch
    >>> Softmax(dim=0)(torch.tensor([0.0, 0.0]))
    tensor([0.5000, 0.5000])
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply along ``dim``."""
        return functional.softmax(input, self.dim)

    def extra_repr(self) -> str:
        """The setting, for the printed module."""
        return f"dim={self.dim}"


class LogSoftmax(Softmax):
    """The logarithm of :class:`Softmax`."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply along ``dim``."""
        return functional.log_softmax(input, self.dim)


class Dropout(Module):
    """While training, drop each element with probability ``p`` and enlarge the others; else do nothing.

    Raises
    ------
    ValueError
        If ``p`` is no probability.

    References
    ----------
    N. Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks
    from Overfitting", JMLR 15, 2014.
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply to each element."""
        return functional.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """The settings, for the printed module."""
        return f"p={self.p}, inplace={self.inplace}"
