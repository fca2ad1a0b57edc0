"""einops on autokit's tensors: ``rearrange(x, "b c h w -> b (h w) c")`` and its kin.

einops asks each subclass of its ``AbstractBackend`` whether a tensor is one of
its own; this one's says so of autokit's.  It is made when einops is imported,
before autokit or after, and einops is imported for nobody who does not ask.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

_BACKENDS = "einops._backends"


class _Watch:
    """Finds einops' file of backends as Python does, and lets it know autokit's once it has run."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != _BACKENDS:
            return None
        sys.meta_path.remove(_Watch)  # type: ignore[arg-type]
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            loader, run = spec.loader, spec.loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                _make_backend(module)

            loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def register() -> None:
    """Let einops know autokit's tensors, now or when it is imported."""
    if _BACKENDS in sys.modules:
        _make_backend(sys.modules[_BACKENDS])
    else:
        sys.meta_path.insert(0, _Watch)  # type: ignore[arg-type]


def _make_backend(einops: Any) -> None:
    """A backend for autokit among those of ``einops``, which finds it by its class."""
    ak: Any = import_module("autokit")

    class AutokitBackend(einops.AbstractBackend):  # type: ignore[misc, name-defined]
        framework_name = "autokit"

        def is_appropriate_type(self, tensor: Any) -> bool:
            return isinstance(tensor, ak.Tensor)

        def from_numpy(self, x: Any) -> Any:
            return ak.from_numpy(x)

        def to_numpy(self, x: Any) -> Any:
            return x.detach().cpu().numpy()

        def arange(self, start: int, stop: int) -> Any:
            return ak.arange(start, stop)

        def reduce(self, x: Any, operation: str, reduced_axes: Any) -> Any:
            axes = tuple(reduced_axes)
            if operation in ("any", "all", "prod"):  # one dimension at a time, as in PyTorch
                for axis in sorted(axes, reverse=True):
                    x = getattr(x, operation)(dim=axis)
                return x
            return getattr(x, {"min": "amin", "max": "amax"}.get(operation, operation))(dim=axes)

        def transpose(self, x: Any, axes: Any) -> Any:
            return x.permute(axes)

        def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
            return ak.stack(tensors)

        def add_axis(self, x: Any, new_position: int) -> Any:
            return x.unsqueeze(new_position)

        def add_axes(self, x: Any, n_axes: int, pos2len: dict[int, int]) -> Any:
            sizes = [-1] * n_axes
            for place, size in pos2len.items():
                x = x.unsqueeze(place)
                sizes[place] = size
            return x.expand(sizes)

        def tile(self, x: Any, repeats: Any) -> Any:
            return x.repeat(repeats)

        def concat(self, tensors: Any, axis: int) -> Any:
            return ak.cat(tensors, dim=axis)

        def is_float_type(self, x: Any) -> bool:
            return x.is_floating_point()

        def einsum(self, pattern: str, *x: Any) -> Any:
            return ak.einsum(pattern, *x)

    einops.autokit_backend = AutokitBackend  # a class that nobody holds would be forgotten
