"""Random programs of a line: layers, optimizers, distributions and others that are more than one call.

``programs.txt`` has a template a line, ``NAME: template``, with holes in braces:

* ``{t bcX}``: a tensor, its shape in letters as in ``recipes``; ``{p bcX}`` of positive numbers,
  ``{u bcX}`` between 0 and 1, ``{s bcX}`` whose last dimension sums to 1, ``{b bcX}`` of bools;
* ``{n bX<c}``: integers below the size that a letter stands for;
* ``{# c}``: that size itself; ``{1..3}``: a whole number; ``{True|False}``: one of these.

``within(CONTEXT, lambda: ...)`` computes inside a ``with``.  What stands by keyword may be left out.  A name
may be drawn too: ``.{exp|sin}(``.  ``LAYER <- INPUTS`` makes a layer, calls it, and looks at what it says of
itself, its parameters and its buffers.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from random import Random

from tests.fuzz.calls import RANGE, WRONG, Call, Drawing
from tests.fuzz.signatures import Target

FILE = Path(__file__).with_name("programs.txt")
CALLED = "[(m({inputs}), repr(m), [*m.parameters()], [*m.buffers()]) for m in [{layer}]][0]"
"""What is done with a layer."""
SETS = re.compile(r"\bT\.(set_|use_)")
"""A program that sets something for all that comes after it: it must end, to set it back."""
MADE_OF = {"p": "({}.abs() + 0.5)", "u": "{}.sigmoid()", "s": "{}.softmax(-1)"}
"""How tensors of some numbers are made of any."""


@cache
def templates() -> dict[str, list[str]]:
    """The templates of each name."""
    found: dict[str, list[str]] = {}
    for line in FILE.read_text("utf-8").splitlines():
        if line and line[0] != "#":
            name, template = line.split(": ", 1)
            layer, arrow, inputs = template.partition(" <- ")
            found.setdefault(name, []).append(
                CALLED.replace("{layer}", layer).replace("{inputs}", inputs) if arrow else template
            )
    return found


def program_targets() -> list[Target]:
    return [Target("programs", name) for name in templates()]


def draw_program(random: Random, target: Target) -> Call:
    """A random program of one of the target's templates."""
    drawing = Drawing(random, target)
    drawing.dtype, drawing.awkward = "float32", False
    template = random.choice(templates()[target.name])
    template = re.sub(r"\.\{(.*?)\}", lambda names: "." + random.choice(names[1].split("|")), template)
    tree = ast.parse(_without_some_keywords(drawing, template), mode="eval")
    source = re.sub(r"'\{(.*?)\}'", lambda hole: _filled(drawing, hole[1]), ast.unparse(tree))
    if drawing.wrong and random.random() < 0.3 and not SETS.search(source):
        source = _spoiled(random, source)
    names = {node.id for node in ast.walk(ast.parse(source, mode="eval")) if isinstance(node, ast.Name)}
    return Call({name: made for name, made in drawing.tensors.items() if name in names}, source)


def _without_some_keywords(drawing: Drawing, template: str) -> str:
    """The template with its holes as strings, and without some of what stands by keyword."""
    tree = ast.parse(re.sub(r"\{(.*?)\}", lambda hole: repr("{" + hole[1].replace("'", '"') + "}"), template))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            node.keywords = [each for each in node.keywords if drawing.chance(0.5)]
    return ast.unparse(tree)


def _filled(drawing: Drawing, hole: str) -> str:
    kind, _, what = hole.partition(" ")
    if kind in ("t", "b", *MADE_OF) and what:
        made = drawing.tensor(drawing.shape_of(what), "bool" if kind == "b" else drawing.dtype)
        return MADE_OF.get(kind, "{}").format(made)
    if kind == "n" and what:
        letters, _, bound = what.partition("<")
        top = int(bound) if bound.isdigit() else drawing.shape_of(bound)[0]
        return drawing.integers(drawing.shape_of(letters), 0, max(top, 1))
    if kind == "#":
        return str(drawing.shape_of(what)[0])
    one = drawing.random.choice(hole.split("|"))
    if RANGE.fullmatch(one):
        low, high = map(int, one.split(".."))
        return str(drawing.random.randint(low, high))
    return one


def _spoiled(random: Random, source: str) -> str:
    """The program with one argument of another kind, or one that nobody knows."""
    tree = ast.parse(source, mode="eval")
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    call = random.choice(calls) if calls else None
    wrong = ast.parse(random.choice(WRONG), mode="eval").body
    if call is None:
        return source
    if random.random() < 0.15:
        call.keywords.append(ast.keyword("dimm", wrong))
    elif call.keywords and random.random() < 0.5:
        random.choice(call.keywords).value = wrong
    else:
        call.args[random.randrange(len(call.args))] = wrong
    return ast.unparse(tree)
