"""Seeds and states of GPUs' generators, which programs set and save: numbers are drawn by the CPU's here.

So ``torch.manual_seed`` seeds them too, and a state that is taken for a GPU is
the state of that generator.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autokit import random
from autokit.cuda.gpus import device_count, gpu
from autokit.tensor import Tensor


def manual_seed(seed: int) -> None:
    """Nothing: numbers on a GPU are drawn from the CPU's generator, which :func:`torch.manual_seed` sets."""
    int(seed)


def manual_seed_all(seed: int) -> None:
    """Nothing: see :func:`manual_seed`."""
    int(seed)


def seed() -> None:
    """Nothing: see :func:`manual_seed`."""


def seed_all() -> None:
    """Nothing: see :func:`manual_seed`."""


def initial_seed() -> int:
    """The seed that numbers on the GPU come from; it needs one."""
    gpu(None)
    return random.initial_seed()


def get_rng_state(device: Any = "cuda") -> Tensor:
    """Where the generator stands that numbers on ``device``, a GPU, come from."""
    gpu(device)
    return random.get_rng_state()


def set_rng_state(new_state: Tensor, device: Any = "cuda") -> None:
    """Go on from where :func:`get_rng_state` was called."""
    gpu(device)
    random.set_rng_state(new_state)


def get_rng_state_all() -> list[Tensor]:
    """The state for each GPU, as a program saves them beside its model; an empty list without one.

    >>> import autokit as torch
    >>> len(torch.cuda.get_rng_state_all()) == torch.cuda.device_count()
    True
    """
    return [get_rng_state(number) for number in range(device_count())]


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Go on from where :func:`get_rng_state_all` was called."""
    for number, state in enumerate(new_states):
        set_rng_state(state, number)
