"""Optimizers: they change parameters so that the loss gets smaller."""

from autokit.optim.optimizer import Optimizer
from autokit.optim.sgd import SGD

__all__ = ["SGD", "Optimizer"]
