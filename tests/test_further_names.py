"""Names at the top level that lead elsewhere, beside PyTorch: ``svd_lowrank``, ``cond``, ``torch.cpu`` …"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autokit
import autokit.nn.functional as F
from tests.ops.beside import assert_same
from tests.support import require

require("torch")
import torch  # noqa: E402
import torch.cpu.amp  # noqa: E402


def matrix(library: Any, rows: int = 6, columns: int = 4) -> Any:
    values = np.random.RandomState(0).randn(rows, columns) * [2.0**-n for n in range(columns)]
    return library.tensor(values, requires_grad=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda T, A: T.svd_lowrank(A),
        lambda T, A: T.svd_lowrank(A, q=2, niter=0),
        lambda T, A: T.svd_lowrank(A.mT, q=3, M=A.mT.mean(0)),
        lambda T, A: T.pca_lowrank(A),
        lambda T, A: T.pca_lowrank(A, q=2, center=False, niter=3),
    ],
)
def test_a_part_of_the_singular_values_is_drawn_alike(call: Any):
    made = []
    for library in (autokit, torch):
        library.manual_seed(1)
        A = matrix(library)
        U, S, V = call(library, A)
        made.append([(U * S) @ V.mT, S])
        if S.requires_grad:
            made[-1] += library.autograd.grad(((U * S) @ V.mT).sum() + (S**2).sum(), A)
    for mine, other in zip(*made, strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("settings", [{"q": 9}, {"q": -1}, {"niter": -1}])
def test_impossible_parts_are_refused(settings: Any):
    for library in (autokit, torch):
        with pytest.raises(ValueError, match="must be non-negative"):
            library.pca_lowrank(matrix(library), **settings)


def test_cond_takes_one_branch_and_its_gradient():
    for library in (autokit, torch):
        x = library.tensor([3.0], requires_grad=True)
        assert library.cond(True, lambda x: x + 1, lambda x: x - 1, (x.detach(),)).item() == 4
        assert library.cond(False, lambda: 1, lambda: 2) == 2
        with pytest.raises(RuntimeError, match="Expected pred to be bool or"):
            library.cond("yes", lambda: 1, lambda: 2)
        with pytest.raises(RuntimeError, match=r"single-element|pred to be bool"):
            library.cond(library.ones(2) > 0, lambda: 1, lambda: 2)
    x = autokit.tensor([3.0], requires_grad=True)
    autokit.cond(x > 0, lambda x: x * x, lambda x: -x, (x,)).backward()
    assert x.grad is not None and x.grad.tolist() == [6]
    with pytest.raises(RuntimeError, match="branches to be callable"):
        autokit.cond(x > 0, 1, 2, (x,))  # type: ignore[arg-type]


POOLING = [
    ("max_pool1d", (1, 2, 6), (2,)),
    ("max_pool2d", (1, 2, 6, 5), (2, 1)),
    ("max_pool3d", (1, 1, 4, 5, 4), (2,)),
    ("adaptive_max_pool1d", (1, 2, 6), (3,)),
    ("adaptive_max_pool2d", (1, 2, 6, 5), ((3, 2),)),
    ("adaptive_max_pool3d", (1, 1, 4, 5, 4), (2,)),
]


@pytest.mark.parametrize(("name", "shape", "settings"), POOLING)
def test_pooling_with_indices(name: str, shape: Any, settings: Any):
    made = []
    for library in (autokit, torch):
        x = library.arange(float(np.prod(shape))).sin().reshape(shape)
        made.append(getattr(library.nn.functional, f"{name}_with_indices")(x, *settings))
        if hasattr(library, f"{name}_with_indices") or name == "adaptive_max_pool1d":
            top = getattr(library, f"{name}_with_indices", None) or library.adaptive_max_pool1d
            assert all(a.tolist() == b.tolist() for a, b in zip(top(x, *settings), made[-1]))
    for mine, other in zip(*made):
        assert_same(mine, other)
    assert F.fractional_max_pool2d_with_indices(autokit.ones(1, 1, 4, 4), 2, 2)[1].shape == (1, 1, 2, 2)
    assert f"{name}_with_indices" in dir(F)


@pytest.mark.parametrize("size", [{"size": 5}, {"scale_factor": 2}, {"size": (3, 2)}])
@pytest.mark.parametrize("name", ["upsample_nearest", "upsample_bilinear"])
def test_older_names_of_interpolation(name: str, size: Any):
    made = []
    for library in (autokit, torch):
        x = library.arange(12.0).reshape(1, 1, 3, 4)
        with pytest.warns(UserWarning, match=f"{name}` is deprecated"):
            made.append(getattr(library.nn.functional, name)(x, **size))
    assert_same(*made)


def test_norms_of_matrices_under_their_older_names():
    calls = [
        lambda T, x: T.frobenius_norm(x, (0, 1)),
        lambda T, x: T.frobenius_norm(x, 1, True),
        lambda T, x: T.nuclear_norm(x),
        lambda T, x: T.nuclear_norm(x, True),
        lambda T, x: T.nuclear_norm(x, (0, 1), keepdim=True),
        lambda T, x: T.nuclear_norm(x.detach(), out=T.zeros((), dtype=x.dtype)),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in calls:
            assert_same(call(autokit, matrix(autokit)), call(torch, matrix(torch)))


def test_grid_sampler_takes_its_modes_as_numbers():
    for mode in range(3):
        for padding in range(3):
            made = []
            for library in (autokit, torch):
                x = library.arange(12.0).reshape(1, 1, 3, 4)
                grid = library.linspace(-1.2, 1.2, 8).reshape(1, 2, 2, 2)
                made.append(library.grid_sampler(x, grid, mode, padding, True))
            assert_same(*made)


def test_questions_and_switches_answer():
    for library in (autokit, torch):
        assert library.cpu.is_available() and library.cpu.device_count() == 1
        assert library.cpu.current_device() == "cpu" and library.cpu.is_initialized()
        library.cpu.synchronize()
        library.cpu.set_device(0)
        with library.cpu.stream(library.cpu.current_stream()):
            pass
        with pytest.warns(FutureWarning), library.cpu.amp.autocast():
            assert (library.ones(2, 2) @ library.ones(2, 2)).dtype == library.bfloat16
        assert library.has_lapack and library.legacy_contiguous_format == library.contiguous_format
        library.backends.mha.set_fastpath_enabled(False)
        assert not library.backends.mha.get_fastpath_enabled()
        assert library.backends.opt_einsum.strategy in (None, "auto")
        library.set_autocast_cpu_dtype(library.float16)
        assert library.get_autocast_cpu_dtype() == library.float16
        library.set_autocast_cpu_dtype(library.bfloat16)
        library.set_autocast_cpu_enabled(True)
        assert library.is_autocast_enabled("cpu")
        library.set_autocast_cpu_enabled(False)
        assert not library.is_warn_always_enabled()
        library.set_warn_always(True)
        assert library.is_warn_always_enabled()
        library.set_warn_always(False)
        cuda = library.backends.cuda
        for name in ("flash", "mem_efficient", "math", "cudnn"):
            assert getattr(cuda, f"{name}_sdp_enabled")() is True
            getattr(cuda, f"enable_{name}_sdp")(False)
            assert getattr(cuda, f"{name}_sdp_enabled")() is False
            getattr(cuda, f"enable_{name}_sdp")(True)
        library.set_anomaly_enabled(True)
        assert library.is_anomaly_enabled()
        library.set_anomaly_enabled(False)
        assert not library.is_anomaly_enabled()
        capsule = library.to_dlpack(library.arange(3))
        assert library.from_dlpack(capsule).tolist() == [0, 1, 2]


def test_make_tensor_draws_as_pytorch():
    calls = [
        lambda T: T.testing.make_tensor(2, 3, dtype=T.float32, device="cpu"),
        lambda T: T.testing.make_tensor(
            (4,), dtype=T.float64, device="cpu", low=-1, high=2.5, requires_grad=True
        ),
        lambda T: T.testing.make_tensor(50, dtype=T.int64, device="cpu", low=0.5, high=3, exclude_zero=True),
        lambda T: T.testing.make_tensor(20, dtype=T.uint8, device="cpu"),
        lambda T: T.testing.make_tensor((2, 3), dtype=T.bool, device="cpu"),
        lambda T: T.testing.make_tensor((2, 3), dtype=T.complex64, device="cpu", noncontiguous=True),
        lambda T: T.testing.make_tensor(
            (1, 2, 2, 2), dtype=T.float32, device="cpu", memory_format=T.channels_last
        ),
    ]
    for call in calls:
        made = []
        for library in (autokit, torch):
            library.manual_seed(3)
            made.append(call(library))
        np.testing.assert_allclose(made[0].detach().numpy(), made[1].detach().numpy(), 1e-6, 2e-6)
        assert made[0].stride() == made[1].stride() and made[0].requires_grad == made[1].requires_grad
        assert str(made[0].dtype) == str(made[1].dtype)


@pytest.mark.parametrize(
    "settings",
    [
        {"dtype": "int64", "requires_grad": True},
        {"dtype": "float32", "low": 3, "high": 2},
        {"dtype": "float32", "low": float("nan")},
        {"dtype": "uint8", "low": 300, "high": 400},
        {"dtype": "float32", "noncontiguous": True, "memory_format": "contiguous_format"},
    ],
)
def test_make_tensor_refuses_as_pytorch(settings: Any):
    for library in (autokit, torch):
        given = {k: getattr(library, v) if isinstance(v, str) else v for k, v in settings.items()}
        with pytest.raises(ValueError):
            library.testing.make_tensor(3, device="cpu", **given)


def test_assert_allclose_is_assert_close_for_older_programs():
    for library in (autokit, torch):
        with pytest.warns(FutureWarning, match="assert_allclose"):
            library.testing.assert_allclose(library.tensor([1.0, float("nan")]), [1.00001, float("nan")])
        with pytest.warns(FutureWarning), pytest.raises(AssertionError):
            library.testing.assert_allclose(library.tensor(1.0), 1.1)


def test_weights_of_convolutions_lie_in_a_format():
    for library in (autokit, torch):
        nn, last = library.nn, library.channels_last
        model = nn.Sequential(
            nn.Conv2d(3, 4, 2), nn.Sequential(nn.ConvTranspose2d(4, 3, 2)), nn.Conv3d(2, 2, 2)
        )
        before = [each.clone() for each in model.parameters()]
        assert nn.utils.convert_conv2d_weight_memory_format(model, last) is model
        assert model[0].weight.stride() == (12, 1, 6, 3) and model[1][0].weight.stride() == (12, 1, 6, 3)
        assert model[2].weight.is_contiguous() and model[0].weight.requires_grad
        nn.utils.convert_conv3d_weight_memory_format(model, library.channels_last_3d)
        assert model[2].weight.stride() == (16, 1, 8, 4, 2)
        assert all((a == b).all() for a, b in zip(before, model.parameters()))
