"""Run a call in both libraries, and say where they part."""

from __future__ import annotations

import re
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.attention.bias
import torch.nn.attention.flex_attention
import torch.nn.utils.prune

import autokit
import autokit.nn.attention.bias
import autokit.nn.attention.flex_attention
import autokit.nn.utils.prune
from tests.fuzz.calls import Call
from tests.ops.case import flat

torch.nn.attention.flex_attention._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = True  # it takes seconds else

TOLERANCE = {"float64": 1e-9, "float32": 5e-5, "float16": 1e-2, "bfloat16": 3e-2}
TOLERANCE |= {"complex128": TOLERANCE["float64"], "complex64": TOLERANCE["float32"]}
MANY = 1_000_000
"""Elements that are given to a library as an array: a list of them would take longer than the call."""
SECONDS = 5
"""How long a call may take."""

DAMAGE = ("hang", "result", "gradient", "operand", "crash")
"""The findings that a learner would not notice, or could not understand."""

NUMPYS_WORDS = re.compile(
    r"numpy|ndarray|ufunc|np\.|operands could not be|array is|object has no attribute|unsupported operand|"
    r"not iterable|not subscriptable|must be real number|cannot be interpreted|"
    r"NoneType' object|Tensor' object|einstein sum|cannot convert|division by zero|tuple index|list index|"
    r"list assignment|to unpack|cannot reshape|Python integer|could not broadcast|zero-size array"
)
"""What an error says that was made for nobody."""


class Outcome(NamedTuple):
    """What a call came to: its results, or the error; then its tensors and their gradients."""

    results: list[Any]
    error: BaseException | None = None
    tensors: dict[str, Any] = {}  # noqa: RUF012 - never changed
    gradients: list[Any] = []  # noqa: RUF012
    backward_error: BaseException | None = None
    seconds: float = 0.0


class TimedOut(BaseException):
    """A call took too long."""


def _stop(*_: Any) -> None:
    raise TimedOut(f"took over {SECONDS} s")


_at: Any = None


def note_library(at: Any) -> None:
    """Let ``at.value`` tell from now on which library is running: 0 for PyTorch, 1 for autokit."""
    global _at
    _at = at


@contextmanager
def limited(library: Any) -> Iterator[None]:
    """Let what follows run in ``library``, in silence, and for no longer than :data:`SECONDS`."""
    if _at is not None:
        _at.value = library is autokit
    signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def names_for(library: Any) -> dict[str, Any]:
    """What the names in a call stand for: ``T`` for the library."""
    return {"T": library, "inf": float("inf"), "nan": float("nan"), "within": _within}


def _within(context: Any, compute: Callable[[], Any]) -> Any:
    """``compute()`` inside a ``with``, which no expression can hold."""
    with context:
        return compute()


def run(library: Any, call: Call, signs: list[np.ndarray] | None = None) -> Outcome:
    """Run ``call`` in ``library``, its gradients too, where ``signs`` turn what arrives at the results."""
    names = names_for(library)
    with limited(library):
        start = time.perf_counter()
        try:
            tensors = {name: eval(source, names) for name, source in call.tensors.items()}
            library.default_generator.manual_seed(0)  # torch.manual_seed takes far longer
            result = eval(call.expression, {**names, **tensors})
        except (Exception, TimedOut) as error:
            return Outcome([], error)
        results = flat(result)
        leaves = [tensor for tensor in tensors.values() if tensor.requires_grad]
        try:
            gradients = _gradients(library, results, leaves, signs)
        except (Exception, TimedOut) as error:
            return Outcome([result], None, tensors, [], error)
        return Outcome([result], None, tensors, gradients, None, time.perf_counter() - start)


def random_seed(number: int, end: Any) -> np.ndarray:
    """What arrives at a result on the way back."""
    random, shape = np.random.RandomState(number), tuple(end.shape)
    seed = np.asarray(random.uniform(-1, 1, shape))
    return seed + 1j * random.uniform(-1, 1, shape) if end.dtype.is_complex else seed


def _gradients(library: Any, results: list[Any], leaves: list[Any], signs: Any) -> list[Any]:
    ends = [r for r in results if isinstance(r, library.Tensor) and r.requires_grad]
    if not ends or not leaves:
        return []
    seeds = []
    for n, end in enumerate(ends):
        seed = random_seed(n, end) * (1 if signs is None else signs[n])
        seeds.append(
            library.tensor(seed.tolist() if 0 < seed.size < MANY else seed)
            .to(end.dtype)
            .reshape(tuple(end.shape))
        )
    return list(library.autograd.grad(ends, leaves, seeds, allow_unused=True))


def difference(name: str, call: Call) -> tuple[str, str] | None:
    """Where ``call`` parts from PyTorch, known or not: the kind, and what is said of it."""
    theirs, ours = run(torch, call), run(autokit, call)
    factor = 30 if ILL_CONDITIONED.search(name) else 1
    try:
        return _compare(
            ours, theirs, UNSET.search(f"{name} {call.expression}") is not None, str(call), factor
        )
    except (KeyError, AttributeError) as error:  # a tensor that is not whole, as of a dtype that has no name
        return "result", f"broken: {_said(error)}"


ROUNDED = re.compile(
    r"sum|mean|std|var|pool|loss|entropy|mm|mv|matmul|dot|inner|addr|conv|linear|einsum|linalg|cholesky|solve|qr|"
    r"svd|det\(|inverse|matrix|\blu|attention|interpolate|upsample|cdist|kron|cov|corrcoef|fold|embedding|outer|"
    r"norm|similarity|dist|cum|trap|fft|stft|nn\.[A-Z]|optim|autograd|T\.func\.|clamp|clip|amax|amin|max|min|median|quantile|sort|mode|topk|kthvalue|unique|@"
)
"""Calls of functions that add up, and of the like: the sign of a 0 depends on the order there."""
UNSET = re.compile(r"^(new_)?empty|\b[A-Z]\w*Tensor\(-?\d")
"""What gives what was in memory."""
ILL_CONDITIONED = re.compile(
    "inv|matrix_power|solve|lstsq|cond|eig|svd|lu_|cov|corrcoef|renorm|matrix_exp|det|cholesky|normalize|_norm"
)
"""Functions whose results may differ by many roundings."""


def _compare(
    ours: Outcome, theirs: Outcome, unset: bool, words: str, factor: float
) -> tuple[str, str] | None:
    if isinstance(theirs.error, TimedOut) or isinstance(theirs.backward_error, TimedOut):
        return None  # the machine had other work, or so has either library
    if isinstance(ours.error, TimedOut) or isinstance(ours.backward_error, TimedOut):
        return None if theirs.seconds > SECONDS / 20 else ("hang", "took too long")
    if ours.error is not None and theirs.error is not None:
        if not is_alike(ours.error, theirs.error):
            return "type", f"{_said(ours.error)} where PyTorch: {_said(theirs.error)}"
        if (
            not str(ours.error)
            or NUMPYS_WORDS.search(str(ours.error))
            and not NUMPYS_WORDS.search(str(theirs.error))
        ):
            return "words", f"{_said(ours.error)} where PyTorch: {_said(theirs.error)}"
        return None
    if ours.error is not None:
        kind = (
            "refused"
            if isinstance(ours.error, RuntimeError | TypeError | ValueError | IndexError)
            else "crash"
        )
        return kind, f"{_said(ours.error)}"
    if theirs.error is not None:
        return "accepted", f"where PyTorch: {_said(theirs.error)}"
    integers = re.search(r"int|bool|tensor\(\[?-?\d+[\],)]", words)  # which become float32
    known = words + (" float32" if integers else " float64")
    tolerance = factor * max(allowed for name, allowed in TOLERANCE.items() if name in known)
    said = _differ(ours.results[0], theirs.results[0], unset, tolerance)
    said = said or ("" if unset or ROUNDED.search(words) else _zeros_differ(ours.results, theirs.results))
    if said:
        return "result", said
    for name, tensor in theirs.tensors.items():
        said = _differ(ours.tensors[name].detach(), tensor.detach(), unset, tolerance)
        if said:
            return "operand", f"{name} after the call: {said}"
    if (ours.backward_error is None) != (theirs.backward_error is None):
        return "backward", f"{_said(ours.backward_error)} where PyTorch: {_said(theirs.backward_error)}"
    if ours.backward_error is None:
        for mine, other in zip(ours.gradients, theirs.gradients):
            if mine is None or other is None:
                given = other if mine is None else mine
                if given is not None and given.detach().cpu().numpy().any():
                    return "gradient", f"{mine} for {other}"
                continue
            said = _differ(mine, other, False, tolerance)
            if said:
                return "gradient", said
        if len(ours.gradients) != len(theirs.gradients):
            return "gradient", f"{len(ours.gradients)} for {len(theirs.gradients)}"
    elif not is_alike(ours.backward_error, theirs.backward_error):
        return "backward", f"{_said(ours.backward_error)} where PyTorch: {_said(theirs.backward_error)}"
    return None


def is_alike(ours: BaseException, theirs: BaseException) -> bool:
    """Whether an ``except`` for PyTorch's error catches autokit's: of that class, or derived from it.

    PyTorch writes its LinAlgError with an underscore.
    """
    kinds = type(ours).__mro__ if type(ours).__module__.startswith("autokit") else (type(ours),)
    return type(theirs).__name__.lstrip("_") in [kind.__name__.lstrip("_") for kind in kinds]


def _said(error: BaseException | None) -> str:
    return (
        "no error"
        if error is None
        else f"{type(error).__name__}: {str(error).splitlines()[0][:150] if str(error) else ''}"
    )


def _differ(ours: Any, theirs: Any, unset: bool, tolerance: float) -> str:
    """How two results differ, or nothing."""
    if isinstance(theirs, torch.Tensor):
        if not isinstance(ours, autokit.Tensor):
            return f"{type(ours).__name__} for a tensor"
        if repr(ours.dtype) != repr(theirs.dtype):
            return f"dtype {ours.dtype!r} for {theirs.dtype!r}"
        if tuple(ours.shape) != tuple(theirs.shape):
            return f"shape {tuple(ours.shape)} for {tuple(theirs.shape)}"
        said = "" if unset else _elements_differ(ours, theirs, tolerance)
        learns = ours.requires_grad, theirs.requires_grad
        return said or ("" if learns[0] == learns[1] else f"requires_grad {learns[0]} for {learns[1]}")
    if isinstance(theirs, tuple | list):
        if isinstance(theirs, tuple) and hasattr(theirs, "_fields") != hasattr(ours, "_fields"):
            pass  # PyTorch's named results are C structures: their fields are compared by other tests
        if not isinstance(ours, tuple | list) or isinstance(theirs, list) != isinstance(ours, list):
            return f"{type(ours).__name__} for {type(theirs).__name__}"
        if len(ours) != len(theirs):
            return f"{len(ours)} results for {len(theirs)}"
        return next(filter(None, (_differ(a, b, unset, tolerance) for a, b in zip(ours, theirs))), "")
    if type(ours).__name__ != type(theirs).__name__:
        return f"{type(ours).__name__} for {type(theirs).__name__}"
    if isinstance(theirs, torch.dtype | torch.Size):
        return "" if repr(ours) == repr(theirs) else f"{ours!r} for {theirs!r}"
    return "" if ours == theirs or ours != ours and theirs != theirs else f"{ours!r} for {theirs!r}"


def _elements_differ(ours: Any, theirs: Any, tolerance: float) -> str:
    name = ours.dtype.name
    ours, theirs = ours.to_dense(), theirs.to_dense()
    if name == "bfloat16":
        ours, theirs = ours.float(), theirs.float()
    mine, other = ours.detach().numpy(), theirs.detach().numpy(force=True)
    tolerance = 0.0 if mine.dtype.kind in "bui" else max(tolerance, TOLERANCE[name])
    if other.dtype.kind == "c":
        with np.errstate(all="ignore"):  # either part is rounded as the whole is
            mine = np.where(abs(mine - other) <= tolerance * abs(other), other, mine)
        mine, other = (np.stack([each.real, each.imag], -1) for each in (mine, other))
    # What was summed may have been as large as the largest element, but for those that are large on purpose.
    size = np.abs(np.where(np.isfinite(other) & (np.abs(other) < 1e4), other, 0)).max(initial=1.0)
    alike = np.isclose(mine, other, rtol=tolerance, atol=tolerance * size, equal_nan=True)
    if alike.all():
        return ""
    return f"{_first(mine[~alike])} for {_first(other[~alike])}"


def _zeros_differ(ours: Any, theirs: Any) -> str:
    """Where zeros of two results, which are alike, have other signs: they are printed, and divided by."""
    for mine, other in zip(flat(ours), flat(theirs)):
        if isinstance(other, torch.Tensor) and other.dtype in (torch.float32, torch.float64):
            a, b = mine.detach().to_dense().numpy(), other.detach().to_dense().numpy()
            wrong = (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))
            if wrong.any():
                return f"the zeros {_first(a[wrong])} for {_first(b[wrong])}"
    return ""


def _first(elements: np.ndarray) -> str:
    """The first of the elements that differ."""
    return " ".join(map(str, elements[:4].tolist())) + " …" * (elements.size > 4)
