"""Einstein's summation: sums of products of tensors, written by naming their dimensions.

``einsum("ij,jk->ik", a, b)`` multiplies all elements whose letters agree, and sums over the letters that the
result does not have. NumPy computes it, in an order of products that it has found to be cheap.

The derivative by one factor is an einsum again, in which the result's letters change places with the
factor's: where c = Σ a[ij] b[jk] as [ik], the gradient of a is Σ g[ik] b[jk] as [ij].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autokit.base.devices import module_of
from autokit.base.errors import one_dim, require_tensor
from autokit.engine.operation import derivative, on, operation
from autokit.engine.tensor import Tensor, new_tensor
from autokit.ops.arithmetic import mul
from autokit.ops.names import Names

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _gradients(g: Any, factors: Any, equation: str) -> tuple[Any, ...]:
    return tuple([_gradient(g, factors, equation, place) for place in range(len(factors))])


def _gradient(g: Any, factors: Any, equation: str, place: int) -> Any:
    """The gradient of the factor at ``place``: an einsum of ``g`` and of the other factors."""
    left, result = equation.split("->")
    terms, arrays = [result, *left.split(",")], [g, *factors]
    letters, factor = terms.pop(place + 1), arrays.pop(place + 1)
    fresh = [letter for letter in _LETTERS if letter not in equation]
    wanted = ""
    for letter, size in zip(letters, factor.shape):
        if letter in wanted:  # the factor was read along its diagonal, so the gradient lies on a diagonal
            terms.append(letter + fresh[-1])
            arrays.append(_constant(g, "eye", size))
            letter = fresh.pop()
        elif letter not in "".join(terms):  # summed in this factor alone: one gradient for all along it
            terms.append(letter)
            arrays.append(_constant(g, "ones", 1))
        wanted += letter
    return on(_einsum, *arrays, equation=f"{','.join(terms)}->{wanted}")


def _constant(g: Any, create: str, size: int) -> Any:
    """An identity (``eye``) or ``ones``: an array or a tensor, as ``g`` is, of its dtype and beside it."""
    array = getattr(module_of(g), create)(size, dtype=(g.array if isinstance(g, Tensor) else g).dtype)
    return new_tensor(array) if isinstance(g, Tensor) else array


@operation(
    "Σ ×", "Σ {factors}", joint=derivative("Σ g · the other factors", _gradients), mixed=True, name="einsum"
)
def _einsum(*factors, equation):
    """The sum of products by an ``equation`` with an arrow and without dots."""
    sizes: dict[str, int] = {}
    for place, (term, factor) in enumerate(zip(equation.split("->")[0].split(","), factors)):
        if factor.dtype != factors[0].dtype:
            raise RuntimeError(
                f"einsum(): expected the dtype {factors[0].dtype} of the first operand but found "
                f"{factor.dtype}: convert one with .to(dtype)"
            )
        for letter, size in zip(term, factor.shape):
            if 1 not in (size, sizes.setdefault(letter, size)) and size != sizes[letter]:
                raise RuntimeError(
                    f"einsum(): subscript {letter} has size {size} for operand {place} which does not "
                    f"broadcast with previously seen size {sizes[letter]}"
                )
            sizes[letter] = max(size, sizes[letter]) if size else 0
    # NumPy gives a view where it only moves the dimensions of one factor.
    return (
        np.einsum(equation, *factors, optimize=True) if factors[1:] else np.einsum(equation, *factors).copy()
    )


def einsum(*args: Any) -> Tensor:
    """Sums of products by Einstein's convention: letters stand for dimensions.

    Parameters
    ----------
    *args
        An equation and the operands, ``einsum("ij,jk->ik", a, b)``. Without an arrow, the result has the
        letters that occur once, in alphabetical order. ``...`` stands for dimensions without letters, which
        broadcast. A letter that occurs twice in one operand reads its diagonal.

    Raises
    ------
    RuntimeError
        If the equation does not fit the operands, or sizes of one letter differ.

    Examples
    --------
    >>> import autokit as torch
    >>> a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> torch.einsum("ij->ji", a)
    tensor([[1., 3.],
            [2., 4.]])
    >>> torch.einsum("ii", a)
    tensor(5.)
    >>> torch.einsum("ij,j->i", a, torch.tensor([1.0, 10.0]))
    tensor([21., 43.])
    """
    if len(args) < 2 or not isinstance(args[0], str):
        raise ValueError('einsum() takes an equation and at least one operand: einsum("ij,jk->ik", a, b)')
    equation, *operands = args
    if isinstance(operands[0], list | tuple):
        operands = [*operands[0]]
    for place, operand in enumerate(operands):
        require_tensor("einsum", operand, "operands", place)
    return _einsum(*operands, equation=_written_out(equation.replace(" ", ""), operands))


def _written_out(equation: str, operands: Sequence[Tensor]) -> str:
    """``equation`` with its arrow, and with letters in place of dots, aligned at the right."""
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        fewer = "fewer" if len(operands) < len(terms) else "more"
        raise RuntimeError(
            f"einsum(): {fewer} operands were provided than specified in the equation: '{equation}' names "
            f"{len(terms)}, and there are {len(operands)}"
        )
    fresh = "".join([letter for letter in _LETTERS if letter not in equation])
    dotted = ""
    for place, (term, operand) in enumerate(zip(terms, operands)):
        width = operand.ndim - len(term.replace("...", ""))
        if width < 0 or (width and term.count("...") != 1):
            raise RuntimeError(
                f"einsum(): the number of subscripts in '{term}' does not match the number of dimensions "
                f"({operand.ndim}) for operand {place}; ... stands for further dimensions"
            )
        dotted = max(dotted, fresh[:width][::-1], key=len)
        terms[place] = term.replace("...", fresh[:width][::-1])
    everything = "".join(terms)
    if not arrow:
        once = [
            letter for letter in sorted(everything) if everything.count(letter) == 1 and letter not in dotted
        ]
        result = dotted + "".join(once)
    result = result.replace("...", dotted)
    if not all(letter in _LETTERS for letter in everything + result):
        raise RuntimeError(
            f"einsum(): subscripts must be in [a-zA-Z], or ... once in each term, not '{equation}'"
        )
    for letter in result:
        if result.count(letter) > 1:
            raise RuntimeError(f"einsum(): output subscript {letter} appears more than once in the output")
        if letter not in everything:
            raise RuntimeError(f"einsum(): output subscript {letter} does not appear for any input operand")
    return f"{','.join(terms)}->{result}"


def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """The sums of products over dimensions of ``a`` paired with dimensions of ``b``.

    Parameters
    ----------
    a, b : Tensor
    dims : int or two sequences of int
        How many last dimensions of ``a`` meet the first ones of ``b``; or which of ``a``, and which of ``b``.

    Raises
    ------
    RuntimeError
        If paired sizes differ, or there are not as many dimensions of both.
    """
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects 0 <= dims <= {min(a.ndim, b.ndim)}, but got dims={dims}")
        dims = range(a.ndim - dims, a.ndim), range(dims)
    if len(dims) != 2 or len(dims[0]) != len(dims[1]):
        raise RuntimeError(f"both dimension lists should have same length, got {dims}")
    left = list(_LETTERS[: a.ndim])
    right = list(_LETTERS[a.ndim : a.ndim + b.ndim])
    for i, j in zip(*dims):
        right[one_dim(j, b.ndim)] = left[one_dim(i, a.ndim)]
    result = [letter for letter in left + right if (letter in left) != (letter in right)]
    return _einsum(a, b, equation=f"{''.join(left)},{''.join(right)}->{''.join(result)}")


def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sums of products along the last dimensions, for all pairs of leading indices."""
    if not input.ndim or not other.ndim:
        return mul(input, other)
    return tensordot(input, other, ([-1], [-1]))


NAMES = Names(both="inner", functions="einsum tensordot", numpy={np.einsum: einsum, np.inner: inner})
