"""gradcheck and gradgradcheck pass what is right, find what is wrong, and agree with PyTorch on both."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autokit
from autokit.autograd.gradcheck import GradcheckError
from tests.support import require

gradcheck, gradgradcheck = autokit.autograd.gradcheck, autokit.autograd.gradgradcheck

START = """
check, twice = T.autograd.gradcheck, T.autograd.gradgradcheck
def t(*rows, learns=True): return T.tensor(rows, dtype=T.float64, requires_grad=learns)
x, y = t(1.0, -2.0, 0.5), t(0.3, 1.0, -1.0)
A = t((1.0, 2.0, -1.0), (0.5, -1.0, 3.0))
def make(forward, backward):
    methods = dict(forward=staticmethod(forward), backward=staticmethod(backward))
    return type("F", (T.autograd.Function,), methods)
def keep(f):
    def forward(ctx, *xs):
        ctx.save_for_backward(*xs)
        return f(*xs)
    return forward
square = keep(lambda x: x * x)
Right = make(square, lambda c, g: 2 * g * c.saved_tensors[0])
Factor = make(square, lambda c, g: g * c.saved_tensors[0])
Sign = make(square, lambda c, g: -2 * g * c.saved_tensors[0])
Narrow = make(square, lambda c, g: (2 * g * c.saved_tensors[0]).float())
Shape = make(square, lambda c, g: T.ones(2, dtype=T.float64))
Constant = make(keep(lambda x: x * 2), lambda c, g: T.full((3,), 2.0, dtype=T.float64))
Missing = make(square, lambda c, g: None)
count = []
def changing(c, g):
    count.append(0)
    return 2 * g * c.saved_tensors[0] * (1 + len(count) * 1e-9)
Changing = make(square, changing)
def unready(c, x):
    c.set_materialize_grads(False)
    return x * 2, x * 3
Unready = make(unready, lambda c, g, h: 2 * g + 3 * h)
Ready = make(lambda c, x: (x * 2, x * 3), lambda c, g, h: 2 * g + 3 * h)
OneWrong = make(lambda c, x: (x * 2, x * 3), lambda c, g, h: 2 * g + 2 * h)
Second = make(keep(lambda x: x.exp()), lambda c, g: g * c.saved_tensors[0].detach().exp())
"""

PROGRAMS = {
    "right": "show(check(lambda x: (x * y).exp(), x), check(lambda a, b: a @ b, (A, x)), check(T.sin, [x]))",
    "right twice": "show(twice(lambda x: x**3, x), twice(lambda a, b: (a @ b).tanh(), (A, x)))",
    "several outputs": "show(check(lambda a, b: (a * b, a.sum(), b.detach()), (x, y)))",
    "one number": "show(check(T.sin, t(1.0).sum().detach().requires_grad_()), check(lambda a: a.mean(), A))",
    "inputs without a gradient": "show(check(lambda a, k, n: a * k * n, (x, y.detach(), 3)))",
    "a custom function": "show(check(Right.apply, x), twice(Right.apply, x), check(Ready.apply, x))",
    "given gradients": "show(twice(T.exp, x, y), twice(T.exp, x, y.detach()))",
    "a wrong factor": "refused(check, Factor.apply, x); show(check(Factor.apply, x, raise_exception=False))",
    "a wrong sign": "refused(check, Sign.apply, x)",
    "none": "refused(check, Missing.apply, x)",
    "one wrong output of two": "refused(check, OneWrong.apply, x)",
    "one wrong input of two": "refused(check, lambda a, b: a * Sign.apply(b), (x, y))",
    "a wrong shape": "refused(check, Shape.apply, x)",
    "not multiplied": "refused(check, Constant.apply, t(1.0, 2.0, 3.0))",
    "not the same twice": "refused(check, Changing.apply, x); show(check(Changing.apply, x, "
    "nondet_tol=1e-6))",
    "None that is not expected": "refused(check, Unready.apply, x)",
    "a wrong second derivative": "show(check(Second.apply, x)); refused(twice, Second.apply, x)",
    "forward mode": "show(check(lambda a, b: (a @ b).tanh(), (A, x), check_forward_ad=True))",
    "forward mode of a custom function": "Right.forward = staticmethod(lambda c, a: "
    "c.save_for_backward(a) or c.save_for_forward(a) or a * a)\n"
    "Right.jvp = staticmethod(lambda c, v: 2 * v * c.saved_tensors[0])\n"
    "show(check(Right.apply, x, check_forward_ad=True))\n"
    "Right.jvp = staticmethod(lambda c, v: 3 * v * c.saved_tensors[0])\n"
    "show(check(Right.apply, x))\nrefused(check, Right.apply, x, check_forward_ad=True)",
    "forward mode alone": "class Only(T.autograd.Function):\n"
    "    forward = staticmethod(lambda c, a: setattr(c, 'a', a) or (a * a, a + 1))\n"
    "    jvp = staticmethod(lambda c, v: (2 * v * c.a, v))\n"
    "show(check(Only.apply, x, check_forward_ad=True, check_backward_ad=False, check_undefined_grad=False))",
    "a kink": "refused(check, T.relu, t(0.0, 1.0))",
    "cut": "refused(check, lambda x: x.detach() * 2, x); show(check(lambda x: y.detach() * 2, x))",
    "no tensor": "refused(check, lambda x: {'a': x}, x); refused(check, lambda x: (x * 2, 3), x)\n"
    "refused(twice, lambda x: {'a': x}, x); refused(check, lambda x: None, x)",
    "no gradient wanted": "refused(check, T.sin, x.detach())",
    "repeated in memory": "refused(check, T.sin, t(1.0).expand(3).detach().requires_grad_())",
    "tolerances": "show(check(Factor.apply, x, atol=10.0), check(T.sin, x, eps=1e-4, rtol=1e-6, atol=1e-6))",
    "float32": "show(check(T.sin, x.detach().float().requires_grad_(), raise_exception=False))",
    "float32, coarsely": "show(check(T.sin, x.detach().float().requires_grad_(), eps=1e-2, atol=1e-2))",
    "fast": "show(check(T.sin, x, fast_mode=True)); refused(check, Factor.apply, x, fast_mode=True)",
    "nothing": "show(check(T.sin, t()), check(lambda x: x[:0], x))",
    "the inputs stay": "check(lambda x: x * 2, x); show(x, x.grad, x._version)",
    "inside no_grad": "with T.no_grad(): refused(check, lambda x: x * x, x)",
}


def run(program: str, library: Any) -> list[Any]:
    """What ``program`` shows, the errors it meets, and whether it warns of float32."""
    shown: list[Any] = []

    def refused(function: Any, *arguments: Any, **more: Any) -> None:
        with pytest.raises((RuntimeError, ValueError, TypeError, AttributeError)) as caught:
            function(*arguments, **more)
        shown.append((caught.type.__name__, str(caught.value).split(",")[0].split(":")[0]))

    def show(*values: Any) -> None:
        shown.extend(value.tolist() if hasattr(value, "tolist") else value for value in values)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with library.enable_grad():
            exec(START + program, {"T": library, "show": show, "refused": refused})
    return [*shown, any("double precision" in str(one.message) for one in caught)]


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_it_says_what_pytorch_says(program: str):
    require("torch")
    import torch

    expected = run(program, torch)
    found = run(program, autokit)
    assert len(expected) > 1 and found == expected


def wrong(name: str, **settings: Any) -> str:
    """What the check says of one of the functions above."""
    names: dict[str, Any] = {"T": autokit}
    exec(START, names)
    with pytest.raises(GradcheckError) as caught:
        gradcheck(names[name].apply, names["x"], **settings)
    return str(caught.value)


def test_an_error_shows_where_and_by_how_much():
    message = wrong("Factor")
    assert "with respect to input 0,\nnumerical:[[" in message
    assert "derivative of output 0 at [1] by input 0" in message and "at [1] is -4 by differences" in message
    assert "backward gives -2" in message and "0.5 times the right value everywhere" in message
    assert "-1 times the right value" in wrong("Sign")


def test_an_error_names_a_kink():
    with pytest.raises(
        GradcheckError, match="kink or a jump: from the right the slope is 1, from the left 0"
    ):
        gradcheck(autokit.relu, autokit.zeros(1, dtype=autokit.float64, requires_grad=True))


def test_an_input_that_takes_no_part_may_be_infinite():
    x, unused = (autokit.tensor([v], dtype=autokit.float64, requires_grad=True) for v in (1.0, float("inf")))
    assert gradcheck(lambda x, unused: x * 2, (x, unused), check_undefined_grad=False) is True


def test_an_error_names_float32():
    with (
        warnings.catch_warnings(),
        pytest.raises(GradcheckError, match="float32: differences of 1e-06 are lost"),
    ):
        warnings.simplefilter("ignore")
        gradcheck(autokit.exp, autokit.tensor([3.0, 5.0], requires_grad=True))


def test_a_wrong_dtype_is_found():
    assert "FBackward makes float32 for its input 0, which is float64" in wrong(
        "Narrow", check_grad_dtypes=True
    )


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_planted_wrong_entry_is_found(data: Any):
    rows, columns = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    i, j = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
    by = data.draw(st.floats(0.01, 10)) * data.draw(st.sampled_from([-1, 1]))
    matrix = autokit.tensor(np.random.RandomState(rows).uniform(-1, 1, (rows, columns)))
    planted = matrix.clone()
    planted[i, j] += by

    class Product(autokit.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return matrix @ x

        @staticmethod
        def backward(ctx, g):
            return g @ planted

    x = autokit.ones(columns, dtype=autokit.float64, requires_grad=True)
    with pytest.raises(GradcheckError, match=rf"at \[{i}\] by input 0, .* at \[{j}\]"):
        gradcheck(Product.apply, x)
    assert gradcheck(lambda x: matrix @ x, x)


# ---------------------------------------------------------------- complex numbers

COMPLEX = {
    "holomorphic": lambda z, x: z.sin() * z + 1 / z,
    "by parts": lambda z, x: z.abs() * z.conj() + z.imag * z.real,
    "polar": lambda z, x: autokit.polar(x, x * 2) * z[0],
    "pairs": lambda z, x: autokit.view_as_real(z).sum(0) * x,
    "transform": lambda z, x: autokit.fft.fft2(z) + autokit.fft.rfft(x, 2),
    "matrices": lambda z, x: autokit.linalg.inv(z) @ autokit.complex(x, x),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_functions_have_the_gradients_that_differences_give(name: str):
    z = autokit.tensor([[1 + 2j, 3 - 1j], [0.5j, -2 + 0.3j]], dtype=autokit.complex128, requires_grad=True)
    x = autokit.tensor([1.0, 2.0], dtype=autokit.float64, requires_grad=True)
    assert gradcheck(COMPLEX[name], (z, x), check_forward_ad=True)
    assert gradgradcheck(COMPLEX[name], (z, x))


def test_a_missing_conjugate_is_found_along_the_imaginary_axis():
    class Square(autokit.autograd.Function):
        @staticmethod
        def forward(ctx: Any, z: Any) -> Any:
            ctx.save_for_backward(z)
            return z * z

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * 2 * ctx.saved_tensors[0]

    z = autokit.tensor([3.0 + 1j], dtype=autokit.complex128, requires_grad=True)
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradcheck(Square.apply, z)


def test_gradgradcheck_takes_as_many_random_numbers_as_pytorch():
    require("torch")
    import torch

    def next_number(T: Any) -> float:
        x = T.tensor([1.0, 2.0, 3.0], dtype=T.float64, requires_grad=True)
        T.manual_seed(4)
        assert T.autograd.gradcheck(T.exp, x) and T.autograd.gradgradcheck(lambda x: (x.sum(), x**2), (x,))
        return float(T.rand(1))

    assert next_number(autokit) == next_number(torch)


TOLD_OF_NOTHING = {
    "fails": (lambda T, g: g * 2, False),
    "makes something": (lambda T, g: T.ones(3, dtype=T.float64) if g is None else 2 * g, False),
    "makes zeros": (lambda T, g: T.zeros(3, dtype=T.float64) if g is None else 2 * g, True),
    "makes nothing": (lambda T, g: None if g is None else 2 * g, True),
}


@pytest.mark.parametrize("name", TOLD_OF_NOTHING)
def test_a_function_that_wants_to_be_told_of_nothing_is(name: str):
    require("torch")
    import torch

    backward, right = TOLD_OF_NOTHING[name]
    for T in (autokit, torch):

        class Double(T.autograd.Function):  # type: ignore[name-defined, misc]
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                ctx.set_materialize_grads(False)
                return x * 2

            @staticmethod
            def backward(ctx: Any, gradient: Any, T: Any = T) -> Any:
                return backward(T, gradient)

        x = T.tensor([1.0, -2.0, 0.5], dtype=T.float64, requires_grad=True)
        assert T.autograd.gradcheck(Double.apply, x, check_undefined_grad=False)
        for function in (Double.apply, lambda x: Double.apply(x).exp(), lambda x: Double.apply(x * 3)):
            if right:
                assert T.autograd.gradcheck(function, x)
            else:
                with pytest.raises((RuntimeError, TypeError)):
                    T.autograd.gradcheck(function, x)
