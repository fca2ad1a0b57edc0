"""Gradient scaling: the loss is multiplied by a large scale, so that small gradients are not 0 in float16.

The gradients are divided by the scale before the optimizer uses them. Where the scale is too large some
gradients are infinite: then the step is skipped, and the scale shrinks.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autokit.cuda import is_available
from autokit.engine.inplace import mark_changed
from autokit.engine.tensor import Tensor, new_tensor

_UNSCALED, _STEPPED = "unscale_", "step"


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
        False lets every method do what a program without scaling does.

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

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if growth_factor <= 1.0 or backoff_factor >= 1.0:
            raise AssertionError("the growth factor must be above 1, and the backoff factor below 1")
        if enabled and str(device).startswith("cuda") and not is_available():
            warnings.warn("GradScaler: there is no GPU, so nothing is scaled", stacklevel=2)
            enabled = False
        self._enabled = enabled
        self._state = {
            "scale": float(init_scale),
            "growth_factor": growth_factor,
            "backoff_factor": backoff_factor,
            "growth_interval": growth_interval,
            "_growth_tracker": 0,
        }
        self._last: dict[int, str] = {}  # what was done last with each optimizer since update()
        self._found_inf: dict[int, bool] = {}

    # ------------------------------------------------------------ one step of training

    def scale(self, outputs: Any) -> Any:
        """``outputs``, a tensor or nested lists of them, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            # A tensor of float32, not a number: a loss in float16 becomes float32, and does not overflow.
            scale = np.full_like(outputs.array, self._state["scale"], np.float32, shape=())
            return outputs.float() * new_tensor(scale)
        if not isinstance(outputs, tuple | list):
            raise ValueError(f"scale() takes tensors or a list of them, not {type(outputs).__name__}")
        return type(outputs)([self.scale(each) for each in outputs])

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
        done = self._last.get(id(optimizer))
        if done is not None:
            raise RuntimeError(f"unscale_() after {done}() of the same optimizer: call update() first")
        found = False
        for group in optimizer.param_groups:
            for gradient in [each.grad for each in group["params"] if each.grad is not None]:
                if gradient.array.dtype == np.float16:
                    raise ValueError("Attempting to unscale FP16 gradients: keep the parameters in float32")
                gradient.array[...] = gradient.array * np.float32(1 / self._state["scale"])
                mark_changed(gradient)
                found = found or not bool(np.isfinite(gradient.array).all())
        self._last[id(optimizer)], self._found_inf[id(optimizer)] = _UNSCALED, found

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
        if args or "closure" in kwargs:
            raise RuntimeError("step() with a closure is not supported by GradScaler")
        done = self._last.get(id(optimizer))
        if done == _STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if done is None:
            self.unscale_(optimizer)
        result = None if self._found_inf[id(optimizer)] else optimizer.step(**kwargs)
        self._last[id(optimizer)] = _STEPPED
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
        state = self._state
        if new_scale is not None:
            state["scale"] = float(new_scale)
        elif not self._found_inf:
            raise AssertionError("update() comes after unscale_() or step(): no gradients were looked at")
        elif any(self._found_inf.values()):
            state["scale"] *= state["backoff_factor"]
            state["_growth_tracker"] = 0
        else:
            state["_growth_tracker"] += 1
            if state["_growth_tracker"] == state["growth_interval"]:
                grown = np.float32(state["scale"] * state["growth_factor"])
                state["scale"] = float(grown) if np.isfinite(grown) else state["scale"]
                state["_growth_tracker"] = 0
        self._last, self._found_inf = {}, {}

    # ------------------------------------------------------------ settings and state

    def get_scale(self) -> float:
        """The scale; 1 where scaling is not enabled."""
        return self._state["scale"] if self._enabled else 1.0

    def is_enabled(self) -> bool:
        """Whether anything is scaled."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """What :meth:`load_state_dict` needs to go on; empty where scaling is not enabled."""
        return dict(self._state) if self._enabled else {}

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
            raise RuntimeError("the state is empty: it was saved by a GradScaler that was not enabled")
        self._state.update({key: state_dict[key] for key in self._state})
