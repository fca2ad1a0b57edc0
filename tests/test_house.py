"""The house stays small: lines of code by room, the direction of imports, and how lines are counted."""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import sys
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "autokit"

BUDGETS = {  # lines of code, without blanks, comments and docstrings
    "base random": 1300,
    "gpu": 600,
    "engine": 1800,
    "ops": 6500,
    "nn": 4300,
    "optim": 1300,
    "autograd func linalg special cuda amp backends": 1700,
    "distributions": 600,
    "utils datasets transforms": 1600,
    "serialization": 800,
    "static": 3500,
    "distributed": 600,
    "graphs": 3100,
    "draw": 2900,
    "widgets plot debug": 2800,
    "classroom cli": 1400,
    "": 450,
}
"""By the room's folders and files; "" is the top of the package."""

LEVELS = (
    "base random gpu",
    "engine",
    "ops",
    "",
    "distributed",
    "graphs debug",
    "draw",
    "widgets plot",
    "classroom cli",
)
"""Imports point to the left, or stay; the rooms that are not named stand on the fourth level."""

QUIET = (
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
)


class File:
    """A file of Python: its tree, and the numbers of its lines of code."""

    def __init__(self, path: Path) -> None:
        self.path, self.source = path, path.read_text("utf-8")
        self.tree = ast.parse(self.source)
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        words: set[int] = set()
        for node in ast.walk(self.tree):
            for each in node.body if isinstance(node, documented) else []:
                if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                    words.update(range(each.lineno, each.end_lineno + 1))
        lines: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(self.source).readline):
            if token.type not in QUIET:
                lines.update(range(token.start[0], token.end[0] + 1))
        self.lines = lines - words

    @property
    def module(self) -> str:
        """The dotted name."""
        name = ".".join(self.path.relative_to(ROOT).with_suffix("").parts)
        return name.removesuffix(".__init__")


@cache
def files(folder: Path) -> list[File]:
    return [File(path) for path in sorted(folder.rglob("*.py"))]


def place_of(module: str) -> str:
    """The folder or file of the package's top where ``module`` lives."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def level_of(module: str) -> int:
    if module in ("autokit", "autokit.__main__"):
        return len(LEVELS)
    return next((level for level, places in enumerate(LEVELS) if place_of(module) in places.split()), 3)


@cache
def imports() -> dict[str, set[str]]:
    """For each module those that it imports, also inside functions, but not for the type checker alone."""
    modules = {file.module for file in files(PACKAGE)}
    found: dict[str, set[str]] = {module: set() for module in modules}
    for file in files(PACKAGE):
        checking = {
            id(each)
            for node in ast.walk(file.tree)
            if isinstance(node, ast.If)
            and isinstance(node.test, ast.Name)
            and node.test.id == "TYPE_CHECKING"
            for each in ast.walk(node)
        }
        for node in ast.walk(file.tree):
            if isinstance(node, ast.ImportFrom) and id(node) not in checking:
                assert not node.level, f"{file.path}: write imports from autokit. on"
                names = {f"{node.module}.{each.name}" for each in node.names}
                found[file.module] |= {
                    name if name in modules else node.module or "" for name in names
                } & modules
    return {module: others - {module, "autokit"} for module, others in found.items()}


def reached(start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for other in imports()[waiting.pop()] - seen:
            seen.add(other)
            waiting.append(other)
    return seen


def room_of(module: str) -> str:
    place = place_of(module)
    return next((room for room in BUDGETS if place and place in room.split()), "")


def functions(folder: Path) -> list[tuple[int, str]]:
    return [
        (len(file.lines & set(range(node.lineno, node.end_lineno + 1))), f"{file.path}:{node.name}")
        for file in files(folder)
        for node in ast.walk(file.tree)
        if isinstance(node, ast.FunctionDef)
    ]


@pytest.mark.parametrize("room", BUDGETS)
def test_each_room_keeps_its_budget(room: str) -> None:
    lines = sum(len(file.lines) for file in files(PACKAGE) if room_of(file.module) == room)
    assert lines <= 1.1 * BUDGETS[room]


def test_the_package_is_small() -> None:
    counts = Counter()
    for file in files(PACKAGE):
        counts[room_of(file.module)] += len(file.lines)
    assert sum(counts.values()) - counts["static"] - counts["distributed"] <= 30_300


def test_the_tests_are_small() -> None:
    assert sum(len(file.lines) for file in files(ROOT / "tests")) <= 26_400


def test_there_are_few_files() -> None:
    assert sum(room_of(file.module) == "ops" for file in files(PACKAGE)) <= 45
    assert len([each for each in os.listdir(PACKAGE) if not each.startswith(("__", "."))]) <= 34
    assert {path.stem for path in (PACKAGE / "engine").glob("*.py")} == {
        *("__init__", "backward", "detours", "function", "inplace", "modes", "node", "observed"),
        *("operands", "operation", "record", "tensor"),
    }


def test_functions_are_short() -> None:
    assert max(functions(PACKAGE))[0] <= 60, max(functions(PACKAGE))
    (loop,) = [
        lines for lines, name in functions(PACKAGE / "engine") if name.endswith("backward.py:backward")
    ]
    assert loop <= 45


def test_imports_point_down() -> None:
    upward = [(m, o) for m, others in imports().items() for o in others if level_of(o) > level_of(m)]
    assert not [pair for pair in upward if pair[0] != "autokit"]


def test_no_circle_reaches_beyond_a_room() -> None:
    for module in imports():
        if module == "autokit":
            continue
        circle = {other for other in reached(module) if module in reached(other)}
        assert {room_of(other) for other in circle} <= {room_of(module)}, sorted(circle)
        if place_of(module) == "engine":
            assert circle <= {f"autokit.engine.{name}" for name in ("tensor", "record", "backward")}


def test_lines_are_counted_honestly() -> None:
    code = [file.source.split("\n")[number - 1].strip() for file in files(PACKAGE) for number in file.lines]
    assert sum(map(len, code)) / len(code) <= 40.9
    for file in files(PACKAGE):
        for node in ast.walk(file.tree):
            name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            runs_text = name in ("exec", "eval", "compile")
            assert not runs_text or room_of(file.module) == "static", f"{file.path}:{node.lineno}"
            if isinstance(node, ast.Import) and file.module != "autokit":
                assert all(each.name != "autokit" for each in node.names), file.path
            generators = getattr(node, "generators", [])
            assert len(generators) <= 2, f"{file.path}:{node.lineno}"
        if file.module != "autokit":
            assert not re.search(r"\bimport_module\b|\bsys\.modules\b", file.source), file.path


@pytest.mark.parametrize("command", ["ruff format --check autokit tests", "ruff check autokit tests", "mypy"])
def test_the_formatter_the_linter_and_the_type_checker_are_content(command: str) -> None:
    ran = subprocess.run([sys.executable, "-m", *command.split()], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-2000:]


def test_the_browsers_files_can_be_read() -> None:
    """Scripts have at most 4,000 lines in all, comments with them; no line or file is long."""
    files = {file: file.read_text("utf-8").splitlines() for file in (PACKAGE / "widgets/browser").iterdir()}
    assert not [
        f"{file.name}:{number}"
        for file, lines in files.items()
        for number, line in enumerate(lines, 1)
        if len(line) > 110
    ]
    assert not [file.name for file, lines in files.items() if len(lines) > 400]
    assert sum(len(lines) for file, lines in files.items() if file.suffix == ".js") <= 4000


def test_other_files_hold_no_rules() -> None:
    known = (".py", ".pyc", ".js", ".css", ".gz", ".csv", ".md", ".typed", ".svg", ".ipynb", ".json")
    others = [path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in known]
    assert sum(path.stat().st_size for path in others) <= 40 * 1024


def test_the_walk_through_the_engine_is_true() -> None:
    """Each file that the page links exists, and each name that it puts into code is in the engine's files."""
    page = PACKAGE / "engine" / "README.md"
    text = page.read_text("utf-8")
    assert len(text.split("\n")) < 120
    linked = [(page.parent / target).resolve() for target in re.findall(r"\]\(([^)]+)\)", text)]
    assert linked and all(path.is_file() for path in linked)
    code = "".join(path.read_text("utf-8") for path in {*linked, *page.parent.glob("*.py")})
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    names = {
        name for quoted in re.findall(r"`([^`]+)`", prose) for name in re.findall(r"[A-Za-z_]\w{3,}", quoted)
    }
    assert {name for name in names if name not in code} <= {"loss", "python"}
    read = {path for path in linked if path.suffix == ".py"}
    walked = re.findall(r"^## \d.*?\((.*?)\)(?:.*?\((.*?)\))?$", text, flags=re.MULTILINE)
    files_to_read = {(page.parent / name).resolve() for pair in walked for name in pair if name}
    assert files_to_read <= read and len(files_to_read) <= 8
    lines = sum(len(File(path).lines) for path in files_to_read if path.stem != "arithmetic")
    rules = [
        n for n, name in functions(PACKAGE / "ops") if re.search(r"arithmetic\.py:(plus|mul|power)$", name)
    ]
    assert (
        len(rules) == 3 and lines + sum(rules) + 10 * len(rules) <= 1200
    )  # a rule's head has ten lines at most
