"""Optimizers: they change parameters so that the loss gets smaller."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from autokit.missing import error, explain_calls
from autokit.optim import lr_scheduler
from autokit.optim.adadelta import Adadelta
from autokit.optim.adafactor import Adafactor
from autokit.optim.adagrad import Adagrad
from autokit.optim.adam import Adam, AdamW
from autokit.optim.adamax import Adamax
from autokit.optim.asgd import ASGD
from autokit.optim.lbfgs import LBFGS
from autokit.optim.muon import Muon
from autokit.optim.nadam import NAdam
from autokit.optim.optimizer import Optimizer
from autokit.optim.radam import RAdam
from autokit.optim.rmsprop import RMSprop
from autokit.optim.rprop import Rprop
from autokit.optim.sgd import SGD
from autokit.optim.sparse_adam import SparseAdam

if TYPE_CHECKING:
    from autokit.optim import swa_utils


def __getattr__(name: str) -> Any:
    if name == "swa_utils":  # which needs networks
        return import_module("autokit.optim.swa_utils")
    raise error("torch.optim", name)


__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
]

explain_calls(__name__)
