"""``torch.nn.parallel``: the classes are in :mod:`autokit.distributed` and :mod:`autokit.nn.container`."""

from typing import Any

from autokit.base import doors
from autokit.base.missing import absent
from autokit.nn.container import DataParallel

__all__ = ["DataParallel", "DistributedDataParallel"]  # noqa: F822

_absent = absent("torch.nn.parallel")


def __getattr__(name: str) -> Any:
    return doors.distributed(name) if name == "DistributedDataParallel" else _absent(name)
