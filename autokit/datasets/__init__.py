"""Real data to learn from: pictures, tables of measurements, and words."""

from autokit.datasets.digits import Digits
from autokit.datasets.mnist import KMNIST, MNIST, FashionMNIST
from autokit.datasets.tables import BreastCancer, Diabetes, Iris, Wine
from autokit.datasets.words import Names, Sonnets
from autokit.missing import names_of

__all__ = [
    "KMNIST",
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

__getattr__ = names_of("torch.datasets")
