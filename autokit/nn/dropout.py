"""Dropout: parts of what goes through are left out while training, so that no unit relies on another."""

from __future__ import annotations

from autokit.nn import functional
from autokit.nn.layer import FunctionLayer
from autokit.tensor import Tensor


class Dropout(FunctionLayer):
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

    function = staticmethod(functional.dropout)

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        super().__init__(p=p, inplace=inplace)

    def forward(self, input: Tensor) -> Tensor:
        """Apply; the result is ``input`` itself while not training."""
        return self.function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """The settings, for the printed module."""
        return f"p={self.p}, inplace={self.inplace}"


_DropoutNd = Dropout
"""PyTorch's name for the base of these."""


class Dropout1d(Dropout):
    """:class:`Dropout` of whole channels, of (N, C, L) or (C, L)."""

    function = staticmethod(functional.dropout1d)


class Dropout2d(Dropout):
    """:class:`Dropout` of whole channels, of (N, C, H, W)."""

    function = staticmethod(functional.dropout2d)


class Dropout3d(Dropout):
    """:class:`Dropout` of whole channels, of (N, C, D, H, W) or (C, D, H, W)."""

    function = staticmethod(functional.dropout3d)


class AlphaDropout(Dropout):
    """Dropout for :class:`~autokit.nn.SELU`: it keeps the mean and the variance."""

    function = staticmethod(functional.alpha_dropout)


class FeatureAlphaDropout(Dropout):
    """:class:`AlphaDropout` of whole channels."""

    function = staticmethod(functional.feature_alpha_dropout)
