"""autokit teaches automatic differentiation by showing how it happens.

``import autokit as torch`` runs PyTorch teaching code on NumPy. A tensor, a graph or a model shows itself in
a notebook, and ``autokit.animate(loss)`` plays the forward evaluation and then the flow of the gradients
back.

Importing it loads NumPy and nothing heavier; what draws, trains or opens a notebook is loaded when it is
first used.
"""

from __future__ import annotations

from importlib import import_module
from math import e, inf, nan, pi
from typing import TYPE_CHECKING, Any

from autokit import autograd, ops, random
from autokit.autograd import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from autokit.base import doors, dtypes, version
from autokit.base.devices import OutOfMemoryError, device, get_default_device, set_default_device
from autokit.base.dtypes import (
    can_cast,
    dtype,
    finfo,
    get_default_dtype,
    iinfo,
    promote_types,
    set_default_dtype,
)
from autokit.base.generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from autokit.base.missing import absent, explain_on
from autokit.base.printing import get_printoptions, set_printoptions
from autokit.base.settings import *  # noqa: F403
from autokit.base.size import Size
from autokit.base.version import TORCH as __version__
from autokit.engine.modes import recording
from autokit.engine.tensor import Tensor
from autokit.ops.create import TYPES

if TYPE_CHECKING:
    from autokit.debug.compare import compare
    from autokit.debug.objects import graph_of
    from autokit.distributed.cluster import cluster
    from autokit.distributed.sweep import sweep
    from autokit.func import vmap
    from autokit.graphs.capture import graph
    from autokit.graphs.failure import graph_of_error
    from autokit.graphs.layers import summary
    from autokit.graphs.story import record
    from autokit.serialization import load, save
    from autokit.widgets import animate
    from autokit.widgets.descent import descent
    from autokit.widgets.explorer import explore
    from autokit.widgets.monitor import monitor
    from autokit.widgets.playground import playground
    from autokit.widgets.ring import ring

newaxis = None
"""A new dimension in an index: ``x[:, newaxis]``."""

_LAZY = {
    "GradScaler": "amp",
    "animate": "widgets",
    "autocast": "amp",
    "cluster": "distributed.cluster",
    "compare": "debug.compare",
    "compile": "func.jit",
    "descent": "widgets.descent",
    "explore": "widgets.explorer",
    "graph": "graphs.capture",
    "graph_of": "debug.objects",
    "graph_of_error": "graphs.failure",
    "is_anomaly_check_nan_enabled": "debug.anomaly",
    "is_anomaly_enabled": "debug.anomaly",
    "is_autocast_enabled": "amp",
    "load": "serialization",
    "monitor": "widgets.monitor",
    "playground": "widgets.playground",
    "record": "graphs.story",
    "ring": "widgets.ring",
    "save": "serialization",
    "set_anomaly_enabled": "debug.anomaly",
    "summary": "graphs.layers",
    "sweep": "distributed.sweep",
    "vmap": "func",
}
"""Names that load more than the engine, and where they are."""

_MODULES = {
    "amp": "amp",
    "backends": "backends",
    "classroom": "classroom",
    "cuda": "cuda",
    "datasets": "datasets",
    "debug": "debug",
    "distributed": "distributed",
    "distributions": "distributions",
    "draw": "draw",
    "func": "func",
    "graphs": "graphs",
    "linalg": "linalg",
    "nn": "nn",
    "optim": "optim",
    "plot": "plot",
    "serialization": "serialization",
    "special": "special",
    "static": "static",
    "transforms": "transforms",
    "utils": "utils",
    "widgets": "widgets",
    "accelerator": "cuda.accelerator",
    "jit": "func.jit",
}
"""Packages and modules that are loaded when they are first used, and where they are."""

_absent = absent("torch")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"autokit.{_LAZY[name]}"), name)
    if name in _MODULES:
        return import_module(f"autokit.{_MODULES[name]}")
    if not name.startswith("_"):
        functional = import_module("autokit.nn.functional")
        if hasattr(functional, name):  # torch.dropout is torch.nn.functional.dropout
            return getattr(functional, name)
    return _absent(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_MODULES})


def _imported_later(module: str, name: str) -> Any:
    """The function ``name`` of ``autokit.module``, which is imported when the function is first called."""

    def called(*args: Any, **options: Any) -> Any:
        return getattr(import_module(f"autokit.{module}"), name)(*args, **options)

    return called


doors.mimebundle, doors.text = _imported_later("draw", "mimebundle"), _imported_later("draw.text", "text")
doors.memory = _imported_later("draw.memory_plan", "mimebundle")
doors.save_memory = _imported_later("draw.memory_plan", "save")
doors.program = _imported_later("graphs.program", "program_graph")
doors.compare = _imported_later("widgets.compare", "compare")
doors.passes = _imported_later("widgets.compare", "Stages")
doors.debugger = _imported_later("widgets.session", "Debugger")
doors.terminal = _imported_later("debug.terminal", "ask")
doors.distributed = lambda name: getattr(import_module("autokit.distributed"), name)
doors.compiled = _imported_later("static.step", "compile")
doors.sweep = _imported_later("plot.sweeps", "figure_of")
doors.sweep_bundle = _imported_later("plot.sweeps", "mimebundle")
doors.dot, doors.save = _imported_later("draw.dot", "dot"), _imported_later("widgets.export", "save")
for _name in ("detect_anomaly", "set_detect_anomaly"):
    setattr(autograd, _name, _imported_later("debug.anomaly", _name))
setattr(Tensor, "_repr_mimebundle_", doors.shown)  # noqa: B010 - for the type checker too

explain_on(Tensor)
globals().update(ops.FUNCTIONS)
globals().update(dtypes.BY_NAME)
globals().update(dtypes.NAMES_ONLY)
globals().update(TYPES)
# From here on `float`, `sum` and the like are PyTorch's in this file.
