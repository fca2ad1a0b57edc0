"""Forward mode: tangents along the graph of every operation, beside PyTorch's and beside the reverse pass."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

import numpy as np
import pytest

import autokit
from autokit.func.forward import Tape
from tests.ops.case import call, flat
from tests.ops.cases import CASES
from tests.support import require

if importlib.util.find_spec("torch"):
    import torch

DRAWN = [case for case in CASES if any(array.dtype.kind == "f" for array in case.arrays)]
TOLERANCE = {"float64": 1e-9, "float32": 1e-5, "float16": 2e-2, "bfloat16": 1e-1}
TOLERANCE |= {"complex128": TOLERANCE["float64"], "complex64": TOLERANCE["float32"]}
every_case = pytest.mark.parametrize(
    "case", DRAWN, ids=[f"{case.name}-{number}" for number, case in enumerate(DRAWN)]
)


def moved(case: Any) -> list[Any]:
    """For each array of floats a direction."""
    random = np.random.RandomState(3)
    return [random.uniform(-1, 1, each.shape) if each.dtype.kind == "f" else None for each in case.arrays]


def ours(case: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """The inputs that learn, the results that depend on them, and how each moves."""
    autokit.manual_seed(0)
    tensors = [autokit.tensor(each, requires_grad=each.dtype.kind == "f") for each in case.arrays]
    results = flat(call(autokit, case, tensors))
    ends = [each for each in results if isinstance(each, autokit.Tensor) and each.requires_grad]
    inputs = [each for each in tensors if each.requires_grad]
    directions = [autokit.tensor(each) for each in moved(case) if each is not None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = Tape(ends, inputs).along(directions, False)
    assert not any(each is not None and each.requires_grad for each in found)
    tangents = [autokit.zeros_like(end) if each is None else each for end, each in zip(ends, found)]
    return inputs, ends, tangents


@every_case
def test_a_tangent_and_a_gradient_agree(case: Any):
    """With g the gradient of the results and v the direction, ⟨g, J v⟩ = ⟨Jᵀ g, v⟩.

    Of complex numbers ⟨a, b⟩ is the real part of conj(a) · b.
    """
    inputs, ends, tangents = ours(case)
    if not ends or not all(each.numel() for each in inputs):
        return  # nothing moves
    random = np.random.RandomState(4)
    weights = [autokit.tensor(random.uniform(-1, 1, end.shape), dtype=end.dtype) for end in ends]
    gradients = autokit.autograd.grad(ends, inputs, weights, materialize_grads=True)
    directions = [each for each in moved(case) if each is not None]
    for end, tangent in zip(ends, tangents):
        assert (tangent.shape, tangent.dtype) == (end.shape, end.dtype)
    forward = sum(float((g.conj() * t).real.double().sum()) for g, t in zip(weights, tangents))
    backward = sum(float((g.detach().numpy() * v).sum()) for g, v in zip(gradients, directions))
    tolerance = max([TOLERANCE[end.dtype.name] for end in ends])
    np.testing.assert_allclose(forward, backward, rtol=tolerance, atol=tolerance)


@every_case
def test_a_tangent_is_pytorch_s(case: Any):
    require("torch")
    _, ends, tangents = ours(case)
    theirs = _of_pytorch(case)
    if len(theirs) != len(ends):
        pytest.skip("PyTorch has forward derivatives for other results")
    for mine, other in zip(tangents, theirs):
        assert tuple(mine.shape) == tuple(other.shape)
        if mine.dtype.name != "bfloat16":
            tolerance = TOLERANCE[mine.dtype.name]
            np.testing.assert_allclose(mine.numpy(), other.numpy(force=True), rtol=tolerance, atol=tolerance)


def _of_pytorch(case: Any) -> list[Any]:
    """PyTorch's tangents, where they agree with PyTorch's own gradients: at ties and kinks some do not."""
    forward_ad = torch.autograd.forward_ad
    directions = [None if each is None else torch.tensor(each) for each in moved(case)]
    torch.manual_seed(0)
    with forward_ad.dual_level():
        tensors = [torch.tensor(each, requires_grad=each.dtype.kind == "f") for each in case.arrays]
        duals = [
            tensor if direction is None else forward_ad.make_dual(tensor.clone(), direction)
            for tensor, direction in zip(tensors, directions)
        ]
        try:
            results = flat(call(torch, case, duals))
        except (RuntimeError, IndexError) as error:
            pytest.skip(f"PyTorch has no forward derivative here: {error}"[:80])
        unpacked = [forward_ad.unpack_dual(each) for each in results if isinstance(each, torch.Tensor)]
    moving = [each for each in unpacked if each.tangent is not None and each.primal.requires_grad]
    inputs = [tensor for tensor in tensors if tensor.requires_grad]
    for end, tangent in moving:
        weights = torch.linspace(-1, 1, end.numel(), dtype=end.dtype).reshape(end.shape)
        gradients = torch.autograd.grad(end, inputs, weights, retain_graph=True, materialize_grads=True)
        forward = (weights.conj() * tangent).real.double().sum()
        backward = sum((g * v).sum() for g, v in zip(gradients, [d for d in directions if d is not None]))
        if not torch.allclose(forward, backward, rtol=1e-4, atol=1e-4):
            pytest.skip("PyTorch's tangent is not what its gradient says")
    return [tangent for _, tangent in moving]


# ---------------------------------------------------------------- dual numbers


def test_dual_numbers_beside_pytorch():
    require("torch")
    told = []
    for T in (autokit, torch):
        fwAD = T.autograd.forward_ad
        x, v = T.tensor([1.0, 2.0]), T.tensor([1.0, 3.0])
        weight = T.tensor([0.5, -1.0], requires_grad=True)
        with fwAD.dual_level():
            dual = fwAD.make_dual(x, v)
            shown: list[Any] = [fwAD.unpack_dual(each) for each in (dual, dual.exp() * x, x, x * 2)]
            shown.append(fwAD.unpack_dual((dual @ T.ones(2, 2)).relu().sum()))
            changed = fwAD.make_dual(x.clone(), v.clone())
            changed.mul_(2)[0] = 5.0
            shown.append(fwAD.unpack_dual(changed))
            shown.append(fwAD.unpack_dual(dual.detach()))
            loss = fwAD.unpack_dual((fwAD.make_dual(weight, v) * weight * weight).sum())
            loss.tangent.backward()
            both = dual * fwAD.make_dual(v, x)
            shown.append(fwAD.unpack_dual(both))
        shown.append(fwAD.unpack_dual(both))
        told.append(
            [
                [part if part is None else np.round(part.detach().numpy(), 4).tolist() for part in each]
                for each in shown
            ]
        )
        told[-1].append((loss.tangent.item(), weight.grad.tolist(), shown[0].primal.requires_grad))
        assert type(shown[0]).__name__ == "UnpackedDualTensor"
    assert told[0] == told[1]


INSIDE = {
    "func.grad": "F.grad(lambda y: (y**3).sum())(d)",
    "func.grad of a closure": "F.grad(lambda y: (y * y * d).sum())(x)",
    "func.vjp": "F.vjp(lambda y: y**3, d)[1](x)[0]",
    "func.vjp of a moving cotangent": "F.vjp(lambda y: y**3, x)[1](d)[0]",
    "func.jacrev": "F.jacrev(lambda y: y**3)(d)",
    "func.hessian by two reverse passes": "F.jacrev(F.jacrev(lambda y: (y**4).sum()))(d)",
    "vmap": "F.vmap(lambda a: a**3)(d)",
    "autograd.grad": "T.autograd.grad((w * w * d).sum(), w)[0]",
    "autograd.grad with a graph": "T.autograd.grad((w * w * d).sum(), w, create_graph=True)[0]",
    "a Hessian's product": "T.autograd.grad((learning**3).sum(), learning)[0]",
    "a Hessian's product by func": "F.grad(lambda y: (y**3).sum())(learning)",
}
"""What is differentiated while duals move through it."""


@pytest.mark.parametrize("program", INSIDE)
def test_duals_move_through_what_is_differentiated(program: str):
    require("torch")
    told = []
    for T in (autokit, torch):
        fwAD, x = T.autograd.forward_ad, T.tensor([1.0, 2.0])
        w = T.tensor([3.0, 4.0], requires_grad=True)
        with fwAD.dual_level():
            d = fwAD.make_dual(x, T.tensor([1.0, 0.5]))
            learning = fwAD.make_dual(w, T.tensor([1.0, 0.5]))
            names = {"T": T, "F": T.func, "x": x, "w": w, "d": d, "learning": learning}
            unpacked = fwAD.unpack_dual(eval(INSIDE[program], names))
            told.append([part.tolist() for part in unpacked])
    assert told[0] == told[1]


def test_a_dual_is_printed_with_its_tangent():
    require("torch")
    told = []
    for T in (autokit, torch):
        fwAD = T.autograd.forward_ad
        w = T.ones(2, requires_grad=True)
        with fwAD.dual_level():
            d = fwAD.make_dual(T.arange(40.0).reshape(4, 10) / 3, T.ones(4, 10))
            e = fwAD.make_dual(w, T.tensor([1.0, 2.0]))
            shown = [d, d.sum(), d.double(), e * d[0, :2], w, d * 0, fwAD.unpack_dual(d * 2)]
            told.append([repr(each) for each in shown])
            told[-1] += [str(d.sum()), f"{d.sum():.2f}"]
            still = fwAD.unpack_dual(fwAD.unpack_dual(e * e).tangent)
            told[-1].append(still.tangent)
    assert told[0] == told[1]


@pytest.mark.parametrize(
    "made",
    ["T.ones(7)", "3.0", "(t, t)", "()", "'t'", "t.sum()"],
)
def test_a_wrong_jvp_is_refused_as_by_pytorch(made: str):
    require("torch")
    errors = []
    for T in (autokit, torch):

        class Doubled(T.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x * 2

            @staticmethod
            def jvp(ctx: Any, t: Any, T: Any = T) -> Any:
                return eval(made, {"T": T, "t": t})

        fwAD = T.autograd.forward_ad
        with fwAD.dual_level(), pytest.raises(RuntimeError) as caught:
            fwAD.unpack_dual(Doubled.apply(fwAD.make_dual(T.ones(2), T.ones(2))))
        errors.append(str(caught.value))
    assert errors[0].startswith(errors[1][:60].rstrip("."))


REFUSED = {
    "no level": "fwAD.make_dual(x, x)",
    "shapes": "\nwith fwAD.dual_level(): fwAD.make_dual(x, T.ones(3))",
    "integers": "\nwith fwAD.dual_level(): fwAD.make_dual(T.tensor([1, 2]), x)",
    "an integer tangent": "\nwith fwAD.dual_level(): fwAD.make_dual(x, T.tensor([1, 2]))",
    "a dual of a dual": "\nwith fwAD.dual_level(): fwAD.make_dual(fwAD.make_dual(x, x), x)",
    "nested": "\nwith fwAD.dual_level():\n  with fwAD.dual_level(): pass",
    "a dual of another level": "\nwith fwAD.dual_level(): fwAD.make_dual(x, x, level=1)",
    "a dual of no level": "\nwith fwAD.dual_level(): fwAD.make_dual(x, x, level=-1)",
    "another level of a dual": "\nwith fwAD.dual_level(): fwAD.unpack_dual(fwAD.make_dual(x, x), level=1)",
    "the end of no level": "fwAD.exit_dual_level()",
    "the end of a level that is not there": "fwAD.exit_dual_level(level=0)",
    "the end of another level": "\nwith fwAD.dual_level(): fwAD.exit_dual_level(level=1)",
}


@pytest.mark.parametrize("program", REFUSED)
def test_dual_numbers_refuse_what_pytorch_refuses(program: str):
    require("torch")
    errors = []
    for T in (autokit, torch):
        with pytest.raises((RuntimeError, ValueError)) as caught:
            exec(REFUSED[program], {"T": T, "fwAD": T.autograd.forward_ad, "x": T.ones(2)})
        errors.append((caught.type, str(caught.value)))
    (kind, said), (theirs, words) = errors
    assert kind is theirs and said.startswith(words[:50].rstrip("."))
    with autokit.autograd.forward_ad.dual_level():
        pass  # no level was left open


def test_only_one_operation_goes_back_twice():
    """What is elementwise or linear needs no second derivative."""

    class Once(autokit.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            backward.append(g.requires_grad)
            return 2 * x * g

    backward: list[bool] = []
    x, v = autokit.tensor([1.0, 2.0]), autokit.tensor([1.0, 1.0])
    value, moved = autokit.func.jvp(lambda x: (Once.apply(x.sin()) @ autokit.ones(2)).exp(), (x,), (v,))
    slope = 2 * autokit.sin(x) * autokit.cos(x)
    np.testing.assert_allclose(moved.item(), (value * slope.sum()).item(), rtol=1e-5)
    assert backward == [True]


def test_a_graph_that_was_freed_carries_nothing():
    x = autokit.ones(2, requires_grad=True)
    y = (x * x).exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="a second time"):
        Tape([y], [x]).along([autokit.ones(2)], False)
