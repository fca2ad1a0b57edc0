"""Small tables of measurements of flowers, wines, tumours and patients, from scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from autokit.datasets.base import PartOfTensors, Transform
from autokit.engine.tensor import Tensor, new_tensor

_TEST_EVERY = 5  # every fifth row is for testing: both parts hold all classes, which come in blocks


def from_sklearn(name: str, for_what: str) -> Any:
    """What scikit-learn's ``load_`` function of this name gives.

    Raises
    ------
    ImportError
        If scikit-learn is missing; says how to get it.
    """
    try:
        from sklearn import datasets
    except ImportError as error:
        raise ImportError(f"{for_what} comes with scikit-learn: pip install scikit-learn") from error
    return getattr(datasets, f"load_{name}")()


class _Table(PartOfTensors):
    _name: str
    _is_measured = False  # the target is a number, and no class

    def __init__(
        self,
        train: bool | None = True,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
    ) -> None:
        super().__init__(transform, target_transform)
        source = from_sklearn(self._name, type(self).__name__)
        rows = np.arange(len(source.data))
        chosen = rows if train is None else rows[(rows % _TEST_EVERY != 0) == bool(train)]
        self.train = train
        self.feature_names = [str(name) for name in source.feature_names]
        self.classes = [] if self._is_measured else [str(name) for name in source.target_names]
        self.data = new_tensor(source.data[chosen].astype(np.float32))
        self.targets = new_tensor(source.target[chosen].astype(np.float32 if self._is_measured else np.int64))

    def pair(self, index: int) -> tuple[Tensor, Any]:
        """A row of measurements, and its class or value."""
        target = self.targets[index]
        return self.data[index], target if self._is_measured else target.item()

    def extra_repr(self) -> str:
        """Which part it is, and what was measured."""
        return f"{super().extra_repr()}\nFeatures: {len(self.feature_names)}"


class Iris(_Table):
    """150 irises of three species: lengths and widths of sepals and petals, in centimetres.

    Parameters
    ----------
    train : bool or None
        Four fifths of the rows to learn from, or (False) the others to test on; None gives all.
    transform, target_transform : callable, optional
        Applied to each row, a float32 tensor, and to its target: a class as an int, or a float32 tensor.

    Attributes
    ----------
    data : Tensor
        All rows, float32, of shape (N, features).
    targets : Tensor
        All targets, of shape (N,).
    feature_names, classes : list of str

    References
    ----------
    R. A. Fisher, "The use of multiple measurements in taxonomic problems", Annals of Eugenics 7, 1936.

    Examples
    --------
    >>> iris = Iris(train=False)
    >>> iris[0], iris.classes
    ((tensor([5.1000, 3.5000, 1.4000, 0.2000]), 0), ['setosa', 'versicolor', 'virginica'])
    >>> iris
    Dataset Iris
        Number of datapoints: 30
        Split: test
        Features: 4
    """

    _name = "iris"


class Wine(_Table):
    """178 wines of three growers: 13 chemical measurements; options as :class:`Iris`."""

    _name = "wine"


class BreastCancer(_Table):
    """569 tumours, malignant or benign: 30 measurements of cell nuclei; options as :class:`Iris`."""

    _name = "breast_cancer"


class Diabetes(_Table):
    """442 patients: 10 scaled measurements, and how far diabetes went in a year; options as :class:`Iris`.

    >>> Diabetes(train=None).targets.mean()
    tensor(152.1335)
    """

    _name = "diabetes"
    _is_measured = True
