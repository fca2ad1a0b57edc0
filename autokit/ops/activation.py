"""The activations that also work in place: in ``torch.nn.functional`` by a last argument ``inplace``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from autokit.ops.bent_activation import (
    bounded_hardtanh,
    plain_hardsigmoid,
    plain_hardswish,
    plain_hardtanh,
    plain_leaky_relu,
    plain_threshold,
    relu6,
    rrelu,
)
from autokit.ops.elementwise import relu
from autokit.ops.exponential_linear import celu, elu, plain_elu, selu
from autokit.ops.guards import guards
from autokit.ops.inplace import in_place
from autokit.ops.names import Names
from autokit.ops.smooth_activation import plain_mish, plain_silu
from autokit.tensor import Tensor


def _flagged(function: Callable[..., Tensor], name: str = "") -> Callable[..., Tensor]:
    """``function`` as in ``torch.nn.functional``: with a last argument ``inplace``."""
    plain = getattr(function, "operation", None)
    own = inspect.signature(plain.plain if plain is not None else function)
    over = in_place(function)
    parameters = [
        parameter.replace(
            name="input" if place == 0 else parameter.name, kind=parameter.POSITIONAL_OR_KEYWORD
        )
        for place, parameter in enumerate(own.parameters.values())
        if parameter.name != "generator"  # which torch.nn.functional does not take
    ]
    flag = inspect.Parameter("inplace", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=False)
    signature = inspect.Signature([*parameters, flag])

    def apply(*arguments: Any, **settings: Any) -> Tensor:
        bound = signature.bind(*arguments, **settings)
        bound.apply_defaults()
        *values, inplace = bound.arguments.values()
        return over(*values) if inplace else function(*values)

    apply.__name__ = apply.__qualname__ = name or function.__name__
    apply.__doc__ = (plain.plain if plain is not None else function).__doc__
    apply.__signature__ = signature  # type: ignore[attr-defined]
    return apply


leaky_relu = _flagged(plain_leaky_relu)
hardtanh = _flagged(bounded_hardtanh, "hardtanh")
hardsigmoid = _flagged(plain_hardsigmoid)
hardswish = _flagged(plain_hardswish)
threshold = _flagged(plain_threshold)
silu = _flagged(plain_silu)
mish = _flagged(plain_mish)
_by_result = guards(results=(0,))  # in place PyTorch saves what they made, having nothing else
elu_, selu_, celu_, rrelu_ = [_by_result(in_place(each)) for each in (plain_elu, selu, celu, rrelu)]
leaky_relu_, hardtanh_ = _by_result(in_place(plain_leaky_relu)), in_place(plain_hardtanh)
relu_, threshold_ = in_place(relu), in_place(plain_threshold)
FLAGGED = {each.__name__: _flagged(each) for each in (relu6, elu, selu, celu, rrelu)}
"""What stands in ``torch.nn.functional`` with the flag, and in ``torch`` without."""

NAMES = Names(
    functions="celu celu_ rrelu rrelu_ relu_ selu selu_ threshold threshold_",
    functional="celu_ elu_ hardsigmoid hardswish hardtanh hardtanh_ leaky_relu leaky_relu_ mish relu_ rrelu_ "
    "selu_ silu threshold threshold_",
    other_functional=FLAGGED,
)
