"""Random numbers: the very stream of PyTorch's CPU generator, in plain NumPy.

One seed gives one endless stream of 32-bit words; every draw takes the next
ones.  Here is the generator that all draws share, with the functions that
seed it and note where it stands; ``generator`` tells how words become
numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autokit import devices
from autokit.missing import names_of
from autokit.random.generator import Generator
from autokit.tensor import Tensor

__getattr__ = names_of("torch.random")

__all__ = [
    "Generator",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]

default_generator = Generator()
"""The generator of every draw that names no other."""

OF_GPUS: dict[int, Generator] = {}
"""Of each GPU that was seeded by itself its generator; the others' numbers come from the default one."""


def generator_for(where: Any) -> Generator:
    """The generator of draws for ``where``: a device, None for the default one, or an array on it."""
    if OF_GPUS:
        if hasattr(where, "dtype"):
            place = devices.device_of(where)
        else:
            place = devices.get_default_device() if where is None else devices.device(where)
        if place.type == "cuda":
            number = devices.current_number() if place.index is None else place.index
            return OF_GPUS.get(number, default_generator)
    return default_generator


def manual_seed(seed: Any) -> Generator:
    """Start the default generator's stream anew from ``seed``, and return that generator.

    GPUs' numbers come from it too, until ``torch.cuda.manual_seed`` gives one a stream of its own.

    ``seed`` is a whole number from -2**63 up to 2**64 - 1, or what ``int()`` makes one of.  As in PyTorch
    only the lowest 32 bits make a difference.

    >>> _ = manual_seed(0)
    >>> default_generator.integers(0, 10, (4,))
    array([4, 9, 3, 0])
    """
    OF_GPUS.clear()
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Start the default generator from a seed that nobody can foresee, and return it."""
    OF_GPUS.clear()
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Where the default generator stands; see :meth:`Generator.get_state`."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Go on from where :func:`get_rng_state` was called."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, device_type: Any = None) -> Iterator[None]:
    """Draw freely in this block: the generators stand afterwards where they stood before.

    ``devices`` and ``device_type`` are accepted for PyTorch's sake; those of all GPUs are kept.

    >>> _ = manual_seed(0)
    >>> with fork_rng():
    ...     _ = default_generator.uniform(100)
    >>> default_generator.uniform(1)
    array([0.4962566], dtype=float32)
    """
    state = get_rng_state()
    of_gpus = {number: generator.clone_state() for number, generator in OF_GPUS.items()}
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)
            OF_GPUS.clear()
            OF_GPUS.update(of_gpus)
