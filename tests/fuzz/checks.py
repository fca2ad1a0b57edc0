"""What still has to hold where a difference is known: by what autokit's own answer is shown to be right.

A row of ``differences.txt`` may name checks; it covers a call only where one of them holds.

* ``as float64``, ``as int64``, ``plainly``, ``contiguous`` …: PyTorch answers the same call so written as
  autokit answers the call itself, but for what is too large for autokit's dtype; ``roughly float64``: in two
  digits.
* ``strided``: so it answers where the elements do not lie side by side, so that none goes through the long
  vectors, which compute otherwise than the rest; ``with tensors``: where tensors take the place of numbers;
  ``with numbers``: where a number takes that of an exponent without dimensions; ``with bounds of one shape``:
  where clamp gets both bounds in the shape of the result.
* ``as near``: no element is twice as far from PyTorch's in float64 as PyTorch's own.
* ``numerically``: see ``slopes``; ``second by slopes``: see ``second``; ``refused in float64``: PyTorch
  refuses the call in float64 too.
* ``as jvp``: PyTorch answers so where its ``jvp`` takes the place of ``linearize``.
* ``as inverse``: the inverse of the product of the Cholesky factor with itself is autokit's result.
* ``signs``: the values of svd and eigh, the product of the factors, and the angles between the vectors are
  PyTorch's, and with the signs of its columns and rows so are the gradients, wherever there are any.
* ``coinciding``: what differs belongs to a matrix that has one eigenvalue twice.
* ``eigen``: the values are PyTorch's in float64 in some order, the matrix stretches each vector by its own,
  and where the values learn the gradients are PyTorch's for them in that order.
* ``airy``: each result is Airy's function in 60 digits, to the rounding of its angle.
* ``unstable``: PyTorch's own answer moves as far as autokit's is away, where each number moves by a rounding.
* ``deficient``: what differs belongs to a matrix that is singular, or not of full rank, to the last digits.
* ``unsorted``: boundaries are not in order; ``repeats``: a place is named twice.

Of what has no end, or was never set, see ``limits``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import torch

import autokit
from tests.fuzz.calls import Call
from tests.fuzz.compare import TOLERANCE, Outcome, is_alike, names_for, random_seed, run
from tests.fuzz.limits import LIMITS, differ, numbers, pairs, with_ordinary_numbers
from tests.fuzz.rewrites import (
    as_float64,
    as_int64,
    as_inverse,
    as_jvp,
    by_name,
    by_place,
    changing,
    contiguous,
    cut_at_last_offset,
    default_dtype,
    of_one_dtype,
    plain,
    strided,
    with_bounds_of_one_shape,
    with_dtype_of_out,
    with_gelsd,
    with_numbers,
    with_tensors,
    without_flags,
)
from tests.fuzz.second import by_slopes
from tests.fuzz.slopes import numerically
from tests.ops.case import flat


def holds(check: str, kind: str, call: Call) -> bool:
    """Whether one of the checks, by their names between bars, holds for ``call``, which showed ``kind``."""
    return any(CHECKS[each.strip()](kind, call) for each in check.split("|"))


# ---------------------------------------------------------------- another way to write the call


def _answers(rewrite: Callable[[str], str], tolerance: float = 0.0) -> Callable[[str, Call], bool]:
    """Whether PyTorch's answer to the call so rewritten is autokit's answer to the call itself."""

    def check(kind: str, call: Call) -> bool:
        tensors = {name: rewrite(source) for name, source in call.tensors.items()}
        rewritten = Call(tensors, rewrite(call.expression))
        with default_dtype(torch.float64 if rewrite("T.float32") == "T.float64" else torch.float32):
            theirs = run(torch, rewritten)
        ours = run(autokit, call)
        if (
            ours.error
            or theirs.error
            or kind == "gradient"
            and (ours.backward_error or theirs.backward_error)
        ):
            return False
        words = str(call)
        least = "float16" if "float16" in words else "float64"
        least = (
            "float32"
            if least == "float64" and len(re.findall("T.(float64|complex128)", words)) < len(tensors)
            else least
        )
        allowed = tolerance or 10 * TOLERANCE[least]
        known = kind != "accepted" and ours.gradients and theirs.gradients
        pairs = list(zip(ours.gradients, theirs.gradients)) if known else []
        if kind != "gradient":
            mine, others = flat(ours.results), flat(theirs.results)
            pairs += zip(mine, others)
            if len(mine) != len(others):
                return False
        return all(_alike(*pair, allowed, "float16" in words) for pair in pairs)

    return check


def _alike(ours: Any, theirs: Any, tolerance: float, halves: bool = False) -> bool:
    """Whether two results are alike but for their dtypes, and for what is too large for that of ``ours``.

    What is computed from ``halves`` may be too large for them, and be written into another dtype.
    """
    if not isinstance(ours, autokit.Tensor) or not isinstance(theirs, torch.Tensor):
        return (_is_nothing(ours) and _is_nothing(theirs)) or (not hasattr(ours, "shape") and ours == theirs)
    mine, other = numbers(ours), numbers(theirs)
    if mine.shape != other.shape:
        return False
    dtypes = ours.dtype.name, repr(theirs.dtype).removeprefix("torch.")
    tolerance = max(tolerance, *(10 * TOLERANCE.get(name, 0.0) for name in dtypes))
    if ours.dtype.is_floating_point:
        largest = autokit.finfo(autokit.float16 if halves else ours.dtype).max
        too_large = np.abs(other) > 0.9 * min(largest, autokit.finfo(ours.dtype).max)
        mine = np.where(too_large & ~np.isfinite(mine), other, mine)
    else:
        other = numbers(theirs.to(getattr(torch, ours.dtype.name)))
    return _close(mine, other, tolerance)


def _is_nothing(gradient: Any) -> bool:
    """Whether it is no gradient, or all 0."""
    return gradient is None or hasattr(gradient, "detach") and not numbers(gradient).any()


def _close(mine: np.ndarray, other: np.ndarray, tolerance: float) -> bool:
    if mine.shape != other.shape:
        return False
    finite = np.abs(other[np.isfinite(other)])
    size = finite[finite < 1e4].max(initial=1.0)
    return bool(np.allclose(mine, other, rtol=tolerance, atol=tolerance * size, equal_nan=True))


def _in_float64(call: Call) -> Call:
    return Call(
        {name: as_float64(source) for name, source in call.tensors.items()}, as_float64(call.expression)
    )


def _refused_in_float64(_: str, call: Call) -> bool:
    with default_dtype(torch.float64):
        wide = run(torch, _in_float64(call))
    ours = run(autokit, call)
    return wide.error is not None and ours.error is not None and is_alike(ours.error, wide.error)


# ---------------------------------------------------------------- what is free


def _arguments(call: Call) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of the call in PyTorch, the tensor of a method first."""
    names = names_for(torch)
    names |= {name: eval(source, names) for name, source in call.tensors.items()}
    node = ast.parse(call.expression, mode="eval").body
    assert isinstance(node, ast.Call)

    def value(part: ast.expr) -> Any:
        return eval(ast.unparse(part), dict(names))

    receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    first = [] if not receiver or ast.unparse(receiver[0]).split(".")[0] == "T" else receiver
    return [value(each) for each in (*first, *node.args)], {
        each.arg: value(each.value) for each in node.keywords if each.arg
    }


_ROUNDING = {"float64": 4e-16, "float32": 2e-7, "float16": 1e-3}


def _unstable(_: str, call: Call) -> bool:
    """Whether each element that differs moves as far by itself, once the operands are rounded otherwise."""
    ours, theirs = run(autokit, call), run(torch, call)
    if ours.error or theirs.error:
        return False
    mine, other = _elements(ours), _elements(theirs)
    if mine.shape != other.shape:
        return False
    distance = abs(mine - other)
    moves = np.zeros(other.shape)
    for factor in (1, -1, 2, -3):
        moved = Call({name: _moved(source, factor) for name, source in call.tensors.items()}, call.expression)
        elements = _elements(run(torch, moved))
        if elements.shape == other.shape:
            moves = np.fmax(moves, abs(elements - other))
    differ = ~np.isclose(mine, other, rtol=5e-5, atol=5e-5, equal_nan=True)
    return bool((np.isfinite(distance) & (distance <= 4 * moves))[differ].all())


def _elements(outcome: Outcome) -> np.ndarray:
    """All elements of all results and gradients."""
    given = [each for each in flat(outcome.results) + outcome.gradients if hasattr(each, "detach")]
    return np.concatenate([np.zeros(0), *(numbers(each).reshape(-1) for each in given)])


def _moved(source: str, factor: float) -> str:
    """The tensor with each number off by about one rounding, by more or less along it."""
    dtype = next((each for each in ("float64", "float16") if each in source), "float32")
    if re.search(r"dtype=T\.(u?int|bool)", source):
        return source
    step = factor * _ROUNDING[dtype]
    plain = source.replace(", requires_grad=True", "")
    learns = ".requires_grad_(True)" * ("requires_grad=True" in source)
    ramp = f"T.linspace(-1, 1.5, t.numel(), dtype=t.real.dtype).reshape(t.shape) * {step}"
    return f"(lambda t: t + (t * {ramp}).nan_to_num(0.0, 0.0, 0.0))({plain}){learns}"


def _only_of(marked: Callable[[np.ndarray, Call], np.ndarray]) -> Callable[[str, Call], bool]:
    """Whether what differs belongs to matrices that are ``marked``: of a batch, to these alone."""

    def check(_: str, call: Call) -> bool:
        matrices = _matrices(call)
        if matrices.ndim < 2 or not matrices.size or not np.isfinite(matrices).all():
            return False
        marks = marked(matrices, call)
        if not marks.any():
            return False
        both = pairs(run(autokit, call), run(torch, call)) or []  # what is refused is so for any of them
        return all(
            _within_marks(_as_read(differ(mine, other), matrices, call), marks) for mine, other in both
        )

    return check


def _as_read(wrong: np.ndarray, matrices: np.ndarray, call: Call) -> np.ndarray:
    """Of the gradient of an operand of which every second matrix is read what belongs to those."""
    second = "[::2]" in call.expression and matrices.ndim > 2 and wrong.ndim == matrices.ndim
    return wrong[::2] if second and wrong[::2].shape == matrices.shape else wrong


def _within_marks(wrong: np.ndarray, marks: np.ndarray) -> bool:
    """Whether elements are ``wrong`` in marked matrices alone, wherever the dimensions of the batch are."""
    if not wrong.any():
        return True
    fitting = False
    for tail in range(3):
        batch = wrong.shape[: max(wrong.ndim - tail, 0)]
        if marks.ndim <= len(batch) and batch[len(batch) - marks.ndim :] == marks.shape:
            fitting = True
            if not (wrong & ~marks.reshape(marks.shape + (1,) * tail)).any():
                return True
    return not fitting


def _matrices(call: Call) -> np.ndarray:
    """The matrix of the call, or a batch of them: of a system of equations that on the left side."""
    by_place, by_name = _arguments(call)
    second = re.search(r"(cholesky|triangular)_solve\(|(?<!linalg\.)lu_solve\(", call.expression) is not None
    names = ("A", "input2", "LU_data", "LU", "L") if second else ("A", "LU", "input", "L")
    named = [by_name[name] for name in names if name in by_name]
    given = numbers(named[0] if named else by_place[int(second)])
    if "tensorinv" in call.expression or "tensorsolve" in call.expression:
        size = round(given.size**0.5)
        return given.reshape(size, size) if size * size == given.size else np.zeros(0)
    return given


def _deficient(matrices: np.ndarray, call: Call) -> np.ndarray:
    values = np.linalg.svd(matrices, compute_uv=False)
    marks = (values[..., -1:] <= 1e-5 * values[..., :1])[..., 0]
    if re.search("triangular|cholesky|lu_solve", call.expression) is not None:
        marks = marks | ~matrices.diagonal(0, -2, -1).all(-1)
    return marks


def _unsorted(_: str, call: Call) -> bool:
    by_place, by_name = _arguments(call)
    names = {"boundaries", "sorted_sequence", "bins", "spacing"} & by_name.keys()
    named = [by_name[name] for name in names]
    given = flat(named or by_place[0 if "searchsorted" in call.expression else 1 :][:1])
    rows = [numbers(each) for each in given if isinstance(each, torch.Tensor) and each.ndim]
    return any(bool((np.diff(each) < 0).any() or np.isnan(each).any()) for each in rows)


def _signs(_: str, call: Call) -> bool:
    theirs, ours = run(torch, call), run(autokit, call)
    if ours.error or theirs.error:
        return False
    mine, others = flat(ours.results), flat(theirs.results)
    both = [(numbers(a), numbers(b)) for a, b in zip(mine, others)]
    if not _are_factors(call, *zip(*both)):
        return False
    in_rows = re.search(r"linalg\.\w*svd\(|qr\(", call.expression) is not None
    turns = [_turn(*pair, in_rows and place == len(both) - 1) for place, pair in enumerate(both)]
    turned = run(autokit, call, [turn for turn, end in zip(turns, mine) if end.requires_grad])
    marks = _without_slopes(call, [pair[0] for pair in both])
    return all(
        _alike(a, b, 1e-3) or a is not None and _within_marks(differ(numbers(a), numbers(b), 1e-3), marks)
        for a, b in zip(turned.gradients, theirs.gradients)
    )


def _are_factors(call: Call, mine: tuple[np.ndarray, ...], others: tuple[np.ndarray, ...]) -> bool:
    """Whether the values and the product are PyTorch's, and vectors at right angles; or all but the signs."""

    def adjoint(matrix: np.ndarray) -> np.ndarray:
        return np.conjugate(np.swapaxes(matrix, -1, -2))

    def parts(results: tuple[np.ndarray, ...]) -> list[np.ndarray]:
        """What has to be the same, the unit matrices of the vectors last."""
        if "svd(" in call.expression and len(results) == 3:
            left, values, right = results
            right = adjoint(right) if "linalg" in call.expression else right
            count = values.shape[-1]
            product = (left[..., :count] * values[..., None, :]) @ adjoint(right[..., :count])
            return [values, product, adjoint(left) @ left, adjoint(right) @ right]
        if "eigh(" in call.expression and len(results) == 2:
            values, vectors = results
            return [values, (vectors * values[..., None, :]) @ adjoint(vectors), adjoint(vectors) @ vectors]
        if "qr(" in call.expression and len(results) == 2 and results[0].size:
            return [np.tril(results[1], -1), results[0] @ results[1], adjoint(results[0]) @ results[0]]
        return [abs(each) for each in results]

    return all(_close(a, b, 1e-3) for a, b in zip(parts(mine), parts(others)))


def _turn(mine: np.ndarray, other: np.ndarray, in_rows: bool) -> np.ndarray:
    """By which sign, or by which angle, each column or each row of ``other`` is turned."""
    if mine.ndim < 2:
        return np.ones(mine.shape)
    along = (mine * other.conj()).sum(-1 if in_rows else -2, keepdims=True)
    size = abs(along)
    return np.where(size > 0, along / np.where(size > 0, size, 1), 1) + np.zeros(mine.shape)


def _without_slopes(call: Call, results: list[np.ndarray]) -> np.ndarray:
    """Of which matrices two eigenvalues, or singular values, are nearly the same, or one of these is 0."""
    if not re.search(r"(svd|eigh)\(", call.expression) or len(results) < 2 or not results[0].size:
        return np.zeros((), bool)
    values = results[1 if "svd" in call.expression else 0]
    largest = abs(values).max(-1, initial=0, keepdims=True)
    apart = abs(values[..., :, None] - values[..., None, :]) + np.eye(values.shape[-1]) * 1e30
    equal = (apart < 1e-6 * largest[..., None]).any((-2, -1))
    return equal | ("svd" in call.expression) & (values <= 1e-5 * largest).any(-1)


def _eigen(_: str, call: Call) -> bool:
    theirs, ours, exact = run(torch, call), run(autokit, call), run(torch, _wide(call))
    if ours.error or theirs.error or exact.error:
        return False
    by_place, by_name = _arguments(call)
    matrix = next(each for each in [*by_place, *by_name.values()] if isinstance(each, torch.Tensor))
    given = matrix.detach().numpy().astype(complex)
    if "eigh" in call.expression:  # which reads one half, and of the diagonal the real part
        half = np.triu(given) if "'U'" in call.expression else np.tril(given)
        given = half + np.conjugate(np.swapaxes(half, -1, -2))
        given -= np.eye(given.shape[-1]) * half.diagonal(0, -2, -1).real[..., None, :]
    near = 1e-3 * max(1.0, abs(given).max(initial=0))
    values, *vectors = (end.detach().numpy() for end in flat(ours.results))
    apart = abs(values[..., :, None] - flat(exact.results)[0].detach().numpy()[..., None, :])
    if not all((apart.min(axis) < near).all() for axis in (-1, -2)):
        return False
    return _in_their_order(call, values, theirs) and all(
        np.allclose(given @ columns, columns * values[..., None, :], atol=near)
        and np.allclose(np.linalg.norm(columns, axis=-2), 1, atol=1e-3)
        for columns in vectors
    )


def _in_their_order(call: Call, values: np.ndarray, theirs: Outcome) -> bool:
    """Whether the gradients of eigenvalues without vectors are PyTorch's, for those in its own order."""
    if len(flat(theirs.results)) > 1 or not theirs.gradients or theirs.backward_error:
        return True
    (end,) = flat(theirs.results)
    places = abs(values[..., :, None] - end.detach().numpy()[..., None, :]).argmin(-1)
    seed = random_seed(0, end)
    turned = run(autokit, call, [np.take_along_axis(seed, places, -1) / seed])
    return all(_alike(*pair, 1e-3) for pair in zip(turned.gradients, theirs.gradients))


def _turning(_: str, call: Call) -> bool:
    """Whether PyTorch refuses nearly the same loss: it lets pass what turns by less than a hundredth."""
    more = [np.full((), 1.5e4), np.full((), 1e4), np.full((), 1e4)]
    return "up to multiplication by" in str(run(torch, call, more).backward_error)


def _as_gelsd(_: str, call: Call) -> bool:
    """Whether the solution is that of PyTorch's "gelsd", and its gradient the slope of that."""
    rewrite = changing(with_gelsd)
    rewritten = Call(
        {name: rewrite(source) for name, source in call.tensors.items()}, rewrite(call.expression)
    )
    theirs, ours = run(torch, rewritten), run(autokit, call)
    if ours.error or theirs.error or not _alike(flat(ours.results)[0], flat(theirs.results)[0], 1e-3):
        return False
    return not ours.gradients or numerically("", rewritten)


def _with_a_real_diagonal(_: str, call: Call) -> bool:
    """Whether both agree once what is imaginary on the diagonals is taken away."""
    tensors = {
        name: f"(lambda t: t - 1j * T.diag_embed(t.diagonal(0, -2, -1).imag))({source})"
        for name, source in call.tensors.items()
        if "complex" in source and f"out={name}" not in call.expression
    }
    changed = Call({**call.tensors, **tensors}, call.expression)
    ours, theirs = run(autokit, changed), run(torch, changed)
    return bool(tensors) and not ours.error and _alike(ours.results[0], theirs.results[0], 1e-3)


def _with_numbers(_: str, call: Call) -> bool:
    """Whether PyTorch answers so with a number for the exponent, which then learns nothing."""
    ours = run(autokit, call)
    theirs = run(torch, Call(call.tensors, changing(with_numbers)(call.expression)))
    if ours.error or theirs.error:
        return False
    slopes = [pair for pair in zip(ours.gradients, theirs.gradients) if pair[1] is not None]
    return all(_alike(*pair, 1e-4) for pair in [*zip(flat(ours.results), flat(theirs.results)), *slopes])


def _zero_on_the_diagonal(matrices: np.ndarray, _: Call) -> np.ndarray:
    return (matrices.diagonal(0, -2, -1) == 0).any(-1)


def _with_a_batch_of_one(_: str, call: Call) -> bool:
    """Whether the solution is PyTorch's where the right side has as many dimensions as the left."""
    by_place, by_name = _arguments(call)
    given = [*by_place, *(by_name.pop(name) for name in ("input", "A", "b", "B") if name in by_name)]
    if given[0].ndim != given[1].ndim + 1:
        return False
    theirs = torch.linalg.lstsq(given[0], given[1][None], *given[2:], **by_name)
    return _alike(run(autokit, call).results[0][0], theirs[0], 1e-3)


def _coinciding(matrices: np.ndarray, _: Call) -> np.ndarray:
    """Of which matrices two eigenvalues are equal to half their digits."""
    values = np.linalg.eigvals(matrices)
    apart = abs(values[..., :, None] - values[..., None, :]) + np.eye(values.shape[-1]) * 1e30
    return (apart < 1e-6 * abs(values).max(initial=1)).any((-2, -1))


def _repeats(_: str, call: Call) -> bool:
    """Whether index_put names a place twice, or writes to one number for several elements."""
    by_place, by_name = _arguments(call)
    given = [*by_place, *by_name.values()]
    if 0 in given[0].stride():
        return True
    indices = next(each for each in given if isinstance(each, tuple | list))
    places = torch.stack([each.reshape(-1) for each in torch.broadcast_tensors(*indices)])
    return places.unique(dim=1).shape[1] < places.shape[1]


def _airy(_: str, call: Call) -> bool:
    """Whether each element is Airy's function to the rounding of the angle at which it turns."""
    ours = run(autokit, call)
    if ours.error:
        return False
    (result,) = flat(ours.results)
    points, values = np.broadcast_arrays(_argument(call), numbers(result))
    allowed = TOLERANCE[result.dtype.name] * 1e-2
    for x, value in zip(points.ravel().tolist(), values.ravel().tolist()):
        if not np.isfinite(x):
            if not np.isnan(value):
                return False
            continue
        swing = min(1.0, abs(x) ** -0.25) if x else 1.0
        with mpmath.workdps(60):
            distance = abs(mpmath.airyai(x) - value)
        if distance > swing * min(2.0, allowed + 1e-15 * abs(x) ** 1.5):
            return False
    return True


def _argument(call: Call) -> np.ndarray:
    """The tensor that is the call's only argument."""
    by_place, by_name = _arguments(call)
    return numbers(next(each for each in [*by_place, *by_name.values()] if isinstance(each, torch.Tensor)))


def _wide(call: Call) -> Call:
    """The call in float64."""
    return Call(
        {name: as_float64(source) for name, source in call.tensors.items()}, as_float64(call.expression)
    )


def _as_near(_: str, call: Call) -> bool:
    outcomes = run(autokit, call), run(torch, call), run(torch, _wide(call))
    if any(each.error or each.backward_error for each in outcomes):
        return False
    mine, other, exact = map(_elements, outcomes)
    apart = ~np.isclose(mine, other, rtol=5e-5, atol=5e-5, equal_nan=True)
    return bool((abs(mine - exact) <= 2 * abs(other - exact))[apart].all())


CHECKS: dict[str, Callable[[str, Call], bool]] = {
    "as float64": _answers(as_float64),
    "roughly float64": _answers(as_float64, 0.05),
    "finitely as float64": lambda kind, call: _answers(as_float64)(kind, with_ordinary_numbers(call)),
    "as int64": _answers(as_int64),
    "contiguous": _answers(contiguous),
    "plainly": _answers(plain),
    "by place": _answers(lambda source: changing(by_place)(as_float64(source))),
    "by place as int64": _answers(lambda source: changing(by_place)(as_int64(as_float64(source)))),
    "as return_inverse": _answers(by_name("self", "return_inverse", "return_counts", "dim")),
    "cut at the last offset": _answers(changing(cut_at_last_offset)),
    "strided": _answers(strided),
    "with tensors": _answers(changing(with_tensors)),
    "with numbers": _with_numbers,
    "with bounds of one shape": _answers(changing(with_bounds_of_one_shape)),
    "in halves": _answers(of_one_dtype),
    "without flags": _answers(changing(without_flags)),
    "with the dtype of out": _answers(changing(with_dtype_of_out)),
    "of a number": _answers(lambda source: source.replace("T.tensor(True)", "T.tensor(1.0)")),
    "as jvp": _answers(as_jvp),
    "as inverse": _answers(as_inverse),
    "with gelsd": _as_gelsd,
    "turning": _turning,
    "with a real diagonal": _with_a_real_diagonal,
    "zero on the diagonal": _only_of(_zero_on_the_diagonal),
    "with a batch of one": _with_a_batch_of_one,
    "numerically": numerically,
    "second by slopes": by_slopes,
    "refused in float64": _refused_in_float64,
    "airy": _airy,
    "eigen": _eigen,
    "signs": _signs,
    "coinciding": _only_of(_coinciding),
    "unstable": _unstable,
    "deficient": _only_of(_deficient),
    "unsorted": _unsorted,
    "repeats": _repeats,
    "as near": _as_near,
    **LIMITS,
}
"""Each check by its name."""
