"""Well-known parametrizations: a weight as length and direction, of largest singular value 1, orthogonal."""

from __future__ import annotations

from typing import Any

from autokit.autograd.modes import no_grad
from autokit.limits import finfo
from autokit.nn import functional
from autokit.nn.convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from autokit.nn.module import Module
from autokit.nn.utils.parametrize import register_parametrization
from autokit.ops.compare import allclose
from autokit.ops.decompositions import geqrf, householder_product
from autokit.ops.dims import place_of
from autokit.ops.filled import eye, zeros_like
from autokit.ops.join import cat
from autokit.ops.matrix_exponential import matrix_exp
from autokit.ops.norm import norm
from autokit.ops.sampling import randn
from autokit.ops.solving import solve
from autokit.tensor import Tensor

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def lengths(weight: Tensor, dim: int | None) -> Tensor:
    """The 2-norm of each slice of ``weight`` along ``dim``; of all of it for None or -1."""
    if dim is None or dim == -1:
        return norm(weight)
    kept = place_of(dim, weight.dim())
    others = tuple([place for place in range(weight.dim()) if place != kept])
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


# ---------------------------------------------------------------- orthogonal matrices

_MAPS = ("matrix_exp", "cayley", "householder")


def _nearest(matrix: Tensor) -> Tensor:
    """The orthonormal columns of a QR decomposition whose R has a diagonal above 0."""
    reflectors, factors = geqrf(matrix)
    signs = reflectors.diagonal(0, -2, -1).sgn()
    return householder_product(reflectors, factors) * signs.unsqueeze(-2)


class _Orthogonal(Module):
    """A tall matrix of orthonormal columns, or a wide one of orthonormal rows, from any matrix of its shape.

    Attributes
    ----------
    base : Tensor
        Where the weight stood at first: the map turns it from there.
    """

    base: Tensor

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        self.use_trivialization = use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, weight: Tensor) -> Tensor:
        """The orthogonal matrix that ``weight`` stands for."""
        wide = weight.size(-2) < weight.size(-1)
        tall = weight.mT if wide else weight
        turned = self._reflected(tall) if self.orthogonal_map == "householder" else self._rotated(tall)
        if self.use_trivialization:
            turned = self.base @ turned
        return turned.mT if wide else turned

    def _rotated(self, tall: Tensor) -> Tensor:
        """The first columns of the rotation that a skew-symmetric matrix generates."""
        rows, columns = tall.size(-2), tall.size(-1)
        below = tall.tril()
        if rows != columns:
            zeros = below.new_zeros(*below.shape[:-2], rows, rows - columns)
            below = cat([below, zeros], -1)
        skew = below - below.mH
        if self.orthogonal_map == "matrix_exp":
            return matrix_exp(skew)[..., :columns]
        one = eye(rows, dtype=skew.dtype, device=skew.device)
        return solve(one - skew / 2, one + skew / 2)[..., :columns]

    def _reflected(self, tall: Tensor) -> Tensor:
        """The product of the reflections at the columns below the diagonal, which itself holds signs."""
        below = tall.tril(-1)
        factors = 2.0 / (1.0 + (below * below).sum(-2))
        signs = tall.diagonal(0, -2, -1).int()
        return householder_product(below, factors) * signs.unsqueeze(-2)

    def right_inverse(self, value: Tensor) -> Tensor:
        """The matrix that stands for ``value``, or where that is not orthogonal for one that is near it."""
        if value.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape "
                f"{value.shape}."
            )
        with no_grad():
            wide = value.size(-2) < value.size(-1)
            tall = value.mT if wide else value
            if self.use_trivialization:
                self.base = self._completed(tall)
                start = zeros_like(value)
                start.diagonal(0, -2, -1).fill_(-1.0)
                return start
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations "
                    "when use_trivialization=False."
                )
            reflectors, factors = geqrf(tall)
            diagonal = reflectors.diagonal(0, -2, -1)
            diagonal.sign_()
            diagonal[factors == 0.0] *= -1
            return reflectors.mT if wide else reflectors

    def _completed(self, tall: Tensor) -> Tensor:
        """A square orthogonal matrix that begins with the columns of ``tall``; chance draws the others."""
        rows, columns = tall.size(-2), tall.size(-1)
        if rows != columns:
            others = randn(*tall.shape[:-2], rows, rows - columns, dtype=tall.dtype, device=tall.device)
            return _nearest(cat([tall, others], -1))
        one = eye(columns, dtype=tall.dtype, device=tall.device)
        close = allclose(tall.mH @ tall, one, atol=10.0 * rows * finfo(tall.dtype).eps)
        return tall.clone() if close else _nearest(tall)


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Keep a weight orthogonal, whatever an optimizer does: it changes neither lengths nor angles.

    Parameters
    ----------
    module : Module
    name : str
        Of the parameter, a matrix or a batch of matrices: tall ones get orthonormal columns, wide ones rows.
    orthogonal_map : {"matrix_exp", "cayley", "householder"}, optional
        How any matrix becomes an orthogonal one: by the exponential or the Cayley transform of a
        skew-symmetric one, which square ones get by default, or as a product of reflections.
    use_trivialization : bool
        Start from the weight as it is, which a buffer ``base`` keeps.

    Raises
    ------
    ValueError
        If there is no such matrix or no such map.

    References
    ----------
    M. Lezcano-Casado, "Trivializations for Gradient-Based Optimization on Manifolds", NeurIPS 2019.

    Examples
    --------
    >>> import autokit as torch
    >>> layer = orthogonal(torch.nn.Linear(3, 3, dtype=torch.float64))
    >>> torch.allclose(layer.weight @ layer.weight.T, torch.eye(3, dtype=torch.float64))
    True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    rule = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, rule, unsafe=True)
