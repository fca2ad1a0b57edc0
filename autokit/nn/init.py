"""First values of parameters: each function overwrites a tensor and returns it.

Random ones draw from the default generator, as PyTorch's do: the same seed
gives the same network.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from autokit import random
from autokit.ops.inplace import mark_changed
from autokit.tensor import Tensor

_GAINS = {
    "linear": 1.0,
    "identity": 1.0,
    "sigmoid": 1.0,
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
    **{f"conv{dims}": 1.0 for dims in ("1d", "2d", "3d")},
    **{f"conv_transpose{dims}": 1.0 for dims in ("1d", "2d", "3d")},
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps the variance of a signal through this activation.

    >>> calculate_gain("leaky_relu", 0.2)
    1.3867504905630728
    """
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        raise ValueError(
            f"Unsupported nonlinearity {nonlinearity}: there are leaky_relu, {', '.join(_GAINS)}"
        )
    return _GAINS[nonlinearity]


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: random.Generator | None = None
) -> Tensor:
    """Evenly between ``a`` and ``b``."""
    array = tensor.array
    return _fill(tensor, (generator or random.default_generator).uniform(array.shape, array.dtype, a, b))


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: random.Generator | None = None
) -> Tensor:
    """From the normal distribution."""
    array = tensor.array
    return _fill(tensor, (generator or random.default_generator).normal(array.shape, array.dtype, mean, std))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """``val`` everywhere."""
    return _fill(tensor, val)


def ones_(tensor: Tensor) -> Tensor:
    """1 everywhere."""
    return _fill(tensor, 1)


def zeros_(tensor: Tensor) -> Tensor:
    """0 everywhere."""
    return _fill(tensor, 0)


def eye_(tensor: Tensor) -> Tensor:
    """1 on the diagonal of a matrix, 0 elsewhere."""
    if tensor.array.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _fill(tensor, np.eye(*tensor.array.shape))


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: random.Generator | None = None) -> Tensor:
    """Evenly, with the variance 2 / (inputs + outputs) times ``gain`` squared.

    References
    ----------
    X. Glorot and Y. Bengio, "Understanding the difficulty of training deep
    feedforward neural networks", AISTATS 2010.
    """
    fan_in, fan_out = _fans(tensor)
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / (fan_in + fan_out))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: random.Generator | None = None) -> Tensor:
    """From the normal distribution, with the variance of :func:`xavier_uniform_`."""
    fan_in, fan_out = _fans(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / (fan_in + fan_out)), generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: random.Generator | None = None,
) -> Tensor:
    """Evenly, with the variance that keeps a signal's size through layers of this activation.

    Parameters
    ----------
    a : float
        The slope of a leaky ReLU below 0.
    mode : str
        ``"fan_in"`` keeps the size on the way forward, ``"fan_out"`` on the way back.
    nonlinearity : str
        See :func:`calculate_gain`.

    References
    ----------
    K. He, X. Zhang, S. Ren and J. Sun, "Delving Deep into Rectifiers", ICCV 2015.
    """
    if not tensor.array.size:
        return _nothing_to_fill(tensor)
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: random.Generator | None = None,
) -> Tensor:
    """From the normal distribution, with the variance of :func:`kaiming_uniform_`."""
    if not tensor.array.size:
        return _nothing_to_fill(tensor)
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fans = dict(zip(("fan_in", "fan_out"), _fans(tensor), strict=True))
    if mode.lower() not in fans:
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return calculate_gain(nonlinearity, a) / math.sqrt(fans[mode.lower()])


def _nothing_to_fill(tensor: Tensor) -> Tensor:
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return tensor


def _fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs each output is made from, and how many outputs each input goes to."""
    shape = tensor.array.shape
    if len(shape) < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    receptive_field = math.prod(shape[2:])
    return shape[1] * receptive_field, shape[0] * receptive_field


_calculate_fan_in_and_fan_out = _fans


def _fill(tensor: Tensor, values: Any) -> Tensor:
    """Overwrite without recording: a first value has no history."""
    tensor.array[...] = values
    mark_changed(tensor)
    return tensor
