"""What training needs beside layers: gradients clipped, parameters as a vector, sequences of all lengths."""

import sys

from autokit.missing import names_of
from autokit.nn.utils import older_norms, parametrizations, parametrize, prune, rnn, stateless
from autokit.nn.utils.clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from autokit.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from autokit.nn.utils.formats import convert_conv2d_weight_memory_format, convert_conv3d_weight_memory_format
from autokit.nn.utils.fusion import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
    skip_init,
)
from autokit.nn.utils.older_norms import (
    remove_spectral_norm,
    remove_weight_norm,
    spectral_norm,
    weight_norm,
)

__getattr__ = names_of("torch.nn.utils")

for _name in ("weight_norm", "spectral_norm"):  # PyTorch has a file of each
    sys.modules.setdefault(f"{__name__}.{_name}", older_norms)

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "convert_conv2d_weight_memory_format",
    "convert_conv3d_weight_memory_format",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "prune",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "stateless",
    "vector_to_parameters",
    "weight_norm",
]
