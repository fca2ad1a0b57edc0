"""The libraries that a test runs on: autokit, and PyTorch where it is installed."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

import autokit

LIBRARIES: list[Any] = [autokit]
if importlib.util.find_spec("torch"):
    import torch

    LIBRARIES.append(torch)

on_each = pytest.mark.parametrize("T", LIBRARIES, ids=lambda library: library.__name__)
"""Run a test once with each library as ``T``: what it expects is PyTorch's, and ours."""
