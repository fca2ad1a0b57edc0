"""A 3×3 convolution of 32 images, and max pooling after it, forward and backward: the cost of array code."""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import Any

import numpy as np

from tests.benchmarks.measure import Job, ways_of


def jobs() -> dict[str, Job]:
    """16 to 32 channels on 28×28 pixels, with the gradients of input, weight and bias, in each library."""
    found = ways_of(_convolution("autokit"))
    with suppress(ImportError):
        found["PyTorch"] = _convolution("torch")
    return found


def pooling_jobs() -> dict[str, Job]:
    """The maxima of 2×2 pixels of 32 images with 16 channels and 28×28 pixels, in each library."""
    found = ways_of(_pooling("autokit"))
    with suppress(ImportError):
        found["PyTorch"] = _pooling("torch")
    return found


def _uniform(*shape: int) -> np.ndarray:
    return np.random.RandomState(len(shape)).uniform(-1, 1, shape).astype(np.float32)


def _convolution(name: str) -> Job:
    torch: Any = importlib.import_module(name)
    images, weight, bias = (
        torch.from_numpy(_uniform(*shape)).requires_grad_()
        for shape in ((32, 16, 28, 28), (32, 16, 3, 3), (32,))
    )
    seed = torch.ones(32, 32, 28, 28)

    def run() -> None:
        images.grad = weight.grad = bias.grad = None
        torch.conv2d(images, weight, bias, padding=1).backward(seed)

    return run


def _pooling(name: str) -> Job:
    torch: Any = importlib.import_module(name)
    images = torch.from_numpy(_uniform(32, 16, 28, 28)).requires_grad_()
    seed = torch.ones(32, 16, 14, 14)

    def run() -> None:
        images.grad = None
        torch.max_pool2d(images, 2).backward(seed)

    return run
