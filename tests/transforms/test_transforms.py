"""autokit.transforms beside facts taken down from torchvision 0.28 (with PyTorch 2.13)."""

from __future__ import annotations

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

F = transforms.functional
COLOURS = (np.arange(48).reshape(4, 4, 3) * 5).astype(np.uint8)
RGB = Image.fromarray(COLOURS)
GREY = RGB.convert("L")  # [[4, 19, 34, 49], [64, 79, 94, 109], [124, 139, 154, 169], [184, 199, 214, 229]]


def plain(image: Any) -> Any:
    return image[0].tolist() if isinstance(image, ak.Tensor) else np.array(image).tolist()


def as_tensor() -> Any:
    return ak.tensor(np.array(GREY)).float()[None]


@given(arrays.arrays(np.uint8, st.tuples(*[st.integers(1, 5)] * 2, st.sampled_from([1, 3, 4]))))
def test_to_tensor_divides_bytes_by_255_and_to_pil_image_undoes_it(array: np.ndarray):
    tensor = transforms.ToTensor()(array)
    assert tensor.shape == (array.shape[2], *array.shape[:2]) and tensor.dtype == ak.float32
    expected = array.transpose(2, 0, 1).astype(np.float32) / np.float32(255)
    np.testing.assert_array_equal(tensor.numpy(), expected)
    picture = transforms.ToPILImage()(array)
    np.testing.assert_array_equal(np.atleast_3d(np.array(picture)), array)
    np.testing.assert_array_equal(transforms.ToTensor()(picture).numpy(), tensor.numpy())
    again = np.array(transforms.ToPILImage()(tensor + 1e-4))
    np.testing.assert_array_equal(np.atleast_3d(again), array)


def test_normalize():
    image = ak.rand(3, 2, 2)
    mean, std = (0.1, 0.2, 0.3), (0.5, 0.25, 1.0)
    expected = (image.numpy() - np.float32(mean)[:, None, None]) / np.float32(std)[:, None, None]
    np.testing.assert_array_equal(transforms.Normalize(mean, std)(image).numpy(), expected)
    same = image.clone()
    assert transforms.Normalize(mean, std, inplace=True)(same) is same
    np.testing.assert_array_equal(same.numpy(), expected)


def test_resize():
    assert plain(transforms.Resize((2, 3))(GREY)) == [[51, 70, 88], [145, 164, 182]]
    assert transforms.Resize(2)(Image.new("L", (5, 3))).size == (3, 2)
    smaller = transforms.Resize((2, 3))(as_tensor())[0].numpy()
    np.testing.assert_allclose(smaller, [[51.357, 69.357, 87.357], [145.643, 163.643, 181.643]], rtol=1e-4)


@given(st.tuples(*[st.integers(2, 9)] * 4), st.booleans())
def test_tensors_resize_as_pytorch_interpolates(sizes: tuple[int, ...], cubic: bool):
    require("torch")
    import torch

    image = np.random.default_rng(0).random((2, *sizes[:2]), np.float32)
    mode = transforms.InterpolationMode.BICUBIC if cubic else transforms.InterpolationMode.BILINEAR
    ours = transforms.Resize(sizes[2:], mode)(ak.from_numpy(image))
    theirs = torch.nn.functional.interpolate(
        torch.from_numpy(image)[None], sizes[2:], mode=mode.value, antialias=True
    )[0]
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=1e-5)


@pytest.mark.parametrize("image", [GREY, as_tensor()], ids=["picture", "tensor"])
def test_crops_and_borders(image: Any):
    corner = F.crop(image, 0, 0, 3, 3)
    assert plain(transforms.CenterCrop((2, 5))(image)) == [[64, 79, 94, 109, 0], [124, 139, 154, 169, 0]]
    assert plain(transforms.CenterCrop(3)(image)) == [[4, 19, 34], [64, 79, 94], [124, 139, 154]]
    reflected = plain(transforms.Pad((1, 2), padding_mode="reflect")(corner))
    assert reflected[:3] == [[139, 124, 139, 154, 139], [79, 64, 79, 94, 79], [19, 4, 19, 34, 19]]
    assert plain(transforms.Pad(1, padding_mode="edge")(corner))[0] == [4, 4, 19, 34, 34]
    assert plain(transforms.Pad((1, 2), padding_mode="symmetric")(corner))[0] == [64, 64, 79, 94, 94]
    square = F.crop(image, 0, 0, 2, 2)
    assert plain(transforms.Pad((1, 0, 2, 1), 7)(square)) == [
        [7, 4, 19, 7, 7],
        [7, 64, 79, 7, 7],
        [7, 7, 7, 7, 7],
    ]
    assert plain(F.crop(image, -1, 3, 3, 3)) == [[0, 0, 0], [49, 0, 0], [109, 0, 0]]
    assert plain(F.crop(image, 3, -3, 1, 2)) == [[0, 0]]


def test_the_same_seed_changes_pictures_as_in_torchvision():
    ak.manual_seed(0)
    flip = transforms.RandomHorizontalFlip(0.4)
    assert [int(plain(flip(GREY)) != plain(GREY)) for _ in range(12)] == [0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0]
    crop = transforms.RandomCrop(2, padding=1)
    expected = [[[229, 0], [0, 0]], [[0, 124], [0, 184]], [[169, 0], [229, 0]], [[94, 109], [154, 169]]]
    for image in (GREY, as_tensor()):
        ak.manual_seed(0)
        assert [plain(crop(image)) for _ in range(4)] == expected
    ak.manual_seed(0)
    turn = transforms.RandomRotation(90)
    assert [plain(turn(GREY))[0] for _ in range(3)] == [[4, 19, 34, 49], [0, 34, 109, 0], [184, 124, 64, 4]]
    drawn = ak.rand(1).item()
    ak.manual_seed(0)
    assert ak.rand(4)[3].item() == drawn
    assert plain(transforms.RandomCrop(4)(GREY)) == plain(GREY)


def test_pictures_and_tensors_turn_and_flip_alike():
    assert plain(F.rotate(as_tensor(), 90)) == np.rot90(np.array(GREY)).tolist()
    for options in ({}, {"fill": 9}, {"center": (0, 0)}, {"expand": True}):
        assert plain(F.rotate(as_tensor(), 30, **options)) == plain(F.rotate(GREY, 30, **options))
    assert F.rotate(RGB, 45, fill=7).getpixel((0, 0)) == (7, 7, 7)
    for kind, axis in ((transforms.RandomHorizontalFlip, 1), (transforms.RandomVerticalFlip, 0)):
        expected = np.flip(np.array(GREY), axis).tolist()
        assert plain(kind(1.0)(GREY)) == plain(kind(1.0)(as_tensor())) == expected
        assert kind(0.0)(GREY) is GREY


def test_one_after_the_other_in_the_order_given():
    steps = transforms.Compose([lambda x: x + 1, transforms.Lambda(lambda x: x * 10), transforms.ToTensor()])
    assert steps(np.zeros((1, 2, 1))).tolist() == [[[10.0, 10.0]]]
    assert transforms.Compose([])(RGB) is RGB
    shown = [
        transforms.CenterCrop(3),
        transforms.RandomCrop((3, 4), padding=2),
        transforms.RandomHorizontalFlip(),
        transforms.RandomRotation(30),
        transforms.Lambda(abs),
    ]
    assert repr(transforms.Compose(shown)) == (
        "Compose(\n    CenterCrop(size=(3, 3))\n    RandomCrop(size=(3, 4), padding=2)\n"
        "    RandomHorizontalFlip(p=0.5)\n"
        "    RandomRotation(degrees=[-30.0, 30.0], interpolation=nearest, expand=False, fill=0)\n"
        "    Lambda()\n)"
    )


WRONG: list[Any] = [
    (lambda: transforms.ToTensor()(ak.ones(2)), TypeError, "what is a tensor already needs no ToTensor"),
    (lambda: transforms.ToTensor()(np.ones(2)), ValueError, "2/3 dimensional. Got 1"),
    (lambda: transforms.Normalize(0.5, 0.5)(GREY), TypeError, r"put ToTensor\(\) before Normalize"),
    (lambda: transforms.Normalize(0, 1)(ak.ones(1, 2, 2).byte()), TypeError, "float tensor. Got torch.uint8"),
    (lambda: transforms.Normalize(0.5, 0.5)(ak.ones(2)), ValueError, r"\(..., C, H, W\).*\(2,\)"),
    (lambda: transforms.Normalize(0.5, 0.0)(ak.ones(1, 2, 2)), ValueError, "division by zero"),
    (
        lambda: transforms.RandomCrop(9)(GREY),
        ValueError,
        r"\(9, 9\) is larger than input image size \(4, 4\)",
    ),
    (lambda: transforms.Resize((1, 2, 3)), ValueError, r"one number or \(height, width\)"),
    (lambda: transforms.Pad((1, 2, 3))(GREY), ValueError, "1, 2, or 4 element tuple"),
    (lambda: transforms.Pad(1, padding_mode="odd")(GREY), ValueError, "constant, edge, reflect or symmetric"),
    (lambda: transforms.Lambda(3), TypeError, "should be callable, got 'int'"),
    (lambda: transforms.RandomRotation(-1), ValueError, "must be positive"),
    (lambda: transforms.RandomHorizontalFlip(1.0)([1]), TypeError, "Got <class 'list'>"),
    (lambda: transforms.ToPILImage()(ak.ones(5, 2, 2)), ValueError, "> 4 channels. Got 5"),
]


@pytest.mark.parametrize(("call", "error", "words"), WRONG)
def test_wrong_use_says_what_is_wrong(call: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        call()
