"""Seeds and states of GPUs' generators: all numbers are drawn on the CPU, whatever device they are for.

As long as ``torch.manual_seed`` alone was called there is one stream for all
devices, so that a program draws the same numbers on a GPU as on the CPU.  A
GPU that is seeded here has a stream of its own from then on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autokit.cuda.gpus import device_count, gpu
from autokit.random import OF_GPUS, Generator, generator_for
from autokit.tensor import Tensor


def _seed(numbers: Iterable[int], value: int | None = None) -> None:
    for number in numbers:
        generator = Generator(f"cuda:{number}")
        generator.seed() if value is None else generator.manual_seed(value)
        OF_GPUS[number] = generator


def _current() -> list[int]:
    return [gpu(None).id] if device_count() else []


def manual_seed(seed: int) -> None:
    """Start the current GPU's own stream from ``seed``; nothing without a GPU.

    >>> import autokit as torch
    >>> torch.cuda.manual_seed(0)
    """
    _seed(_current(), int(seed))


def manual_seed_all(seed: int) -> None:
    """As :func:`manual_seed`, for each GPU: all of them draw the same numbers."""
    _seed(range(device_count()), int(seed))


def seed() -> None:
    """Start the current GPU's own stream from a seed that nobody can foresee."""
    _seed(_current())


def seed_all() -> None:
    """As :func:`seed`, for each GPU."""
    _seed(range(device_count()))


def _of(device: Any) -> Generator:
    return generator_for(f"cuda:{gpu(device).id}")


def initial_seed() -> int:
    """The seed that numbers on the current GPU come from; it needs one."""
    return _of(None).initial_seed()


def get_rng_state(device: Any = "cuda") -> Tensor:
    """Where the generator stands that numbers on ``device``, a GPU, come from."""
    return _of(device).get_state()


def set_rng_state(new_state: Tensor, device: Any = "cuda") -> None:
    """Go on from where :func:`get_rng_state` was called."""
    _of(device).set_state(new_state)


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
