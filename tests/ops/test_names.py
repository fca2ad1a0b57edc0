"""The public forms of functions: NumPy's keywords, and hints for mistyped ones."""

from __future__ import annotations

import numpy as np
import pytest

import autokit as torch
from autokit.ops import arithmetic, choose, compare, exponential, rounding, special, trigonometry
from autokit.ops.names import binary_operator, parameters_of, public


def test_numpys_keywords_mean_pytorchs():
    x = torch.arange(6.0).reshape(2, 3)
    assert x.max(axis=1, keepdims=True).values.tolist() == [[2.0], [5.0]]
    assert torch.cat([x, x], axis=1).shape == (2, 6)
    assert x.std(axis=0).shape == (3,)


@pytest.mark.parametrize("call", [torch.sum, torch.max, torch.std])
def test_a_mistyped_keyword_is_named_with_its_neighbour(call):
    with pytest.raises(TypeError, match="unexpected keyword argument 'dimm'; did you mean 'dim'"):
        call(torch.ones(2, 2), dimm=0)


def test_a_function_without_dimensions_stays_as_it_is():
    def along(input, dim=None, keepdim=False):
        return input, dim, keepdim

    assert parameters_of(along) == ("input", "dim", "keepdim")
    assert public(along)(1, axis=2, keepdims=True) == (1, 2, True)
    with pytest.raises(TypeError, match="it has input, dim, keepdim"):
        public(along)(1, quite_other=2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'axis'"):
        public(along)(1, dim=0, axis=2)
    assert public(torch.exp) is torch.exp


def test_an_operator_has_three_forms():
    x = torch.tensor([1.0, 2.0])
    forms = binary_operator("sub", torch.sub)
    assert forms["__sub__"](x, 1).tolist() == [0.0, 1.0]
    assert forms["__rsub__"](x, 1).tolist() == [0.0, -1.0]
    assert forms["__isub__"](x, 1) is x


FAMILIES = (arithmetic, choose, compare, exponential, rounding, special, trigonometry)
NUMPY = {function: None for family in FAMILIES for function in family.NAMES.numpy}
INTEGERS = {np.left_shift, np.right_shift, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert}
THREE = {np.clip, np.where}


@pytest.mark.parametrize("function", NUMPY, ids=lambda function: function.__name__)
def test_numpys_functions_take_tensors(function):
    a, b = np.array([[1.5, 2.0], [3.0, 0.75]]), np.array([1.0, 2.0])
    if function in INTEGERS:
        a, b = a.astype(int), b.astype(int)
    operands = [a > 2 if function is np.where else a, b, b + 1] if function in THREE else [a, b]
    count = getattr(
        function, "nin", 3 if function in THREE else 1 + function.__name__.endswith(("close", "equal"))
    )
    expected = function(*operands[:count])
    found = function(*[torch.tensor(each) for each in operands[:count]])
    if isinstance(expected, np.ndarray):
        assert isinstance(found, torch.Tensor)
        found = found.numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-12)
