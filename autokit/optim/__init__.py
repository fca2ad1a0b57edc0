"""An optimizer changes the parameters of a model by their gradients, so that the loss gets smaller."""

from autokit.base.missing import absent
from autokit.optim import lr_scheduler
from autokit.optim.adagrad import Adadelta, Adagrad, RMSprop
from autokit.optim.adam import Adam, Adamax, AdamW, NAdam
from autokit.optim.lbfgs import LBFGS
from autokit.optim.optimizer import Optimizer
from autokit.optim.sgd import SGD

__getattr__ = absent("torch.optim")

__all__ = [
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "Optimizer",
    "RMSprop",
    "lr_scheduler",
]
