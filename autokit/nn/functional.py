"""The functions that layers compute, with the parameters as arguments, as ``torch.nn.functional``.

They are operations of :mod:`autokit.ops`; those that consist of several operations are defined here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autokit.base.missing import absent
from autokit.engine.tensor import Tensor
from autokit.nn.multi_head import multi_head_attention_forward
from autokit.nn.operations import FUNCTIONAL
from autokit.ops.create import empty, zeros_like
from autokit.ops.exponential import log
from autokit.ops.softmax import softmax

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
else:
    __getattr__ = absent("torch.nn.functional")


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, *, dim: int = -1) -> Tensor:
    """A draw from the classes along ``dim``, softened so that it has a gradient.

    The logits and noise from Gumbel's distribution go through a softmax: their largest sum is at each class
    with the class's probability.

    Parameters
    ----------
    logits : Tensor
        Logarithms of the probabilities, up to a constant.
    tau : float
        The temperature: the lower, the nearer are the results to 0 and 1.
    hard : bool
        Give exactly 0 and 1, with the gradient of the soft result.

    References
    ----------
    E. Jang, S. Gu and B. Poole, "Categorical Reparameterization with Gumbel-Softmax", ICLR 2017.
    """
    waiting = empty(*logits.shape, dtype=logits.dtype, device=logits.device).exponential_()
    soft = softmax((logits - log(waiting)) / tau, dim)
    if not hard:
        return soft
    largest = soft.detach().argmax(dim, keepdim=True)
    exact = zeros_like(logits).scatter(dim, largest, 1.0)
    return exact - soft.detach() + soft


globals().update(FUNCTIONAL)
for _name, _function in FUNCTIONAL.items():
    if hasattr(_function, "__wrapped__"):
        _function.__module__, _function.__qualname__ = __name__, _name  # where pickle looks for it

__all__ = ["gumbel_softmax", "multi_head_attention_forward", *FUNCTIONAL]
