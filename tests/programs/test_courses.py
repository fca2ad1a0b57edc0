"""What a beginner's course has its readers write, from linear regression to a character transformer.

Nothing in the programs is autokit's but the import: with the same seed the losses are PyTorch's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autokit as ak
from tests.support import require

NAMES = ["emma", "olivia", "ava", "isabella", "sophia", "charlotte", "mia", "amelia", "harper", "evelyn"]
LETTERS = "." + "".join(sorted(set("".join(NAMES))))
PLACE = {letter: place for place, letter in enumerate(LETTERS)}
TEXT = "the quick brown fox jumps over the lazy dog. " * 8


def linear_regression_by_hand(torch: Any) -> list[float]:
    x = torch.linspace(-1, 1, 50)
    y = 3 * x - 0.5 + 0.1 * torch.randn(50)
    w, b = torch.randn(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    losses = []
    for _ in range(40):
        loss = ((w * x + b - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= 0.3 * w.grad
            b -= 0.3 * b.grad
        w.grad.zero_()
        b.grad.zero_()
        losses.append(loss.item())
    return losses


def linear_regression(torch: Any) -> list[float]:
    x = torch.rand(64, 3)
    y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.3 + 0.05 * torch.randn(64, 1)
    model = torch.nn.Linear(3, 1)
    loss_fn = torch.nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    losses = []
    for _ in range(40):
        loss = loss_fn(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def logistic_regression(torch: Any) -> list[float]:
    x = torch.randn(100, 2)
    y = (x[:, 0] + 2 * x[:, 1] > 0.2).float().unsqueeze(1)
    model = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Sigmoid())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    losses = []
    for _ in range(40):
        predicted = model(x)
        loss = torch.nn.functional.binary_cross_entropy(predicted, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    accuracy = ((model(x) > 0.5).float() == y).float().mean().item()
    assert accuracy > 0.9
    return [*losses, accuracy]


def convolutional_network(torch: Any) -> list[float]:
    nn, F = torch.nn, torch.nn.functional

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(1, 6, 3, padding=1)
            self.norm = nn.BatchNorm2d(6)
            self.pool = nn.MaxPool2d(2, 2)
            self.conv2 = nn.Conv2d(6, 8, 3)
            self.drop = nn.Dropout(0.25)
            self.fc = nn.Linear(8 * 2 * 2, 4)

        def forward(self, x: Any) -> Any:
            x = self.pool(F.relu(self.norm(self.conv1(x))))
            x = F.relu(self.conv2(x))
            return self.fc(self.drop(torch.flatten(x, 1)))

    labels = torch.arange(32) % 4  # which corner is bright
    images = 0.3 * torch.rand(32, 1, 8, 8)
    for place, label in enumerate(labels.tolist()):
        top, left = 4 * (label // 2), 4 * (label % 2)
        images[place, 0, top : top + 4, left : left + 4] += 1
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(images, labels), batch_size=8, shuffle=True
    )
    model = Net()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    losses = []
    for _ in range(4):
        model.train()
        for batch, target in loader:
            optimizer.zero_grad()
            loss = criterion(model(batch), target)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
    model.eval()
    with torch.no_grad():
        right = (model(images).argmax(1) == labels).sum().item()
    return [*losses, right]


def names_with_a_cell_by_hand(torch: Any) -> list[float]:
    nn = torch.nn

    class RNN(nn.Module):
        def __init__(self, input_size: int, hidden_size: int, output_size: int) -> None:
            super().__init__()
            self.hidden_size = hidden_size
            self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
            self.i2o = nn.Linear(input_size + hidden_size, output_size)
            self.softmax = nn.LogSoftmax(dim=1)

        def forward(self, input: Any, hidden: Any) -> Any:
            combined = torch.cat((input, hidden), 1)
            hidden = torch.tanh(self.i2h(combined))
            return self.softmax(self.i2o(combined)), hidden

        def init_hidden(self) -> Any:
            return torch.zeros(1, self.hidden_size)

    def one_hot(letter: str) -> Any:
        tensor = torch.zeros(1, len(LETTERS))
        tensor[0][PLACE[letter]] = 1
        return tensor

    model = RNN(len(LETTERS), 16, len(LETTERS))
    criterion = nn.NLLLoss()
    losses = []
    for name in NAMES * 3:
        hidden = model.init_hidden()
        model.zero_grad()
        loss = 0
        for letter, following in zip("." + name, name + "."):
            output, hidden = model(one_hot(letter), hidden)
            loss = loss + criterion(output, torch.tensor([PLACE[following]]))
        loss.backward()
        for p in model.parameters():
            p.data.add_(p.grad.data, alpha=-0.02)
        losses.append(loss.item() / len(name))

    letter, made, hidden = ".", "", model.init_hidden()
    with torch.no_grad():
        while len(made) < 12:
            output, hidden = model(one_hot(letter), hidden)
            letter = LETTERS[torch.multinomial(output.exp(), 1).item()]
            if letter == ".":
                break
            made += letter
    return [*losses, *map(float, map(PLACE.get, made))]  # type: ignore[arg-type]


def names_with_an_lstm(torch: Any) -> list[float]:
    nn = torch.nn

    class Names(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(len(LETTERS), 8)
            self.lstm = nn.LSTM(8, 24, num_layers=2, batch_first=True)
            self.out = nn.Linear(24, len(LETTERS))

        def forward(self, x: Any, state: Any = None) -> Any:
            h, state = self.lstm(self.embed(x), state)
            return self.out(h), state

    rnn = nn.utils.rnn
    given = rnn.pad_sequence(
        [torch.tensor([PLACE[c] for c in "." + name]) for name in NAMES], batch_first=True
    )
    wanted = rnn.pad_sequence(
        [torch.tensor([PLACE[c] for c in name + "."]) for name in NAMES], batch_first=True, padding_value=-1
    )
    model = Names()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    losses = []
    for _ in range(20):
        logits, _ = model(given)
        loss = nn.functional.cross_entropy(logits.transpose(1, 2), wanted, ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        losses += [loss.item(), nn.utils.clip_grad_norm_(model.parameters(), 1.0).item()]
        optimizer.step()
    return losses


def sequences(torch: Any) -> tuple[int, Callable[[], Any]]:
    """How many characters there are, and a function that draws a batch of the text."""
    characters = sorted(set(TEXT))
    data = torch.tensor([characters.index(each) for each in TEXT])

    def batch() -> Any:
        places = torch.randint(len(data) - 16, (8,))
        x = torch.stack([data[place : place + 16] for place in places])
        y = torch.stack([data[place + 1 : place + 17] for place in places])
        return x, y

    return len(characters), batch


def transformer_by_hand(torch: Any) -> list[float]:
    nn, F = torch.nn, torch.nn.functional
    size, batch = sequences(torch)
    width, heads, length = 32, 4, 16

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.c_attn = nn.Linear(width, 3 * width, bias=False)
            self.c_proj = nn.Linear(width, width)
            self.register_buffer("bias", torch.tril(torch.ones(length, length)).view(1, 1, length, length))

        def forward(self, x: Any) -> Any:
            B, T, C = x.size()
            q, k, v = self.c_attn(x).split(width, dim=2)
            q, k, v = (each.view(B, T, heads, C // heads).transpose(1, 2) for each in (q, k, v))
            att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
            att = F.softmax(att, dim=-1)
            return self.c_proj((att @ v).transpose(1, 2).contiguous().view(B, T, C))

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attn = Attention()
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x: Any) -> Any:
            x = x + self.attn(self.ln_1(x))
            return x + self.mlp(self.ln_2(x))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.wte, self.wpe = nn.Embedding(size, width), nn.Embedding(length, width)
            self.blocks = nn.ModuleList([Block() for _ in range(2)])
            self.ln_f = nn.LayerNorm(width)
            self.lm_head = nn.Linear(width, size, bias=False)
            self.lm_head.weight = self.wte.weight
            self.apply(self._init_weights)

        def _init_weights(self, module: Any) -> None:
            if isinstance(module, nn.Linear | nn.Embedding):
                torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)
            if isinstance(module, nn.Linear) and module.bias is not None:
                torch.nn.init.zeros_(module.bias)

        def forward(self, idx: Any, targets: Any = None) -> Any:
            x = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
            for block in self.blocks:
                x = block(x)
            logits = self.lm_head(self.ln_f(x))
            if targets is None:
                return logits, None
            return logits, F.cross_entropy(
                logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1
            )

        @torch.no_grad()
        def generate(self, idx: Any, count: int) -> Any:
            for _ in range(count):
                logits, _ = self(idx[:, -length:])
                probs = F.softmax(logits[:, -1, :] / 0.8, dim=-1)
                idx = torch.cat((idx, torch.multinomial(probs, num_samples=1)), dim=1)
            return idx

    model = GPT()
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=3e-3, betas=(0.9, 0.95))
    losses = []
    for _ in range(20):
        _, loss = model(*batch())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    return [*losses, *map(float, model.generate(torch.zeros(1, 1, dtype=torch.long), 8)[0].tolist())]


def transformer_of_layers(torch: Any) -> list[float]:
    nn = torch.nn
    size, batch = sequences(torch)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(size, 32)
            self.position = nn.Parameter(torch.zeros(16, 32))
            layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True, norm_first=True)
            self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.out = nn.Linear(32, size)

        def forward(self, x: Any) -> Any:
            mask = nn.Transformer.generate_square_subsequent_mask(x.size(1))
            h = self.layers(self.embed(x) + self.position, mask=mask, is_causal=True)
            return self.out(h)

    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=20)
    losses = []
    for _ in range(20):
        x, y = batch()
        loss = nn.CrossEntropyLoss()(model(x).transpose(1, 2), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    return losses


PROGRAMS = (
    linear_regression_by_hand,
    linear_regression,
    logistic_regression,
    convolutional_network,
    names_with_a_cell_by_hand,
    names_with_an_lstm,
    transformer_by_hand,
    transformer_of_layers,
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_losses_are_pytorchs(program: Callable[[Any], list[float]]):
    require("torch")
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # on a busy machine PyTorch's threads wait for each other, at each small product
    try:
        runs = []
        for T in (ak, torch):
            T.manual_seed(1337)
            runs.append(program(T))
    finally:
        torch.set_num_threads(threads)
    np.testing.assert_allclose(*runs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_they_learn(program: Callable[[Any], list[float]]):
    ak.manual_seed(0)
    losses = program(ak)
    assert min(losses[5:20]) < 0.9 * losses[0]


# ---------------------------------------------------------------- stopped and gone on


def training(torch: Any, begin: int, end: int, path: Path | None) -> list[float]:
    """Train from step ``begin`` to ``end``; with a ``path`` from the checkpoint there, and write one."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05, amsgrad=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)
    if path is not None and begin:
        checkpoint = torch.load(path, weights_only=True)
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        scheduler.load_state_dict(checkpoint["scheduler"])
        torch.set_rng_state(checkpoint["rng"])
        assert checkpoint["step"] == begin
    losses = []
    for _ in range(begin, end):
        x = torch.randn(8, 4)
        loss = torch.nn.functional.cross_entropy(model(x), (x.sum(1) > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    if path is not None:
        checkpoint = {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
            "rng": torch.get_rng_state(),
            "step": end,
        }
        torch.save(checkpoint, path)
    return losses


def test_training_goes_on_from_a_checkpoint_as_if_it_had_not_stopped(tmp_path: Path):
    whole = training(ak, 0, 12, None)
    assert [*training(ak, 0, 5, tmp_path / "a.pt"), *training(ak, 5, 12, tmp_path / "a.pt")] == whole


@pytest.mark.parametrize("ours_first", [True, False])
def test_a_checkpoint_goes_on_in_the_other_library(ours_first: bool, tmp_path: Path):
    require("torch")
    import torch

    first, second = (ak, torch) if ours_first else (torch, ak)
    losses = [*training(first, 0, 5, tmp_path / "a.pt"), *training(second, 5, 12, tmp_path / "a.pt")]
    np.testing.assert_allclose(losses, training(torch, 0, 12, None), rtol=1e-4, atol=1e-5)
