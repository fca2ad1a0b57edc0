"""Linear layers as modules, and modules that change the shape of a tensor, or nothing."""

from __future__ import annotations

import math
from typing import Any

from autokit.engine.tensor import Tensor
from autokit.nn import functional as F
from autokit.nn import init
from autokit.nn.layer import FunctionLayer, empty_parameter
from autokit.nn.module import Module
from autokit.nn.parameter import Parameter
from autokit.ops.shape import flatten

__all__ = ["Bilinear", "Flatten", "Identity", "Linear", "Unflatten"]


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
        Of shape (out_features, in_features), uniform between ±1/√in_features at first.
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
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        self.in_features = in_features
        self.out_features = out_features
        self.weight = empty_parameter(out_features, in_features, **place)
        self.register_parameter("bias", empty_parameter(out_features, **place) if bias else None)
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
        if len(parameters) == 2:  # where they are found sooner than as attributes, for the rows of the MLPs
            return F.linear(input, parameters["weight"], parameters["bias"])
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The settings, for the printed module."""
        has_bias = self.bias is not None
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={has_bias}"


class Bilinear(Module):
    """``x1ᵀ · weight[k] · x2 + bias[k]`` for each output ``k``: every product of two inputs counts.

    Parameters
    ----------
    in1_features, in2_features, out_features : int
        The last dimensions of what comes in, and of what goes out.
    bias : bool
        Whether to add one.
    device, dtype : optional
        Of the parameters.

    Attributes
    ----------
    weight : Parameter
        Of shape (out_features, in1_features, in2_features), uniform between ±1/√in1_features at first.
    bias : Parameter or None
        Of shape (out_features,), likewise.
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = empty_parameter(out_features, in1_features, in2_features, **place)
        self.register_parameter("bias", empty_parameter(out_features, **place) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new first values."""
        bound = 1 / math.sqrt(self.in1_features)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Apply the layer to the last dimensions of both inputs."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The settings, for the printed module."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class Identity(Module):
    """The identity, a layer that returns its input; its arguments are ignored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """``input`` itself."""
        return input


class Flatten(FunctionLayer):
    """Join the dimensions from ``start_dim`` to ``end_dim`` to one: by default all but the batch.

    >>> import autokit as torch
    >>> Flatten()(torch.ones(2, 3, 4)).shape
    torch.Size([2, 12])
    """

    function = staticmethod(flatten)
    start_dim: int = 1
    end_dim: int = -1


class Unflatten(FunctionLayer):
    """Split a dimension into several.

    Parameters
    ----------
    dim : int
        Which.
    unflattened_size : tuple of int
        The new sizes; one of them may be -1.

    Examples
    --------
    >>> import autokit as torch
    >>> Unflatten(1, (3, -1))(torch.ones(2, 12)).shape
    torch.Size([2, 3, 4])
    """

    dim: int
    unflattened_size: tuple[int, ...]

    def forward(self, input: Tensor) -> Tensor:
        """``input.unflatten(dim, unflattened_size)``."""
        return input.unflatten(self.dim, self.unflattened_size)
