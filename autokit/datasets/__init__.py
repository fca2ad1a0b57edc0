"""Datasets to learn from: pictures, tables of measurements, and words."""

from autokit.base.missing import absent
from autokit.datasets.digits import Digits
from autokit.datasets.mnist import MNIST, FashionMNIST
from autokit.datasets.tables import BreastCancer, Diabetes, Iris, Wine
from autokit.datasets.words import Names, Sonnets

__all__ = [
    "MNIST",
    "BreastCancer",
    "Diabetes",
    "Digits",
    "FashionMNIST",
    "Iris",
    "Names",
    "Sonnets",
    "Wine",
]

__getattr__ = absent("torch.datasets")
