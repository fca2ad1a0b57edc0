"""autokit.datasets.MNIST: the real files, damaged files, and downloads from a folder of our own."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import struct
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autokit as ak
from autokit import transforms
from autokit.datasets import MNIST, FashionMNIST
from autokit.utils.data import DataLoader
from tests.support import printed_by, require

require("PIL")

REAL = Path(__file__).parents[2] / "../shared/data/mnist"
LABELS = np.array([3, 1, 4, 1, 5], np.uint8)
IMAGES = np.arange(5 * 28 * 28, dtype=np.int64).reshape(5, 28, 28).astype(np.uint8)


def as_idx(array: np.ndarray) -> bytes:
    return struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


FILES = {
    f"{part}-{kind}": as_idx(array)
    for part in ("train", "t10k")
    for kind, array in (("images-idx3-ubyte", IMAGES), ("labels-idx1-ubyte", LABELS))
}


def fill(root: Path, zipped: bool = False, kind: str = "MNIST", **changed: bytes) -> Path:
    folder = root / kind / "raw"
    folder.mkdir(parents=True)
    for name, content in FILES.items():
        content = changed.get(name.replace("-", "_"), content)
        path = folder / (f"{name}.gz" if zipped else name)
        path.write_bytes(gzip.compress(content, 1) if zipped else content)
    return root


# ---------------------------------------------------------------- whole files


def real_root(tmp_path: Path) -> Path:
    if not REAL.is_dir():
        pytest.skip("needs the real MNIST test images: put them into ../shared/data/mnist")
    folder = tmp_path / "MNIST" / "raw"
    folder.mkdir(parents=True)
    for path in REAL.glob("*.gz"):
        (folder / path.name).symlink_to(path.resolve())
    return tmp_path


def test_the_real_test_images(tmp_path: Path):
    test = MNIST(real_root(tmp_path), train=False)
    assert len(test) == 10_000 and test.data.shape == (10_000, 28, 28) and test.data.dtype == ak.uint8
    assert test.targets.dtype == ak.int64
    assert test.targets.bincount().tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    picture, numeral = test[0]
    assert (picture.mode, picture.size, numeral, type(numeral)) == ("L", (28, 28), 7, int)
    assert (test.data.float() / 255).mean().item() == pytest.approx(0.1325, abs=1e-4)  # as published


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("kind", [MNIST, FashionMNIST])
def test_pairs_of_picture_and_number(tmp_path: Path, zipped: bool, kind: Any):
    root = fill(tmp_path, zipped, kind.__name__)
    plain = kind(str(root))
    assert [plain[i][1] for i in range(5)] == LABELS.tolist() and plain[-1][1] == 5
    np.testing.assert_array_equal(np.array(plain[2][0]), IMAGES[2])
    changed = kind(root, transform=transforms.ToTensor(), target_transform=lambda number: -number)
    images, labels = next(iter(DataLoader(changed, batch_size=5)))
    np.testing.assert_array_equal(images.numpy()[:, 0], IMAGES.astype(np.float32) / np.float32(255))
    assert labels.tolist() == (-LABELS.astype(int)).tolist()
    assert len(kind.classes) == 10 and plain.class_to_idx[kind.classes[3]] == 3
    assert len(list(plain)) == 5
    for index in (5, -6):
        with pytest.raises(IndexError):
            plain[index]


# ---------------------------------------------------------------- files that are wrong

WHOLE = as_idx(IMAGES)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no IDX file"),
        (b"<html>404</html>", "no IDX file: it begins with the bytes 3c 68 74 6d"),
        (WHOLE[:10], "ends within its header"),
        (WHOLE[:-1], "takes 3920 bytes, but there are only 3919"),
        (WHOLE + b"x", "but there are more"),
        (b"\0\0\x08\x03" + b"\xff" * 12, "too large"),
        (b"\0\0\x08\xff" + b"\0" * 4 * 255, "too large"),
        (b"\0\0\x08\x03" + struct.pack(">3I", 2**20, 2**10, 1), "only 0"),
        (gzip.compress(WHOLE)[:-20], "no whole gzip file"),
        (gzip.compress(WHOLE)[:40] + b"xxxx" + gzip.compress(WHOLE)[44:], "gzip file|bytes"),
        (as_idx(LABELS), r"should hold images .* but holds uint8 of shape \(5,\)"),
        (as_idx(IMAGES[:4]), "holds 4 images and .* 5 labels: they do not belong together"),
    ],
)
def test_a_damaged_file_says_which_and_how(tmp_path: Path, content: bytes, words: str):
    with pytest.raises(ValueError, match=words) as caught:
        MNIST(fill(tmp_path, train_images_idx3_ubyte=content))
    assert "train-images-idx3-ubyte" in str(caught.value)


def test_a_gzip_bomb_is_not_unpacked(tmp_path: Path):
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(as_idx(LABELS) + bytes(150_000_000), 1))
    program = (
        "import resource, sys; from autokit.datasets import idx\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"try: idx.read({str(path)!r})\n"
        "except ValueError as error: print('but there are more' in str(error))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000)"
    )
    assert printed_by(program) == "True\nTrue\n"


# ---------------------------------------------------------------- downloads


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the files are got from, after a place where there is none."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    zipped = {f"{name}.gz": gzip.compress(content, mtime=0) for name, content in FILES.items()}
    for name, content in zipped.items():
        (folder / name).write_bytes(content)
    checksums = [(name, hashlib.md5(content).hexdigest()) for name, content in zipped.items()]
    monkeypatch.setattr(MNIST, "mirrors", [f"{(tmp_path / 'gone').as_uri()}/", f"{folder.as_uri()}/"])
    monkeypatch.setattr(MNIST, "resources", checksums)
    return folder


def test_a_download_gets_what_is_missing(mirror: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    dataset = MNIST(tmp_path, download=True)
    assert len(dataset) == 5 and dataset[0][1] == 3
    assert sorted(os.listdir(dataset.raw_folder)) == sorted(os.listdir(mirror))
    assert f"Downloading {mirror.as_uri()}/train-images-idx3-ubyte.gz\n" in capsys.readouterr().out
    Path(dataset.raw_folder, "t10k-labels-idx1-ubyte.gz").unlink()
    assert len(MNIST(tmp_path, train=False, download=True)) == 5
    assert capsys.readouterr().out.count("Downloading") == 2  # where it is not, and where it is


@pytest.mark.parametrize("content", [b"another file", None], ids=["another", "none"])
def test_a_bad_download_leaves_nothing(mirror: Path, tmp_path: Path, content: bytes | None):
    name = "train-labels-idx1-ubyte.gz"
    (mirror / name).unlink() if content is None else (mirror / name).write_bytes(content)
    with pytest.raises(RuntimeError, match=rf"Error downloading {name}") as caught:
        MNIST(tmp_path, download=True)
    words = "No such file" if content is None else "sent another file: its MD5 checksum is"
    assert words in str(caught.value) and mirror.as_uri() in str(caught.value)
    assert f"put {name} into the folder {tmp_path}" in str(caught.value)
    assert name not in "".join(os.listdir(tmp_path / "MNIST" / "raw"))


def test_a_download_that_breaks_off_leaves_nothing(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def half(request: Any, timeout: float) -> Any:
        answer = io.BytesIO(b"half")
        answer.headers = {"Content-Length": "10"}  # type: ignore[attr-defined]
        return answer

    monkeypatch.setattr(urllib.request, "urlopen", half)
    with pytest.raises(RuntimeError, match="broke off after 4 of 10 bytes"):
        MNIST(tmp_path, download=True)
    assert os.listdir(tmp_path / "MNIST" / "raw") == []
