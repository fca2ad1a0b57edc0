"""Optimizers: they change parameters so that the loss gets smaller."""

from autokit.missing import names_of
from autokit.optim.optimizer import Optimizer
from autokit.optim.sgd import SGD

__getattr__ = names_of("torch.optim")

__all__ = ["SGD", "Optimizer"]
