"""autokit.datasets.MNIST: the real files, damaged files, and downloads from a server of our own."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import os
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import autokit as ak
from autokit import transforms
from autokit.datasets import MNIST, FashionMNIST, idx
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


def test_its_repr_is_torchvisions(tmp_path: Path):
    root = fill(tmp_path)
    steps = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))])
    assert repr(MNIST(root, train=False, transform=steps)) == (
        f"Dataset MNIST\n    Number of datapoints: 5\n    Root location: {root}\n    Split: Test\n"
        "    StandardTransform\nTransform: Compose(\n               ToTensor()\n"
        "               Normalize(mean=(0.5,), std=(0.5,))\n           )"
    )


@given(
    st.sampled_from(
        [(8, np.uint8), (9, np.int8), (11, np.int16), (12, np.int32), (13, np.float32), (14, float)]
    ),
    st.data(),
)
def test_any_idx_file_comes_back(kind: tuple[int, Any], data: st.DataObject):
    array = data.draw(arrays.arrays(kind[1], arrays.array_shapes(max_dims=4, min_side=0, max_side=4)))
    content = struct.pack(f">4B{array.ndim}I", 0, 0, kind[0], array.ndim, *array.shape)
    content += array.astype(array.dtype.newbyteorder(">")).tobytes()
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        for written in (content, gzip.compress(content)):
            path.write_bytes(written)
            read = idx.read(path)
            assert read.dtype == array.dtype and read.dtype.isnative
            np.testing.assert_array_equal(read, array)


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


def test_a_label_without_a_class(tmp_path: Path):
    with pytest.raises(ValueError, match="holds the label 10, but there are 10 classes"):
        MNIST(fill(tmp_path, train_labels_idx1_ubyte=as_idx(np.array([0, 1, 10, 2, 3], np.uint8))))


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


def test_files_that_are_not_there(tmp_path: Path):
    with pytest.raises(RuntimeError, match=r"Dataset not found. You can use download=True .*MNIST.raw"):
        MNIST(tmp_path)


# ---------------------------------------------------------------- downloads


class Server(http.server.ThreadingHTTPServer):
    """Gives what ``answers`` holds for a path, and counts what was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, Callable[[Any], None]] = {}
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server_address[1]}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.server.answers[self.path.rsplit("/", 1)[1]](self)

    def log_message(self, *_: Any) -> None:
        pass


def sends(content: bytes, promised: int | None = None) -> Callable[[Any], None]:
    def answer(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(promised or len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        zipped = {f"{name}.gz": gzip.compress(content, mtime=0) for name, content in FILES.items()}
        server.answers = {name: sends(content) for name, content in zipped.items()}
        checksums = [(name, hashlib.md5(content).hexdigest()) for name, content in zipped.items()]
        monkeypatch.setattr(MNIST, "mirrors", [f"{server.address}gone/", server.address])
        monkeypatch.setattr(MNIST, "resources", checksums)
        yield server
        server.shutdown()
        thread.join()


def test_a_download_gets_what_is_missing(server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    dataset = MNIST(tmp_path, download=True)
    assert len(dataset) == 5 and dataset[0][1] == 3
    assert sorted(os.listdir(dataset.raw_folder)) == sorted(server.answers)
    assert f"Downloading {server.address}gone/train-images-idx3-ubyte.gz\n" in capfd.readouterr().out
    asked = len(server.asked)
    assert len(MNIST(tmp_path, train=False, download=True)) == 5 and len(server.asked) == asked
    Path(dataset.raw_folder, "t10k-labels-idx1-ubyte.gz").unlink()
    MNIST(tmp_path, download=True)
    assert len(server.asked) == asked + 1


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (sends(b"another file"), "sent another file: its MD5 checksum is"),
        (sends(b"half", promised=10), "broke off after 4 of 10 bytes"),
        (lambda handler: handler.send_error(404), "HTTP Error 404"),
        (lambda handler: handler.wfile.write(b"nonsense\r\n\r\n"), "nonsense"),
        (lambda handler: handler.connection.close(), ""),
    ],
    ids=["another", "half", "404", "nonsense", "nothing"],
)
def test_a_bad_download_leaves_nothing(server: Server, tmp_path: Path, answer: Any, words: str):
    server.answers["train-labels-idx1-ubyte.gz"] = answer
    with pytest.raises(RuntimeError, match=r"Error downloading train-labels-idx1-ubyte\.gz") as caught:
        MNIST(tmp_path, download=True)
    text = str(caught.value)
    assert words in text and server.address in text
    assert f"put train-labels-idx1-ubyte.gz into the folder {tmp_path}" in text
    assert not [
        name for name in os.listdir(tmp_path / "MNIST" / "raw") if "labels" in name and "train" in name
    ]


def test_a_second_address_is_asked_where_the_first_fails(server: Server, tmp_path: Path):
    real = dict(server.answers)

    def only_the_second(name: str) -> Callable[[Any], None]:
        return lambda h: h.send_error(503) if h.path.startswith("/gone/") else real[name](h)

    server.answers = {name: only_the_second(name) for name in real}
    assert len(MNIST(tmp_path, download=True)) == 5
    assert len(server.asked) == 8


def test_without_a_network_it_says_where_to_put_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(MNIST, "mirrors", ["http://127.0.0.1:1/"])
    with pytest.raises(RuntimeError, match=r"refused[\s\S]*put train-images-idx3-ubyte.gz into the folder"):
        MNIST(tmp_path, download=True)
