"""``torch.utils.data.distributed``: the sampler is in :mod:`autokit.distributed`."""

from typing import Any

from autokit.base import doors
from autokit.base.missing import absent

__all__ = ["DistributedSampler"]  # noqa: F822

_absent = absent("torch.utils.data.distributed")


def __getattr__(name: str) -> Any:
    return doors.distributed(name) if name == "DistributedSampler" else _absent(name)
