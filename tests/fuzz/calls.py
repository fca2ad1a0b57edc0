"""One random call: drawn from a row, run with both libraries, and compared."""

from __future__ import annotations

import re
import warnings
from math import inf
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import torch

import autokit

LETTERS = {"z": (1, 3), "c": (1, 4), "d": (1, 4), "h": (2, 5), "w": (2, 5), "k": (1, 2), "l": (1, 2)}
"""The least and the greatest size that a letter stands for, where it is not 0 to 4."""
AWKWARD = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, inf, -inf, 50.0, -30.0]
INDICES = [
    "0",
    "-1",
    ":",
    "1:",
    "::2",
    "None",
    "...",
    "[0, 0]",
    "x[..., 0] > 0",
    "T.tensor([0])",
    "True",
    "0:0",
]
TOLERANCE = {"float64": 1e-6, "float32": 2e-4, "float16": 3e-2}
AGREED = "", ""
CHOICE = re.compile(r"\{([^{}]*\|[^{}]*)\}")
OF_GRADIENTS = {"float64": 1e-6, "float32": 5e-3, "float16": 0.1}
"""Sums cancel in them: in float32 both libraries are off, and PyTorch more often."""


class Call(NamedTuple):
    """The operands by name, the sizes by letter, and the expression."""

    operands: dict[str, np.ndarray]
    sizes: dict[str, int]
    expression: str

    def __str__(self) -> str:
        values = [f"{n} = T.tensor({v.tolist()}, dtype=T.{v.dtype})" for n, v in self.operands.items()]
        return "; ".join([*values, self.expression])


class Drawing:
    """What was drawn already for one call; a ``turn`` says which alternative of its first choice is taken."""

    def __init__(self, row: str, seed: int, turn: int | None = None) -> None:
        self.random, self.numbers = Random(seed), np.random.RandomState(seed % 2**32)
        self.sizes: dict[str, int] = {}
        self.dtype = self.random.choice(["float32"] * 6 + ["float64"] * 3 + ["float16"])
        self.awkward = self.dtype != "float16" and self.random.random() < 0.15
        self.first: tuple[int, ...] | None = None
        head, _, expression = row.partition(": ")
        expression, _, fixed = expression.partition(" w ")
        if turn is not None:
            expression = CHOICE.sub(lambda found: _in_turn(found[1], turn), expression, count=1)
        if fixed:
            letter, _, size = fixed.partition("=")
            self.sizes[letter] = int(size)
        self.operands = {
            name: self.operand(signs, shape)
            for name, signs, shape in re.findall(r"(\w)([^\[,]*)\[(.*?)\]", head)
        }
        self.call = Call(self.operands, self.sizes, self.filled(expression))

    def shape(self, letters: str, may_be_empty: bool = True) -> tuple[int, ...]:
        if letters == "~":
            assert self.first is not None
            shape = [1 if self.random.random() < 0.2 else size for size in self.first]
            return tuple(shape[self.random.choice([0, 0, 1]) if shape else 0 :])
        found: tuple[int, ...] = ()
        for letter in letters:
            if letter == "*":
                found += tuple([self.random.choice([1, 2, 3, 3, 4]) for _ in range(self.random.randrange(4))])
            elif letter == "1":
                found += (1,)
            else:
                low, high = LETTERS.get(letter, (1, 4))
                empty = may_be_empty and letter not in LETTERS and self.random.random() < 0.02
                found += (self.sizes.setdefault(letter, 0 if empty else self.random.randint(low, high)),)
        return found

    def operand(self, signs: str, letters: str) -> np.ndarray:
        shape = self.shape(letters, may_be_empty=signs not in ("d", "s"))
        self.first = shape if self.first is None else self.first
        if "?" in signs:
            return np.asarray(self.numbers.rand(*shape) > 0.5)
        if "#" in signs:
            return np.asarray(self.numbers.randint(-4, 5, shape))
        if signs.startswith("<"):
            return np.asarray(self.numbers.randint(0, max(1, self.sizes[signs[1]]), shape))
        if "s" in signs:
            root = self.numbers.randn(*shape)
            return root @ np.swapaxes(root, -1, -2) + np.eye(shape[-1])
        values: Any = np.asarray(self.numbers.randn(*shape) * 1.5)
        if "!" in signs:
            values = np.asarray(self.numbers.permutation(values.size).reshape(shape) * 0.37 + 0.1)
        if "-" in signs:
            values = np.tanh(values)
        if "+" in signs:
            values = np.abs(values) + 0.05
        elif self.awkward and "^" in signs:
            places = self.numbers.rand(*shape) < 0.3
            values = np.where(places, self.numbers.choice(AWKWARD, shape), values)
        return values.astype("float64" if "d" in signs else self.dtype)

    def filled(self, expression: str) -> str:
        """``expression`` with a choice in place of all braces, the innermost first."""
        while "{" in expression:
            expression = re.sub(r"\{([^{}]*)\}", lambda found: self.choice(found[1]), expression)
        return re.sub(r"\bdim=dim\b", lambda _: f"dim={self.dim()}", expression)

    def choice(self, choices: str) -> str:
        if choices == "dim":
            return self.dim()
        if choices == "dims":
            dims = range(len(self.first or ()))
            return str(tuple(self.random.sample(dims, self.random.randint(0, len(dims)))))
        if choices == "index":
            return ", ".join(self.random.sample(INDICES, self.random.randint(1, 3)))
        if found := re.fullmatch(r"(-?\d+)\.\.(-?\d+)", choices):
            return str(self.random.randint(int(found[1]), int(found[2])))
        return self.random.choice(choices.split("|"))

    def dim(self) -> str:
        dims = len(self.first or ())
        return str(self.random.randint(-dims, dims - 1) if dims else self.random.choice([0, -1]))


def _in_turn(choices: str, turn: int) -> str:
    alternatives = choices.split("|")
    return alternatives[turn % len(alternatives)]


def put(x: Any, index: Any, value: Any) -> Any:
    """``x`` after ``x[index] = value``."""
    x[index] = value
    return x


def names_of(T: Any, call: Call) -> dict[str, Any]:
    """What the expression of a call may name beside its operands."""
    return {"T": T, "F": T.nn.functional, "L": T.linalg, "put": put, "inf": inf, **call.sizes}


def outcome(T: Any, call: Call, strided: bool) -> dict[str, Any]:
    """The results of a call, the gradients of a weighted sum of them, and their gradients; or the error."""
    names, leaves = names_of(T, call), []
    for name, array in call.operands.items():
        leaf = T.tensor(np.repeat(array, 2, -1) if strided and array.ndim else array)
        if array.dtype.kind == "f":
            leaves.append(leaf.requires_grad_())
        names[name] = leaf[..., ::2] if strided and array.ndim else leaf
    results: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = eval(call.expression, names)
            results = {f"result {place}": each for place, each in enumerate(flat(found))}
            gradients(T, results, leaves)
        except Exception as error:
            if not results or "derivative for" not in str(error):  # PyTorch lacks some derivatives
                return {"error": error}
    return results


def gradients(T: Any, results: dict[str, Any], leaves: list[Any]) -> None:
    """Add to ``results`` the gradients of them by ``leaves``, and once more those of the gradients."""
    outputs = list(results.values())
    coarse = any(each.dtype == T.float16 or each.isinf().any() for each in leaves)
    for order in ("gradient",) if coarse else ("gradient", "second gradient"):
        totals = [weighted(T, each) for each in outputs if getattr(each, "requires_grad", False)]
        if not totals:
            return
        total = sum(totals[1:], totals[0])
        if order == "gradient":
            outputs = T.autograd.grad(total, leaves, create_graph=True, allow_unused=True)
        else:
            outputs = T.autograd.grad(total, leaves, materialize_grads=True)
        results.update({f"{order} {place}": each for place, each in enumerate(outputs)})


def weighted(T: Any, result: Any) -> Any:
    weights = np.cos(np.arange(result.numel())).reshape(tuple(result.shape)) + 1.5
    return (result * T.tensor(weights, dtype=result.dtype)).sum().double()


def flat(result: Any) -> list[Any]:
    if isinstance(result, tuple | list) and not isinstance(result, torch.Size | autokit.Size):
        return [one for each in result for one in flat(each)]
    return [result]


def difference(call: Call, strided: bool = False) -> tuple[str, str] | None:
    """In what a call differs between the libraries: a kind, and words; None where PyTorch refuses it."""
    theirs = outcome(torch, call, strided)
    if "error" in theirs:
        return None  # autokit may do more
    ours = outcome(autokit, call, strided)
    if "error" in ours:
        return "refused", f"{type(ours['error']).__name__}: {ours['error']}"[:300]
    for name, wanted in theirs.items():
        found = ours.get(name)
        if not hasattr(wanted, "detach") or found is None:
            if found is not None and not hasattr(found, "detach") and found == wanted or wanted is None:
                continue
            if found is None and not np.any(wanted.detach().numpy(force=True)):
                continue  # no second gradient, where PyTorch has zeros
            return name.rstrip("0123456789 "), f"{found!r:.100} beside {wanted!r:.100}"
        arrays = found.detach().numpy(force=True), wanted.detach().numpy(force=True)
        words = unlike(*arrays, OF_GRADIENTS if "gradient" in name else TOLERANCE)
        if words:
            return name.rstrip("0123456789 "), f"{name}: {words}"
    return AGREED


def unlike(found: np.ndarray, wanted: np.ndarray, tolerance: dict[str, float]) -> str:
    """In what two arrays differ, beyond rounding; empty where they do not."""
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        return f"{found.dtype} {found.shape} beside {wanted.dtype} {wanted.shape}"
    near = tolerance.get(str(wanted.dtype), 0.0)
    finite = np.abs(wanted[np.isfinite(wanted)]) if wanted.dtype.kind == "f" else np.zeros(0)
    scale = max(1.0, finite.max(initial=0.0))
    if np.allclose(found, wanted, near, near * scale, equal_nan=True):
        return ""
    return f"{found.tolist()!s:.150} beside {wanted.tolist()!s:.150}"


def drawn(row: str, seed: int, turn: int | None = None) -> SimpleNamespace:
    """The call of a row under a seed, and whether its operands lie in memory with gaps."""
    drawing = Drawing(row, seed, turn)
    return SimpleNamespace(call=drawing.call, strided=drawing.random.random() < 0.2)
