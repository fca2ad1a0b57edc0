"""Networks: modules, their parameters, layers, activations and losses, named as in PyTorch."""

from autokit.missing import names_of
from autokit.nn import functional, init
from autokit.nn.activation import Dropout, LogSoftmax, ReLU, Sigmoid, Softmax, Tanh
from autokit.nn.container import ModuleList, Sequential
from autokit.nn.linear import Flatten, Identity, Linear
from autokit.nn.loss import BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, L1Loss, MSELoss, NLLLoss
from autokit.nn.module import Module
from autokit.nn.parameter import Buffer, Parameter

__getattr__ = names_of("torch.nn")

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "Buffer",
    "CrossEntropyLoss",
    "Dropout",
    "Flatten",
    "Identity",
    "L1Loss",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleList",
    "NLLLoss",
    "Parameter",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "functional",
    "init",
]
