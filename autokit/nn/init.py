"""Initial values of parameters: each function overwrites a tensor and returns it.

Random values come from the default generator, so the same seed gives the same network.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from autokit.base.devices import beside, to_numpy
from autokit.base.generator import Generator, generator_for
from autokit.base.missing import absent
from autokit.engine.inplace import mark_changed
from autokit.engine.modes import no_grad
from autokit.engine.tensor import Tensor
from autokit.ops.create import empty

__getattr__ = absent("torch.nn.init")

_GAINS = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
_LINEAR = ["linear", "identity", "sigmoid", "conv1d", "conv2d", "conv3d"]
_LINEAR += ["conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps the variance of a signal through this activation.

    >>> calculate_gain("leaky_relu", 0.2)
    1.3867504905630728
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity not in _GAINS:
        there = ", ".join(("leaky_relu", *_GAINS, *_LINEAR))
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}: there are {there}")
    return _GAINS[nonlinearity]


# ---------------------------------------------------------------- the same everywhere, or a pattern


def _fill(tensor: Tensor, values: Any) -> Tensor:
    """Overwrite without recording: a first value has no history."""
    tensor.array[...] = beside(values, tensor.array)
    mark_changed(tensor)
    return tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """``val`` everywhere."""
    return _fill(tensor, np.asarray(val))


def ones_(tensor: Tensor) -> Tensor:
    """1 everywhere."""
    return _fill(tensor, np.asarray(1))


def zeros_(tensor: Tensor) -> Tensor:
    """0 everywhere."""
    return _fill(tensor, np.asarray(0))


def eye_(tensor: Tensor) -> Tensor:
    """1 on the diagonal of a matrix, 0 elsewhere."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _fill(tensor, np.eye(*tensor.shape))


# ---------------------------------------------------------------- drawn


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform numbers from ``a`` to ``b``."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Normal numbers."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Numbers from the part of a normal distribution that lies between ``a`` and ``b``.

    Where that part is large, numbers outside of it are drawn again.  Where it is small, uniform numbers from
    ``a`` to ``b`` are proposed and accepted with a probability that is their density over the highest one.
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
            "incorrect.",
            stacklevel=2,
        )

    def below(x: float) -> float:
        return (1 + math.erf((x - mean) / std / math.sqrt(2))) / 2

    def draw(distribution: Callable[..., Tensor], *settings: float) -> Any:
        return distribution(empty(*tensor.shape, dtype=tensor.dtype), *settings, generator=generator).array

    by_normal = below(b) - below(a) > 0.3
    highest = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    values = to_numpy(tensor.array)
    rejected = np.ones(values.shape, bool)
    while rejected.any():
        proposed = draw(normal_, mean, std) if by_normal else draw(uniform_, a, b)
        values = np.where(rejected, proposed, values)
        if by_normal:
            rejected = (values < a) | (values > b)
        else:
            density = -0.5 * ((proposed - mean) / std) ** 2 - highest
            with np.errstate(divide="ignore"):
                rejected &= np.log(draw(uniform_)) > density
    return _fill(tensor, values)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform numbers with the variance 2 / (inputs + outputs) times ``gain`` squared.

    References
    ----------
    X. Glorot and Y. Bengio, "Understanding the difficulty of training deep
    feedforward neural networks", AISTATS 2010.
    """
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / sum(_fans(tensor))))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal numbers with the variance of :func:`xavier_uniform_`."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_fans(tensor))), generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform numbers with the variance that keeps a signal's size through layers of this activation.

    Parameters
    ----------
    a : float
        The slope of a leaky ReLU below 0.
    mode : str
        ``"fan_in"`` keeps the size of the values, ``"fan_out"`` the size of the gradients.
    nonlinearity : str
        See :func:`calculate_gain`.

    References
    ----------
    K. He, X. Zhang, S. Ren and J. Sun, "Delving Deep into Rectifiers", ICCV 2015.
    """
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers with the variance of :func:`kaiming_uniform_`."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Rows, or columns where there are fewer, that are at right angles and of length ``gain``.

    More dimensions than two count as one.

    References
    ----------
    A. Saxe, J. McClelland and S. Ganguli, "Exact solutions to the nonlinear dynamics of learning in deep
    linear neural networks", ICLR 2014.
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    rows, columns = tensor.shape[0], math.prod(tensor.shape[1:])
    source = generator or generator_for(tensor.device)
    drawn = source.normal((rows, columns), tensor.array.dtype)
    q, r = np.linalg.qr(drawn.T if rows < columns else drawn)
    q = q * np.sign(np.diagonal(r))  # so that the matrix is uniform among all orthogonal ones
    return _fill(tensor, gain * (q.T if rows < columns else q).reshape(tensor.shape))


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fans = dict(zip(("fan_in", "fan_out"), _fans(tensor)))
    if mode.lower() not in fans:
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    if not tensor.numel():
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return 0.0
    return calculate_gain(nonlinearity, a) / math.sqrt(fans[mode.lower()])


def _fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs each output is computed from, and how many outputs each input goes to."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    outputs, inputs, *window = tensor.shape
    return inputs * math.prod(window), outputs * math.prod(window)


_calculate_fan_in_and_fan_out = _fans


# ---------------------------------------------------------------- older names


def _older(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """``function`` under its older name, without the underscore."""
    name = function.__name__

    @wraps(function)
    def apply(*arguments: Any, **settings: Any) -> Tensor:
        warnings.warn(
            f"`nn.init.{name[:-1]}` is now deprecated in favor of `nn.init.{name}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*arguments, **settings)

    return apply


uniform = _older(uniform_)
normal = _older(normal_)
constant = _older(constant_)
eye = _older(eye_)
xavier_uniform = _older(xavier_uniform_)
xavier_normal = _older(xavier_normal_)
kaiming_uniform = _older(kaiming_uniform_)
kaiming_normal = _older(kaiming_normal_)
orthogonal = _older(orthogonal_)
