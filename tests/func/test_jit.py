"""``torch.compile`` and ``torch.jit`` give back what they are given, and refuse what is no function."""

from __future__ import annotations

import pytest

import autokit as torch
from autokit import nn


def test_scripts_traces_and_compiled_functions_are_the_functions_themselves():
    net = nn.Linear(2, 3)
    assert torch.jit.script(net) is torch.jit.trace(net, torch.ones(4, 2)) is torch.compile(net) is net
    assert torch.compile(mode="max-autotune")(torch.sin) is torch.sin
    for refuse in (torch.jit.script, torch.jit.trace, torch.compile):
        with pytest.raises(TypeError, match="not int"):
            refuse(3)
