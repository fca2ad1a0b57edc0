"""The linear layer."""

from __future__ import annotations

import math
from typing import Any

from autokit import dtypes
from autokit.devices import get_default_device, module_for
from autokit.nn import functional, init
from autokit.nn.module import Module
from autokit.nn.parameter import Parameter
from autokit.nn.scope import path_in_model
from autokit.tensor import Tensor, new_tensor


class Linear(Module):
    """``x @ weight.T + bias``: every output is a weighted sum of all inputs.

    Parameters
    ----------
    in_features, out_features : int
        The last dimension of what comes in, and of what goes out.
    bias : bool
        Whether to add one.
    device, dtype : optional
        Of the parameters.

    Attributes
    ----------
    weight : Parameter
        Of shape (out_features, in_features), evenly between ±1/√in_features at first.
    bias : Parameter or None
        Of shape (out_features,), likewise.

    Raises
    ------
    RuntimeError
        If it is called with the wrong number of features; says which layer of the model it is.

    Examples
    --------
    >>> import autokit as torch
    >>> _ = torch.manual_seed(0)
    >>> Linear(2, 3)(torch.ones(4, 2)).shape
    torch.Size([4, 3])
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = _unset((out_features, in_features), device, dtype)
        if bias:
            self.bias = _unset((out_features,), device, dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new first values."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer to the last dimension of ``input``."""
        parameters = self._parameters
        try:
            return functional.linear(input, parameters["weight"], parameters["bias"])  # type: ignore[arg-type]
        except (RuntimeError, TypeError) as error:
            path = path_in_model()
            raise type(error)(f"{error} [in {path + ': ' if path else ''}{self}]") from None

    def extra_repr(self) -> str:
        """The settings, for the printed module."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
        )


def _unset(shape: tuple[int, ...], device: Any, dtype: Any) -> Parameter:
    kind = dtypes.as_dtype(dtype) if dtype is not None else dtypes.get_default_dtype()
    module = module_for(get_default_device() if device is None else device)
    return Parameter(new_tensor(module.empty(shape, kind.numpy)))


class Identity(Module):
    """Gives back what it gets; takes any arguments and ignores them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """``input`` itself."""
        return input


class Flatten(Module):
    """Make one dimension of those from ``start_dim`` to ``end_dim``: by default of all but the batch.

    >>> import autokit as torch
    >>> Flatten()(torch.ones(2, 3, 4)).shape
    torch.Size([2, 12])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """``input.flatten(start_dim, end_dim)``."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """The settings, for the printed module."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"
