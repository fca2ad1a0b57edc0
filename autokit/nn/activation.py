"""Activation functions as modules; between linear layers they make the network more than a linear map."""

from __future__ import annotations

from typing import Any

from autokit.engine.tensor import Tensor
from autokit.nn import functional as F
from autokit.nn import init as initial
from autokit.nn.layer import FunctionLayer, empty_parameter
from autokit.nn.module import Module
from autokit.nn.parameter import Parameter

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


class ReLU(FunctionLayer):
    """``max(x, 0)``.

    >>> import autokit as torch
    >>> ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    function = staticmethod(F.relu)
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        """Apply to each element."""
        return F.relu(input, self.inplace)


class Tanh(FunctionLayer):
    """The hyperbolic tangent, from -1 to 1."""

    function = staticmethod(F.tanh)


class Sigmoid(FunctionLayer):
    """``1 / (1 + exp(-x))``, from 0 to 1."""

    function = staticmethod(F.sigmoid)


# ---------------------------------------------------------------- piecewise linear


class LeakyReLU(FunctionLayer):
    """``x`` where it is positive, else ``negative_slope · x``, so that no unit dies.

    >>> import autokit as torch
    >>> LeakyReLU(0.1)(torch.tensor([-1.0, 2.0]))
    tensor([-0.1000,  2.0000])
    """

    function = staticmethod(F.leaky_relu)
    negative_slope: float = 1e-2
    inplace: bool = False


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
        self.weight = empty_parameter(num_parameters, device=device, dtype=dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes to their first value."""
        initial.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Apply to each element."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """The setting, for the printed module."""
        return f"num_parameters={self.num_parameters}"


class Threshold(FunctionLayer):
    """``x`` where it is above ``threshold``, else ``value``."""

    function = staticmethod(F.threshold)
    threshold: float
    value: float
    inplace: bool = False


class Hardtanh(FunctionLayer):
    """``x``, but no lower than ``min_val`` and no higher than ``max_val``."""

    function = staticmethod(F.hardtanh)
    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False

    def check(self) -> None:
        """Raise unless the lower bound is below the upper one."""
        if not self.max_val > self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be larger than min_val ({self.min_val})")


class ReLU6(FunctionLayer):
    """``min(max(x, 0), 6)``."""

    function = staticmethod(F.relu6)
    inplace: bool = False


class Hardsigmoid(FunctionLayer):
    """Straight lines in place of a sigmoid: ``min(max(x + 3, 0), 6) / 6``."""

    function = staticmethod(F.hardsigmoid)
    text = ""
    inplace: bool = False


class Hardswish(FunctionLayer):
    """``x · hardsigmoid(x)``."""

    function = staticmethod(F.hardswish)
    text = ""
    inplace: bool = False


class Hardshrink(FunctionLayer):
    """``x``, but 0 from ``-lambd`` to ``lambd``."""

    function = staticmethod(F.hardshrink)
    text = "{lambd}"
    lambd: float = 0.5


class Softshrink(FunctionLayer):
    """``x`` moved towards 0 by ``lambd``, but not past it."""

    function = staticmethod(F.softshrink)
    text = "{lambd}"
    lambd: float = 0.5


# ---------------------------------------------------------------- smooth


class ELU(FunctionLayer):
    """``x`` where it is positive, else ``alpha · (exp(x) - 1)``."""

    function = staticmethod(F.elu)
    alpha: float = 1.0
    inplace: bool = False


class CELU(FunctionLayer):
    """``max(x, 0) + min(alpha · (exp(x / alpha) - 1), 0)``, which is smooth for every ``alpha``."""

    function = staticmethod(F.celu)
    alpha: float = 1.0
    inplace: bool = False


class SELU(FunctionLayer):
    """A scaled :class:`ELU` that keeps means at 0 and variances at 1 from layer to layer.

    References
    ----------
    G. Klambauer et al., "Self-Normalizing Neural Networks", NeurIPS 2017.
    """

    function = staticmethod(F.selu)
    inplace: bool = False


class SiLU(FunctionLayer):
    """``x · sigmoid(x)``, also called swish."""

    function = staticmethod(F.silu)
    inplace: bool = False


class Mish(FunctionLayer):
    """``x · tanh(softplus(x))``."""

    function = staticmethod(F.mish)
    inplace: bool = False


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

    function = staticmethod(F.gelu)
    text = "approximate={approximate!r}"
    approximate: str = "none"


class Softplus(FunctionLayer):
    """``log(1 + exp(beta · x)) / beta``, a smooth ReLU; ``x`` itself where ``beta · x > threshold``."""

    function = staticmethod(F.softplus)
    beta: float = 1.0
    threshold: float = 20.0


class Softsign(FunctionLayer):
    """``x / (1 + |x|)``."""

    function = staticmethod(F.softsign)


class Tanhshrink(FunctionLayer):
    """``x - tanh(x)``."""

    function = staticmethod(F.tanhshrink)


class LogSigmoid(FunctionLayer):
    """``log(sigmoid(x))``, in one step that cannot overflow."""

    function = staticmethod(F.logsigmoid)


# ---------------------------------------------------------------- of several elements together


class GLU(FunctionLayer):
    """The first half along ``dim`` times the sigmoid of the second half."""

    function = staticmethod(F.glu)
    dim: int = -1


class Softmax(FunctionLayer):
    """Positive numbers that sum to 1 along ``dim``.

    >>> import autokit as torch
    >>> Softmax(dim=0)(torch.tensor([0.0, 0.0]))
    tensor([0.5000, 0.5000])
    """

    function = staticmethod(F.softmax)
    dim: int | None = None


class LogSoftmax(FunctionLayer):
    """The logarithm of :class:`Softmax`."""

    function = staticmethod(F.log_softmax)
    dim: int | None = None


class Softmin(FunctionLayer):
    """:class:`Softmax` of ``-x``: the smallest element gets most."""

    function = staticmethod(F.softmin)
    dim: int | None = None
