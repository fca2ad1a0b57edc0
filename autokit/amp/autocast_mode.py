"""Autocasting: inside ``with autocast(...):`` products compute in float16, sums and losses in float32.

Half precision is fast and takes little memory, but sums of many numbers, exponentials and losses lose too
much in it. So each operation gets its operands in the dtype that suits it. The parameters stay in float32,
and so do their gradients.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from functools import wraps
from threading import get_ident
from typing import Any

from autokit.base import dtypes
from autokit.base.devices import device
from autokit.cuda import is_available
from autokit.engine.detours import DETOURS, Detour
from autokit.engine.tensor import Tensor

_HALF = "bmm convolution convolution_by_weight dot einsum gru linear lstm matmul mm mv rnn"
HALF = {*_HALF.split(), "transposed_convolution"}
"""The operations that compute in half precision: matrix products, and operations that consist of them."""

_SINGLE = """
    binary_cross_entropy binary_cross_entropy_with_logits cholesky cumprod cumsum det eig eigh
    erfinv euclidean_distances exp expm1 inv layer_norm linalg_vector_norm log log10 log1p log2 log_softmax
    logcumsumexp logsumexp mean mse_loss nansum nll_loss pinv pow prod qr reciprocal rsqrt slogdet softmax
    softplus solve solve_triangular std sum svd var
"""
SINGLE = set(_SINGLE.split())
"""The operations that compute in float32. All others compute in the dtype in which their operands meet."""


class autocast(Detour):
    """Let operations choose the dtype they compute in: as a ``with`` block or as a decorator.

    Parameters
    ----------
    device_type : {"cpu", "cuda"}
        Where the operations that are meant compute.
    dtype : dtype, optional
        The lower precision: float16. For bfloat16 it is float16 too, with a warning.
    enabled : bool
        False turns autocasting off inside the block.

    Warns
    -----
    UserWarning
        If there is no GPU, so that nothing is cast; or if the dtype is bfloat16.

    Notes
    -----
    The backward pass belongs outside of the block; each of its steps computes in the dtype of its step
    forward. Gradients below 6e-8 vanish in float16: see :class:`GradScaler` [1]_.

    References
    ----------
    .. [1] P. Micikevicius et al., "Mixed precision training", ICLR, 2018.

    Examples
    --------
    >>> import autokit as torch
    >>> a = torch.ones(2, 2)
    >>> with torch.autocast("cpu", dtype=torch.float16):
    ...     product = a @ a
    ...     print(product.dtype, torch.nn.functional.mse_loss(product, a).dtype)
    torch.float16 torch.float32
    """

    def __init__(self, device_type: str, dtype: dtypes.dtype | None = None, enabled: bool = True) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"autocast: device_type is 'cpu' or 'cuda', not {type(device_type).__name__}")
        self.device = device(device_type).type
        self.enabled = enabled
        self.dtype = dtypes.BY_NAME["float16"]
        if enabled and self.device == "cuda" and not is_available():
            warnings.warn("autocast: there is no GPU, so nothing is cast", stacklevel=2)
            self.enabled = False
        elif enabled and dtype is not None and dtype.name == "bfloat16":
            warnings.warn("autocast computes in float16: autokit has no bfloat16", stacklevel=2)
        elif enabled and dtype is not None and dtype.name != "float16":
            warnings.warn(f"autocast casts to float16 alone, not to {dtype}: nothing is cast", stacklevel=2)
            self.enabled = False

    def apply(
        self, operation: Any, operands: tuple[Any, ...], settings: dict[str, Any], proceed: Callable[..., Any]
    ) -> Any:
        """Compute ``operation`` with its operands cast, if this is the innermost autocast of its device."""
        if not self.enabled or innermost(self.device) is not self:
            return proceed(operands, settings)
        if operation.name in HALF:
            return proceed(self._cast(operands, self.dtype), settings)
        if operation.name in SINGLE:
            return proceed(self._cast(operands, dtypes.BY_NAME["float32"]), settings)
        return proceed(operands, settings)

    def _cast(self, operands: tuple[Any, ...], dtype: dtypes.dtype) -> tuple[Any, ...]:
        return tuple(
            [
                each.to(dtype)
                if isinstance(each, Tensor)
                and each.array.dtype.char in "ef"
                and each.device.type == self.device
                else each
                for each in operands
            ]
        )

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(function):
            raise TypeError("autocast decorates a function; write `with autocast(...):` around lines")

        @wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with copy(self):  # one for each call, as several threads may call at once
                return function(*args, **kwargs)

        return inside


def innermost(device_type: str) -> autocast | None:
    """The innermost autocast of this thread and this type of device."""
    me = get_ident()
    for detour in reversed(DETOURS):
        if isinstance(detour, autocast) and detour.thread == me and detour.device == device_type:
            return detour
    return None


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocasting is at work on this type of device."""
    found = innermost(device(device_type).type)
    return found is not None and found.enabled
