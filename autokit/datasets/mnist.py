"""MNIST and FashionMNIST: images of 28 by 28 pixels in ten classes, numerals or clothes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from autokit.datasets import idx
from autokit.datasets.base import LabelledDataset, Transform
from autokit.datasets.download import download as get
from autokit.engine.tensor import new_tensor
from autokit.transforms.conversion import pillow


class MNIST(LabelledDataset):
    """Handwritten numerals: pairs of a PIL image of 28 by 28 pixels and its numeral, 0 to 9.

    Parameters
    ----------
    root : str or path
        The folder with ``MNIST/raw``, where the four files of the dataset are, gzipped or not.
    train : bool
        The 60,000 images to learn from, or (False) the 10,000 others to test on.
    transform, target_transform : callable, optional
        Applied to each image, as :class:`autokit.transforms.ToTensor`, and to each numeral, an int.
    download : bool
        Get the files that are not there, about 11 MB.

    Attributes
    ----------
    data : Tensor
        All images, uint8 from 0 (paper) to 255 (ink), of shape (N, 28, 28).
    targets : Tensor
        All numerals, int64, of shape (N,).

    Raises
    ------
    RuntimeError
        If the files are not there, or cannot be got; says where to put them.
    ValueError
        If a file is damaged.

    References
    ----------
    Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, "Gradient-based learning applied to document
    recognition", Proceedings of the IEEE 86, 1998.

    Examples
    --------
    >>> from autokit import transforms
    >>> train = MNIST("data", download=True, transform=transforms.ToTensor())  # doctest: +SKIP
    >>> train[0][0].shape  # doctest: +SKIP
    torch.Size([1, 28, 28])
    """

    mirrors: ClassVar[list[str]] = [
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "http://yann.lecun.com/exdb/mnist/",
    ]
    """Addresses that give the files."""

    resources: ClassVar[list[tuple[str, str]]] = [
        ("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        ("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
        ("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
        ("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
    ]
    """Names of the files, and their MD5 checksums."""

    classes: ClassVar[list[str]] = [
        *("0 - zero", "1 - one", "2 - two", "3 - three", "4 - four"),
        *("5 - five", "6 - six", "7 - seven", "8 - eight", "9 - nine"),
    ]

    def __init__(
        self,
        root: str | os.PathLike[str],
        train: bool = True,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        download: bool = False,
    ) -> None:
        super().__init__(transform, target_transform)
        self.root = os.path.expanduser(root)
        self.train = train
        if download:
            self.download()
        images, labels = (self._file(name) for name in self._names(train))
        self.data = new_tensor(_checked(images, dimensions=3))
        self.targets = new_tensor(_checked(labels, dimensions=1).astype(np.int64))
        if len(self.data) != len(self.targets):
            raise ValueError(
                f"{images} holds {len(self.data)} images and {labels} {len(self.targets)} labels: they do "
                "not belong together"
            )
        highest = int(self.targets.array.max(initial=0))
        if highest >= len(self.classes):
            raise ValueError(f"{labels} holds the label {highest}, but there are {len(self.classes)} classes")

    @property
    def raw_folder(self) -> str:
        """Where the files are."""
        return os.path.join(str(self.root), type(self).__name__, "raw")

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The number of each class."""
        return {name: number for number, name in enumerate(self.classes)}

    def _names(self, train: bool) -> list[str]:
        start = "train" if train else "t10k"
        return [name.removesuffix(".gz") for name, _ in self.resources if name.startswith(start)]

    def _file(self, name: str) -> Path:
        path = self._found(name)
        if path is None:
            raise RuntimeError(
                f"Dataset not found. You can use download=True to download it; or put {name}.gz, or {name}, "
                f"into the folder {self.raw_folder}"
            )
        return path

    def _found(self, name: str) -> Path | None:
        for candidate in (Path(self.raw_folder, name), Path(self.raw_folder, f"{name}.gz")):
            if candidate.is_file():
                return candidate
        return None

    def download(self) -> None:
        """Get the files that are not there.

        Raises
        ------
        RuntimeError
            If one cannot be got; says where to put it.
        """
        for name, checksum in self.resources:
            if self._found(name.removesuffix(".gz")) is None:
                get([mirror + name for mirror in self.mirrors], Path(self.raw_folder, name), checksum)

    def pair(self, index: int) -> tuple[Any, int]:
        """The PIL image and the number of its class."""
        return pillow().fromarray(self.data.array[index]), int(self.targets.array[index])

    def __len__(self) -> int:
        return len(self.data.array)

    def extra_repr(self) -> str:
        """Which part it is."""
        return f"Split: {'Train' if self.train else 'Test'}"


def _checked(path: Path, dimensions: int) -> np.ndarray:
    array = idx.read(path)
    if array.dtype != np.uint8 or array.ndim != dimensions:
        kind = "images (bytes in three dimensions)" if dimensions == 3 else "labels (bytes in one dimension)"
        raise ValueError(f"{path} should hold {kind}, but holds {array.dtype} of shape {array.shape}")
    return array


class FashionMNIST(MNIST):
    """Pictures of clothes in the format of :class:`MNIST`, with the same options.

    References
    ----------
    H. Xiao, K. Rasul and R. Vollgraf, "Fashion-MNIST: a novel image dataset for benchmarking machine
    learning algorithms", arXiv:1708.07747, 2017.
    """

    mirrors: ClassVar[list[str]] = ["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"]
    resources: ClassVar[list[tuple[str, str]]] = [
        ("train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
        ("train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
        ("t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"),
        ("t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"),
    ]
    classes: ClassVar[list[str]] = [
        *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
        *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
    ]
