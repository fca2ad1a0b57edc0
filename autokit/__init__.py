"""autokit: learn automatic differentiation by watching it happen.

``import autokit as torch`` runs PyTorch teaching code on NumPy.  A tensor, a
graph or a model shows itself in a notebook, and ``autokit.animate(loss)``
plays the forward evaluation and then the flow of the gradients back.

Importing it loads NumPy and nothing heavier; what draws, trains or opens a
notebook is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from math import e, inf, nan, pi
from typing import TYPE_CHECKING, Any

from autokit import loading  # isort: skip - before all that makes objects
from autokit import (
    allocator,
    autograd,
    dtypes,
    einops_backend,
    formats,
    missing,
    ops,
    random,
    settings,
    tensortypes,
)
from autokit.autograd import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from autokit.autograd.modes import is_inference_mode_enabled, recording
from autokit.devices import device
from autokit.dtypes import (
    can_cast,
    dtype,
    get_default_dtype,
    promote_types,
    set_default_dtype,
    set_default_tensor_type,
)
from autokit.formats import layout, memory_format
from autokit.limits import finfo, iinfo
from autokit.ops.names import found_by_pickle
from autokit.printing import get_printoptions, set_printoptions
from autokit.random import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from autokit.settings import *  # noqa: F403
from autokit.tensor import Size, Tensor

if TYPE_CHECKING:
    from autokit.func import vmap
    from autokit.graphs.capture import graph
    from autokit.graphs.failure import graph_of_error
    from autokit.graphs.layers import summary
    from autokit.graphs.story import record
    from autokit.serialization import load, save
    from autokit.torch_version import __version__
    from autokit.widgets import animate
    from autokit.widgets.descent import descent
    from autokit.widgets.explorer import explore
    from autokit.widgets.monitor import monitor
    from autokit.widgets.playground import playground

globals().update(ops.FUNCTIONS)
found_by_pickle("autokit", ops.FUNCTIONS)
globals().update(dtypes.BY_NAME)
globals().update(formats.NAMES)
globals().update(tensortypes.TYPES)
missing.explain_on(Tensor)
einops_backend.register()
allocator.keep_freed_memory()
loading.finished()
# From here on `float`, `sum` and the like are PyTorch's in this file.

_FROM_NN = (
    "adaptive_max_pool1d",
    "alpha_dropout",
    "alpha_dropout_",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "ctc_loss",
    "dropout",
    "dropout_",
    "embedding",
    "feature_alpha_dropout",
    "feature_alpha_dropout_",
    "frobenius_norm",
    "grid_sampler",
    "group_norm",
    "hinge_embedding_loss",
    "instance_norm",
    "kl_div",
    "layer_norm",
    "margin_ranking_loss",
    "max_pool1d_with_indices",
    "nuclear_norm",
    "poisson_nll_loss",
    "rms_norm",
    "triplet_margin_loss",
)
"""Functions of ``autokit.nn`` that PyTorch has here too."""

_AUTOCAST = (
    "autocast",
    "clear_autocast_cache",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_autocast_gpu_dtype",
)
"""What of mixed precision PyTorch has here."""

_LAZY = {
    **dict.fromkeys(_AUTOCAST, "autokit.amp.autocast_mode"),
    **dict.fromkeys(_FROM_NN, "autokit.nn.functional.at_the_top"),
    **dict.fromkeys(("pca_lowrank", "svd_lowrank"), "autokit.linalg.lowrank"),
    "cond": "autokit.func.branches",
    "set_anomaly_enabled": "autokit.debug.anomaly",
    "to_dlpack": "autokit.utils.dlpack",
    "GradScaler": "autokit.amp",
    "OutOfMemoryError": "autokit.devices",
    "__version__": "autokit.torch_version",
    "animate": "autokit.widgets",
    "is_anomaly_check_nan_enabled": "autokit.debug.anomaly",
    "is_anomaly_enabled": "autokit.debug.anomaly",
    "compile": "autokit.func.compiling",
    "descent": "autokit.widgets.descent",
    "explore": "autokit.widgets.explorer",
    "graph": "autokit.graphs.capture",
    "graph_of_error": "autokit.graphs.failure",
    "monitor": "autokit.widgets.monitor",
    "playground": "autokit.widgets.playground",
    "summary": "autokit.graphs.layers",
    "load": "autokit.serialization",
    "record": "autokit.graphs.story",
    "save": "autokit.serialization",
    "vmap": "autokit.func",
}
"""Names that load more than the engine, and where they are."""

newaxis = None
"""A new dimension in an index: ``x[:, newaxis]``."""

_PACKAGES = (
    "accelerator",
    "amp",
    "backends",
    "cuda",
    "classroom",
    "cpu",
    "datasets",
    "debug",
    "distributed",
    "distributions",
    "draw",
    "fft",
    "func",
    "graphs",
    "jit",
    "linalg",
    "masked",
    "nn",
    "optim",
    "plot",
    "serialization",
    "signal",
    "sparse",
    "special",
    "testing",
    "transforms",
    "types",
    "utils",
    "widgets",
)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name in _PACKAGES:
        return import_module(f"autokit.{name}")
    raise missing.error("torch", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_PACKAGES})


__all__ = [
    "Generator",
    "Size",
    "Tensor",
    "__version__",
    "animate",
    "autograd",
    "can_cast",
    "compile",
    "default_generator",
    "descent",
    "device",
    "dtype",
    "e",
    "enable_grad",
    "explore",
    "finfo",
    "get_default_dtype",
    "get_printoptions",
    "get_rng_state",
    "graph",
    "graph_of_error",
    "iinfo",
    "inf",
    "inference_mode",
    "initial_seed",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "layout",
    "load",
    "manual_seed",
    "memory_format",
    "monitor",
    "nan",
    "no_grad",
    "pi",
    "playground",
    "promote_types",
    "random",
    "record",
    "recording",
    "save",
    "seed",
    "set_default_dtype",
    "set_default_tensor_type",
    "set_grad_enabled",
    "set_printoptions",
    "set_rng_state",
    "summary",
    "vmap",
    *_AUTOCAST,
    *_FROM_NN,
    *settings.__all__,
    *ops.FUNCTIONS,
    *dtypes.BY_NAME,
    *formats.NAMES,
    *tensortypes.TYPES,
]
