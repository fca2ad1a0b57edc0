"""The seed and the state of the default generator of random numbers, as ``torch.random``."""

from __future__ import annotations

from autokit.base.generator import (
    default_generator,
    fork_rng,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from autokit.base.missing import absent

__getattr__ = absent("torch.random")

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]
