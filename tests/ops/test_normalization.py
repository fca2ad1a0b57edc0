"""Normalization over batches, layers, groups, instances and neighbouring channels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autokit
from tests.oracle import compare, numbers, refused

SHAPES: list[tuple[int, ...]] = [(4, 3), (2, 3, 5), (2, 3, 4, 2), (2, 3, 2, 3, 2)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("learned", [0, 1, 2])
def test_batches(shape: Any, learned: int):
    x, *parameters = numbers(*shape), numbers(3, seed=1), numbers(3, seed=2)
    for training in (True, False):
        mean, variance = numbers(3, seed=3), numbers(3, seed=4, low=0.5)

        def program(torch: Any, x: Any, *parameters: Any) -> Any:
            running = [torch.tensor(mean), torch.tensor(variance)]
            out = torch.nn.functional.batch_norm(
                x * x, *running, *parameters, training=training, momentum=0.3
            )
            return [out, *running]

        compare(program, x, *parameters[:learned], tolerance=1e-7)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("learned", [0, 1, 2])
def test_layers(shape: Any, learned: int):
    for dims in range(1, len(shape)):
        parameters = [numbers(*shape[-dims:], seed=seed) for seed in (1, 2)]
        for name, count in (("layer_norm", learned), ("rms_norm", min(learned, 1))):
            compare(
                lambda torch, x, *rest: getattr(torch.nn.functional, name)(x, shape[-dims:], *rest, eps=0.1),
                *(numbers(*shape), *parameters[:count]),
            )


@pytest.mark.parametrize("shape", [(4, 6), (2, 6, 5), (2, 6, 4, 2)])
@pytest.mark.parametrize("learned", [0, 1, 2])
def test_groups_and_instances(shape: Any, learned: int):
    x, *parameters = numbers(*shape), numbers(6, seed=1), numbers(6, seed=2)
    for groups in (1, 2, 3):
        compare(
            lambda torch, x, *parameters: torch.nn.functional.group_norm(x, groups, *parameters),
            x,
            *parameters[:learned],
            tolerance=1e-7,
        )
    if len(shape) == 2:
        return

    def instances(torch: Any, x: Any, *parameters: Any) -> Any:
        running = torch.zeros(6, dtype=x.dtype), torch.ones(6, dtype=x.dtype)
        norm = torch.nn.functional.instance_norm
        return [
            norm(x, *running, *parameters),
            *running,
            norm(x, *running, *parameters, use_input_stats=False),
        ]

    compare(instances, x, *parameters[:learned], tolerance=1e-7)


def test_neighbouring_channels():
    for shape, size in (((2, 5, 4), 3), ((2, 5, 3, 2), 2), ((1, 4, 2, 2, 2), 4)):
        compare(lambda torch, x: torch.nn.functional.local_response_norm(x, size, alpha=0.1), numbers(*shape))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_other_dtypes(dtype: str):
    x, weight = numbers(4, 3, 5).astype(dtype), numbers(5, seed=1).astype(dtype)
    compare(lambda torch, x, w: torch.nn.functional.layer_norm(x, (5,), w), x, weight, second=False)
    compare(lambda torch, x: torch.nn.functional.batch_norm(x, None, None, training=True), x, second=False)


def test_squares_that_overflow_float32():
    out = autokit.nn.functional.layer_norm(autokit.tensor([[1e20, 1.0, 2.0]]), [3])
    np.testing.assert_allclose(out.numpy(), [[2**0.5, -(0.5**0.5), -(0.5**0.5)]], rtol=1e-6)
    images = autokit.tensor([[1e20], [1.0], [2.0]])
    out = autokit.nn.functional.batch_norm(images, None, None, training=True)
    np.testing.assert_allclose(out.numpy().T, [[2**0.5, -(0.5**0.5), -(0.5**0.5)]], rtol=1e-6)


def test_running_statistics_are_changed_in_place():
    mean, variance = autokit.zeros(2), autokit.ones(2)
    autokit.nn.functional.batch_norm(autokit.tensor([[1.0, 2.0], [3.0, 6.0]]), mean, variance, training=True)
    assert mean._version == 1
    np.testing.assert_allclose(mean.numpy(), [0.2, 0.4])
    np.testing.assert_allclose(variance.numpy(), [0.9 + 0.2, 0.9 + 0.8])


ERRORS = [
    (lambda torch, x: torch.nn.functional.batch_norm(x, None, None), "evaluation mode"),
    (lambda torch, x: torch.nn.functional.batch_norm(x[:1, :, 0], None, None, training=True), "more than 1"),
    (lambda torch, x: torch.nn.functional.layer_norm(x, (4,)), "normalized_shape"),
    (lambda torch, x: torch.nn.functional.layer_norm(x, (5,), torch.ones(4)), "weight"),
    (lambda torch, x: torch.nn.functional.layer_norm(x, (5,), torch.ones(5)), "mixed dtype"),
    (lambda torch, x: torch.nn.functional.group_norm(x, 2), "divisible"),
]


test_what_errors_say = refused(ERRORS, numbers(2, 3, 5))
