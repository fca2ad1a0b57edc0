"""Learning rate schedulers: they change an optimizer's learning rate from epoch to epoch."""

from autokit.missing import names_of
from autokit.optim.lr_scheduler.combined import ChainedScheduler, SequentialLR
from autokit.optim.lr_scheduler.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from autokit.optim.lr_scheduler.cycles import CyclicLR, OneCycleLR
from autokit.optim.lr_scheduler.decay import (
    ConstantLR,
    ExponentialLR,
    LinearLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from autokit.optim.lr_scheduler.functions import LambdaLR, MultiplicativeLR
from autokit.optim.lr_scheduler.plateau import ReduceLROnPlateau
from autokit.optim.lr_scheduler.scheduler import LRScheduler, _LRScheduler

__getattr__ = names_of("torch.optim.lr_scheduler")

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
    "_LRScheduler",
]
