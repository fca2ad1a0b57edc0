"""The faster way of a recurrent layer through arrays beside the plain one."""

from __future__ import annotations

import numpy as np
import pytest

from autokit.ops.recurrent import recurrence


@pytest.mark.parametrize("kind, gates", [("LSTM", 4), ("GRU", 3), ("RNN_TANH", 1)])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("sizes", [(3, 3, 3), (4, 2, 2, 1), (1,)])
@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_arrays_go_the_way_of_the_plain_rule(kind, gates, backwards, with_bias, sizes, scale):
    random, width = np.random.RandomState(0), 5
    given = random.standard_normal((sum(sizes), gates * width)) * scale
    h, c = random.standard_normal((2, sizes[0], width))
    weight = random.standard_normal((gates * width, width))
    bias = random.standard_normal(gates * width) if with_bias else np.zeros(())
    operands = (given, h, c if kind == "LSTM" else np.zeros(()), weight, bias)
    rule = recurrence.operation
    plain = rule.plain(*operands, sizes, backwards, kind)
    assert np.allclose(rule.forward(*operands, sizes, backwards, kind), plain, rtol=1e-12, atol=1e-14)
