"""``import autokit`` stays light: NumPy and nothing heavier, and no room that a program has not asked for."""

from __future__ import annotations

import pytest

from tests.support import printed_by

HEAVY = {"IPython", "anywidget", "graphviz", "ipywidgets", "matplotlib", "pytest", "scipy", "sklearn"}
ROOMS = {"classroom", "datasets", "distributions", "draw", "func", "graphs", "nn", "optim", "plot", "widgets"}


def test_importing_autokit_loads_numpy_and_nothing_heavier():
    loaded = printed_by("import sys, autokit; print(*sys.modules)").split()
    assert "numpy" in loaded
    assert not HEAVY & {name.split(".")[0] for name in loaded}
    assert not ROOMS & {name.split(".")[1] for name in loaded if name.startswith("autokit.")}


@pytest.mark.parametrize("searching", [True, False])
def test_importing_autokit_leaves_the_search_for_garbage_as_it_was(searching: bool):
    before = "" if searching else "gc.disable(); "
    assert printed_by(f"import gc; {before}import autokit; print(gc.isenabled())") == f"{searching}\n"


@pytest.mark.parametrize("name", ["erfinv", "lgamma", "special.i0"])
def test_scipy_is_loaded_when_a_special_function_is_first_called(name: str):
    program = f"import sys, autokit; before = 'scipy' in sys.modules; autokit.{name}(autokit.ones(2)); "
    assert printed_by(program + "print(before, 'scipy' in sys.modules)") == "False True\n"
