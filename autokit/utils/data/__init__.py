"""Data for training: datasets hold samples, samplers choose their order, and a loader forms batches.

>>> import autokit as torch
>>> from autokit.utils.data import DataLoader, TensorDataset
>>> pairs = TensorDataset(torch.arange(4.0), torch.arange(4))
>>> for x, y in DataLoader(pairs, batch_size=2):
...     print(x, y)
tensor([0., 1.]) tensor([0, 1])
tensor([2., 3.]) tensor([2, 3])
"""

from autokit.base.missing import absent
from autokit.utils.data.collate import default_collate, default_convert
from autokit.utils.data.dataloader import DataLoader
from autokit.utils.data.dataset import (
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from autokit.utils.data.distributed import DistributedSampler
from autokit.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from autokit.utils.data.worker import get_worker_info

__getattr__ = absent("torch.utils.data")

__all__ = [
    "BatchSampler",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]
