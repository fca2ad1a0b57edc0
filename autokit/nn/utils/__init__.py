"""Helpers for training: they clip gradients, join parameters to a vector, and pad or pack sequences."""

from autokit.base.missing import absent
from autokit.nn.utils import rnn
from autokit.nn.utils.clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from autokit.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from autokit.nn.utils.weight_norm import weight_norm

__getattr__ = absent("torch.nn.utils")

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "rnn",
    "vector_to_parameters",
    "weight_norm",
]
