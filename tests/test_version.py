"""The version that a program asks for."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest
from packaging.version import Version

import autokit
from autokit.base.version import PYTORCH, TorchVersion
from tests.support import require

OTHERS = ["1.12", "2.0.0", "2.8", "2.13", "2.13.0", "2.13.1", "3"]


def test_it_is_the_pytorch_whose_programs_run():
    assert int(autokit.__version__.split(".")[0]) == 2 and int(autokit.__version__.split(".")[1]) >= 12
    assert Version(autokit.__version__).base_version == PYTORCH
    assert autokit.__version__ >= "2.8" and autokit.__version__ > (1, 12) and not autokit.__version__ < "2.4"


def test_the_oracle_is_of_that_version():
    require("torch")
    import torch

    assert Version(torch.__version__).base_version == PYTORCH


@pytest.mark.parametrize("pair", list(itertools.product(OTHERS, OTHERS)))
def test_versions_compare_as_the_standard_says(pair: tuple[str, str]):
    a, b = pair
    ours, theirs = TorchVersion(a), Version(a)
    assert (ours < b, ours > b, ours <= b, ours >= b) == (
        theirs < Version(b),
        theirs > Version(b),
        theirs <= Version(b),
        theirs >= Version(b),
    )
    assert hash(ours) == hash(a) and ours == a


def test_the_command_tells_autokits_own_version():
    said = subprocess.run([sys.executable, "-m", "autokit", "--version"], capture_output=True, text=True)
    assert said.stdout.strip().removeprefix("autokit ") == autokit.version.__version__
    assert autokit.__version__.endswith("+autokit." + autokit.version.__version__)
