"""A learning rate scheduler changes an optimizer's learning rate from epoch to epoch."""

from autokit.base.missing import absent
from autokit.optim.lr_scheduler.cycles import CyclicLR, OneCycleLR
from autokit.optim.lr_scheduler.decay import (
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiStepLR,
    StepLR,
)
from autokit.optim.lr_scheduler.plateau import ReduceLROnPlateau
from autokit.optim.lr_scheduler.scheduler import LRScheduler, _LRScheduler
from autokit.optim.lr_scheduler.sequential import SequentialLR

__getattr__ = absent("torch.optim.lr_scheduler")

__all__ = [
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "OneCycleLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
    "_LRScheduler",
]
