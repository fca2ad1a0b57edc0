"""The names that a program gave its results: ``scores = q @ k.T`` names the last operation of that line.

A node knows the instruction of the program that ran it, and Python knows which part of which line this is.
Where that part is all that stands to the right of an assignment, its target is the result's name.
"""

from __future__ import annotations

import ast
import linecache
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from types import CodeType
from typing import Any

from autokit.engine.node import Node
from autokit.engine.tensor import Tensor
from autokit.graphs.run import Run

Place = tuple[int | None, ...]
"""A part of a program: its first and last line, and the columns where it begins and ends."""

Named = dict[Place, tuple[str, ...]]
"""Names by the part of a program."""

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def assigned_names(runs: Sequence[Run]) -> Iterator[tuple[Node, str]]:
    """The results among ``runs``, oldest first, that the program gave a name, and that name."""
    groups: dict[tuple[CodeType, int], list[Run]] = {}
    for run in runs:
        if run.node.code is not None:
            groups.setdefault((run.node.code, run.node.instruction), []).append(run)
    for (code, instruction), group in groups.items():
        names = _program(code.co_filename)[0].get(_place(code, instruction), ())
        if not names:
            continue
        # A call may run several operations, and run several times: the last one gives its result.
        period = _period(group)
        if len(names) == 1:
            yield from ((run.result, names[0]) for run in group[period - 1 :: period] if names[0])
            continue
        for k, run in enumerate(group):
            slot = (run.result.settings or {}).get("slot", k if period == 1 else None)
            if slot is not None and names[slot % len(names)]:
                yield run.result, names[slot % len(names)]


def operand_names(runs: Sequence[Run]) -> Iterator[tuple[Tensor, str]]:
    """The leaves and constants that ``runs`` read by a name, as in ``x @ w`` or ``layer(x)``."""
    before, found = None, dict[tuple[CodeType, int], tuple[str, ...]]()
    for run in runs:
        code, instruction = here = run.node.code, run.node.instruction
        if code is None or here == before:
            continue  # of a call that runs several operations, only the first surely reads its argument
        before = here
        if here not in found:
            found[here] = _program(code.co_filename)[1].get(_place(code, instruction), ())
        for source, name in zip(run.node.sources, found[here]):
            if isinstance(source, Tensor) and name:
                yield source, name


def told_apart(named: Mapping[Any, str], others: set[str]) -> dict[Any, str]:
    """The names, with a number where several results have one name, or something else has it too."""
    counts, told = Counter(named.values()), Counter[str]()
    labels = {}
    for node, name in named.items():
        told[name] += 1
        alone = counts[name] == 1 and name not in others
        labels[node] = name if alone else name + str(told[name]).translate(_SUBSCRIPTS)
    return labels


def _period(group: Sequence[Run]) -> int:
    """How many operations one run of a line makes: of a line that ran several times, the same each time."""
    made = [(run.name, run.node.scope and run.node.scope[1]) for run in group]
    lengths = (length for length in range(1, len(made)) if len(made) % length == 0)
    return next((n for n in lengths if made == made[:n] * (len(made) // n)), len(made))


def _place(code: CodeType, instruction: int) -> Place:
    first, last, start, end = next(islice(code.co_positions(), instruction // 2, None))
    return first, last, start, end


def _program(file: str) -> tuple[Named, Named]:
    return _names_in("".join(linecache.getlines(file)))


@lru_cache(maxsize=32)
def _names_in(program: str) -> tuple[Named, Named]:
    """For the parts of a program the names that they are assigned to, and those that they compute with."""
    found: Named = {}
    read: Named = {}
    try:
        tree = ast.parse(program)
    except SyntaxError:
        return found, read
    for each in ast.walk(tree):
        if isinstance(each, ast.Assign):
            _note(found, each.targets[0], each.value)
        elif isinstance(each, ast.AnnAssign) and each.value:
            _note(found, each.target, each.value)
        elif isinstance(each, ast.AugAssign):
            found[_extent(each)] = (_name(each.target),)
        elif isinstance(each, ast.BinOp):
            read[_extent(each)] = (_name(each.left), _name(each.right))
        elif isinstance(each, ast.Call) and each.args and not _is_method(each.func):
            read[_extent(each)] = (_name(each.args[0]),)
    return found, read


def _is_method(function: Any) -> bool:
    """Whether it may be the method of a tensor, which reads that tensor first."""
    return hasattr(Tensor, getattr(function, "attr", ""))


def _note(found: Named, target: Any, value: Any) -> None:
    parts, values = getattr(target, "elts", None), getattr(value, "elts", None)
    if parts is None:
        found[_extent(value)] = (_name(target),)
    elif values is None:
        found[_extent(value)] = tuple(map(_name, parts))
    elif len(parts) == len(values):
        for part, each in zip(parts, values):
            _note(found, part, each)


def _extent(part: Any) -> Place:
    return part.lineno, part.end_lineno, part.col_offset, part.end_col_offset


def _name(target: Any) -> str:
    """What a target is called: a variable's name, or that of an attribute of ``self``; else nothing."""
    name = ""
    if isinstance(target, ast.Name):
        name = target.id
    elif isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == "self":
        name = target.attr
    return "" if name.startswith("_") else name
