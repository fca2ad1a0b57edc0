"""The modes that switch recording, under PyTorch's name of their file."""

from autokit.autograd.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from autokit.idle_modes import enforce_grad_layout_policy, set_multithreading_enabled
from autokit.missing import names_of

__getattr__ = names_of("torch.autograd.grad_mode")

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
