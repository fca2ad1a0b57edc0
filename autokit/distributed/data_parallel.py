"""Data in parallel: each rank computes the gradients of its own batch, and all step by the mean of them.

Parameters are grouped in buckets. As soon as all gradients of a bucket are complete, its all-reduce begins,
while the backward pass still computes those of the layers before: what is sent costs less time. The mean
stands in ``.grad`` when ``backward()`` returns.

Source: Li et al., *PyTorch Distributed: Experiences on Accelerating Data Parallel Training*, VLDB 2020.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from autokit.base.devices import beside, to_numpy
from autokit.distributed.collectives import broadcast
from autokit.distributed.group import Group, current
from autokit.engine.inplace import mark_changed
from autokit.engine.modes import thread
from autokit.engine.tensor import Tensor
from autokit.nn.module import Module


class _Bucket:
    """Parameters whose gradients are sent together."""

    def __init__(self, parameters: Sequence[Tensor]) -> None:
        self.parameters = parameters
        self.forget()

    def forget(self) -> None:
        """Wait for all gradients again."""
        self.missing = {id(each) for each in self.parameters}
        self.request: Any = None

    def begin(self, group: Group) -> None:
        """Begin to add up the gradients of all ranks."""
        self._gradients = [each._grad for each in self.parameters if each._grad is not None]
        flat = [to_numpy(each.array).ravel() for each in self._gradients]
        self._sums = flat[0] if len(flat) == 1 else np.concatenate(flat)
        self.request = group.data.Iallreduce(group.mpi.IN_PLACE, self._sums, group.mpi.SUM)

    def finish(self, group: Group) -> None:
        """Wait for the sums, and put their means into the gradients."""
        group.wait(self.request, "the all-reduce of DistributedDataParallel")
        start = 0
        for each in self._gradients:
            sums = self._sums[start : start + each.array.size].reshape(each.array.shape)
            np.divide(beside(sums, each.array), group.size, out=each.array)
            mark_changed(each)
            start += each.array.size


class DistributedDataParallel(Module):
    """A module around ``module``, whose gradients become the means over all ranks.

    Each rank wraps the same module, and gives it its own share of each batch; shares of equal size make the
    mean that of the whole batch. At the beginning every rank takes over the parameters and buffers of
    rank 0, and before each forward pass its buffers.

    Parameters
    ----------
    module : Module
        With the same parameters on every rank. All of them take part in each backward pass.
    device_ids, output_device : optional
        Not used: the module computes where its parameters are.
    broadcast_buffers : bool
        Whether the ranks take over the buffers of rank 0, as running means, before each forward pass.
    bucket_cap_mb : float
        About how many MiB of gradients are sent together.

    Raises
    ------
    RuntimeError
        If no parameter requires grad, if the modules of the ranks differ, or, at the next forward pass, if
        a parameter had no part in a backward pass.
    ValueError
        If there is no process group.

    Examples
    --------
    >>> import autokit as torch
    >>> from autokit import distributed as dist, nn
    >>> dist.init_process_group("mpi")
    >>> model = nn.parallel.DistributedDataParallel(nn.Linear(3, 1))
    >>> model(torch.ones(2, 3)).sum().backward()
    >>> model.module.bias.grad
    tensor([2.])
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        broadcast_buffers: bool = True,
        bucket_cap_mb: float = 25,
    ) -> None:
        super().__init__()
        self._ranks = current("DistributedDataParallel()")
        self.module, self.broadcast_buffers = module, broadcast_buffers
        learned = [each for each in module.parameters() if each.requires_grad]
        if not learned:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameters that "
                "require a gradient."
            )
        names = [f"{name} {list(each.shape)}" for name, each in module.named_parameters()]
        self._ranks.agree(f"DistributedDataParallel() of {', '.join(names)}")
        for each in (*module.parameters(), *module.buffers()):
            broadcast(each, 0)
        self._buckets = _buckets(learned, bucket_cap_mb * 2**20)
        self._bucket_of = {id(each): bucket for bucket in self._buckets for each in bucket.parameters}
        self._sync = self._reduces = True
        if self._ranks.size > 1:
            for each in learned:
                each.register_post_accumulate_grad_hook(self._ready)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Keep gradients on their rank: of forward and backward passes inside, they add up in ``.grad``.

        The first pass outside sends the sum. So one exchange serves several small batches.
        """
        outside, self._sync = self._sync, False
        try:
            yield
        finally:
            self._sync = outside

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Run the module, after all ranks have come here."""
        trains = thread.state.recording and self.training
        if trains:
            self._reduces = self._sync
            mode = "" if self._sync else ".no_sync()"
            self._ranks.agree(f"a forward pass of DistributedDataParallel{mode}")
            self._refuse_unfinished()
        if self.broadcast_buffers and self._sync:
            for each in self.module.buffers():
                broadcast(each, 0)
        return self.module(*inputs, **named)

    def _refuse_unfinished(self) -> None:
        """Raise where a backward pass has left out parameters: other ranks would wait for them."""
        missing = {each for bucket in self._buckets for each in bucket.missing}
        if not missing or len(missing) == len(self._bucket_of):
            return
        names = [name for name, each in self.module.named_parameters() if id(each) in missing]
        raise RuntimeError(
            "Expected to have finished reduction in the prior iteration before starting a new one: "
            f"{', '.join(names)} had no part in the loss. Let every parameter take part in each backward pass"
        )

    def _ready(self, parameter: Tensor) -> None:
        """The gradient of ``parameter`` is complete: send its bucket if it was the last."""
        if not self._reduces:
            return
        missing = self._bucket_of[id(parameter)].missing
        if id(parameter) not in missing:
            raise RuntimeError(
                "Expected to mark a variable ready only once: several backward passes follow one forward "
                "pass. Add up the losses, and call backward() once"
            )
        missing.remove(id(parameter))
        for bucket in self._buckets:  # in the same order on every rank
            if bucket.missing:
                return
            if bucket.request is None:
                bucket.begin(self._ranks)
            else:
                bucket.request.Test()  # lets MPI go on
        for bucket in self._buckets:
            bucket.finish(self._ranks)
            bucket.forget()


def _buckets(parameters: Sequence[Tensor], cap: float) -> list[_Bucket]:
    """Parameters in groups of one dtype and at most ``cap`` bytes, the last layers first.

    One of more than 256 KiB is alone: it is sent from where it lies, and no time goes into copying it.
    """
    groups: list[list[Tensor]] = []
    size = 0.0
    for each in reversed(parameters):
        large = each.array.nbytes > 2**18
        size += each.array.nbytes
        if not groups or large or size > cap or groups[-1][0].dtype is not each.dtype:
            groups.append([])
            size = cap if large else each.array.nbytes
        groups[-1].append(each)
    return [_Bucket(group) for group in groups]
