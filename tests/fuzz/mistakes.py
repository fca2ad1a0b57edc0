"""One mistake after the other: a call that works, with each of its arguments wrong in every way.

Beside the random calls this leaves no kind of mistake to chance.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from random import Random

import torch

from tests.fuzz.calls import Call, draw_call
from tests.fuzz.compare import run
from tests.fuzz.differences import EMPTY
from tests.fuzz.signatures import Target

VALUES = (
    *("None", "'a'", "1.5", "2", "True", "[1, 2]", "(0, 7)", "{}", "()", "T.float32", "object", "-7", "99"),
    *("1j", "T.tensor([1, 2])", "T.tensor(2)", "T.tensor(1.5)"),
)
"""What stands in the place of any argument."""

TENSORS = (
    *(
        "T.ones(())",
        "T.ones(7)",
        "T.eye(5, 6).expand(2, 3, 4, 5, 6)",
        "T.zeros(0)",
        "T.zeros((0, 3))",
    ),
    *(f"{{}}.to(T.{kind})" for kind in ("int64", "int32", "bool", "float16", "float64", "complex64")),
    *("{}.abs().to(T.uint8)", "{}[None]", "{}.unsqueeze(-1)", "{}.tolist()", "{}.requires_grad_()"),
)
"""What stands in the place of a tensor: other shapes and dtypes."""

ATTEMPTS = 60
"""How many calls are drawn for one that works."""


def working_call(target: Target, seed: int) -> Call | None:
    """A short call of ``target`` that PyTorch takes; None where chance finds none."""
    for number in range(ATTEMPTS):
        call = draw_call(Random(f"{target} {seed} {number}"), target, plain=True)
        is_short = len(str(call)) < 500 and not re.search(EMPTY, str(call))
        if is_short and run(torch, call).error is None:
            return call
    return None


def mistakes(call: Call) -> Iterator[Call]:
    """``call`` with each argument wrong in every way, and with too few, too many and unknown ones."""
    whole = ast.parse(call.expression, mode="eval").body
    if not isinstance(whole, ast.Call):
        return
    for source in dict.fromkeys(_sources(whole, set(call.tensors))):
        names = {each.id for each in ast.walk(ast.parse(source)) if isinstance(each, ast.Name)}
        yield Call({name: tensor for name, tensor in call.tensors.items() if name in names}, source)


def _sources(whole: ast.Call, tensors: set[str]) -> Iterator[str]:
    function = ast.unparse(whole.func)
    given = [("", ast.unparse(each)) for each in whole.args]
    named = [(f"{each.arg}=", ast.unparse(each.value)) for each in whole.keywords]

    def written(arguments: list[tuple[str, str]]) -> str:
        return f"{function}({', '.join(map(''.join, arguments))})"

    for place, (name, source) in enumerate(given + named):
        is_tensor = any(
            isinstance(each, ast.Name) and each.id in tensors for each in ast.walk(ast.parse(source))
        )
        for value in VALUES + (TENSORS if is_tensor else ()):
            changed = [*given, *named]
            changed[place] = name, value.format(f"({source})") if "{}" in value and value != "{}" else value
            yield written(changed)
    for place in range(len(given) - 1, len(given) + len(named)):
        yield written([each for at, each in enumerate(given + named) if at != place])
    yield written(named)
    for more in ("None", "1", ", ".join("1" * 9)):
        yield written([*given, ("", more), *named])
    taken = {name for name, _ in named}
    for name in ("bad_keyword=", "axis=", "out=", "input="):
        if name not in taken:
            yield written([*given, *named, (name, "1")])
