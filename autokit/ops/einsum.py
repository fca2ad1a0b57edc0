"""Einstein's summation: products of tensors, written by naming their dimensions.

``einsum("ij,jk->ik", a, b)`` multiplies all elements whose names agree, and
sums over the names that the result does not have.  Every operand is first
brought to a plain form (diagonals taken, lone names summed); two operands are
then contracted at a time, as one batched matrix product.

The derivative of a contraction by one operand is a contraction again, of the
gradient and the other operand: where c = Σ a[left] b[right] is c[into], the
gradient of a is Σ g[into] b[right] as [left].
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from autokit.autograd.node import Node
from autokit.ops.convert import cast
from autokit.ops.errors import describe
from autokit.ops.gpu.arrays import like
from autokit.ops.matrices import title
from autokit.ops.names import Names
from autokit.ops.operation import derivative, on, operation
from autokit.ops.own_copies import is_copied, outlives
from autokit.ops.shape import permute
from autokit.tensor import Tensor

Labels = tuple[int, ...]

# ---------------------------------------------------------------- one operand


def _diagonals(a: Any, labels: Labels) -> tuple[Any, Labels]:
    """A view of ``a`` where names that occur twice have become one dimension each."""
    once = tuple(dict.fromkeys(labels))
    if once == labels:
        return a, labels
    numbers = [once.index(label) for label in labels]
    letters = "".join([_LETTERS[number] for number in numbers])
    return np.einsum(f"{letters}->{_LETTERS[: len(once)]}", a), once


@operation(
    "Σ",
    "Σ {a}",
    a=derivative(
        "1 along what was summed",
        lambda g, shape, labels, into: on(_spread, g, labels=labels, into=into, sizes=tuple(shape)),
    ),
    name="einsum_one",
    backward="SumBackward1",
    linear=True,
)
def _sum_one(a, /, labels, into):
    """Diagonals of ``a`` for names that occur twice, and sums over the names that ``into`` lacks."""
    a, labels = _diagonals(a, labels)
    gone = tuple([place for place, label in enumerate(labels) if label not in into])
    kept = [label for label in labels if label in into]
    # As elsewhere integers are summed in int64, where small ones would overflow; one of them is no sum.
    summed = a.dtype.kind in "bui" and any([a.shape[place] != 1 for place in gone])
    a = a.sum(axis=gone, dtype=np.int64 if summed else a.dtype) if gone else a.copy()
    return a.transpose([kept.index(label) for label in into])


@operation(
    "expand",
    "{a} along new dimensions",
    a=derivative("sum", lambda g, labels, into: on(_sum_one, g, labels=labels, into=into)),
    name="einsum_spread",
    linear=True,
)
def _spread(a, /, labels, into, sizes):
    """The adjoint of the sum: ``a`` repeated along the names that were summed, on the diagonals of zeros."""
    result = like(np.zeros_like, a, shape=sizes)
    places, once = _diagonals(result, labels)
    order = [into.index(label) for label in once if label in into]
    index = tuple([slice(None) if label in into else None for label in once])
    places[...] = a.transpose(order)[index]
    return result


def _simplify(a: Tensor, labels: Labels, into: Labels) -> Tensor:
    """``a`` with the names ``into``, as a view where nothing is summed."""
    if labels == into:
        return a
    sizes = dict(zip(labels, a.array.shape))
    if len(set(labels)) == len(labels) and all(sizes[label] == 1 for label in labels if label not in into):
        a = a.reshape([sizes[label] for label in labels if label in into])
        labels = tuple([label for label in labels if label in into])
    if builtins.sorted(labels) == builtins.sorted(into) and len(set(labels)) == len(labels):
        return permute(a, [labels.index(label) for label in into])
    return _sum_one(a, labels=labels, into=into)


# ---------------------------------------------------------------- two operands


def _contract(a: Any, b: Any, left: Labels, right: Labels, into: Labels) -> Any:
    """The contraction as one batched matrix product.

    A name is of the batch (in both operands and the result), summed (in both
    operands alone), or free (in one operand and the result).
    """
    free = [label for label in into if (label in left) != (label in right)]
    if free and free[0] in right:  # so that the product lies in memory in the order of ``into``, if it can
        a, b, left, right = b, a, right, left
    batch = [label for label in into if label in left and label in right]
    summed = [label for label in left if label in right and label not in into]
    rows = [label for label in into if label in left and label not in right]
    columns = [label for label in into if label in right and label not in left]
    size = {**dict(zip(left, a.shape)), **dict(zip(right, b.shape))}

    def extent(labels: list[int]) -> int:
        return math.prod([size[label] for label in labels])

    lead = tuple([size[label] for label in batch])
    a = a.transpose([left.index(label) for label in (*batch, *rows, *summed)])
    b = b.transpose([right.index(label) for label in (*batch, *summed, *columns)])
    if summed:
        a = a.reshape((*lead, extent(rows), extent(summed)))
        b = b.reshape((*lead, extent(summed), extent(columns)))
        product = a @ b
    else:
        product = a.reshape((*lead, extent(rows), 1)) * b.reshape((*lead, 1, extent(columns)))
    found = [*batch, *rows, *columns]
    product = product.reshape([size[label] for label in found])
    return product.transpose([found.index(label) for label in into])


def _name(node: Node) -> str:
    settings = node.settings or {}
    return "ViewBackward0" if set(settings["left"]) - set(settings["into"]) else "MulBackward0"


@operation(
    "Σ ×",
    "Σ {a} · {b}",
    a=derivative(
        "Σ · {b}",
        lambda g, b, left, right, into: on(contract, g, b, left=into, right=right, into=left),
    ),
    b=derivative(
        "Σ · {a}",
        lambda g, a, left, right, into: on(contract, g, a, left=into, right=left, into=right),
    ),
    name="einsum",
    backward=_name,
    linear=True,
)
def contract(a, b, /, left, right, into):
    """The contraction of two operands; each name of one is in the other or in the result, once."""
    return _contract(a, b, left, right, into)


def _contract_two(
    a: Tensor, b: Tensor, left: Labels, right: Labels, keep: Sequence[int], copied: Callable[..., Any]
) -> tuple[Tensor, Labels]:
    """Contract two operands, keeping the names in ``keep``; the result and its names."""
    known = dict.fromkeys((*left, *right))
    into = tuple([label for label in keep if label in known])
    a, left = _ready(a, left, right, into)
    b, right = _ready(b, right, left, into)
    if a.array.dtype != b.array.dtype:  # integers of which one was summed
        a, b = (cast(each, dtype=np.dtype(np.int64)) for each in (a, b))
    made = contract(a, b, left=left, right=right, into=into)
    return made if made._node is None else outlives(made, copied(a, b, left, right, into)), into


def _copied(a: Tensor, b: Tensor, left: Labels, right: Labels, into: Labels) -> dict[int, Tensor]:
    """The operands that PyTorch copies to have one dimension for the batch, what is summed, and the rest."""
    found: dict[int, Tensor] = {}
    if all(size == 1 for label, size in zip(left, a.array.shape) if label not in into):
        return found  # it multiplies element by element
    for place, (tensor, own, other) in enumerate(((a, left, right), (b, right, left))):
        if tensor.array.__class__ is np.ndarray and is_copied(tensor.array, _groups(own, other, into)):
            found[place] = tensor
    return found


def _groups(own: Labels, other: Labels, into: Labels) -> list[list[int]]:
    """The dimensions of an operand that PyTorch makes one each: of the batch, free, summed with ``other``."""
    batch = [label for label in into if label in own and label in other]
    free = [label for label in into if label in own and label not in other]
    summed = builtins.sorted([label for label in own if label not in into and label in other])
    return [[own.index(label) for label in group] for group in (batch, free, summed)]


def _ready(a: Tensor, left: Labels, right: Labels, into: Labels) -> tuple[Tensor, Labels]:
    """``a`` with the names summed that nothing else has."""
    kept = tuple(dict.fromkeys([label for label in left if label in right or label in into]))
    return _simplify(a, left, kept), kept


def contract_all(
    operands: list[Tensor], labels: list[Labels], out: Labels, copied: Callable[..., Any] = _copied
) -> Tensor:
    """Contract pair after pair, each time the pair that leaves the smallest result.

    ``copied`` tells which of a pair PyTorch copies before; see :mod:`autokit.ops.own_copies`.
    """
    operands, labels = list(operands), list(labels)
    if (
        len(operands) > 2
    ):  # the order is opt_einsum's in PyTorch, where that is installed, and so what it copies

        def copied(a: Tensor, b: Tensor, *_: Labels) -> dict[int, Tensor]:
            return {0: a, 1: b}

    while len(operands) > 1:
        sizes = {n: size for t, names in zip(operands, labels) for n, size in zip(names, t.array.shape)}

        def grows(pair: tuple[int, int], sizes: dict[int, int] = sizes) -> int:
            i, j = pair
            others = {n for place, names in enumerate(labels) if place not in pair for n in names} | set(out)
            kept = (set(labels[i]) | set(labels[j])) & others
            before = math.prod(operands[i].array.shape) + math.prod(operands[j].array.shape)
            return math.prod([sizes[n] for n in kept]) - before

        i, j = min(combinations(range(len(operands)), 2), key=grows)
        others = {n for place, names in enumerate(labels) if place not in (i, j) for n in names}
        keep = [*out, *(others - set(out))]
        made, names = _contract_two(operands[i], operands[j], labels[i], labels[j], keep, copied)
        for place in (j, i):
            del operands[place], labels[place]
        operands.insert(0, made)
        labels.insert(0, names)
    return _simplify(operands[0], labels[0], out)


# ---------------------------------------------------------------- reading the equation

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ELLIPSIS = -1


def _parse_part(part: str, where: str, offset: int) -> list[int]:
    """The labels of one operand, or of the result; an ellipsis is -1."""
    labels: list[int] = []
    place = 0
    while place < len(part):
        letter = part[place]
        if letter == ".":
            if _ELLIPSIS in labels:
                raise RuntimeError(f"einsum(): found '.' for {where} for which an ellipsis was already found")
            if part[place : place + 3] != "...":
                raise RuntimeError(f"einsum(): found '.' for {where} that is not part of any ellipsis")
            labels.append(_ELLIPSIS)
            place += 3
            continue
        if letter != " ":
            if letter not in _LETTERS:
                raise RuntimeError(
                    f"einsum(): invalid subscript given at index {offset + place} in the equation string, "
                    "subscripts must be in [a-zA-Z]"
                )
            labels.append(_LETTERS.index(letter))
        place += 1
    return labels


def _parse(equation: str, operands: Sequence[Tensor]) -> tuple[list[list[int]], list[int] | None]:
    """The labels of each operand, and of the result where the equation says them."""
    inputs, arrow, output = equation.partition("->")
    parts = inputs.split(",")
    parsed, offset = [], 0
    for place, part in enumerate(parts):
        parsed.append(_parse_part(part, f"operand {place}", offset))
        offset += len(part) + 1
    if len(parts) != len(operands):
        fewer = "fewer" if len(operands) < len(parts) else "more"
        raise RuntimeError(
            f"einsum(): {fewer} operands were provided than specified in the equation: '{equation}' names "
            f"{len(parts)}, and there are {len(operands)}"
        )
    return parsed, _parse_part(output, "the output", len(inputs) + 2) if arrow else None


def _sublists(arguments: tuple[Any, ...]) -> tuple[list[Any], list[list[int]], list[int] | None]:
    """Operands and labels of the form ``einsum(a, [0, 1], b, [1, 2], [0, 2])``."""
    pairs = len(arguments) // 2
    operands = list(arguments[: 2 * pairs : 2])
    lists = [_one_sublist(labels) for labels in arguments[1 : 2 * pairs : 2]]
    return operands, lists, _one_sublist(arguments[-1]) if len(arguments) % 2 else None


def _one_sublist(labels: Any) -> list[int]:
    made = []
    for label in labels:
        if label is Ellipsis:
            made.append(_ELLIPSIS)
        elif isinstance(label, int) and 0 <= label < len(_LETTERS):
            made.append(label)
        else:
            raise ValueError(
                "einsum(): subscript in subscript list is not within the valid range "
                f"[0, {len(_LETTERS)}): {label!r}"
            )
    return made


def _letter(label: int) -> str:
    return _LETTERS[label]


def _without_ellipses(
    operands: Sequence[Tensor], parsed: list[list[int]], output: list[int] | None
) -> tuple[list[Labels], Labels]:
    """All labels written out: those under an ellipsis get numbers after the letters, aligned at the right."""
    widths = []
    for place, (tensor, labels) in enumerate(zip(operands, parsed)):
        named = len(labels) - (_ELLIPSIS in labels)
        if _ELLIPSIS not in labels and named != tensor.array.ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) does not match the number of "
                f"dimensions ({tensor.array.ndim}) for operand {place} and no ellipsis was given: "
                f"{describe(tensor)}"
            )
        if named > tensor.array.ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) is more than the number of "
                f"dimensions ({tensor.array.ndim}) for operand {place}: {describe(tensor)}"
            )
        widths.append(tensor.array.ndim - named)
    widest = max(widths)
    unnamed = range(len(_LETTERS), len(_LETTERS) + widest)

    def written(labels: list[int], width: int) -> Labels:
        under = unnamed[widest - width :]
        return tuple([each for label in labels for each in (under if label == _ELLIPSIS else (label,))])

    inputs = [written(labels, width) for labels, width in zip(parsed, widths)]
    if output is None:
        # Without an arrow: what the ellipses cover, then in alphabetical order what occurs once.
        everything = [label for labels in inputs for label in labels]
        alone = {_letter(n): n for n in everything if n < len(_LETTERS) and everything.count(n) == 1}
        return inputs, (*unnamed, *(alone[letter] for letter in builtins.sorted(alone, key=_alphabetical)))
    return inputs, _checked_output(written(output, widest), inputs)


def _alphabetical(letter: str) -> int:
    return _LETTERS.index(letter)


def _checked_output(out: Labels, inputs: list[Labels]) -> Labels:
    for place, label in enumerate(out):
        if label in out[:place]:
            raise RuntimeError(
                f"einsum(): output subscript {_letter(label)} appears more than once in the output"
            )
        if not any(label in labels for labels in inputs):
            raise RuntimeError(
                f"einsum(): output subscript {_letter(label)} does not appear in the equation for any input "
                "operand"
            )
    return out


def without_broadcasts(operands: Sequence[Tensor], inputs: list[Labels]) -> tuple[list[Tensor], list[Labels]]:
    """Operands without the dimensions of size 1 that meet a larger size elsewhere."""
    sizes: dict[int, int] = {}
    for place, (tensor, labels) in enumerate(zip(operands, inputs)):
        seen: dict[int, int] = {}
        for dim, (label, size) in enumerate(zip(labels, tensor.array.shape)):
            if seen.setdefault(label, size) != size:
                raise RuntimeError(
                    f"einsum(): subscript {_letter(label)} is repeated for operand {place} but the sizes "
                    f"don't match, {size} != {seen[label]}"
                )
            before = sizes.get(label, 1)
            if 1 not in (before, size) and before != size:
                raise _size_error(label, dim, size, place, before)
            sizes[label] = max(before, size) if 0 not in (before, size) else 0
    made, names = [], []
    for tensor, labels in zip(operands, inputs):
        drop = {label for label, size in zip(labels, tensor.array.shape) if size == 1 != sizes[label]}
        if drop:
            kept = tuple([label for label in labels if label not in drop])
            tensor = tensor.reshape([n for label, n in zip(labels, tensor.array.shape) if label not in drop])
            labels = kept
        made.append(tensor)
        names.append(labels)
    return made, names


def _size_error(label: int, dim: int, size: int, place: int, before: int) -> RuntimeError:
    if label >= len(_LETTERS):
        return RuntimeError(
            f"einsum(): dimension {label - len(_LETTERS)} covered by ellipsis in operand {place} has size "
            f"{size} which does not broadcast with previously seen ellipsis with size {before} for the "
            "respective dimension"
        )
    return RuntimeError(
        f"einsum(): subscript {_letter(label)} has size {size} for operand {place} which does not broadcast "
        f"with previously seen size {before}"
    )


def einsum(*args: Any) -> Tensor:
    """Sums of products by Einstein's convention: names stand for dimensions.

    Parameters
    ----------
    *args
        An equation and the operands, ``einsum("ij,jk->ik", a, b)``, or the
        operands with lists of numbers, ``einsum(a, [0, 1], b, [1, 2], [0, 2])``.
        Without an arrow, the result has the names that occur once, in
        alphabetical order.  ``...`` stands for dimensions without names, which
        broadcast.  A name that occurs twice in one operand takes the diagonal.

    Raises
    ------
    RuntimeError
        If the equation does not fit the operands, or sizes of one name differ.

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
    if len(args) == 2 and isinstance(args[1], list | tuple) and not isinstance(args[0], Tensor):
        args = (args[0], *args[1])
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand "
            "and its subscripts list"
        )
    if not isinstance(args[0], str | Tensor):
        raise TypeError(
            f"einsum(): argument 'equation' (position 1) must be str, not {type(args[0]).__name__}"
        )
    if isinstance(args[0], str):
        operands = list(args[1:])
        _require_operands(operands)
        parsed, output = _parse(args[0], operands)
    else:
        operands, parsed, output = _sublists(args)
        _require_operands(operands)
    inputs, out = _without_ellipses(operands, parsed, output)
    if len(operands) == 1 and operands[0].array.dtype.kind in "bui" and not set(inputs[0]) <= set(out):
        operands = [cast(operands[0], dtype=np.dtype(np.int64))]  # as wherever integers are summed
    tensors, names = without_broadcasts(operands, inputs)
    return contract_all(tensors, names, out)


def _require_operands(operands: list[Any]) -> None:
    for place, tensor in enumerate(operands):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"einsum(): expected Tensor as element {place} in argument 1, but got {type(tensor).__name__}"
            )
        if tensor.array.dtype != operands[0].array.dtype:
            raise RuntimeError(
                f"expected scalar type {title(operands[0])} but found {title(tensor)}: convert one of "
                f"{describe(operands[0])} and {describe(tensor)} with .to(dtype)"
            )
    if len(operands) > 1 and operands[0].array.dtype.kind == "b":
        raise NotImplementedError("\"bmm\" not implemented for 'Bool': convert with .int() or .float()")


NAMES = Names(functions="einsum")
