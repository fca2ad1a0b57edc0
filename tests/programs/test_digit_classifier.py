"""The digit classifier of the sources, on the real images: nothing in it is autokit's but the imports."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.programs.test_sources import output_of, with_autokit
from tests.support import require

REAL = Path(__file__).parents[2] / "../shared/data/mnist"

PROGRAM = """
import torch
import torch.nn as nn
import torch.optim as optim
from torchvision import datasets, transforms

class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(784, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = x.view(-1, 784)
        x = torch.relu(self.fc1(x))
        x = self.fc2(x)
        return x

torch.manual_seed(0)
transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))])
train_dataset = datasets.MNIST(root=ROOT, train=TRAIN, download=False, transform=transform)
train_loader = torch.utils.data.DataLoader(train_dataset, batch_size=64, shuffle=True)

net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.01, momentum=0.5)

for epoch in range(EPOCHS):
    running_loss = 0.0
    for i, (inputs, labels) in enumerate(train_loader):
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
        if i < 20 and epoch == 0:
            print(f'step {i} loss {loss.item():.6f}')
    print(f'Epoch {epoch + 1}, Loss: {running_loss / len(train_loader):.6f}')
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root of real images: the first 640 of the test images stand for those to train on."""
    if not REAL.is_dir():
        pytest.skip("needs the real MNIST test images: put them into ../shared/data/mnist")
    require("PIL")
    from autokit.datasets import idx

    folder = tmp_path / "MNIST" / "raw"
    folder.mkdir(parents=True)
    for kind, dimensions in (("images-idx3-ubyte", 3), ("labels-idx1-ubyte", 1)):
        array = idx.read(REAL / f"t10k-{kind}.gz")[:640]
        header = bytes([0, 0, 8, dimensions]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
        (folder / f"train-{kind}").write_bytes(header + array.tobytes())
    return tmp_path


def losses(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"(?:loss|Loss:) (\S+)", text)]


def test_it_learns_the_real_digits(root: Path):
    found = losses(output_of(with_autokit(PROGRAM), ROOT=str(root), TRAIN=True, EPOCHS=5))
    assert len(found) == 15 and found[0] == pytest.approx(2.3, abs=0.15)
    epochs = found[10:]
    assert sorted(epochs, reverse=True) == epochs and epochs[-1] < 1.1


def test_its_losses_are_pytorchs(root: Path):
    """PyTorch trains on the same batches, which autokit's dataset hands over as its tensors."""
    require("torch")
    import torch

    from autokit import datasets, transforms

    ours = losses(output_of(with_autokit(PROGRAM), ROOT=str(root), TRAIN=True, EPOCHS=2))

    class Handed(torch.utils.data.Dataset):
        def __init__(self, dataset: datasets.MNIST) -> None:
            self.dataset = dataset

        def __getitem__(self, index: int):
            image, label = self.dataset[index]
            return torch.from_numpy(image.numpy()), label

        def __len__(self) -> int:
            return len(self.dataset)

    class Datasets:
        @staticmethod
        def MNIST(**options):
            return Handed(datasets.MNIST(**options))

    program = PROGRAM.replace("from torchvision import datasets, transforms\n", "")
    theirs = losses(
        output_of(program, ROOT=str(root), TRAIN=True, EPOCHS=2, datasets=Datasets, transforms=transforms)
    )
    assert len(ours) == 12
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
