"""Transforms that take several numbers together: vectors of chances, matrices, shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import autokit
from autokit.distributions import constraints
from autokit.distributions.distribution import sum_rightmost
from autokit.distributions.transform import Transform
from autokit.nn import functional as F
from autokit.tensor import Tensor


def _with_dims(shape: Any, count: int) -> Any:
    if len(shape) < count:
        raise ValueError(f"Too few dimensions on input: {tuple(shape)} has not the {count} that are needed")
    return shape


class SoftmaxTransform(Transform):
    """Vectors of chances from any vectors: exponentials, divided by their sum.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import SoftmaxTransform
    >>> SoftmaxTransform()(torch.tensor([0.0, 0.0, 2.0]))
    tensor([0.1065, 0.1065, 0.7870])
    """

    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        if x.shape[-1:] == (0,):
            raise IndexError("max(): Expected reduction dim to have non-zero size: no chances sum to 1")
        return F.softmax(x, -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        return _with_dims(shape, 1)

    inverse_shape = forward_shape


class StickBreakingTransform(Transform):
    """Vectors of n + 1 chances from any n numbers: each breaks off a share of what is left.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import StickBreakingTransform
    >>> StickBreakingTransform()(torch.zeros(3))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain, codomain = constraints.real_vector, constraints.simplex
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        z = _kept(F.sigmoid(x - _left(x).log()))
        return F.pad(z, [0, 1], value=1) * F.pad((1 - z).cumprod(-1), [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        first = y[..., :-1]
        rest = (1 - first.cumsum(-1)).clamp(min=autokit.finfo(y.dtype).tiny)
        return first.log() - rest.log() + _left(first).log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - _left(x).log()
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        return (*_with_dims(shape, 1)[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Any) -> Any:
        return (*_with_dims(shape, 1)[:-1], shape[-1] - 1)


def _left(x: Tensor) -> Tensor:
    """How many numbers follow each."""
    return x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)


def _kept(probs: Tensor) -> Tensor:
    limits = autokit.finfo(probs.dtype)
    return probs.clamp(min=limits.tiny, max=1.0 - limits.eps)


class LowerCholeskyTransform(Transform):
    """Lower triangular matrices with a positive diagonal from any square ones.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import LowerCholeskyTransform
    >>> LowerCholeskyTransform()(torch.tensor([[0.0, 5.0], [2.0, 0.0]]))
    tensor([[1., 0.],
            [2., 1.]])
    """

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Positive definite matrices from any square ones.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import PositiveDefiniteTransform
    >>> PositiveDefiniteTransform()(torch.tensor([[0.0, 5.0], [2.0, 0.0]]))
    tensor([[1., 2.],
            [2., 5.]])
    """

    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(autokit.linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """Cholesky factors of correlation matrices from any n(n − 1)/2 numbers.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import CorrCholeskyTransform
    >>> factor = CorrCholeskyTransform()(torch.tensor([0.5]))
    >>> factor @ factor.mT
    tensor([[1.0000, 0.4621],
            [0.4621, 1.0000]])
    """

    domain, codomain = constraints.real_vector, constraints.lower_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        r = autokit.tanh(x)
        eps = autokit.finfo(r.dtype).eps
        r = _lower(r.clamp(min=-1 + eps, max=1 - eps))
        rest = (1 - r**2).sqrt().cumprod(-1)
        r = r + autokit.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return r * F.pad(rest[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        rest = F.pad((1 - autokit.cumsum(y * y, -1))[..., :-1], [1, 0], value=1)
        places = autokit.tril_indices(y.shape[-1], y.shape[-1], -1)
        t = y[..., places[0], places[1]] / rest[..., places[0], places[1]].sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        rest = (1 - (y * y).cumsum(-1))[..., 1:, :-1]
        places = autokit.tril_indices(rest.shape[-1], rest.shape[-1], -1)
        stick = 0.5 * rest[..., places[0], places[1]].log().sum(-1)
        return stick - 2 * (x + F.softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        size = round((0.25 + 2 * _with_dims(shape, 1)[-1]) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], size, size)

    def inverse_shape(self, shape: Any) -> Any:
        if _with_dims(shape, 2)[-2] != shape[-1]:
            raise ValueError(f"Input is not square: {tuple(shape)}")
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)


def _lower(vector: Tensor) -> Tensor:
    """A matrix with the elements below its diagonal row by row, else 0."""
    size = round((0.25 + 2 * vector.shape[-1]) ** 0.5 + 0.5)
    places = autokit.tril_indices(size, size, -1)
    matrix = vector.new_zeros((*vector.shape[:-1], size, size))
    matrix[..., places[0], places[1]] = vector
    return matrix


class ReshapeTransform(Transform):
    """The same numbers in another shape: ``in_shape`` as ``out_shape``.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import ReshapeTransform
    >>> ReshapeTransform((4,), (2, 2))(torch.arange(4.0))
    tensor([[0., 1.],
            [2., 3.]])
    """

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = tuple(in_shape), tuple(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ValueError(
                f"in_shape, out_shape have different numbers of elements: {in_shape}, {out_shape}"
            )

    @property
    def domain(self) -> Any:  # type: ignore[override]
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        return _replaced(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return _replaced(shape, self.out_shape, self.in_shape)


def _replaced(shape: Any, last: tuple[int, ...], new: tuple[int, ...]) -> Any:
    cut = len(shape) - len(last)
    if cut < 0:
        raise ValueError("Too few dimensions on input")
    if tuple(shape[cut:]) != last:
        raise ValueError(f"Shape mismatch: expected {tuple(shape[cut:])} but got {last}")
    return tuple(shape[:cut]) + new


class StackTransform(Transform):
    """For each slice along ``dim`` a transform of its own.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import AbsTransform, ExpTransform, StackTransform
    >>> StackTransform([ExpTransform(), AbsTransform()])(torch.tensor([0.0, -3.0]))
    tensor([1., 3.])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms, self.dim = list(tseq), dim

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(each.bijective for each in self.transforms)

    @property
    def domain(self) -> Any:  # type: ignore[override]
        return constraints.stack([each.domain for each in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        return constraints.stack([each.codomain for each in self.transforms], self.dim)

    def _slices(self, z: Tensor) -> list[Tensor]:
        """The slice of each transform."""
        if not -z.dim() <= self.dim < z.dim():
            raise AssertionError(f"dim {self.dim} out of range for tensor with {z.dim()} dimensions")
        if z.size(self.dim) != len(self.transforms):
            raise AssertionError(
                f"x.size({self.dim}) = {z.size(self.dim)} must equal len(transforms) {len(self.transforms)}"
            )
        return list(z.unbind(self.dim))

    def _call(self, x: Tensor) -> Tensor:
        return autokit.stack(
            [transform(each) for transform, each in zip(self.transforms, self._slices(x))], self.dim
        )

    def _inverse(self, y: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._slices(y))
        return autokit.stack([transform.inv(each) for transform, each in pairs], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        triples = zip(self.transforms, self._slices(x), self._slices(y))
        return autokit.stack([each.log_abs_det_jacobian(a, b) for each, a, b in triples], self.dim)


class CatTransform(Transform):
    """For each part along ``dim``, of the length that ``lengths`` says, a transform of its own.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit.distributions import CatTransform, ExpTransform, identity_transform
    >>> CatTransform([ExpTransform(), identity_transform], lengths=[1, 2])(torch.tensor([0.0, 5.0, 6.0]))
    tensor([1., 5., 6.])
    """

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        if not all(isinstance(each, Transform) for each in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size)
        self.transforms = [each.with_cache(cache_size) for each in tseq] if cache_size else list(tseq)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})"
            )
        self.dim = dim

    @property
    def length(self) -> int:
        """The size along ``dim``."""
        return sum(self.lengths)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(each.bijective for each in self.transforms)

    @property
    def domain(self) -> Any:  # type: ignore[override]
        return constraints.cat([each.domain for each in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        return constraints.cat([each.codomain for each in self.transforms], self.dim, self.lengths)

    def _parts(self, z: Tensor) -> tuple[Tensor, ...]:
        """The part of each transform."""
        if not -z.dim() <= self.dim < z.dim():
            raise AssertionError(f"dim {self.dim} out of range for tensor with {z.dim()} dimensions")
        if z.size(self.dim) != self.length:
            raise AssertionError(f"x.size({self.dim}) = {z.size(self.dim)} must equal length {self.length}")
        return z.split(self.lengths, self.dim)

    def _call(self, x: Tensor) -> Tensor:
        return autokit.cat([each(part) for each, part in zip(self.transforms, self._parts(x))], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return autokit.cat([each.inv(part) for each, part in zip(self.transforms, self._parts(y))], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        event = max(each.event_dim for each in self.transforms)
        parts = zip(self.transforms, self._parts(x), self._parts(y))
        found = [
            sum_rightmost(each.log_abs_det_jacobian(a, b), event - each.event_dim) for each, a, b in parts
        ]
        dim = self.dim - x.dim() * (self.dim >= 0) + event
        return autokit.cat(found, dim) if dim < 0 else sum(found[1:], found[0])
