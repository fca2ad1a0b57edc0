"""What operations do with complex numbers: which compute with them, and which derivatives are right for them.

A real number that depends on a complex z = x + iy has the gradient
∂L/∂x + i ∂L/∂y, so that a step against it goes downhill.  Where z goes through
a function f that has a complex derivative, the gradient g becomes g · conj(f'(z)).
The rules compute g · f'(z), and conj(f'(z)) is f'(conj z): they get the
conjugates of the values that they ask for.  The others are named here by hand:
those that are linear with real factors, for which both are one, and those that
have no complex derivative, as |z|, whose rules are written for complex numbers.

What is not named has no derivative here: it refuses complex numbers that
require a gradient, in place of giving a wrong one.  What PyTorch refuses to
compute is refused too.

References
----------
K. Kreutz-Delgado, "The Complex Gradient Operator and the CR-Calculus", 2009, arXiv:0906.4835.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LINEAR = _names(
    """
    add as_strided as_strided_backward block_diag cast cat channel_shuffle choose clone coalesce col2im
    constant_pad_nd copy_slices cumsum diag_embed diagonal diagonal_copy diagonal_scatter drawn drop_row eq_
    expand expanded_base flip from_samples from_values gather held im2col in_format index index_add
    index_backward index_copy index_fill index_put index_select into_samples masked_fill masked_scatter
    masked_select mean move nan_to_num narrow neg permute pixel_shuffle pixel_unshuffle put put_along
    read_region repeat resample roll rot90 scatter scatter_add scatter_zeros select select_scatter shared
    sequences squeeze stack sub sum sum_of_samples t take to_dense trace transpose tril triu unfold
    unfold_backward unsqueeze values view write_region
    """
)
"""Linear with real factors, or constant: their rules do to a complex gradient what they do to a real one."""

_WRITTEN_FOR_BOTH = _names(
    """
    abs angle cholesky complex conj distance eig_values eig_vectors eigh_values eigh_vectors fft_c2c fft_c2r
    fft_r2c geqrf linalg_vector_norm pinv polar qr_q qr_r renorm sgn slogdet_log slogdet_sign std svd_s
    svd_vectors var view_as_complex view_as_real
    """
)
"""What has no complex derivative, or relates real numbers to complex ones: their rules say what is right."""

_HOLOMORPHIC = _names(
    """
    acos acosh addbmm addcdiv addcmul addmm addmv addr affine asin asinh atan atanh baddbmm bmm convolution
    convolution_by_input convolution_by_weight convolution_with_bias cos cosh cross cumprod det div dot einsum
    einsum_one einsum_spread exp exp2 expm1 folded_mm inv lerp log log10 log1p log2 logaddexp logcumsumexp
    logsumexp matmul matrix_exp mm mul mv plain_ldl plain_lu pow prod reciprocal recurrence rms_norm rsqrt
    scatter_reduce shares sigmoid silu sin sinc sinh solve solve_triangular sqrt tan tanh
    transposed_convolution transposed_convolution_with_bias
    """
)
"""What has a complex derivative, by which their rules multiply."""

_VALUES = _names(
    """
    all any count_nonzero embedding eq isclose isfinite isinf isnan isreal logical_and logical_not logical_or
    logical_xor ne nonzero soft_margin_loss to_sparse
    """
)
"""What computes with complex numbers, and has no derivative for them here."""

TO_REAL = _WRITTEN_FOR_BOTH | {"cast"}
"""What may make real numbers of complex ones; everything else makes complex ones, or is refused."""

_COMPUTING = _LINEAR | _WRITTEN_FOR_BOTH | _HOLOMORPHIC | _VALUES

_INSTEAD = "complex numbers have no order; compute with x.abs(), x.real or x.imag"

_REFUSALS = {
    "deg2rad": "deg2rad is not supported for complex tensors.",
    "rad2deg": "rad2deg is not supported for complex tensors.",
    "heaviside": "heaviside is not yet implemented for complex tensors.",
    "isneginf": "isneginf does not support complex inputs.",
    "isposinf": "isposinf does not support complex inputs.",
    "argmax": "argmax(): does not support complex input",
    "argmin": "argmin(): does not support complex input",
    "sort": "Sort does not support complex dtypes on CPU",
    "topk": "topk does not support complex dtypes on CPU",
    "nansum": "nansum on CPU does not support complex inputs",
    "isin": "Unsupported input type encountered for isin(): complex numbers",
    "max_along": "max(): does not support complex input",
    "min_along": "min(): does not support complex input",
    "sort_stable": " Sort does not support complex dtypes on CPU",
    **{
        name: f"{name} not implemented for complex tensors."
        for name in ("fmax", "fmin", "maximum", "minimum")
    },
}
"""Where PyTorch raises a RuntimeError, and what it says."""


def refuse(name: str, arrays: Iterable[Any]) -> None:
    """Raise PyTorch's error where the operation ``name`` does not compute with complex numbers.

    They have no order, so that nothing that compares numbers takes them; and what is made for real numbers
    alone would give wrong ones in silence.
    """
    if name in _COMPUTING:
        return
    if name in _REFUSALS:
        raise RuntimeError(f"{_REFUSALS[name]} ({_INSTEAD})")
    single = any([array.dtype == np.complex64 for array in arrays])
    kind = "ComplexFloat" if single else "ComplexDouble"
    raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{kind}': {_INSTEAD}")


def require_real(name: str, tensor: Any) -> None:
    """Raise PyTorch's error, that of ``name``, where ``tensor`` is complex."""
    if is_complex(tensor):
        refuse(name, (tensor.array,))


_DRAWING = "\"bernoulli_scalar_cpu_\" not implemented for 'ComplexFloat'"
_SEARCHING = "\"searchsorted_out_cpu\" not implemented for 'ComplexFloat'"

_POOLING = "max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d"

_FUNCTIONS = {
    **_REFUSALS,
    **dict.fromkeys(("abs_", "absolute_"), "In-place abs is not supported for complex tensors."),
    **dict.fromkeys(("argsort", "msort"), _REFUSALS["sort"]),
    "nanmean": _REFUSALS["nansum"],
    **dict.fromkeys(("bernoulli", "bernoulli_"), _DRAWING),
    **dict.fromkeys(("bucketize", "searchsorted"), _SEARCHING),
    **{name: f"\"{name}\" not implemented for 'ComplexFloat'" for name in _POOLING.split()},
}
"""The same of functions that are no rules, or are made of rules that compute with complex numbers."""


def refuse_function(name: str, arguments: Iterable[Any]) -> None:
    """Raise PyTorch's error where the function ``name`` takes no complex tensors, and got one."""
    if name in _FUNCTIONS:
        for each in arguments:
            if _has_complex(each):
                message = f"{_FUNCTIONS[name]} ({_INSTEAD})"
                raise (NotImplementedError if "not implemented for '" in message else RuntimeError)(message)


def _has_complex(value: Any) -> bool:
    array = getattr(value, "array", None)
    return array is not None and array.dtype.kind == "c"


def is_complex(value: Any) -> bool:
    """Whether the elements of a tensor, an array, or a node's result are complex."""
    kind = value.dtype
    return kind.kind == "c" if isinstance(kind, np.dtype) else kind.is_complex


def are_among(sources: Iterable[Any]) -> bool:
    """Whether one of the ``sources``, tensors or nodes, is complex."""
    return any([is_complex(source) for source in sources])


def rules_of(name: str, rules: tuple[Any, ...]) -> tuple[Any, ...]:
    """The derivatives of the operation ``name`` for complex numbers, made from those in ``rules``.

    Raises
    ------
    RuntimeError
        If none are known.
    """
    if name in _LINEAR or name in _WRITTEN_FOR_BOTH:
        return rules
    if name in _HOLOMORPHIC:
        return tuple([rule._replace(vjp=_conjugated(rule.vjp)) for rule in rules])
    raise RuntimeError(
        f"{name} does not support automatic differentiation for outputs with complex dtype. Compute it with "
        "the real and the imaginary part, x.real and x.imag, or detach() what needs no gradient"
    )


def forward_rule(name: str) -> Callable[..., Any] | None:
    """What makes a derivative of the elementwise operation ``name`` take complex tangents forward.

    It is None where the transpose of the derivative must be taken.
    """
    if name in _HOLOMORPHIC:
        return _conjugated  # twice is not at all
    return (lambda vjp: vjp) if name in _LINEAR else None


def _conjugated(vjp: Callable[..., Any]) -> Callable[..., Any]:
    """``vjp``, which multiplies by a complex derivative, made to multiply by its conjugate."""

    def compute(g: Any, *values: Any) -> Any:
        return vjp(g, *map(_conjugate, values))

    return compute


def _conjugate(value: Any) -> Any:
    """The conjugate of a tensor, an array or a number, or of each in a list; anything else as it is."""
    if isinstance(value, list | tuple):
        parts = map(_conjugate, value)
        return value.__class__(*parts) if hasattr(value, "_fields") else value.__class__(parts)
    complexes = isinstance(value, complex) or (hasattr(value, "dtype") and is_complex(value))
    return np.conjugate(value) if complexes else value
