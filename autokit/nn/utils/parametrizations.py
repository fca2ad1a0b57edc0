"""Well-known parametrizations: a weight as length times direction, or of largest singular value 1."""

from __future__ import annotations

from typing import Any

from autokit.autograd.modes import no_grad
from autokit.nn import functional
from autokit.nn.convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from autokit.nn.module import Module
from autokit.nn.utils.parametrize import register_parametrization
from autokit.ops.norm import norm
from autokit.tensor import Tensor

__all__ = ["spectral_norm", "weight_norm"]


def lengths(weight: Tensor, dim: int | None) -> Tensor:
    """The 2-norm of each slice of ``weight`` along ``dim``; of all of it for None or -1."""
    if dim is None or dim == -1:
        return norm(weight)
    others = tuple([place for place in range(weight.dim()) if place != dim % weight.dim()])
    return norm(weight, 2, others, True) if others else weight.abs()


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / lengths(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return lengths(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Train the length of each row of a weight apart from its direction: w = g · v / ‖v‖.

    Parameters
    ----------
    module : Module
    name : str
        Of the parameter.
    dim : int, optional
        The dimension along which there is a length each; None for one length of all.

    References
    ----------
    T. Salimans and D. P. Kingma, "Weight Normalization", NeurIPS 2016.

    Examples
    --------
    >>> import autokit as torch
    >>> layer = weight_norm(torch.nn.Linear(3, 2))
    >>> [(name, tuple(each.shape)) for name, each in layer.named_parameters()][1:]
    [('parametrizations.weight.original0', (2, 1)), ('parametrizations.weight.original1', (2, 3))]
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def from_older_files(state: Any, prefix: str, *others: Any) -> None:
        for place, older in enumerate(("g", "v")):
            if f"{prefix}{name}_{older}" in state:
                state[f"{prefix}parametrizations.{name}.original{place}"] = state.pop(
                    f"{prefix}{name}_{older}"
                )

    module._register_load_state_dict_pre_hook(from_older_files)
    return module


class PowerIteration(Module):
    """The largest singular value of a weight, by multiplying with it again and again.

    Attributes
    ----------
    _u, _v : Tensor
        Where the iteration has come: the left and the right singular vector.
    """

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if dim >= weight.dim() or dim < -weight.dim():
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.dim()}, {weight.dim() - 1}] "
                f"but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + weight.dim()
        self.eps = eps
        self.n_power_iterations = n_power_iterations
        if weight.dim() > 1:
            with no_grad():
                matrix = self.matrix(weight)
                for name, size in (("_u", matrix.shape[0]), ("_v", matrix.shape[1])):
                    start = matrix.new_empty(size).normal_(0, 1)
                    self.register_buffer(name, functional.normalize(start, dim=0, eps=eps))
                self.advance(matrix, 15)

    def matrix(self, weight: Tensor) -> Tensor:
        """``weight`` as a matrix whose rows are its slices along ``dim``."""
        return weight.movedim(self.dim, 0).flatten(1)

    def advance(self, matrix: Tensor, times: int) -> None:
        """Go on by some steps."""
        with no_grad():
            for _ in range(times):
                self._u.copy_(functional.normalize(matrix.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(functional.normalize(matrix.T.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        """``weight`` over its largest singular value."""
        if weight.dim() == 1:
            return functional.normalize(weight, dim=0, eps=self.eps)
        matrix = self.matrix(weight)
        if self.training:
            self.advance(matrix.detach(), self.n_power_iterations)
        # Copies: the vectors go on before the way back.
        return weight / self._u.clone().dot(matrix.mv(self._v.clone()))

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value itself."""
        return value


class _SpectralNorm(PowerIteration):
    pass


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight by its largest singular value, so that the layer lengthens no vector.

    Parameters
    ----------
    module : Module
    name : str
        Of the parameter.
    n_power_iterations : int
        How many steps toward the singular vectors each use in training takes.
    eps : float
        The least length to divide by.
    dim : int, optional
        The dimension of the outputs: 0, and 1 for transposed convolutions.

    References
    ----------
    T. Miyato et al., "Spectral Normalization for Generative Adversarial Networks", ICLR 2018.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if isinstance(module, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d) else 0
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
