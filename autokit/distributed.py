"""``torch.distributed`` in one process: a script that asks ``is_available()`` runs without process groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from autokit.base.missing import absent

__getattr__ = absent("torch.distributed")

__all__ = [
    "all_gather",
    "all_reduce",
    "barrier",
    "broadcast",
    "destroy_process_group",
    "get_rank",
    "get_world_size",
    "init_process_group",
    "is_available",
    "is_initialized",
]


def is_available() -> bool:
    """False: autokit computes in one process."""
    return False


def is_initialized() -> bool:
    """False: there is no group of processes."""
    return False


def init_process_group(backend: Any = None, **settings: Any) -> NoReturn:
    """Raise: there is one process."""
    raise RuntimeError(
        "torch.distributed.init_process_group(): autokit computes in one process. Run the script as it is "
        "run on one GPU or on the CPU: without torchrun, and without this call."
    )


def _of_a_group(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **settings: Any) -> NoReturn:
        raise ValueError(
            f"torch.distributed.{name}(): Default process group has not been initialized. autokit computes "
            "in one process: leave the call out, or ask torch.distributed.is_initialized() first."
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raise: there is no group of processes."
    return refuse


all_gather, all_reduce, barrier, broadcast = map(
    _of_a_group, ("all_gather", "all_reduce", "barrier", "broadcast")
)
destroy_process_group, get_rank, get_world_size = map(
    _of_a_group, ("destroy_process_group", "get_rank", "get_world_size")
)
