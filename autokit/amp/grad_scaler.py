"""Gradient scaling: a loss times a large number has gradients that float16 can hold.

The gradients are divided by that number before the optimizer sees them.  A number too large makes
infinities of them: then the optimizer skips its step, and the number shrinks.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from operator import index
from typing import Any

import numpy as np

from autokit import cuda
from autokit.autograd.modes import no_grad
from autokit.current_gpu import computing_beside
from autokit.dtypes import DIFFERENTIABLE
from autokit.ops.create import tensor
from autokit.ops.gpu.arrays import ask
from autokit.ops.gpu.many import over_many
from autokit.ops.inplace import mark_changed
from autokit.shown import by_type
from autokit.tensor import Tensor

_READY, _UNSCALED, _STEPPED = "ready", "unscaled", "stepped"


class _Progress:
    """What was done with one optimizer since the last ``update``: its stage, and whether it met infinity."""

    def __init__(self) -> None:
        self.stage = _READY
        self.found_inf: bool | None = None


@over_many
def _multiplied(gradient: Any, factor: float, /) -> Any:
    """Change a gradient by a factor; where it was infinite or nan."""
    infinite = ~np.isfinite(gradient)
    gradient *= factor
    return infinite


def _any_infinite(gradients: list[Tensor], factor: float) -> bool:
    """Multiply the gradients; whether there was an infinity or nan, which each GPU is asked for once."""
    places: dict[str, list[Tensor]] = {}
    for gradient in gradients:
        places.setdefault(str(gradient.device), []).append(gradient)
    found = []
    for there in places.values():
        with computing_beside(there[0].array), np.errstate(all="ignore"):
            found.append(_multiplied([(each.array,) for each in there], (factor,)))
    for gradient in gradients:
        mark_changed(gradient)
    return any([bool(ask(each)) for each in found])


def _single(scale: Any) -> float:
    """The scale, which PyTorch holds in single precision."""
    if isinstance(scale, str) or isinstance(scale, Tensor) and scale.numel() != 1:
        raise TypeError(
            f"full(): argument 'fill_value' must be Number, not {type(scale).__name__}: the scale is"
        )
    with np.errstate(over="ignore"):
        return float(np.float32(float(scale)))


class GradScaler:
    """Scale the loss, unscale the gradients, and adapt the scale.

    Parameters
    ----------
    device : {"cuda", "cpu"}
        Where the gradients are.
    init_scale : float
        The first scale.
    growth_factor, backoff_factor : float
        What the scale is multiplied with after many steps that went well, and after one that did not.
    growth_interval : int
        How many steps in a row must go well before it grows.
    enabled : bool
        False makes every method do what a program without scaling does.

    Raises
    ------
    AssertionError
        If ``growth_factor`` is not above 1, or ``backoff_factor`` not below 1.

    Warns
    -----
    UserWarning
        If it is for a GPU, and there is none; then nothing is scaled.

    References
    ----------
    P. Micikevicius et al., "Mixed precision training", ICLR, 2018.

    Examples
    --------
    >>> import autokit as torch
    >>> w = torch.ones(1, requires_grad=True)
    >>> optimizer = torch.optim.SGD([w], lr=0.5)
    >>> scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    >>> scaler.scale((w * 3).sum()).backward()
    >>> w.grad
    tensor([3072.])
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> w
    tensor([-0.5000], requires_grad=True)
    """

    __repr__ = by_type

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = str(device)
        self._enabled = enabled
        if enabled and self._device.startswith("cuda") and not cuda.is_available():
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2
            )
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale = init_scale
        self._scale: float | None = None
        self._tensor: tuple[Any, Any, Tensor] | None = None
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._growth_tracker = 0
        self._progress: dict[int, _Progress] = {}

    # ------------------------------------------------------------ one step of training

    def scale(self, outputs: Any) -> Any:
        """``outputs``, a tensor or nested lists of them, times the scale."""
        if not self._enabled:
            return outputs
        if self._scale is None:
            self._scale = _single(self._init_scale)
        if isinstance(outputs, Tensor):
            # A tensor of float32, not a number: a loss in float16 becomes float32, and does not overflow.
            return outputs * self._scale_on(outputs.device)
        if isinstance(outputs, Iterable) and not isinstance(outputs, str):
            scaled = [self.scale(each) for each in outputs]
            return scaled if not isinstance(outputs, tuple | list) else type(outputs)(scaled)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _scale_on(self, device: Any) -> Tensor:
        """The scale as a tensor on this device, which is copied there when it changes."""
        if self._tensor is None or self._tensor[:2] != (self._scale, device):
            self._tensor = self._scale, device, tensor(self._scale, device=device)
        return self._tensor[2]

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of the optimizer's parameters by the scale; needed only to clip them.

        Raises
        ------
        RuntimeError
            If it was done already since the last :meth:`update`.
        ValueError
            For gradients in float16: parameters are kept in float32.
        """
        if not self._enabled:
            return
        self._check_scale("unscale_")
        progress = self._progress_of(optimizer)
        if progress.stage == _UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if progress.stage == _STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        progress.found_inf = self._unscale_gradients(optimizer)
        progress.stage = _UNSCALED

    def _unscale_gradients(self, optimizer: Any) -> bool | None:
        """Whether there was an infinity or nan among the gradients; None where there are none at all."""
        assert self._scale is not None
        inverse = float(np.float32(1.0 / np.float64(self._scale)))
        with no_grad():
            gradients = [
                parameter.grad
                for group in optimizer.param_groups
                for parameter in group["params"]
                if parameter.grad is not None
            ]
            for gradient in gradients:
                if gradient.array.dtype == np.float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
            floating = [each for each in gradients if each.array.dtype.kind in DIFFERENTIABLE]
            return _any_infinite(floating, inverse) if floating else None

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step(*args, **kwargs)``, unless a gradient is infinite or nan.

        Returns
        -------
        What the optimizer returns; None where the step was skipped.

        Raises
        ------
        RuntimeError
            With a closure, or if it was called already since the last :meth:`update`.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale("step")
        progress = self._progress_of(optimizer)
        if progress.stage == _STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if progress.stage == _READY:
            self.unscale_(optimizer)
        if progress.found_inf is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if progress.found_inf else optimizer.step(*args, **kwargs)
        progress.stage = _STEPPED
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Adapt the scale to what the gradients were like; or set it to ``new_scale``.

        Raises
        ------
        AssertionError
            If no gradients were looked at since the last call.
        """
        if not self._enabled:
            return
        self._check_scale("update")
        if new_scale is not None:
            if isinstance(new_scale, Tensor) and (new_scale.numel() != 1 or new_scale.requires_grad):
                raise AssertionError(
                    "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor "
                    "with requires_grad=False."
                )
            self._scale = _single(new_scale)
        else:
            self._adapt()
        self._progress = {}

    def _adapt(self) -> None:
        assert self._scale is not None
        found = [each.found_inf for each in self._progress.values() if each.found_inf is not None]
        if not found:
            raise AssertionError("No inf checks were recorded prior to update.")
        if any(found):
            self._scale = _single(self._scale * self._backoff_factor)
            self._growth_tracker = 0
            return
        self._growth_tracker += 1
        interval = self._growth_interval
        if isinstance(interval, bool) or not hasattr(interval, "__index__"):
            raise TypeError(
                "_amp_update_scale_(): argument 'growth_interval' (position 6) must be int, not "
                f"{type(interval).__name__}: the scale grows after so many steps"
            )
        if self._growth_tracker == index(interval):
            grown = _single(self._scale * self._growth_factor)
            self._scale = grown if np.isfinite(grown) else self._scale
            self._growth_tracker = 0

    def _progress_of(self, optimizer: Any) -> _Progress:
        return self._progress.setdefault(id(optimizer), _Progress())

    def _check_scale(self, name: str) -> None:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {name} but _scale is None.  This may indicate your script did not use "
                "scaler.scale(loss or outputs) earlier in the iteration."
            )

    # ------------------------------------------------------------ settings and state

    def get_scale(self) -> float:
        """The scale; 1 where scaling is not enabled."""
        if not self._enabled:
            return 1.0
        return float(self._init_scale if self._scale is None else self._scale)

    def get_growth_factor(self) -> float:
        """What the scale is multiplied with when it grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Choose what the scale is multiplied with when it grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied with after an infinite gradient."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Choose what the scale is multiplied with after an infinite gradient."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """How many steps in a row must go well before the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Choose how many steps in a row must go well before the scale grows."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether anything is scaled."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """What :meth:`load_state_dict` needs to go on; empty where scaling is not enabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what :meth:`state_dict` gave.

        Raises
        ------
        RuntimeError
            If that is empty: it was saved where scaling was not enabled.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of "
                "GradScaler."
            )
        self._init_scale = state_dict["scale"]
        self._scale = None if self._scale is None else float(self._init_scale)
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]
