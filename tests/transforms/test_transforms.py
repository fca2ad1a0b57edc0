"""autokit.transforms beside facts taken down from torchvision 0.28 (with PyTorch 2.13)."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import autokit as ak
from autokit import transforms
from tests.support import require

require("PIL")

from PIL import Image  # noqa: E402

COLOURS = (np.arange(48).reshape(4, 4, 3) * 5).astype(np.uint8)
RGB = Image.fromarray(COLOURS)
GREY = RGB.convert("L")  # [[4, 19, 34, 49], [64, 79, 94, 109], [124, 139, 154, 169], [184, 199, 214, 229]]

TURNED = {
    "nearest": [
        [0.0, 34.0, 49.0, 0.0],
        [4.0, 79.0, 94.0, 169.0],
        [64.0, 139.0, 154.0, 229.0],
        [0.0, 184.0, 199.0, 0.0],
    ],
    "bilinear": [
        [8.656, 28.706, 71.303, 26.51],
        [29.784, 72.774, 115.764, 143.343],
        [68.249, 117.236, 160.226, 203.216],
        [30.757, 161.697, 182.885, 48.611],
    ],
    "expanded": [
        [0.0, 0.0, 0.0, 14.922, 7.657, 0.0],
        [0.625, 7.537, 24.961, 56.931, 49.203, 0.0],
        [4.668, 38.949, 73.566, 108.183, 130.186, 0.0],
        [0.0, 84.046, 124.817, 159.434, 194.051, 70.307],
        [0.0, 85.339, 176.069, 189.271, 127.005, 35.785],
        [0.0, 28.753, 60.052, 0.0, 0.0, 0.0],
    ],
    "about a corner": [
        [4.0, 64.0, 139.0, 154.0],
        [1.0, 124.0, 124.0, 199.0],
        [1.0, 1.0, 184.0, 1.0],
        [1.0, 1.0, 1.0, 1.0],
    ],
}


def plain(image: Any) -> Any:
    return image.tolist() if isinstance(image, ak.Tensor) else np.array(image).tolist()


def as_tensor() -> ak.Tensor:
    return transforms.PILToTensor()(GREY).float()


# ---------------------------------------------------------------- to tensors and back


@given(arrays.arrays(np.uint8, st.tuples(*[st.integers(1, 5)] * 2, st.sampled_from([1, 3, 4]))))
def test_to_tensor_divides_bytes_by_255_and_to_pil_image_undoes_it(array: np.ndarray):
    tensor = transforms.ToTensor()(array)
    assert tensor.shape == (array.shape[2], *array.shape[:2]) and tensor.dtype == ak.float32
    np.testing.assert_array_equal(
        tensor.numpy(), array.transpose(2, 0, 1).astype(np.float32) / np.float32(255)
    )
    picture = transforms.ToPILImage()(transforms.PILToTensor()(transforms.ToPILImage()(array)))
    np.testing.assert_array_equal(np.atleast_3d(np.array(picture)), array)
    np.testing.assert_array_equal(transforms.ToTensor()(picture).numpy(), tensor.numpy())


@given(arrays.arrays(np.uint8, (2, 3)))
def test_to_tensor_gives_what_pytorch_computes(array: np.ndarray):
    require("torch")
    import torch

    theirs = torch.from_numpy(array).to(torch.get_default_dtype()).div(255)
    np.testing.assert_array_equal(transforms.ToTensor()(array)[0].numpy(), theirs.numpy())


@pytest.mark.parametrize(
    ("mode", "dtype"),
    [
        ("1", ak.bool),
        ("L", ak.uint8),
        ("I", ak.int32),
        ("I;16", ak.int32),
        ("F", ak.float32),
        ("CMYK", ak.uint8),
    ],
)
def test_each_mode_has_its_dtype(mode: str, dtype: Any):
    picture = Image.new(mode, (3, 2), 1 if mode != "CMYK" else (1, 2, 3, 4))
    tensor = transforms.PILToTensor()(picture)
    assert tensor.dtype == dtype and tensor.shape == (len(picture.getbands()), 2, 3)
    assert tensor[0, 0, 0].item() == 1
    if mode == "1":
        assert transforms.ToTensor()(picture).tolist() == [[[1.0] * 3] * 2]
    if mode == "CMYK":
        assert transforms.ToPILImage("CMYK")(tensor).mode == "CMYK"


def test_dtypes_of_pictures():
    def convert(values: list[Any], old: Any, new: Any) -> list[Any]:
        return transforms.ConvertImageDtype(new)(ak.tensor(values, dtype=old)).tolist()

    assert convert([0.0, 0.5, 0.999, 1.0], ak.float32, ak.uint8) == [0, 127, 255, 255]
    assert convert([0.0, 0.5, 0.999, 1.0], ak.float32, ak.int16) == [0, 16383, 32735, 32767]
    assert convert([0, 1000, 32767], ak.int16, ak.uint8) == [0, 7, 255]
    assert convert([0, 255], ak.uint8, ak.int32) == [0, 2139095040]
    assert convert([0, 255], ak.uint8, ak.float64) == [0.0, 1.0]


def test_normalize():
    image = ak.rand(3, 2, 2)
    mean, std = (0.1, 0.2, 0.3), (0.5, 0.25, 1.0)
    expected = (image.numpy() - np.float32(mean)[:, None, None]) / np.float32(std)[:, None, None]
    np.testing.assert_array_equal(transforms.Normalize(mean, std)(image).numpy(), expected)
    same = image.clone()
    assert transforms.Normalize(mean, std, inplace=True)(same) is same
    np.testing.assert_array_equal(same.numpy(), expected)


# ---------------------------------------------------------------- sizes


def test_resize():
    assert plain(transforms.Resize((2, 3))(GREY)) == [[51, 70, 88], [145, 164, 182]]
    assert transforms.Resize(2)(Image.new("L", (5, 3))).size == (3, 2)
    assert transforms.Resize(6, max_size=7)(Image.new("L", (5, 3))).size == (7, 4)
    mode = transforms.InterpolationMode
    for options, expected in (
        ({"size": (2, 3)}, [[51.357143, 69.357147, 87.357147], [145.642868, 163.642868, 181.642853]]),
        ({"size": (2, 3), "antialias": False}, [[36.5, 56.5, 76.5], [156.5, 176.5, 196.5]]),
        (
            {"size": (3, 6), "interpolation": mode.BICUBIC},
            [
                [14.40904, 21.572353, 32.895882, 42.895882, 54.219414, 61.382729],
                [93.013161, 100.176483, 111.500008, 121.499992, 132.823532, 139.986847],
                [171.617294, 178.780609, 190.104141, 200.104126, 211.427673, 218.590973],
            ],
        ),
        (
            {"size": (3, 6), "interpolation": mode.NEAREST},
            [[4, 4, 19, 34, 34, 49], [64, 64, 79, 94, 94, 109], [124, 124, 139, 154, 154, 169]],
        ),
    ):
        np.testing.assert_allclose(transforms.Resize(**options)(as_tensor())[0].numpy(), expected, rtol=1e-5)
    assert transforms.Resize((2, 3))(transforms.PILToTensor()(GREY))[0].tolist() == [
        [51, 69, 87],
        [146, 164, 182],
    ]


@given(
    st.integers(2, 9), st.integers(2, 9), st.integers(2, 9), st.integers(2, 9), st.booleans(), st.booleans()
)
def test_tensors_resize_as_pytorch_interpolates(
    h: int, w: int, new_h: int, new_w: int, smooth: bool, cubic: bool
):
    require("torch")
    import torch

    image = np.random.default_rng(0).random((2, h, w), np.float32)
    mode = transforms.InterpolationMode.BICUBIC if cubic else transforms.InterpolationMode.BILINEAR
    ours = transforms.Resize((new_h, new_w), mode, antialias=smooth)(ak.from_numpy(image))
    theirs = torch.nn.functional.interpolate(
        torch.from_numpy(image)[None], (new_h, new_w), mode=mode.value, antialias=smooth
    )[0]
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=1e-5)


@pytest.mark.parametrize("make", [lambda: GREY, as_tensor])
def test_crops_and_borders(make: Any):
    def of(transform: Any, image: Any) -> Any:
        result = plain(transform(image))
        return result if image is GREY or not isinstance(image, ak.Tensor) else result[0]

    image = make()
    corner = transforms.functional.crop(image, 0, 0, 3, 3)
    assert of(transforms.CenterCrop((2, 5)), image) == [[64, 79, 94, 109, 0], [124, 139, 154, 169, 0]]
    assert of(transforms.CenterCrop(3), image) == [[4, 19, 34], [64, 79, 94], [124, 139, 154]]
    assert of(transforms.Pad((1, 2), padding_mode="reflect"), corner) == [
        [139, 124, 139, 154, 139],
        [79, 64, 79, 94, 79],
        [19, 4, 19, 34, 19],
        [79, 64, 79, 94, 79],
        [139, 124, 139, 154, 139],
        [79, 64, 79, 94, 79],
        [19, 4, 19, 34, 19],
    ]
    assert of(transforms.Pad(1, padding_mode="edge"), corner)[0] == [4, 4, 19, 34, 34]
    assert of(transforms.Pad((1, 2), padding_mode="symmetric"), corner)[0] == [64, 64, 79, 94, 94]
    assert of(transforms.Pad((1, 0, 2, 1), 7), transforms.functional.crop(image, 0, 0, 2, 2)) == [
        [7, 4, 19, 7, 7],
        [7, 64, 79, 7, 7],
        [7, 7, 7, 7, 7],
    ]
    assert of(lambda x: transforms.functional.crop(x, -1, 3, 3, 3), image) == [
        [0, 0, 0],
        [49, 0, 0],
        [109, 0, 0],
    ]
    assert of(lambda x: transforms.functional.crop(x, 1, 2, 1, 2), image) == [[94, 109]]
    assert of(lambda x: transforms.functional.crop(x, 3, -3, 1, 2), image) == [[0, 0]]


def test_grey():
    grey = plain(GREY)
    assert transforms.Grayscale()(transforms.PILToTensor()(RGB)).tolist() == [grey]
    assert transforms.Grayscale(3)(transforms.PILToTensor()(RGB)).tolist() == [grey] * 3
    assert plain(transforms.Grayscale(3)(RGB)) == [[[value] * 3 for value in row] for row in grey]


# ---------------------------------------------------------------- chance


def test_the_same_seed_changes_pictures_as_in_torchvision():
    ak.manual_seed(0)
    flip = transforms.RandomHorizontalFlip(0.4)
    assert [int(plain(flip(GREY)) != plain(GREY)) for _ in range(12)] == [0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0]
    ak.manual_seed(0)
    crop = transforms.RandomCrop(2, padding=1)
    expected = [[[229, 0], [0, 0]], [[0, 124], [0, 184]], [[169, 0], [229, 0]], [[94, 109], [154, 169]]]
    assert [plain(crop(GREY)) for _ in range(4)] == expected
    ak.manual_seed(0)
    assert [plain(crop(as_tensor()))[0] for _ in range(4)] == expected
    ak.manual_seed(0)
    turn = transforms.RandomRotation(90)
    assert [plain(turn(GREY))[0] for _ in range(3)] == [[4, 19, 34, 49], [0, 34, 109, 0], [184, 124, 64, 4]]
    ak.manual_seed(0)
    some = transforms.RandomApply([transforms.Pad(1)], 0.3)
    assert [some(GREY).size[0] for _ in range(10)] == [4, 4, 6, 6, 4, 4, 4, 4, 4, 4]
    assert ak.rand(1).item() == pytest.approx(0.3488934636116028)


def test_tensors_turn_as_in_torchvision():
    nearest, bilinear = transforms.InterpolationMode.NEAREST, transforms.InterpolationMode.BILINEAR

    def turn(angle: float, mode: Any = nearest, **options: Any) -> Any:
        return transforms.functional.rotate(as_tensor(), angle, mode, **options)[0].tolist()

    assert turn(90) == np.rot90(np.array(GREY)).tolist()
    assert turn(30) == TURNED["nearest"]
    np.testing.assert_allclose(turn(30, bilinear, fill=[9.0]), TURNED["bilinear"], atol=2e-3)
    np.testing.assert_allclose(turn(20, bilinear, expand=True), TURNED["expanded"], atol=2e-3)
    assert turn(45, center=(0, 0), fill=[1.0]) == TURNED["about a corner"]
    larger = transforms.RandomRotation((20, 20), bilinear, expand=True)
    assert larger(as_tensor())[0].tolist() == turn(20, bilinear, expand=True, fill=[0.0])
    about = transforms.RandomRotation((45, 45), center=(0, 0), fill=1.0)
    assert about(as_tensor())[0].tolist() == TURNED["about a corner"]


def test_flips_are_the_same_for_pictures_and_tensors():
    for kind, axis in ((transforms.RandomHorizontalFlip, 1), (transforms.RandomVerticalFlip, 0)):
        expected = np.flip(np.array(GREY), axis)
        np.testing.assert_array_equal(np.array(kind(1.0)(GREY)), expected)
        np.testing.assert_array_equal(kind(1.0)(as_tensor())[0].numpy(), expected)
        assert kind(0.0)(GREY) is GREY


def test_a_crop_of_the_whole_draws_nothing():
    ak.manual_seed(1)
    before = ak.rand(1).item()
    ak.manual_seed(1)
    assert plain(transforms.RandomCrop(4)(GREY)) == plain(GREY)
    assert ak.rand(1).item() == before
    assert transforms.RandomCrop((6, 9), pad_if_needed=True)(GREY).size == (9, 6)


# ---------------------------------------------------------------- what they say


def test_one_after_the_other_in_the_order_given():
    made = transforms.Compose([lambda x: x + 1, transforms.Lambda(lambda x: x * 10), transforms.ToTensor()])
    assert made(np.zeros((1, 2, 1))).tolist() == [[[10.0, 10.0]]]
    assert transforms.Compose([])(RGB) is RGB


def test_reprs():
    made = transforms.Compose(
        [
            transforms.Resize(8),
            transforms.CenterCrop(3),
            transforms.RandomCrop((3, 4), padding=2),
            transforms.RandomHorizontalFlip(),
            transforms.RandomVerticalFlip(),
            transforms.Pad(2),
            transforms.Grayscale(),
            transforms.RandomRotation(30),
            transforms.ToTensor(),
            transforms.ConvertImageDtype(ak.float32),
            transforms.Normalize((0.1307,), (0.3081,)),
            transforms.Lambda(abs),
            transforms.ToPILImage(),
            transforms.ToPILImage("L"),
        ]
    )
    assert (
        repr(made)
        == """Compose(
    Resize(size=8, interpolation=bilinear, max_size=None, antialias=True)
    CenterCrop(size=(3, 3))
    RandomCrop(size=(3, 4), padding=2)
    RandomHorizontalFlip(p=0.5)
    RandomVerticalFlip(p=0.5)
    Pad(padding=2, fill=0, padding_mode=constant)
    Grayscale(num_output_channels=1)
    RandomRotation(degrees=[-30.0, 30.0], interpolation=nearest, expand=False, fill=0)
    ToTensor()
    ConvertImageDtype()
    Normalize(mean=(0.1307,), std=(0.3081,))
    Lambda()
    ToPILImage()
    ToPILImage(mode=L)
)"""
    )
    assert (
        repr(transforms.RandomApply([transforms.ToTensor()])) == "RandomApply(\n    p=0.5\n    ToTensor()\n)"
    )


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: transforms.ToTensor()(ak.ones(2)), TypeError, "what is a tensor already needs no ToTensor"),
        (lambda: transforms.ToTensor()(np.ones(2)), ValueError, "2/3 dimensional. Got 1"),
        (lambda: transforms.Normalize(0.5, 0.5)(GREY), TypeError, r"put ToTensor\(\) before Normalize"),
        (
            lambda: transforms.Normalize(0.5, 0.5)(ak.ones(1, 2, 2).byte()),
            TypeError,
            "float tensor. Got torch.uint8",
        ),
        (lambda: transforms.Normalize(0.5, 0.5)(ak.ones(2)), ValueError, r"\(..., C, H, W\).*\(2,\)"),
        (lambda: transforms.Normalize((0.5,), (0.0,))(ak.ones(1, 2, 2)), ValueError, "division by zero"),
        (
            lambda: transforms.RandomCrop(9)(GREY),
            ValueError,
            r"crop size \(9, 9\) is larger than input image size \(4, 4\)",
        ),
        (lambda: transforms.Resize("8"), TypeError, "Size should be int or sequence"),
        (lambda: transforms.Resize((1, 2, 3)), ValueError, "1 or 2 values"),
        (lambda: transforms.Resize(8, "bilinear"), TypeError, "InterpolationMode"),
        (lambda: transforms.Pad((1, 2, 3)), ValueError, "not a 3 element tuple"),
        (lambda: transforms.Pad(1, padding_mode="odd"), ValueError, "constant, edge, reflect or symmetric"),
        (lambda: transforms.Lambda(3), TypeError, "should be callable, got 'int'"),
        (lambda: transforms.RandomRotation(-1), ValueError, "must be positive"),
        (
            lambda: transforms.RandomRotation(9, transforms.InterpolationMode.BICUBIC)(ak.ones(1, 2, 2)),
            ValueError,
            "'bicubic' is unsupported with Tensor input",
        ),
        (
            lambda: transforms.RandomHorizontalFlip(1.0)([1]),
            TypeError,
            "PIL Image or Tensor Image. Got <class 'list'>",
        ),
        (lambda: transforms.ToPILImage()(ak.ones(5, 2, 2)), ValueError, "more than 4|> 4 channels. Got 5"),
        (lambda: transforms.ToPILImage()("x"), TypeError, "Tensor or ndarray"),
        (
            lambda: transforms.ConvertImageDtype(ak.int64)(ak.ones(1)),
            RuntimeError,
            "from torch.float32 to torch.int64 cannot be performed safely",
        ),
    ],
)
def test_wrong_use_says_what_is_wrong(call: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        call()


def test_without_pillow_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match="pip install pillow"):
        transforms.ToPILImage()(ak.ones(1, 2, 2))
