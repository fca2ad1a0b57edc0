"""Autocasting: inside of ``with autocast(...):`` products in half precision, what needs it in float32.

Which operations are cast, and how, stands in :mod:`autokit.ops.autocast`; here is what turns it on.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from autokit import cuda, dtypes
from autokit.devices import device as _device
from autokit.ops.autocast import WAYS, Region
from autokit.shown import by_type
from autokit.tensor import Tensor
from autokit.thread_state import thread

_DEFAULT = {"cpu": "bfloat16", "cuda": "float16"}
_chosen: dict[str, dtypes.dtype] = {}
"""The lower precision of each type of device, where a program has set another one."""
_caching = [True]


def _known(device_type: Any) -> str:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    return _device(device_type).type


def _require_name(function: str, device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise TypeError(
            f"{function}(): argument 'device_type' (position 1) must be str, not {type(device_type).__name__}"
        )


class autocast:
    """Let operations choose the dtype they compute in: as a ``with`` block or as a decorator.

    Products of matrices and convolutions take their operands in half precision, where they are fastest;
    losses, powers and sums of many numbers take them in float32, where they stay exact; the others as
    they come.  Parameters stay in float32, and their gradients come out in float32.

    Parameters
    ----------
    device_type : {"cpu", "cuda"}
        Where the operations that are meant compute.
    dtype : dtype, optional
        The lower precision, float16 or bfloat16; by default bfloat16 on the CPU and float16 on a GPU.
    enabled : bool
        False turns autocasting off inside the block.
    cache_enabled : bool, optional
        Whether a parameter is cast once for all its uses in the block.

    Warns
    -----
    UserWarning
        If there is no GPU, or the dtype is no half precision; then nothing is cast.

    Notes
    -----
    The backward pass belongs outside of the block; each of its steps computes in the dtype of its
    step forward.  Gradients below 6e-8 vanish in float16: see :class:`GradScaler` [1]_.

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

    __repr__ = by_type

    def __init__(
        self,
        device_type: str,
        dtype: dtypes.dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        self.device = _known(device_type)
        if dtype is not None and not isinstance(dtype, dtypes.dtype):
            raise TypeError(f"autocast(): dtype must be a torch.dtype, not {type(dtype).__name__}")
        self.fast_dtype = get_autocast_dtype(self.device) if dtype is None else dtype
        self._cache_enabled = _caching[0] if cache_enabled is None else bool(cache_enabled)
        self._asked = enabled
        self._enabled = bool(enabled) and _possible(self.device, self.fast_dtype)
        self._before: list[Any] = []

    def __enter__(self) -> autocast:
        if not isinstance(self._asked, bool):
            raise TypeError(
                "set_autocast_enabled(): argument 'enabled' (position 2) must be bool, not "
                f"{type(self._asked).__name__}"
            )
        state = thread.state
        self._before.append(state.autocast)
        regions = dict(state.autocast or {})
        outer = regions.pop(self.device, None)
        if self._enabled:
            # A block inside of another one shares what was cast there, so that weights are cast once.
            dtype = self.fast_dtype.numpy
            same = outer is not None and outer.dtype == dtype and outer.casts is not None
            casts = (outer.casts if same else {}) if self._cache_enabled else None
            regions[self.device] = Region(dtype, WAYS[self.device], casts)
        state.autocast = regions or None
        return self

    def __exit__(self, *error: object) -> None:
        thread.state.autocast = self._before.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(function):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(function).__name__}: write "
                "with autocast(...): around the lines"
            )

        @wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return inside


def _possible(device_type: str, dtype: dtypes.dtype) -> bool:
    """Whether ``dtype`` can be computed in there; if not, say so."""
    if device_type == "cuda" and not cuda.is_available():
        warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=3)
        return False
    if dtype.name not in ("float16", "bfloat16"):
        where = {"cpu": "CPU", "cuda": "CUDA"}[device_type]
        warnings.warn(
            f"In {where} autocast, but the target dtype is not supported. Disabling autocast.\n"
            f"{where} Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
            stacklevel=3,
        )
        return False
    return True


def is_autocast_available(device_type: str) -> bool:
    """Whether this library can autocast on this type of device.

    >>> is_autocast_available("cpu")
    True
    """
    return _known(device_type) in WAYS


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocasting is at work: on this type of device; where none is named, on GPUs."""
    _require_name("is_autocast_enabled", device_type)
    return _known(device_type) in (thread.state.autocast or {})


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Turn autocasting on or off, outside of any block; for GPUs where no type of device is named.

    >>> set_autocast_enabled("cpu", True)
    >>> is_autocast_enabled("cpu")
    True
    >>> set_autocast_enabled("cpu", False)
    """
    if isinstance(device_type, bool) and enabled is not None:
        raise TypeError("set_autocast_enabled(): argument 'device_type' (position 1) must be str, not bool")
    where, enabled = ("cuda", device_type) if isinstance(device_type, bool) else (device_type, enabled)
    if not isinstance(enabled, bool):
        raise TypeError(
            "set_autocast_enabled(): argument 'enabled' (position 2) must be bool, not "
            f"{type(enabled).__name__}"
        )
    _require_name("set_autocast_enabled", where)
    autocast(where, enabled=enabled).__enter__()


def is_autocast_cpu_enabled() -> bool:
    """Whether autocasting is at work on the CPU."""
    return is_autocast_enabled("cpu")


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """The lower precision on this type of device.

    >>> get_autocast_dtype("cpu")
    torch.bfloat16
    """
    _require_name("get_autocast_dtype", device_type)
    device_type = _known(device_type)
    region = (thread.state.autocast or {}).get(device_type)
    if region is not None:
        return dtypes.BY_NUMPY[region.dtype]
    return _chosen.get(device_type) or dtypes.BY_NAME[_DEFAULT[device_type]]


def get_autocast_cpu_dtype() -> dtypes.dtype:
    """The lower precision on the CPU."""
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> dtypes.dtype:
    """The lower precision on GPUs."""
    return get_autocast_dtype("cuda")


def set_autocast_dtype(device_type: str, dtype: dtypes.dtype) -> None:
    """Choose the lower precision of the blocks to come that name none."""
    _require_name("set_autocast_dtype", device_type)
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(
            "set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not "
            f"{type(dtype).__name__}"
        )
    _chosen[_known(device_type)] = dtype


def set_autocast_cpu_dtype(dtype: dtypes.dtype) -> None:
    """Choose the lower precision on the CPU."""
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: dtypes.dtype) -> None:
    """Choose the lower precision on GPUs."""
    set_autocast_dtype("cuda", dtype)


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Turn autocasting on the CPU on or off, outside of any block."""
    set_autocast_enabled("cpu", enabled)


def is_autocast_cache_enabled() -> bool:
    """Whether blocks cast a parameter once for all its uses."""
    return _caching[0]


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Choose whether blocks to come cast a parameter once for all its uses."""
    _caching[0] = bool(enabled)


def clear_autocast_cache() -> None:
    """Forget the parameters that were cast already."""
    for region in (thread.state.autocast or {}).values():
        if region.casts is not None:
            region.casts.clear()


# ---------------------------------------------------------------- functions of one's own


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: dtypes.dtype | None = None
) -> Any:
    """Decorate the ``forward`` of an ``autograd.Function`` that is to be autocast.

    Parameters
    ----------
    device_type : {"cpu", "cuda"}
        Where it computes.
    cast_inputs : dtype, optional
        Cast floating point tensors to this dtype, and do not autocast inside; else autocast as around it.
    """
    device_type = _known(device_type)
    if fwd is None:
        return lambda function: custom_fwd(function, device_type=device_type, cast_inputs=cast_inputs)
    function = fwd

    @wraps(function)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = is_autocast_enabled(device_type)
        if cast_inputs is None or not ctx._fwd_used_autocast:
            return function(ctx, *args, **kwargs)
        ctx._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            return function(
                ctx,
                *_converted(args, device_type, cast_inputs),
                **_converted(kwargs, device_type, cast_inputs),
            )

    return forward


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorate the ``backward`` of an ``autograd.Function``: it is autocast as its ``forward`` was."""
    device_type = _known(device_type)
    if bwd is None:
        return lambda function: custom_bwd(function, device_type=device_type)
    function = bwd

    @wraps(function)
    def backward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        if not ctx._fwd_used_autocast:
            with autocast(device_type, enabled=False):
                return function(ctx, *args, **kwargs)
        with autocast(device_type, dtype=ctx._dtype):
            return function(ctx, *args, **kwargs)

    return backward


def _converted(value: Any, device_type: str, dtype: dtypes.dtype) -> Any:
    """``value`` with the floating point tensors inside of it, but for those of float64, in another dtype."""
    if isinstance(value, Tensor):
        fits = value.is_floating_point() and value.device.type == device_type and value.dtype.itemsize < 8
        return value.to(dtype) if fits else value
    if isinstance(value, Mapping):
        return {key: _converted(each, device_type, dtype) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return type(value)([_converted(each, device_type, dtype) for each in value])
    return value
