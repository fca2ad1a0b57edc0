"""Fractional max pooling as modules: windows that chance lays out anew in each pass."""

from __future__ import annotations

from typing import Any

from autokit.nn import functional
from autokit.nn.layer import per_dimension
from autokit.nn.module import Module
from autokit.tensor import Tensor


class _FractionalMaxPool(Module):
    ndim: int
    _random_samples: Tensor | None

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = per_dimension(kernel_size, self.ndim)
        if self.ndim == 3 and not all(width > 0 for width in self.kernel_size):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        name = type(self).__name__
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        self.output_size = None if output_size is None else per_dimension(output_size, self.ndim)
        ratio = (output_ratio,) * self.ndim if isinstance(output_ratio, float) else output_ratio
        self.output_ratio = None if ratio is None else per_dimension(ratio, self.ndim)
        if self.output_ratio is not None and not all(0 < each < 1 for each in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        """The pooled input, and where its elements stood if ``return_indices``."""
        function = getattr(functional, f"fractional_max_pool{self.ndim}d")
        settings = self.kernel_size, self.output_size, self.output_ratio, self.return_indices
        return function(input, *settings, _random_samples=self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest elements of windows that chance lays out over images.

    Parameters
    ----------
    kernel_size : int or (int, int)
        Height and width of the window.
    output_size : int or (int, int), optional
        How many windows there are; or
    output_ratio : float or (float, float), optional
        how large the result is, between 0 and 1, beside the input.
    return_indices : bool
        Give back also where in the plane each element stood.

    Examples
    --------
    >>> import autokit as torch
    >>> FractionalMaxPool2d(2, output_size=(5, 4))(torch.rand(1, 3, 9, 9)).shape
    torch.Size([1, 3, 5, 4])

    References
    ----------
    B. Graham, "Fractional Max-Pooling", arXiv:1412.6071, 2014.
    """

    ndim = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest elements of windows that chance lays out over volumes; see :class:`FractionalMaxPool2d`."""

    ndim = 3
