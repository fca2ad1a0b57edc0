"""Dropout as modules: while training, random elements are set to 0, so that no unit relies on another."""

from __future__ import annotations

from autokit.engine.tensor import Tensor
from autokit.nn import functional as F
from autokit.nn.layer import FunctionLayer

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d"]


class _Dropout(FunctionLayer):
    text = "p={p}, inplace={inplace}"
    p: float = 0.5
    inplace: bool = False

    def check(self) -> None:
        """Raise unless ``p`` is a probability."""
        if not 0 <= self.p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")

    def forward(self, input: Tensor) -> Tensor:
        """Apply; the result is ``input`` itself while not training."""
        return self.function(input, self.p, self.training, self.inplace)


class Dropout(_Dropout):
    """While training, drop each element with probability ``p`` and enlarge the others; else do nothing.

    Raises
    ------
    ValueError
        If ``p`` is no probability.

    Examples
    --------
    >>> import autokit as torch
    >>> _ = torch.manual_seed(0)
    >>> layer = Dropout(0.5)
    >>> sorted(set(layer(torch.ones(20)).tolist())), layer.eval()(torch.ones(2))
    ([0.0, 2.0], tensor([1., 1.]))

    References
    ----------
    N. Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks
    from Overfitting", JMLR 15, 2014.
    """

    function = staticmethod(F.dropout)


class Dropout1d(_Dropout):
    """:class:`Dropout` of whole channels, of (N, C, L) or (C, L)."""

    function = staticmethod(F.dropout1d)


class Dropout2d(_Dropout):
    """:class:`Dropout` of whole channels, of (N, C, H, W)."""

    function = staticmethod(F.dropout2d)


class Dropout3d(_Dropout):
    """:class:`Dropout` of whole channels, of (N, C, D, H, W) or (C, D, H, W)."""

    function = staticmethod(F.dropout3d)


class AlphaDropout(_Dropout):
    """Dropout for :class:`~autokit.nn.SELU`: it keeps the mean and the variance."""

    function = staticmethod(F.alpha_dropout)
