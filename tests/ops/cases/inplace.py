"""Cases of changing a tensor where it stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autokit import ops
from tests.ops.case import Case, I, P, R, otherwise
from tests.ops.case import case as c


def _set(index: Any) -> Callable[..., Any]:
    def call(T: Any, a: Any, b: Any) -> Any:
        y = a * 1
        y[index] = b
        return y

    return call


WRITING = [
    c("setitem", _set(0), R(2, 3), R(3)),
    c("setitem", _set(0), R(2, 3), R()),
    c("setitem", _set((slice(None), 1)), R(2, 3), R(2)),
    c("setitem", _set([1, 0]), R(2, 3), R(2, 3)),
    c("setitem", _set(...), R(2, 3), R(3)),
    c("copy_", lambda T, a, b: (a * 1).copy_(b), R(2, 3), R(3)),
    c("copy_", lambda T, a, b: (a * 1).copy_(b), R(3), I(3)),
    otherwise("fill_", lambda T, a: (a * 1).fill_(2), R(3)),
    otherwise("zero_", lambda T, a: (a * 1).zero_(), R(3)),
]

OTHER_ARGUMENTS = {
    **dict.fromkeys(["add", "sub", "mul", "div", "remainder", "pow"], (P(3),)),
    "clamp": (-0.5, 0.5),
    **dict.fromkeys(["clamp_min", "clamp_max"], (0.8,)),
    **dict.fromkeys(["atan2", "hypot", "copysign", "fmod", "xlogy", "ldexp"], (P(3),)),
    **dict.fromkeys(["addcmul", "addcdiv"], (P(3), P(3))),
    "lerp": (P(2, 3), 0.3),
    "mvlgamma": (1,),
    **dict.fromkeys(["cumprod", "cumsum"], (0,)),
}
"""What an in-place form takes after the tensor itself, where it takes anything."""


COMPOSED = {"ldexp", "mvlgamma"}
"""What is several operations here, or has a name of its own in place in PyTorch."""


def _in_place(name: str, stands_for: str) -> Case:
    arguments = OTHER_ARGUMENTS.get(stands_for, ())
    if stands_for == "floor_divide":  # has no derivative
        return c(f"{name}_", lambda T, a, b: getattr(a, f"{name}_")(b), I(2, 3), I(3) * 2 + 1)
    if stands_for in ("acosh", "asinh", "atanh"):  # PyTorch has no derivatives of them in place
        return c(f"{name}_", lambda T, a: getattr(a.detach() + 1, f"{name}_")(), R(2, 3))
    if stands_for.startswith("logical"):  # not recorded: the gradient passes
        others = () if stands_for == "logical_not" else (P(3),)
        return c(f"{name}_", lambda T, a, *b: getattr(a * 1, f"{name}_")(*b), P(2, 3), *others)
    if stands_for in ("heaviside", "nextafter"):
        return c(f"{name}_", lambda T, a, b: getattr(a.detach(), f"{name}_")(b.detach()), R(3), P(3))
    if stands_for in ("gcd", "lcm") or stands_for.startswith("bitwise"):
        others = () if stands_for == "bitwise_not" else (I(3) * 0 + 3,)
        return c(f"{name}_", lambda T, a, *b: getattr(a, f"{name}_")(*b), I(2, 3), *others)
    arrays = [each for each in arguments if isinstance(each, np.ndarray)]
    settings = [each for each in arguments if not isinstance(each, np.ndarray)]
    if stands_for == "mvlgamma":
        return otherwise(f"{name}_", lambda T, a: getattr(a + 1, f"{name}_")(*settings), P(2, 3))
    kind = otherwise if stands_for in COMPOSED else c
    return kind(f"{name}_", lambda T, a, *b: getattr(a * 1, f"{name}_")(*b, *settings), P(2, 3), *arrays)


for _family in ops.FAMILIES:
    if _family in (
        ops.addmm,
        ops.complex_parts,
        ops.scatter,
        ops.places,
        ops.masks,
        ops.norm,
    ):  # whose in-place forms are tried in their own files
        continue
    _names = {name: name for name in _family.NAMES.in_place.split()}
    if _family is ops.compare:
        _names |= {f"logical_{word}": f"logical_{word}" for word in ("and", "not", "or", "xor")}
    _names |= {alias: name for alias, name in _family.NAMES.aliases.items() if name in _names}
    WRITING += [_in_place(name, stands_for) for name, stands_for in _names.items()]


def _augmented(symbol: str) -> Callable[..., Any]:
    code = compile(f"y = a * 1\ny {symbol}= b", "<case>", "exec")

    def call(T: Any, a: Any, b: Any) -> Any:
        names = {"a": a, "b": b}
        exec(code, names)
        return names["y"]

    return call


WRITING += [c("augmented", _augmented(symbol), P(2, 3), P(3)) for symbol in ("+", "-", "*", "/", "%", "**")]
WRITING += [
    c("augmented", _augmented(symbol), I(2, 3), I(3) * 2 + 1)
    for symbol in ("+", "-", "*", "//", "&", "|", "^")
]


def _through_a_view(T: Any, a: Any, b: Any) -> Any:
    y = a * 1
    row, column = y[0], y[:, 1]
    row.mul_(b)
    return y, row, column


WRITING.append(c("through a view", _through_a_view, R(2, 3), R(3)))

CASES = WRITING
