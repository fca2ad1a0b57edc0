"""The types of arguments are looked at as PyTorch looks at them: first, and with its ways to call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autokit
from tests.renew_signatures import FILE
from tests.support import printed_by, require


def test_the_file_is_what_the_installed_pytorch_says():
    """A name that is missing there has no form, and its arguments would not be looked at first."""
    require("torch")
    program = "from tests.renew_signatures import text; print(text(), end='')"
    written, anew = FILE.read_text("utf-8").splitlines(), printed_by(program).splitlines()
    assert len(written) > 800
    missing = {each.partition("(")[0] for each in anew} - {each.partition("(")[0] for each in written}
    assert not missing, f"of {sorted(missing)} nothing is written; run: python -m tests.renew_signatures"
    assert set(written) <= set(anew), "run: python -m tests.renew_signatures"


def x(T: Any, **settings: Any) -> Any:
    return T.tensor([[1.0, 2.0], [3.0, 4.0]], **settings)


REFUSED: list[Callable[[Any], Any]] = [
    lambda T: T.relu(x(T), None),
    lambda T: T.sum(x(T), True),
    lambda T: x(T).sum("a"),
    lambda T: T.cumsum(x(T), 1.0),
    lambda T: T.cumsum(x(T)),
    lambda T: T.flip(x(T), 0),
    lambda T: T.softmax(x(T), None),
    lambda T: T.softmax(x(T), 0, "float32"),
    lambda T: T.zeros((2.5, 1)),
    lambda T: T.clamp(x(T), [1]),
    lambda T: T.add(x(T), 1, alpha=None),
    lambda T: T.add(x(T), x(T), 2),
    lambda T: T.leaky_relu_(x(T), "a") if hasattr(T, "leaky_relu_") else T.celu_(x(T), "a"),
    lambda T: T.tril(x(T), T.tensor(1.0)),
    lambda T: T.tril(x(T), T.tensor([1, 2])),
    lambda T: T.pow(x(T), x(T), x(T)),
    lambda T: T.cat([x(T), None]),
    lambda T: T.cat(x(T)),
    lambda T: T.stack([x(T)], dim=0.0),
    lambda T: T.masked_fill(x(T), x(T) > 1, x(T, requires_grad=True).sum().tolist() * [1]),
    lambda T: x(T).clamp_(min="a"),
    lambda T: T.split(x(T), split_size=1),
    lambda T: T.nn.functional.conv2d(x(T), x(T), None, 1.5),
    lambda T: T.linalg.vector_norm(x(T), keepdim=1),
    lambda T: T.special.softmax(x(T), "a"),
]


@pytest.mark.parametrize("call", REFUSED)
def test_a_wrong_type_is_refused_as_by_pytorch(call: Callable[[Any], Any]):
    require("torch")
    import torch

    for T in (torch, autokit):
        with pytest.raises(TypeError):
            call(T)


TAKEN: list[Callable[[Any], Any]] = [
    lambda T: T.sum(x(T), T.tensor(1)),
    lambda T: T.sum(x(T), axis=1, keepdims=True),
    lambda T: T.cumsum(x(T), T.tensor(0)),
    lambda T: T.clamp(x(T), True, 2),
    lambda T: x(T).reshape([4, 1]),
    lambda T: x(T).reshape(T.tensor(4), 1),
    lambda T: x(T).view(4),
    lambda T: T.softmax(x(T), 0, dtype=float),
    lambda T: T.sub(x(T), 1, 2),
    lambda T: T.full((2,), T.tensor(3.0)),
    lambda T: x(T).masked_fill(x(T) > 1, T.tensor(2)),
    lambda T: T.max(x(T), x(T)),
    lambda T: T.max(x(T), 0),
    lambda T: x(T).copy_(2),
    lambda T: T.maximum(x(T), other=x(T)),
    lambda T: T.logaddexp(input=x(T), other=x(T)),
    lambda T: x(T).hypot(other=x(T)),
    lambda T: T.tril(input=x(T), diagonal=1),
    lambda T: T.transpose(input=x(T), dim0=0, dim1=1),
    lambda T: T.nan_to_num(input=x(T), nan=1.0),
    lambda T: T.special.chebyshev_polynomial_t(x(T), n=3),
    lambda T: T.special.chebyshev_polynomial_t(x=x(T), n=x(T)),
    lambda T: T.nn.functional.avg_pool1d(x(T), (2,)),
]


@pytest.mark.parametrize("call", TAKEN)
def test_what_pytorch_takes_is_taken(call: Callable[[Any], Any]):
    require("torch")
    import torch

    from tests.ops.beside import assert_same
    from tests.ops.case import flat

    for mine, other in zip(flat(call(autokit)), flat(call(torch)), strict=True):
        assert_same(mine, other)


def test_types_that_were_good_once_are_looked_at_again_where_values_matter():
    y = x(autokit)
    assert autokit.cumsum(y, autokit.tensor(1)).shape == (2, 2)
    with pytest.raises(TypeError, match="argument 'dim'"):
        autokit.cumsum(y, autokit.tensor([1]))  # a tensor again, but with a dimension
    assert autokit.permute(y, (1, 0)).shape == (2, 2)
    with pytest.raises(TypeError, match="argument 'dims'"):
        autokit.permute(y, (1, 0.0))


def test_the_error_says_what_to_write():
    F, y = autokit.nn.functional, x(autokit)
    for call, words in (
        (lambda: F.dropout(y, training=1), "must be bool, not int; write True or False"),
        (lambda: F.layer_norm(y, 3), r"must be tuple of ints, not int; write \(3,\)"),
        (lambda: F.max_pool2d(y, "a"), "must be int or tuple of ints, not str"),
        (lambda: F.layer_norm(y, (1, 2.5)), "tuple of ints, but found element of type float at pos 1"),
        (lambda: F.mse_loss(y, None), "must be Tensor, not NoneType; a function without a return"),
        (lambda: F.mse_loss(y, y.numpy()), r"must be Tensor, not ndarray; make one with torch.from_numpy"),
        (lambda: F.dropout(y, trainin=True), "did you mean 'training'"),
        (lambda: F.cross_entropy(y), 'missing 1 required positional arguments: "target"; call it as'),
    ):
        with pytest.raises(TypeError, match=words):
            call()


def test_numpys_keywords_are_known_in_nn_functional():
    y = x(autokit)
    for _ in range(2):  # types that were good once are remembered
        assert autokit.nn.functional.softmax(y, axis=0).equal(y.softmax(0))


@pytest.mark.parametrize("call", ["zeros(2, dtype=np.float32)", "ones(2, 3, dtype='float')"])
def test_sizes_that_are_right_leave_the_blame_to_what_is_wrong(call: str):
    with pytest.raises(TypeError, match=r"argument 'dtype' must be torch\.dtype"):
        eval(f"autokit.{call}", {"autokit": autokit, "np": np})


@pytest.mark.parametrize("name", ["rand", "randn", "zeros"])
def test_sizes_that_are_missing_are_missed_by_the_functions_name(name: str):
    with pytest.raises(TypeError, match=rf"^{name}\(\) missing"):
        getattr(autokit, name)()


def test_the_error_says_what_fits():
    y = x(autokit)
    with pytest.raises(TypeError, match=r"cumsum\(\): argument 'dim' \(position 2\) must be int, not str"):
        autokit.cumsum(y, "a")
    with pytest.raises(TypeError, match=r"invalid combination .* expected one of: .*int dim, "):
        y.max(0.5)
    with pytest.raises(TypeError, match="unexpected keyword argument 'dimm'; did you mean 'dim'"):
        y.sum(dimm=1)


def test_older_programs_name_factors_before_tensors():
    """As in optimizers of older courses: ``exp_avg_sq.mul_(beta2).addcmul_(1 - beta2, grad, grad)``."""
    w, slope = autokit.ones(2), autokit.tensor([1.0, 2.0])
    for _ in range(2):  # the types are not remembered as good, for the arguments change their places
        with pytest.warns(UserWarning, match=r"add_\(Tensor input, Tensor other, \*, Number alpha = 1\)"):
            w.add_(-0.5, slope)
    assert w.tolist() == [0.0, -1.0]
    with pytest.warns(UserWarning, match="This overload of addcmul_ is deprecated"):
        assert w.addcmul_(2, slope, slope).tolist() == [2.0, 7.0]
    with pytest.warns(UserWarning, match="This overload of addmv is deprecated"):
        assert autokit.addmv(2, slope, 3, autokit.eye(2), slope).tolist() == [5.0, 10.0]
