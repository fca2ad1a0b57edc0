"""First values of parameters: each function overwrites a tensor and returns it.

Random ones draw from the default generator, as PyTorch's do: the same seed
gives the same network.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from autokit import random
from autokit.autograd import no_grad
from autokit.current_gpu import computing_beside
from autokit.devices import beside, to_numpy
from autokit.missing import names_of
from autokit.ops.filled import number
from autokit.ops.inplace import fill_, mark_changed
from autokit.ops.sampling import like_in_memory
from autokit.tensor import Tensor, new_tensor

__getattr__ = names_of("torch.nn.init")

_GAINS = {
    "linear": 1,
    "identity": 1,
    "sigmoid": 1,
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
    **{f"conv{dims}": 1 for dims in ("1d", "2d", "3d")},
    **{f"conv_transpose{dims}": 1 for dims in ("1d", "2d", "3d")},
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps the variance of a signal through this activation.

    >>> calculate_gain("leaky_relu", 0.2)
    1.3867504905630728
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, int | float):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(
            f"Unsupported nonlinearity {nonlinearity}: there are leaky_relu, {', '.join(_GAINS)}"
        )
    return _GAINS[nonlinearity]


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: random.Generator | None = None
) -> Tensor:
    """Evenly between ``a`` and ``b``."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: random.Generator | None = None
) -> Tensor:
    """From the normal distribution."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: random.Generator | None = None,
) -> Tensor:
    """From the part of a normal distribution that lies between ``a`` and ``b``.

    Where that part is large, what falls outside is drawn again.  Where it is small, even numbers from
    ``a`` to ``b`` are proposed, each accepted with the probability that its density has of the highest;
    in half precision PyTorch may judge a few of them otherwise.
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
            "incorrect.",
            stacklevel=2,
        )
    if tensor.is_meta:
        return tensor

    def below(x: float) -> float:
        return (1 + math.erf((x - mean) / std / math.sqrt(2))) / 2

    by_normal = below(b) - below(a) > 0.3
    values = to_numpy(tensor.array)
    number = values.dtype.type
    result, rejected = values, np.ones(values.shape, bool)
    highest = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2

    def draw() -> Tensor:
        return new_tensor(like_in_memory(values, values.dtype))

    while True:
        if by_normal:
            proposed = normal_(draw(), mean, std, generator).array
            result = np.where(rejected, proposed, result)
            rejected = (result < number(a)) | (result > number(b))
        else:
            proposed = uniform_(draw(), a, b, generator).array
            result = np.where(rejected, proposed, result)
            density = ((proposed - number(mean)) / number(std)) ** 2 * number(-0.5) - number(highest)
            with np.errstate(divide="ignore"):
                chance = np.log(uniform_(draw(), generator=generator).array)
            rejected &= chance > density
        if not rejected.any():
            return _fill(tensor, beside(tensor.array, result))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """``val`` everywhere."""
    with no_grad():
        return fill_(tensor, val)


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
    return _fill(tensor, beside(tensor.array, np.eye(*tensor.array.shape)))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """The weight of a convolution that hands its channels on unchanged, within each of the ``groups``."""
    shape = tensor.array.shape
    if len(shape) not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    values = np.zeros(shape, tensor.array.dtype)
    each = shape[0] // groups
    centre = tuple(size // 2 for size in shape[2:])
    for group in range(groups):
        for channel in range(min(each, shape[1])):
            values[group * each + channel, channel, *centre] = 1
    return _fill(tensor, beside(tensor.array, values))


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: random.Generator | None = None) -> Tensor:
    """Evenly, with the variance 2 / (inputs + outputs) times ``gain`` squared.

    References
    ----------
    X. Glorot and Y. Bengio, "Understanding the difficulty of training deep
    feedforward neural networks", AISTATS 2010.
    """
    fan_in, fan_out = _fans(tensor)
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / (fan_in + fan_out)))
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


def orthogonal_(tensor: Tensor, gain: float = 1, generator: random.Generator | None = None) -> Tensor:
    """Rows, or columns where there are fewer, that are at right angles and of length ``gain``.

    More dimensions than two count as one.  The signs are PyTorch's; the numbers agree with its to rounding,
    as they come from another QR factorization.

    References
    ----------
    A. Saxe, J. McClelland and S. Ganguli, "Exact solutions to the nonlinear dynamics of learning in deep
    linear neural networks", ICLR 2014.
    """
    shape = tensor.array.shape
    if len(shape) < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.array.size:
        return tensor
    gain = number(gain, "orthogonal_", "gain", 2)
    rows, columns = shape[0], math.prod(shape[1:])
    drawn = (generator or random.generator_for(tensor.array)).normal((rows, columns), tensor.array.dtype)
    q, r = np.linalg.qr(drawn.T if rows < columns else drawn)
    q = q * np.sign(np.diagonal(r))
    values = (q.T if rows < columns else q).reshape(shape) * q.dtype.type(gain)
    return _fill(tensor, beside(tensor.array, values))


def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: random.Generator | None = None
) -> Tensor:
    """From the normal distribution, but this fraction of each column, rounded up, 0.

    As in PyTorch the default generator chooses the zeros, whatever ``generator`` is.

    References
    ----------
    J. Martens, "Deep learning via Hessian-free optimization", ICML 2010.
    """
    if tensor.array.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    normal_(tensor, 0, std, generator)
    rows, columns = tensor.array.shape
    zeros = math.ceil(sparsity * rows)
    kept = np.ones((rows, columns), bool)
    for column in range(columns):
        kept[random.default_generator.permutation(rows)[:zeros], column] = False
    array = tensor.array
    return _fill(tensor, np.where(beside(array, kept), array, array.dtype.type(0)))


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


def _deprecated(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """``function`` under its old name, without the underscore."""
    name = function.__name__
    old_name = name[:-1]

    @wraps(function)
    def apply(*arguments: Any, **settings: Any) -> Tensor:
        warnings.warn(
            f"`nn.init.{old_name}` is now deprecated in favor of `nn.init.{name}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*arguments, **settings)

    apply.__name__ = apply.__qualname__ = old_name
    apply.__doc__ = f"The old name of :func:`{name}`."
    return apply


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)


def _fill(tensor: Tensor, values: Any) -> Tensor:
    """Overwrite without recording: a first value has no history."""
    tensor.numel()  # which a lazy layer's parameter refuses: it has no values yet that could be set
    with computing_beside(tensor.array):
        tensor.array[...] = values
    mark_changed(tensor)
    return tensor
