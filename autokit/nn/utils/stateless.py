"""``functional_call`` under its older name."""

from __future__ import annotations

import warnings
from typing import Any

from autokit.func.modules import functional_call as call
from autokit.tensor import Tensor

__all__ = ["functional_call"]


def functional_call(
    module: Any,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """See :func:`autokit.func.functional_call`, which takes its place."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0: use "
        "`torch.func.functional_call`, which takes its place.",
        FutureWarning,
        stacklevel=2,
    )
    return call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
