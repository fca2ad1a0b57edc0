"""``torch.distributed``, where there is one process: programs that ask first run, as they do on one machine.

Scripts written for many GPUs import it at their head, and begin a group of
processes only when they were started in one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from autokit.missing import names_of

__getattr__ = names_of("torch.distributed")

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
    "reduce",
]


def is_available() -> bool:
    """False: autokit computes in one process."""
    return False


def is_initialized() -> bool:
    """False: there is no group of processes."""
    return False


def init_process_group(backend: Any = None, *settings: Any, **more: Any) -> NoReturn:
    """Raise: there is one process."""
    raise RuntimeError(
        "torch.distributed.init_process_group(): autokit computes in one process. Run the script as it is "
        "run on one GPU or on the CPU: without torchrun, and without this call."
    )


def _of_a_group(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **settings: Any) -> NoReturn:
        raise ValueError(
            f"torch.distributed.{name}(): Default process group has not been initialized, please make sure "
            "to call init_process_group. In autokit, which computes in one process, leave the call out: ask "
            "torch.distributed.is_initialized() first."
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raise: there is no group of processes."
    return refuse


all_gather = _of_a_group("all_gather")
all_reduce = _of_a_group("all_reduce")
barrier = _of_a_group("barrier")
broadcast = _of_a_group("broadcast")
destroy_process_group = _of_a_group("destroy_process_group")
get_rank = _of_a_group("get_rank")
get_world_size = _of_a_group("get_world_size")
reduce = _of_a_group("reduce")
