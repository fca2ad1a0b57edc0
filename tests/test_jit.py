"""``torch.jit``: programs that script and trace run, and nothing is compiled."""

from __future__ import annotations

import subprocess
import sys
import warnings

import pytest

import autokit as torch
from autokit import nn


def test_a_program_that_scripts_and_traces_runs():
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(2, 3)

        @torch.jit.ignore
        def helped(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @torch.jit.ignore(drop=True)
        def twice(self, x: torch.Tensor) -> torch.Tensor:
            return self.helped(x)

        @torch.jit.export
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(self.twice(x))

    net, x = Net(), torch.ones(4, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = [torch.jit.script(net), torch.jit.trace(net, x), torch.jit.trace(net, example_inputs=(x,))]
    assert all(each is net for each in made) and torch.jit.freeze(net.eval()) is net
    assert torch.equal(net(x), net.layer(2 * x))
    assert not torch.jit.is_scripting() and not torch.jit.is_tracing()


def test_it_says_once_that_nothing_is_compiled():
    program = "import autokit as torch\nfor f in (torch.jit.script, torch.jit.trace) * 2: f(torch.sin)\n"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stderr.count("torch.jit.script returns what it is given") == 1
    assert "torch.jit.trace" not in run.stderr


def test_files_of_compiled_programs_are_refused_and_lead_to_state_dicts(tmp_path):
    with pytest.raises(NotImplementedError, match=r"torch\.save\(model\.state_dict\(\), path\)"):
        torch.jit.save(nn.Linear(1, 1), tmp_path / "model.pt")
    with pytest.raises(NotImplementedError, match="load_state_dict"):
        torch.jit.load(tmp_path / "model.pt")
    with pytest.raises(TypeError, match="not int"):
        torch.jit.script(3)
