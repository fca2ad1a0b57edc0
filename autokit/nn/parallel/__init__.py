"""A model wrapped as for several GPUs, where there is one device: courses wrap it wherever they run."""

from __future__ import annotations

from typing import Any

from autokit.missing import names_of
from autokit.nn.module import Module


class DataParallel(Module):
    """``module`` under the attribute ``module``; it computes where its parameters are.

    PyTorch shares a batch among several GPUs; autokit computes on one device, as PyTorch does without a GPU.
    The names in its ``state_dict()`` begin with ``module.``, as PyTorch's do.

    Examples
    --------
    >>> from autokit import nn
    >>> nn.DataParallel(nn.Linear(2, 1))
    DataParallel(
      (module): Linear(in_features=2, out_features=1, bias=True)
    )
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []
        self.dim = dim

    def forward(self, *inputs: Any, **settings: Any) -> Any:
        return self.module(*inputs, **settings)


class DistributedDataParallel(Module):
    """A model in a group of processes; there is none, so that making one raises."""

    def __init__(self, module: Module, *settings: Any, **more: Any) -> None:
        raise ValueError(
            "DistributedDataParallel: Default process group has not been initialized, please make sure to "
            "call init_process_group. autokit computes in one process: train the model as it is."
        )


__getattr__ = names_of("torch.nn.parallel")

__all__ = ["DataParallel", "DistributedDataParallel"]
