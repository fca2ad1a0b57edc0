"""Activations: what makes a network more than one linear layer."""

from __future__ import annotations

import warnings
from typing import Any

from autokit.nn import functional, init
from autokit.nn.functional.activation import relu
from autokit.nn.layer import FunctionLayer, unset
from autokit.nn.module import Module
from autokit.nn.parameter import Parameter
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
        return relu(input, self.inplace)

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


# ---------------------------------------------------------------- bent at 0


class LeakyReLU(FunctionLayer):
    """``x`` where it is positive, else ``negative_slope · x``, so that no unit dies.

    >>> import autokit as torch
    >>> LeakyReLU(0.1)(torch.tensor([-1.0, 2.0]))
    tensor([-0.1000,  2.0000])
    """

    function = staticmethod(functional.leaky_relu)

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__(negative_slope=negative_slope, inplace=inplace)


class PReLU(Module):
    """:class:`LeakyReLU` whose slope is learned: one for all, or one for each channel.

    Parameters
    ----------
    num_parameters : int
        1, or the number of channels (dimension 1 of the input).
    init : float
        The first slope.
    device, dtype : optional
        Of the parameter.

    References
    ----------
    K. He et al., "Delving Deep into Rectifiers", ICCV 2015.
    """

    weight: Parameter

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = unset((num_parameters,), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes to their first value."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Apply to each element."""
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """The setting, for the printed module."""
        return f"num_parameters={self.num_parameters}"


class RReLU(FunctionLayer):
    """:class:`LeakyReLU` whose slopes are drawn anew in training, between ``lower`` and ``upper``."""

    function = staticmethod(functional.rrelu)
    shown = ("lower", "upper", "inplace")

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__(lower=lower, upper=upper, inplace=inplace)

    def forward(self, input: Tensor) -> Tensor:
        """Apply to each element; while not training, with the middle slope."""
        return functional.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class Threshold(FunctionLayer):
    """``x`` where it is above ``threshold``, else ``value``."""

    function = staticmethod(functional.threshold)

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(threshold=threshold, value=value, inplace=inplace)


class Hardtanh(FunctionLayer):
    """``x``, but no lower than ``min_val`` and no higher than ``max_val``."""

    function = staticmethod(functional.hardtanh)

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        for older, given in (("min", min_value), ("max", max_value)):
            if given is not None:
                warnings.warn(
                    f"keyword argument `{older}_value` is deprecated and renamed to `{older}_val`",
                    FutureWarning,
                    stacklevel=2,
                )
        min_val = min_val if min_value is None else min_value
        max_val = max_val if max_value is None else max_value
        if not max_val > min_val:
            raise AssertionError(f"max_val ({max_val}) must be larger than min_val ({min_val})")
        super().__init__(min_val=min_val, max_val=max_val, inplace=inplace)


class ReLU6(Hardtanh):
    """``min(max(x, 0), 6)``."""

    shown = ("inplace",)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class Hardsigmoid(FunctionLayer):
    """Straight lines in place of a sigmoid: ``min(max(x + 3, 0), 6) / 6``."""

    function = staticmethod(functional.hardsigmoid)
    shown = ()

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class Hardswish(Hardsigmoid):
    """``x · hardsigmoid(x)``."""

    function = staticmethod(functional.hardswish)


class Hardshrink(FunctionLayer):
    """``x``, but 0 from ``-lambd`` to ``lambd``."""

    function = staticmethod(functional.hardshrink)

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(lambd=lambd)

    def extra_repr(self) -> str:
        """The setting, for the printed module."""
        return f"{self.lambd}"


class Softshrink(Hardshrink):
    """``x`` moved towards 0 by ``lambd``, but not past it."""

    function = staticmethod(functional.softshrink)


# ---------------------------------------------------------------- smooth


class ELU(FunctionLayer):
    """``x`` where it is positive, else ``alpha · (exp(x) - 1)``."""

    function = staticmethod(functional.elu)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(alpha=alpha, inplace=inplace)


class CELU(ELU):
    """``max(x, 0) + min(alpha · (exp(x / alpha) - 1), 0)``, which is smooth for every ``alpha``."""

    function = staticmethod(functional.celu)


class SELU(FunctionLayer):
    """A scaled :class:`ELU` that keeps means at 0 and variances at 1 from layer to layer.

    References
    ----------
    G. Klambauer et al., "Self-Normalizing Neural Networks", NeurIPS 2017.
    """

    function = staticmethod(functional.selu)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class SiLU(SELU):
    """``x · sigmoid(x)``, also called swish."""

    function = staticmethod(functional.silu)


class Mish(SELU):
    """``x · tanh(softplus(x))``."""

    function = staticmethod(functional.mish)


class GELU(FunctionLayer):
    """``x`` times the probability that a normal variable is below it.

    Parameters
    ----------
    approximate : str
        ``"none"``, or ``"tanh"`` for a formula that needs no error function.

    References
    ----------
    D. Hendrycks and K. Gimpel, "Gaussian Error Linear Units", 2016.
    """

    function = staticmethod(functional.gelu)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__(approximate=approximate)

    def extra_repr(self) -> str:
        """The setting, for the printed module."""
        return f"approximate={self.approximate!r}"


class Softplus(FunctionLayer):
    """``log(1 + exp(beta · x)) / beta``, a smooth ReLU; ``x`` itself where ``beta · x > threshold``."""

    function = staticmethod(functional.softplus)

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__(beta=beta, threshold=threshold)


class Softsign(FunctionLayer):
    """``x / (1 + |x|)``."""

    function = staticmethod(functional.softsign)


class Tanhshrink(FunctionLayer):
    """``x - tanh(x)``."""

    function = staticmethod(functional.tanhshrink)


class LogSigmoid(FunctionLayer):
    """``log(sigmoid(x))``, in one step that cannot overflow."""

    function = staticmethod(functional.logsigmoid)


# ---------------------------------------------------------------- of several elements together


class GLU(FunctionLayer):
    """The first half along ``dim``, each element let through by the sigmoid of its partner in the second."""

    function = staticmethod(functional.glu)

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim=dim)


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


class Softmin(Softmax):
    """:class:`Softmax` of ``-x``: the smallest element gets most."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply along ``dim``."""
        return functional.softmin(input, self.dim)


class Softmax2d(Module):
    """:class:`Softmax` over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply along the channels."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return functional.softmax(input, -3)
