"""Distributions of one's own, written as PyTorch's documentation shows: beside PyTorch."""

from __future__ import annotations

import pytest

from tests.support import printed_by, require

OWN = """
D = T.distributions
class Own(D.Normal):
    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(Own, _instance))
class Square(D.Distribution):
    arg_constraints, support, has_rsample = {}, D.constraints.real, True
    def __init__(self, loc, validate_args=None):
        (self.loc,) = D.utils.broadcast_all(loc)
        super().__init__(self.loc.shape, validate_args=validate_args)
    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Square, _instance)
        new.loc = self.loc.expand(batch_shape)
        super(Square, new).__init__(new.loc.shape, validate_args=False)
        new._validate_args = self._validate_args
        return new
    def rsample(self, sample_shape=T.Size()):
        shape = self._extended_shape(sample_shape)
        return self.loc + D.utils._standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device)
    def log_prob(self, value):
        return D.utils._sum_rightmost(-(value - self.loc) ** 2, 1)
class Narrow(Square):
    def __init__(self, loc): super().__init__(loc)
class Flow(D.TransformedDistribution):
    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, self._get_checked_instance(Flow, _instance))
class Rows(D.Independent):
    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, self._get_checked_instance(Rows, _instance))
T.manual_seed(0)
loc = T.tensor([1.0, 2.0])
"""


@pytest.mark.parametrize(
    "made",
    [
        "Own(loc, 1.0)",
        "Square(loc)",
        "Flow(D.Normal(loc, 1.0), [D.ExpTransform()])",
        "Rows(D.Normal(T.ones(2, 3), 1.0), 1)",
        "Narrow(loc)",
    ],
)
def test_a_distribution_of_ones_own_expands_as_with_pytorch(made: str):
    require("torch")
    program = f"""
import {{library}} as T
{OWN}
try:
    e = {made}.expand((3, 2))
    print(type(e).__name__, e.batch_shape, e.event_shape, e._validate_args, e.sample((2,)).shape)
    print(e.rsample().sum(), e.log_prob(T.ones(e.batch_shape + e.event_shape)))
except NotImplementedError as error:
    print(error)
"""
    printed = [printed_by(program.replace("{library}", library)) for library in ("autokit", "torch")]
    assert printed[0] == printed[1]
