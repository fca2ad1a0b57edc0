"""Helpers around training: :mod:`autokit.utils.data`, ``checkpoint`` and ``dlpack``."""

from importlib import import_module
from typing import Any

from autokit.missing import names_of
from autokit.utils import checkpoint, data, dlpack, hooks

_missing = names_of("torch.utils")


def __getattr__(name: str) -> Any:
    return import_module("autokit.utils._pytree") if name == "_pytree" else _missing(name)


__all__ = ["checkpoint", "data", "dlpack", "hooks"]
