"""NumPy's functions on tensors: ``np.exp(x)`` records as ``x.exp()`` does.

NumPy asks an operand that is no array what to do (NEP 13 for ufuncs, NEP 18
for other functions).  The rules themselves rely on it: a derivative written
for arrays runs on tensors when it is to be differentiated again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.ops import FAMILIES
from autokit.ops.create import as_tensor
from autokit.ops.names import public
from autokit.tensor import Tensor

KNOWN = {numpys: public(ours) for family in FAMILIES for numpys, ours in family.NAMES.numpy.items()}
"""NumPy's functions, and ours in their place."""


def array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
    """NEP 13: NumPy met a tensor in a ufunc."""
    function = KNOWN.get(ufunc)
    if function is None or method != "__call__" or settings:
        return NotImplemented
    return function(*(as_tensor(each) if isinstance(each, np.ndarray) else each for each in inputs))


def array_function(self: Tensor, function: Any, types: Any, arguments: Any, settings: Any) -> Any:
    """NEP 18: NumPy met a tensor in another of its functions."""
    known = KNOWN.get(function)
    if known is None:
        raise TypeError(
            f"numpy.{function.__name__} does not know tensors: use torch.{function.__name__} where there is "
            "one, or take the array with .detach().numpy()"
        )
    return known(*arguments, **settings)


Tensor.__array_ufunc__ = array_ufunc  # type: ignore[attr-defined]
Tensor.__array_function__ = array_function  # type: ignore[attr-defined]
