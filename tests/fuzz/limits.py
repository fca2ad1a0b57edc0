"""Checks for the places where no number is right by itself: infinities, NaN, memory that nobody set.

Each takes the kind of a finding and the call that showed it, as those of ``checks`` do.

* ``finitely``: each array that differs has an element without end, and the same call with ordinary numbers in
  the place of those without end (infinities, NaN, 1e30, powers of 99, steps and divisors of 0) comes to the
  same in both, results and gradients.
* ``of nan``: autokit is NaN wherever the two differ, and so is an element of an operand.
* ``at nan``: gradients differ where the operand is NaN.
* ``of nothing``: wherever the two differ autokit has NaN, the mean of nothing, or 0, its sum.
* ``unset``: dtypes and shapes are PyTorch's; only the elements, which nobody set, differ.
* ``learns nothing``: what only one library marks as learning has no elements, or no gradient that is not 0.
* ``of no elements``: only strides differ, of tensors without elements.
* ``failed``: the matrices whose elements differ are those of which both say that they failed.
* ``near the mean``: each drawn count is nearer to its mean than ten of its deviations.
* ``same sum``, ``same rows``: elements, or rows in some order, come to the same.
* ``leading``: the first columns of a matrix, or their first rows, are singular to the last digits.
* ``a full turn``: the angles that differ do by 2π.
* ``no spread``: results differ where autokit divides by a variance of 0, to infinity, and PyTorch has NaN, of
  ∞ − ∞, for numbers that lie in a row alone.
* ``nothing read``: PyTorch reads nothing where it has just written: its indices name no place.
* ``unchanged``: what autokit was given is afterwards what it was before.
* ``on meta``: the shape is PyTorch's own on its device "meta"; ``of the size of some``: where there is one in
  the place of none.
* ``as in Python``: each element is Python's power of complex numbers; ``as the largest``: PyTorch finds the
  same where a number larger than all takes the place of NaN.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import autokit
from tests.fuzz.calls import Call
from tests.fuzz.compare import Outcome, difference, names_for, run
from tests.ops.case import flat


def pairs(ours: Outcome, theirs: Outcome) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """The numbers of each result, operand and gradient in both libraries; None where they do not match."""
    lost = ours.backward_error or theirs.backward_error  # of one that fails there are no gradients
    if ours.error or theirs.error or not lost and len(ours.gradients) != len(theirs.gradients):
        return None
    mine, others = ([*flat(each.results), *each.tensors.values()] for each in (ours, theirs))
    if len(mine) != len(others):
        return None
    both = [
        *zip(mine, others),
        *((a, b) for a, b in zip(ours.gradients, theirs.gradients) if a is not None and b is not None),
    ]
    found = [(numbers(a), numbers(b)) for a, b in both if isinstance(b, torch.Tensor)]
    return found if all(a.shape == b.shape for a, b in found) else None


def numbers(tensor: Any) -> np.ndarray:
    """The elements of a tensor of either library."""
    dense = tensor.detach().to_dense().resolve_conj()
    dense = dense.to(torch.complex64) if dense.dtype == torch.complex32 else dense
    return np.asarray(dense.numpy() if dense.is_complex() else dense.double().numpy())


def differ(mine: np.ndarray, other: np.ndarray, tolerance: float = 1e-4) -> np.ndarray:
    """Where two arrays differ."""
    return ~np.isclose(mine, other, rtol=tolerance, atol=tolerance, equal_nan=True)


def _both(call: Call) -> list[tuple[np.ndarray, np.ndarray]] | None:
    return pairs(run(autokit, call), run(torch, call))


# ---------------------------------------------------------------- numbers without end

_ENDLESS = re.compile(r"-?\binf\b|\bnan\b|-?\b1e-?30\b")


def _ordinary(source: str) -> str:
    """The source with ordinary numbers, not all the same, in the place of those that have no end."""
    made = iter([1.5, 0.75, 2.25, 1.25, 0.5, 1.75] * 2000)
    if source.startswith("T.tensor("):
        return re.sub(_ENDLESS, lambda _: str(next(made)), source)
    source = re.sub(r"\b(spacing|dx)=0\b", r"\1=2", source)
    source = re.sub(r"\bcorrection=[\d.]+|\bunbiased=True", "correction=0", source)
    return re.sub(r"(?<![\w.])-?(inf|nan|1e-?30|99|7)(?![\w.])", lambda _: "2", source)


def with_ordinary_numbers(call: Call) -> Call:
    """The call with ordinary numbers in the place of those that have no end."""
    tensors = {name: _ordinary(each) for name, each in call.tensors.items()}
    return Call(tensors, _ordinary(call.expression))


def _finitely(kind: str, call: Call) -> bool:
    both = _both(call)
    ordinary = with_ordinary_numbers(call)
    if both is None or str(ordinary) == str(call) or run(autokit, ordinary).error is not None:
        return False
    endless = all(bool(_without_end(a).any() or _without_end(b).any()) for a, b in both if differ(a, b).any())
    found = difference(call.expression, ordinary)
    return endless and (found is None or kind == "result" and found[0] == "backward")


def _without_end(array: np.ndarray) -> np.ndarray:
    return ~(abs(array) < 1e18)


def _at_nan(_: str, call: Call) -> bool:
    """Whether gradients differ where the operand itself is NaN alone."""
    ours, theirs = run(autokit, call), run(torch, call)
    if ours.error or theirs.error:
        return False
    learners = [each for each in theirs.tensors.values() if each.requires_grad]
    return all(
        a is not None and b is not None and np.isnan(numbers(leaf))[differ(numbers(a), numbers(b))].all()
        for leaf, a, b in zip(learners, ours.gradients, theirs.gradients)
    )


def _of_nan(_: str, call: Call) -> bool:
    both = _both(call)
    return "nan" in str(call) and both is not None and all(np.isnan(a[differ(a, b)]).all() for a, b in both)


# ---------------------------------------------------------------- nothing, and memory that nobody set


def _of_nothing(_: str, call: Call) -> bool:
    both = _both(call)
    return both is not None and all(bool((np.isnan(a) | (a == 0))[differ(a, b)].all()) for a, b in both)


def _unset(_: str, call: Call) -> bool:
    ours, theirs = run(autokit, call), run(torch, call)
    if ours.error or theirs.error:
        return False
    mine, others = flat(ours.results), flat(theirs.results)
    return len(mine) == len(others) and all(
        tuple(a.shape) == tuple(b.shape) and repr(a.dtype) == repr(b.dtype)
        for a, b in zip(mine, others)
        if isinstance(b, torch.Tensor)
    )


def _unchanged(_: str, call: Call) -> bool:
    names, ours = names_for(autokit), run(autokit, call)
    before = {name: numbers(eval(source, names)) for name, source in call.tensors.items()}
    return not ours.error and all(
        np.array_equal(before[name], numbers(given), equal_nan=True) for name, given in ours.tensors.items()
    )


def _learns_nothing(_: str, call: Call) -> bool:
    ours, theirs = run(autokit, call), run(torch, call)
    if theirs.error or ours.error:
        return False
    both = [
        pair for pair in zip(flat(ours.results), flat(theirs.results)) if isinstance(pair[1], torch.Tensor)
    ]
    marked = [
        (library, outcome, end)
        for a, b in both
        if a.requires_grad != b.requires_grad
        for library, outcome, end in ((autokit, ours, a), (torch, theirs, b))
        if end.requires_grad and end.numel()
    ]
    for library, outcome, end in marked:
        leaves = [each for each in outcome.tensors.values() if each.requires_grad and each.is_leaf]
        try:
            slopes = library.autograd.grad(end.sum(), leaves, allow_unused=True, retain_graph=True)
        except RuntimeError:
            continue
        if any(slope is not None and numbers(slope).any() for slope in slopes):
            return False
    return True


def _of_no_elements(_: str, call: Call) -> bool:
    """Whether all but tuples, of strides, is as in PyTorch, of tensors that are empty."""
    ours, theirs = (run(library, call) for library in (autokit, torch))
    tensors = [
        each for each in (*flat(theirs.results), *theirs.tensors.values()) if isinstance(each, torch.Tensor)
    ]
    if ours.error or theirs.error or all(each.numel() for each in tensors):
        return False
    return all(
        tuple(a.shape) == tuple(b.shape) if isinstance(b, torch.Tensor) else a == b or isinstance(b, int)
        for a, b in zip(flat(ours.results), flat(theirs.results))
    )


def _filled(source: str) -> str:
    return re.sub(r"(?<=[(\s])0(?=[,)])", "1", source)


def _of_the_size_of_some(_: str, call: Call) -> bool:
    """Whether the shape is PyTorch's where there is one in the place of none."""
    ours = run(autokit, call)
    expression = re.sub(r"\.expand\([\d, ]*\)", lambda found: _filled(found[0]), call.expression)
    filled = Call({name: _filled(each) for name, each in call.tensors.items()}, expression)
    theirs = run(torch, filled)
    if ours.error or theirs.error:
        return False
    mine, others = ([tuple(each.shape) for each in flat(each.results)] for each in (ours, theirs))
    return [tuple(size or 1 for size in shape) for shape in mine] == others


def _as_in_python(_: str, call: Call) -> bool:
    """Whether each element is Python's own power of complex numbers, where Python has one."""
    ours = run(autokit, call)
    if ours.error or len(ours.tensors) != 2:
        return False
    base, exponent = (numbers(each) for each in ours.tensors.values())
    result = numbers(flat(ours.results)[0])
    for a, b, value in zip(*map(np.ravel, np.broadcast_arrays(base, exponent, result))):
        try:
            power = complex(a) ** complex(b)
        except (ZeroDivisionError, OverflowError):
            continue
        if differ(np.asarray(value), np.asarray(power)).any():
            return False
    return True


def _as_the_largest(_: str, call: Call) -> bool:
    """Whether PyTorch finds the same where a number larger than all takes the place of NaN."""
    halves = "float16" in str(call)
    largest, step, infinite = (65e3, 32, 5e4) if halves else (3e38, 1e35, 2e38)
    made = (str(largest - n * step) for n in range(200))  # none of them equal, as no NaN is
    endless = r"\b(inf|1e30)\b" if halves else r"\binf\b"
    tensors = {name: re.sub(r"\bnan\b", lambda _: next(made), each) for name, each in call.tensors.items()}
    finite = {name: re.sub(endless, str(infinite), each) for name, each in tensors.items()}
    large = Call(finite, call.expression)
    ours, theirs = run(autokit, call), run(torch, large)
    if ours.error or theirs.error:
        return False
    mine, other = (numbers(flat(each.results)[0]) for each in (ours, theirs))
    other = np.where(other > 1.1 * infinite, np.nan, other)
    other = np.where(abs(other) > 0.9 * infinite, np.copysign(np.inf, other), other)
    return mine.shape == other.shape and not differ(mine, other).any()


def _on_meta(_: str, call: Call) -> bool:
    ours = run(autokit, call)
    names = names_for(torch)
    made = {name: eval(source, names).detach().to("meta") for name, source in call.tensors.items()}
    try:
        theirs = flat(eval(call.expression, {**names, **made}))
    except Exception:
        return False
    mine = [tuple(each.shape) for each in flat(ours.results) if isinstance(each, autokit.Tensor)]
    return not ours.error and mine == [tuple(each.shape) for each in theirs if isinstance(each, torch.Tensor)]


def _nothing_read(_: str, call: Call) -> bool:
    """Whether PyTorch's ``input[indices]`` holds nothing, or cannot be read at all."""
    node = ast.parse(call.expression, mode="eval").body
    assert isinstance(node, ast.Call)
    given = {each.arg: each.value for each in node.keywords}
    by_place = list(node.args)
    if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value).split(".")[0] != "T":
        by_place.insert(0, node.func.value)
    operand = given["input"] if "input" in given else by_place.pop(0)
    indices = given["indices"] if "indices" in given else by_place.pop(0)
    names = names_for(torch)
    names |= {name: eval(source, names) for name, source in call.tensors.items()}
    try:
        return not eval(f"({ast.unparse(operand)})[tuple({ast.unparse(indices)})]", names).numel()
    except IndexError:
        return True


# ---------------------------------------------------------------- by what must hold of the results


def _failed(_: str, call: Call) -> bool:
    ours, theirs = run(autokit, call), run(torch, call)
    if ours.error or theirs.error:
        return False
    mine, others = flat(ours.results), flat(theirs.results)
    failures, same = numbers(mine[-1]), numbers(others[-1])
    if not np.array_equal(failures, same):
        return False
    for a, b in zip(mine[:-1], others[:-1]):
        wrong = differ(numbers(a), numbers(b), 1e-2)
        spread = failures.reshape(failures.shape + (1,) * (wrong.ndim - failures.ndim)) != 0
        if (wrong & ~spread).any():
            return False
    return bool(failures.any())


def _operands(call: Call) -> list[np.ndarray]:
    """The numbers of the tensors that the call takes, as it takes them, but for the place for the result."""
    node = ast.parse(call.expression, mode="eval").body
    assert isinstance(node, ast.Call)
    receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    parts = [*receiver, *node.args, *(each.value for each in node.keywords if each.arg != "out")]
    names = names_for(torch)
    names |= {name: eval(source, names) for name, source in call.tensors.items()}
    given = [eval(ast.unparse(part), names) for part in parts]
    return [numbers(each) for each in given if isinstance(each, torch.Tensor)]


def _near_the_mean(_: str, call: Call) -> bool:
    ours, given = run(autokit, call), _operands(call)
    counts = numbers(flat(ours.results)[0])
    rates = given[0] if len(given) == 1 else given[0] * given[1]
    with np.errstate(invalid="ignore"):
        return bool(((counts == rates) | (abs(counts - rates) <= 10 * np.sqrt(rates) + 10)).all())


def _leading(_: str, call: Call) -> bool:
    """Whether the first columns of a matrix, or their first rows, are singular to the last digits."""
    for matrix in (numbers(each) for each in run(torch, call).tensors.values()):
        if matrix.ndim > 1 and matrix.size and np.isfinite(matrix).all():
            for given in (matrix, np.swapaxes(matrix, -1, -2)):
                for count in range(1, min(given.shape[-2:]) + 1):
                    for block in (given[..., :count], given[..., :count, :count]):
                        values = np.linalg.svd(block, compute_uv=False)
                        if (values[..., -1] <= 1e-5 * values[..., 0]).any():
                            return True
    return False


def _a_full_turn(_: str, call: Call) -> bool:
    both = _both(call)
    return both is not None and all(
        not differ(a.real, b.real).any() and not differ(abs(a - b)[differ(a, b)], np.asarray(2 * np.pi)).any()
        for a, b in both
    )


def _same_sum(_: str, call: Call) -> bool:
    both = _both(call)
    return both is not None and all(np.isclose(a.sum(), b.sum(), equal_nan=True) for a, b in both)


def _same_rows(_: str, call: Call) -> bool:
    """Whether the elements, or the rows along a dimension, are the same in some order."""
    ours, theirs = run(autokit, call), run(torch, call)
    if ours.error or theirs.error:
        return False
    mine, other = (numbers(flat(each.results)[0]) for each in (ours, theirs))
    if mine.shape != other.shape:
        return False

    def rows(values: np.ndarray, axis: int) -> list[str]:
        return sorted(str(row.tolist()) for row in np.moveaxis(values, axis, 0))

    return any(rows(mine, axis) == rows(other, axis) for axis in range(mine.ndim)) or not mine.ndim


def _no_spread(kind: str, call: Call) -> bool:
    both = _both(call)
    if kind != "result" or both is None:
        return False
    mine, other = both[0]
    places = differ(mine, other)
    return (
        bool((np.isinf(mine) & np.isnan(other))[places].all())
        and not differ(mine, other)[~np.isinf(mine)].any()
    )


LIMITS: dict[str, Callable[[str, Call], bool]] = {
    "finitely": _finitely,
    "of nan": _of_nan,
    "at nan": _at_nan,
    "of nothing": _of_nothing,
    "unset": _unset,
    "unchanged": _unchanged,
    "learns nothing": _learns_nothing,
    "failed": _failed,
    "near the mean": _near_the_mean,
    "same sum": _same_sum,
    "same rows": _same_rows,
    "no spread": _no_spread,
    "nothing read": _nothing_read,
    "a full turn": _a_full_turn,
    "leading": _leading,
    "of no elements": _of_no_elements,
    "on meta": _on_meta,
    "of the size of some": _of_the_size_of_some,
    "as in Python": _as_in_python,
    "as the largest": _as_the_largest,
}
"""Each of these checks by its name."""
