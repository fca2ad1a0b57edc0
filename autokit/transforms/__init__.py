"""Changes to pictures on their way into a network, under the names that torchvision gives them.

>>> import numpy as np
>>> from autokit import transforms
>>> prepare = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))])
>>> prepare(np.array([[0, 255]], np.uint8))
tensor([[[-1.,  1.]]])

Most take a PIL image or a tensor of shape (..., C, H, W).  The random ones draw
from autokit's generator in torchvision's order, so that the same seed gives the
same pictures.
"""

from autokit.missing import names_of
from autokit.transforms import functional
from autokit.transforms.chance import (
    RandomApply,
    RandomCrop,
    RandomHorizontalFlip,
    RandomRotation,
    RandomVerticalFlip,
)
from autokit.transforms.fixed import (
    CenterCrop,
    Compose,
    ConvertImageDtype,
    Grayscale,
    Lambda,
    Normalize,
    Pad,
    PILToTensor,
    Resize,
    ToPILImage,
    ToTensor,
)
from autokit.transforms.functional import InterpolationMode

__all__ = [
    "CenterCrop",
    "Compose",
    "ConvertImageDtype",
    "Grayscale",
    "InterpolationMode",
    "Lambda",
    "Normalize",
    "PILToTensor",
    "Pad",
    "RandomApply",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomRotation",
    "RandomVerticalFlip",
    "Resize",
    "ToPILImage",
    "ToTensor",
    "functional",
]

__getattr__ = names_of("torch.transforms")
