"""``torch.masked``: reductions and normalizations of the elements where a mask is true.

What is masked out takes the number that changes nothing: 0 in a sum, 1 in a product, an infinity for the
largest.  Of a slice without any element the result is that number, and NaN where there is none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autokit.dtypes import BY_NAME, FLOATS, dtype
from autokit.limits import iinfo
from autokit.missing import names_of
from autokit.nn import functional as F
from autokit.ops import FUNCTIONS as T
from autokit.ops.dims import place_of
from autokit.ops.errors import require_tensor
from autokit.ops.matrix_norms import vector_norm
from autokit.tensor import Tensor

__getattr__ = names_of("torch.masked")

__all__ = ["amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp"]
__all__ += ["mean", "median", "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var"]

Dims = int | Sequence[int] | None


def _where(name: str, input: Tensor, mask: Tensor | None, otherwise: Any) -> Tensor:
    """``input`` where ``mask`` is true, and ``otherwise`` elsewhere."""
    require_tensor(f"masked {name}", input, "input", 1)
    return input if mask is None else T["where"](_places(input, mask), input, otherwise)


def _places(input: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return T["ones_like"](input, dtype=BY_NAME["bool"])
    require_tensor("masked", mask, "mask")
    if mask.dim() > input.dim():
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input):"
            f" they are {list(mask.shape)} and {list(input.shape)}"
        )
    return mask.to(BY_NAME["bool"]).expand(input.shape)


def _cast(input: Tensor, kind: dtype | None) -> Tensor:
    return input if kind is None else input.to(kind)


def _is_real(input: Tensor) -> bool:
    return input.array.dtype.kind in FLOATS


def _least(input: Tensor) -> Any:
    """The smallest number of the dtype."""
    return -math.inf if _is_real(input) else iinfo(input.dtype).min


def _largest(input: Tensor) -> Any:
    return math.inf if _is_real(input) else iinfo(input.dtype).max


def _dims(input: Tensor, dim: Dims) -> tuple[int, ...]:
    if not (dim is None or isinstance(dim, int | tuple | list)):
        raise TypeError(f"masked(): argument 'dim' must be tuple of ints, not {type(dim).__name__}")
    given = range(input.dim()) if dim is None or dim == () else (dim,) if isinstance(dim, int) else dim
    return tuple(sorted({place_of(each, input.dim(), "masked") for each in given}))


def sum(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The sum along ``dim`` of the elements where ``mask`` is true.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.masked.sum(torch.tensor([1.0, 2.0, 4.0]), mask=torch.tensor([True, False, True]))
    tensor(5.)
    """
    return T["sum"](_where("sum", input, mask, 0), _dims(input, dim), keepdim, dtype=dtype)


def prod(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The product along ``dim`` of the elements where ``mask`` is true."""
    made = _where("prod", input, mask, 1)
    for place in reversed(_dims(input, dim)):
        made = made.prod(place, keepdim, dtype=dtype)
    return made


def mean(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The mean along ``dim`` of the elements where ``mask`` is true; NaN of none.

    Raises
    ------
    ValueError
        For integers, unless ``dtype`` is given.
    """
    input = _cast(input, dtype)
    if input.array.dtype.kind in "bui":
        raise ValueError(
            "mean(): Could not infer output dtype. Input dtype must be either a floating point or complex "
            f"dtype. Got: {input.dtype}"
        )
    dims = _dims(input, dim)
    if mask is None:
        return input.mean(dims, keepdim)
    return sum(input, dims, keepdim=keepdim, mask=mask) / _places(input, mask).sum(dims, keepdim)


def amax(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The largest along ``dim`` of the elements where ``mask`` is true."""
    made = _where("amax", input, mask, _least(input)).amax(_dims(input, dim), keepdim)
    return _cast(made, dtype)


def amin(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The smallest along ``dim`` of the elements where ``mask`` is true."""
    made = _where("amin", input, mask, _largest(input)).amin(_dims(input, dim), keepdim)
    return _cast(made, dtype)


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The place along ``dim`` of the largest of the elements where ``mask`` is true, in their dtype."""
    return _where("argmax", input, mask, _least(input)).argmax(dim, bool(keepdim)).to(dtype or input.dtype)


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The place along ``dim`` of the smallest of the elements where ``mask`` is true, in their dtype."""
    return _where("argmin", input, mask, _largest(input)).argmin(dim, bool(keepdim)).to(dtype or input.dtype)


def median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The lower median along ``dim`` of the numbers where ``mask`` is true; NaN of none.

    Raises
    ------
    ValueError
        For integers, if a slice is masked out.
    """
    require_tensor("masked median", input, "input", 1)
    numbers = input if _is_real(input) else input.to(BY_NAME["float32"])
    made = _where("median", numbers, mask, math.nan).nanmedian(dim, keepdim).values
    if numbers is not input and bool(made.isnan().any()):
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return made


def logsumexp(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The logarithm of the sum along ``dim`` of the exponentials where ``mask`` is true; −∞ of none."""
    made = _where("logsumexp", input, mask, _least(input)).logsumexp(_dims(input, dim), keepdim)
    return _cast(made, dtype or input.dtype)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: dtype | None = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """The logarithm of the sum of the exponentials of two elements, of those where a mask is true."""
    input, other = _cast(input, dtype), _cast(other, dtype)
    operands = ((input, input_mask), (other, other_mask))
    return T["logaddexp"](*[_where("logaddexp", each, mask, -math.inf) for each, mask in operands])


def norm(
    input: Tensor,
    ord: Any = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The norm along ``dim`` of the elements where ``mask`` is true."""
    nothing = math.inf if ord == -math.inf else 0
    filled = _where("norm", _cast(input, dtype), mask, nothing)
    if ord is None:
        raise TypeError("linalg_vector_norm(): argument 'ord' (position 2) must be Number, not NoneType")
    return vector_norm(filled, ord, _dims(input, dim), keepdim)


def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The deviation along ``dim`` of the elements where ``mask`` is true."""
    settings: Any = {"correction": correction, "keepdim": keepdim, "dtype": dtype, "mask": mask}
    return var(input, dim, unbiased, **settings).sqrt()


def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The variance along ``dim`` of the elements where ``mask`` is true; NaN of too few.

    Raises
    ------
    AssertionError
        If both ``unbiased`` and ``correction`` are given.
    """
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    less = correction if correction is not None else 1 if unbiased is None or unbiased else 0
    if dtype is None and not (_is_real(input) or input.is_complex()):
        dtype = BY_NAME["float32"]
    input, dims = _cast(input, dtype), _dims(input, dim)
    count = _places(input, mask).sum(dims, True)
    middle = sum(input, dims, keepdim=True, mask=mask) / count
    apart = sum((input - middle) * (input - middle).conj(), dims, keepdim=True, mask=mask) / (
        count - less
    ).clamp(min=0)
    return apart if keepdim else apart.squeeze(dims) if dims else apart


def softmax(input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The softmax along ``dim`` of the elements where ``mask`` is true; 0 elsewhere, and NaN in all of none.

    Examples
    --------
    >>> import autokit as torch
    >>> torch.masked.softmax(torch.zeros(3), 0, mask=torch.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    input = _cast(input, dtype)
    return F.softmax(_where("softmax", input, mask, _least(input)), dim)


def log_softmax(input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The logarithm of :func:`softmax`."""
    input = _cast(input, dtype)
    return F.log_softmax(_where("log_softmax", input, mask, _least(input)), dim)


def softmin(input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The softmin along ``dim`` of the elements where ``mask`` is true."""
    input = _cast(input, dtype)
    return F.softmin(_where("softmin", input, mask, _largest(input)), dim)


def cumsum(input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The running sum along ``dim`` of the elements where ``mask`` is true."""
    return _where("cumsum", input, mask, 0).cumsum(dim, dtype=dtype)


def cumprod(input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The running product along ``dim`` of the elements where ``mask`` is true."""
    return _where("cumprod", input, mask, 1).cumprod(dim, dtype=dtype)


def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The elements where ``mask`` is true, divided by their norm along ``dim``; 0 elsewhere."""
    input = _cast(input, dtype)
    length = norm(input, ord, dim, keepdim=True, mask=mask)
    return _where("normalize", input, mask, 0) / T["maximum"](length, length.new_full((), eps))
