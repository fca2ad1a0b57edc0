"""Linear layers, and those that only change the shape or nothing at all."""

from __future__ import annotations

import math
from typing import Any

from autokit.nn import functional, init
from autokit.nn.functional.linear import linear
from autokit.nn.layer import unset
from autokit.nn.module import Module
from autokit.nn.parameter import Parameter
from autokit.tensor import Tensor


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
        self.weight = unset((out_features, in_features), device, dtype)
        if bias:
            self.bias = unset((out_features,), device, dtype)
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
        return linear(input, parameters["weight"], parameters["bias"])  # type: ignore[arg-type]

    def extra_repr(self) -> str:
        """The settings, for the printed module."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
        )


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
        Of shape (out_features, in1_features, in2_features), evenly between ±1/√in1_features at first.
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
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = unset((out_features, in1_features, in2_features), device, dtype)
        self.register_parameter("bias", unset((out_features,), device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new first values."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Apply the layer to the last dimensions of both inputs."""
        return functional.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The settings, for the printed module."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


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


class Unflatten(Module):
    """Make several dimensions of one.

    Parameters
    ----------
    dim : int
        Which.
    unflattened_size : sequence of int
        The new sizes; one of them may be -1.

    Examples
    --------
    >>> import autokit as torch
    >>> Unflatten(1, (3, -1))(torch.ones(2, 12)).shape
    torch.Size([2, 3, 4])
    """

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        if not isinstance(dim, int):
            raise TypeError(f"unflattened_size must be tuple of tuples, but found type {type(dim).__name__}")
        if not isinstance(unflattened_size, tuple | list):
            raise TypeError(
                f"unflattened_size must be a tuple of ints, but found type {type(unflattened_size).__name__}"
            )
        for place, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {place}"
                )
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """``input.unflatten(dim, unflattened_size)``."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """The settings, for the printed module."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
